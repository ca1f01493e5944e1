"""``df.pr``, ``lf.pr``, ``pl.col(...).pr`` and the pandas accessor: one-line delegates.

The verbs are loaded on first use, so that importing prframe costs little more than polars.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import polars as pl

if TYPE_CHECKING:
    import pandas as pd

    from prframe.metrics import Metric

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame, "pd.DataFrame")


class FrameNamespace(Generic[Frame]):
    """The verbs on a frame; each has the arguments of the function of the same name."""

    def __init__(self, frame: Frame) -> None:
        self._frame: Frame = frame

    def _take(self) -> Frame:
        """Return the frame, and undo the library's caching of this object on it.

        Frame and namespace would refer to each other and keep the data alive until the garbage
        collector comes by.
        """
        vars(self._frame).pop("pr", None)
        return self._frame

    def curve(self, score: str = "score", label: str = "label", **options: Any) -> Frame:
        """Draw precision-recall curves: `prframe.curve`."""
        return _verbs().curve(self._take(), score, label, **options)

    def roc(self, score: str = "score", label: str = "label", **options: Any) -> Frame:
        """Draw ROC curves: `prframe.roc`."""
        return _verbs().roc(self._take(), score, label, **options)

    def evaluate(
        self,
        metrics: "str | Metric | Sequence[str | Metric]",
        score: str = "score",
        label: str = "label",
        **options: Any,
    ) -> Frame:
        """Compute metrics: `prframe.evaluate`."""
        return _verbs().evaluate(self._take(), metrics, score, label, **options)

    def check(self, score: str = "score", label: str = "label", **options: Any) -> Frame:
        """Report what is suspicious in the data: `prframe.check`."""
        return _verbs().check(self._take(), score, label, **options)


class ExprNamespace:
    """Metrics of a score expression; each has the arguments of the same name in `expressions`."""

    def __init__(self, score: pl.Expr) -> None:
        self._score = score

    def ap(self, label: str | pl.Expr, k: int | None = None, **options: Any) -> pl.Expr:
        """Return average precision, or AP@k."""
        return _expressions().ap(self._score, label, k, **options)

    def auc(self, label: str | pl.Expr, **options: Any) -> pl.Expr:
        """Return the area under the ROC curve."""
        return _expressions().auc(self._score, label, **options)

    def precision(self, label: str | pl.Expr, k: int, **options: Any) -> pl.Expr:
        """Return the precision at k."""
        return _expressions().precision(self._score, label, k, **options)

    def recall(self, label: str | pl.Expr, k: int, **options: Any) -> pl.Expr:
        """Return the recall at k."""
        return _expressions().recall(self._score, label, k, **options)

    def rr(self, label: str | pl.Expr, k: int | None = None, **options: Any) -> pl.Expr:
        """Return the reciprocal rank of the first positive."""
        return _expressions().rr(self._score, label, k, **options)

    def ndcg(self, label: str | pl.Expr, k: int | None = None, **options: Any) -> pl.Expr:
        """Return the normalised discounted cumulative gain, or nDCG@k."""
        return _expressions().ndcg(self._score, label, k, **options)

    def curve(self, label: str | pl.Expr, **options: Any) -> pl.Expr:
        """Return the precision-recall curve as a list of structs."""
        return _expressions().curve(self._score, label, **options)


def _verbs() -> Any:
    """Load the verbs."""
    from prframe import verbs

    return verbs


def _expressions() -> Any:
    """Load the expressions."""
    from prframe import expressions

    return expressions


def register() -> None:
    """Register the namespaces, once; pandas' as soon as pandas is there."""
    if "pr" in pl.DataFrame._accessors:  # noqa: SLF001
        return
    pl.api.register_dataframe_namespace("pr")(FrameNamespace)
    pl.api.register_lazyframe_namespace("pr")(FrameNamespace)
    pl.api.register_expr_namespace("pr")(ExprNamespace)
    if "pandas" in sys.modules:
        _register_pandas(sys.modules["pandas"])
    else:
        sys.meta_path.insert(0, _PandasFinder())


def _register_pandas(pandas: ModuleType) -> None:
    """Register the accessor on pandas frames."""
    pandas.api.extensions.register_dataframe_accessor("pr")(FrameNamespace)


class _PandasFinder(importlib.abc.MetaPathFinder):
    """Waits for the import of pandas, steps aside, and registers the accessor behind it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Wrap the loader of pandas; leave every other module alone."""
        del path, target
        if fullname != "pandas":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("pandas")
        if spec is not None and spec.loader is not None:
            spec.loader = _PandasLoader(spec.loader)
        return spec


class _PandasLoader(importlib.abc.Loader):
    """Loads pandas as its own loader does, then registers the accessor."""

    def __init__(self, loader: importlib.abc.Loader) -> None:
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """Create the module as pandas' own loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, with its own loader in place again, and register."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        _register_pandas(module)
