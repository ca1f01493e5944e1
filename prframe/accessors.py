"""The accessors ``df.pr``, ``lf.pr``, ``pl.col(...).pr`` and that of pandas, which only delegate.

They are registered on polars and pandas as soon as these are imported, and the verbs are loaded
on first use, so that importing prframe costs next to nothing.
"""

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from prframe._doors import imports_of, loading

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

    import pandas as pd
    import polars as pl

Frame = TypeVar("Frame", "pl.DataFrame", "pl.LazyFrame", "pd.DataFrame")


class _Delegate:
    """A method that is a function of another module, which is loaded on first access."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __get__(self, instance: Any, owner: type) -> Callable[..., Any]:
        with loading(self._module):
            function: Callable[..., Any] = getattr(import_module(self._module), self._name)
        if instance is None:
            return function

        @wraps(function)
        def method(*args: Any, **options: Any) -> Any:
            return function(instance._subject(), *args, **options)  # noqa: SLF001

        signature = inspect.signature(function)
        parameters = list(signature.parameters.values())[1:]
        method.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return method


class _Namespace:
    """A namespace of functions that take a frame or an expression as their first argument."""

    _path = ".pr"

    def __init__(self, subject: Any) -> None:
        self._frame = subject

    def _subject(self) -> Any:
        """Return the frame or expression."""
        return self._frame

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Refuse what is none of the methods; type checkers read that others are callable."""
        offered = [
            method for method, value in vars(type(self)).items() if isinstance(value, _Delegate)
        ]
        frame: Any = vars(self).get("_frame")
        has_column = hasattr(frame, "iloc") and "pr" in frame.columns
        hint = ". The column 'pr' is frame['pr']" if has_column else ""
        raise AttributeError(f"{self._path} has no {name!r}; it has {', '.join(offered)}{hint}")


class FrameNamespace(_Namespace, Generic[Frame]):
    """The verbs on a frame, which are the functions of these names without the first argument."""

    _frame: Frame

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)

    def _subject(self) -> Frame:
        """Return the frame, without the cached namespace, so that it is freed when unused."""
        vars(self._frame).pop("pr", None)
        return self._frame

    @property
    def plot(self) -> "PlotNamespace":
        """The pictures of the frame."""
        return PlotNamespace(self._subject())

    @property
    def chart(self) -> "ChartNamespace":
        """The interactive pictures of the frame."""
        return ChartNamespace(self._subject())


class PlotNamespace(_Namespace):
    """The pictures of a frame, which are those of `prframe.plot.of_frames`."""

    _path = ".pr.plot"


class ChartNamespace(_Namespace):
    """The interactive pictures of a frame, which are those of `prframe.chart.of_frames`."""

    _path = ".pr.chart"


class ExprNamespace(_Namespace):
    """The metrics of a score expression, which are the functions of `prframe.expressions`."""


def verbs() -> list[str]:
    """Return the names of the package that come from its folder of verbs."""
    lines = imports_of("prframe")
    folder = [line for line in lines if (line.module or "").startswith("verbs.")]
    return [name.name for line in folder for name in line.names]


def _offer(namespace: type[_Namespace], module: str, names: Sequence[str]) -> None:
    """Give a namespace the functions of a module as methods."""
    for name in names:
        setattr(namespace, name, _Delegate(module, name))


_EXPRESSIONS = ("metric", "ap", "auc", "precision", "recall", "rr", "ndcg")
_CHARTS = ("curve", "roc", "band", "interval")
_PICTURES = (
    *_CHARTS,
    *("gain", "curve_difference", "queries", "matrix", "groups", "ap_null", "scores"),
)
_offer(FrameNamespace, "prframe", verbs())
_offer(PlotNamespace, "prframe.plot.of_frames", _PICTURES)
_offer(ChartNamespace, "prframe.chart.of_frames", _CHARTS)
_offer(ExprNamespace, "prframe.expressions", _EXPRESSIONS)


def register() -> None:
    """Register the namespaces on each library, now or as soon as it is imported."""
    for library, register_on in (("polars", _register_polars), ("pandas", _register_pandas)):
        if (module := sys.modules.get(library)) is not None:
            register_on(module)
        else:
            sys.meta_path.insert(0, _Finder(library, register_on))


def _register_polars(polars: ModuleType) -> None:
    """Register the accessors on polars frames, lazy frames and expressions, unless they are."""
    if "pr" in polars.DataFrame._accessors:  # noqa: SLF001
        return
    polars.api.register_dataframe_namespace("pr")(FrameNamespace)
    polars.api.register_lazyframe_namespace("pr")(FrameNamespace)
    polars.api.register_expr_namespace("pr")(ExprNamespace)


def _register_pandas(pandas: ModuleType) -> None:
    """Register the accessor on pandas frames, unless it is."""
    if "pr" not in pandas.DataFrame._accessors:  # noqa: SLF001
        pandas.api.extensions.register_dataframe_accessor("pr")(FrameNamespace)


class _Finder:
    """A finder that registers the namespaces on a library when that is imported."""

    def __init__(self, library: str, register_on: Callable[[ModuleType], None]) -> None:
        self._library, self._register_on = library, register_on

    def find_spec(self, fullname: str, *_: object) -> "ModuleSpec | None":
        """Return the specification of the library, whose loader then registers the namespaces."""
        if fullname != self._library or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        try:
            spec = find_spec(fullname)
        finally:
            sys.meta_path.insert(0, self)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                # Some loaders are shared by several modules.
                if module.__name__ != self._library:
                    return
                sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
                self._register_on(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
