"""The accessors ``df.pr``, ``lf.pr``, ``pl.col(...).pr`` and that of pandas, which only delegate.

Neither polars nor pandas is loaded here: the accessors are registered on each as soon as it is
imported, and the verbs are loaded on first use. So importing prframe costs next to nothing, which
the command line needs.
"""

import gc
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from prframe._doors import imports_of, loading

if TYPE_CHECKING:
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec

    import pandas as pd
    import polars as pl
else:
    # The module of the base class takes longer to import than everything else here.
    Loader = object

Frame = TypeVar("Frame", "pl.DataFrame", "pl.LazyFrame", "pd.DataFrame")


@contextmanager
def without_collections() -> Iterator[None]:
    """Load modules without collections of garbage, of which modules make next to none.

    A collection takes place after a number of new objects, of which modules make many, and each
    hundredth or so looks at all objects of the process.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Delegate:
    """A method that is a function of another module, with its signature and help.

    The module is loaded when the method is first accessed.
    """

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __get__(self, instance: Any, owner: type) -> Callable[..., Any]:
        with without_collections(), loading(self._module):
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
    """A namespace that gets the functions of a module as methods."""

    _path = ".pr"

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Refuse what is none of the methods; type checkers read that others are callable."""
        from prframe import hints

        offered = [
            method for method, value in vars(type(self)).items() if isinstance(value, _Delegate)
        ]
        hint = hints.of_attribute(name, offered)
        frame = vars(self).get("_frame")
        if frame is not None and hasattr(frame, "iloc") and "pr" in frame.columns:
            hint += " The column 'pr' is frame['pr']."
        raise AttributeError(f"{self._path} has no {name!r}; it has {', '.join(offered)}.{hint}")


class FrameNamespace(_Namespace, Generic[Frame]):
    """The verbs on a frame, which are the functions of these names without the first argument."""

    def __init__(self, frame: Frame) -> None:
        self._frame: Frame = frame

    def _subject(self) -> Frame:
        """Return the frame, and undo the library's caching of this object on it.

        Otherwise frame and namespace would refer to each other and keep the data alive until the
        garbage collector runs.
        """
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


class _PictureNamespace(_Namespace):
    """A namespace with the pictures of a frame."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def _subject(self) -> Any:
        """Return the frame."""
        return self._frame


class PlotNamespace(_PictureNamespace):
    """The pictures of a frame, which are those of `prframe.plot.of_frames`."""

    _path = ".pr.plot"


class ChartNamespace(_PictureNamespace):
    """The interactive pictures of a frame, which are those of `prframe.chart.of_frames`."""

    _path = ".pr.chart"


class ExprNamespace(_Namespace):
    """The metrics of a score expression, which are the functions of `prframe.expressions`."""

    def __init__(self, score: "pl.Expr") -> None:
        self._score = score

    def _subject(self) -> "pl.Expr":
        """Return the expression."""
        return self._score


class _GroupsNamespace:
    """What stands for the namespace on groups of a frame, which have no verbs."""

    def __get__(self, groups: Any, owner: type) -> Any:
        """Return this, but the groups of a column that is called so in a frame of pandas."""
        frame = getattr(groups, "obj", None)
        return groups["pr"] if frame is not None and "pr" in frame.columns else self

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Say what to do instead."""
        raise AttributeError(
            f"groups have no .pr.{name}. Pass the frame itself and name its keys in by=, as in "
            f"frame.pr.{name}(..., by=keys)."
        )


def verbs() -> list[str]:
    """Return the names that the door of the package takes from the folder of verbs."""
    lines = imports_of("prframe")
    folder = [line for line in lines if (line.module or "").startswith("verbs.")]
    return [name.name for line in folder for name in line.names]


def _offer(namespace: type[_Namespace], module: str, names: Sequence[str]) -> None:
    """Give a namespace the functions of a module as methods."""
    for name in names:
        setattr(namespace, name, _Delegate(module, name))


_EXPRESSIONS = ("metric", "ap", "auc", "precision", "recall", "rr", "ndcg", "curve")
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
    """Register the namespaces on each library once, as soon as it is imported."""
    for library, register_on in _LIBRARIES.items():
        if (module := sys.modules.get(library)) is not None:
            register_on(module)
        elif not any(
            isinstance(finder, _Finder) and finder.library == library for finder in sys.meta_path
        ):
            sys.meta_path.insert(0, _Finder(library, register_on))


def _register_polars(polars: ModuleType) -> None:
    """Register the accessors on polars frames, lazy frames and expressions, unless they are."""
    if "pr" in polars.DataFrame._accessors:  # noqa: SLF001
        return
    polars.api.register_dataframe_namespace("pr")(FrameNamespace)
    polars.api.register_lazyframe_namespace("pr")(FrameNamespace)
    polars.api.register_expr_namespace("pr")(ExprNamespace)
    for module, name in (("dataframe", "GroupBy"), ("lazyframe", "LazyGroupBy")):
        groups = getattr(sys.modules.get(f"polars.{module}.group_by"), name, None)
        if groups is not None:
            groups.pr = _GroupsNamespace()


def _register_pandas(pandas: ModuleType) -> None:
    """Register the accessor on pandas frames, unless it is."""
    if "pr" not in pandas.DataFrame._accessors:  # noqa: SLF001
        pandas.api.extensions.register_dataframe_accessor("pr")(FrameNamespace)
        pandas.api.typing.DataFrameGroupBy.pr = _GroupsNamespace()


_LIBRARIES = {"polars": _register_polars, "pandas": _register_pandas}


class _Finder:
    """A finder that has the accessor registered on a library as soon as that is imported."""

    def __init__(self, library: str, register_on: Callable[[ModuleType], None]) -> None:
        self.library, self.register_on = library, register_on

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> "ModuleSpec | None":
        """Wrap the loader of the library; leave every other module alone."""
        if fullname != self.library:
            return None
        # Only the finders after this one are asked, so that two of its kind do not ask each other,
        # as after a second import of prframe.
        place = sys.meta_path.index(self) if self in sys.meta_path else -1
        for finder in sys.meta_path[place + 1 :]:
            spec = finder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _Loader(spec.loader, self)
                return spec
        return None


class _Loader(Loader):
    """A loader that loads a library as its own loader does, and then registers the accessor."""

    def __init__(self, loader: Loader, finder: _Finder) -> None:
        self._loader, self._finder = loader, finder

    def __getattr__(self, name: str) -> Any:
        """Return any other attribute of the library's own loader."""
        return getattr(self._loader, name)

    def create_module(self, spec: "ModuleSpec") -> ModuleType | None:
        """Create the module as the library's own loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, with its own loader in place again, register, and step aside."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
            self._finder.register_on(module)
