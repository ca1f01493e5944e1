"""The errors and warnings of prframe, all of which are ValueErrors or UserWarnings."""

import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
Result = TypeVar("Result")


class PrframeError(ValueError):
    """The input cannot be evaluated as asked."""


class ArgumentError(PrframeError):
    """The call is wrong whatever the data: an unknown option, or one out of its range."""


class MissingColumnError(PrframeError, KeyError):
    """The frame does not have a column that was named."""

    def __str__(self) -> str:
        """Return the plain message, of which KeyError would show the repr."""
        return str(self.args[0])


class UnknownMetricError(ArgumentError):
    """No metric has this name, which is the attribute `metric`."""

    def __init__(self, message: str, metric: str) -> None:
        super().__init__(message)
        self.metric = metric

    def as_column(self, verb: str, *, takes_values: bool) -> "UnknownMetricError":
        """Return the error for a name that is a column of the frame."""
        at_hand = " Name precomputed values of metrics with values=." if takes_values else ""
        return UnknownMetricError(
            f"{self.metric!r} is a column of the frame and not a metric; the metrics come after "
            f"the frame, for example {verb}(frame, 'AP'), and columns are named by score=, label= "
            f"and by=.{at_hand}",
            self.metric,
        )


class GateError(PrframeError):
    """A model is worse than the baseline of a gate."""


class PrframeWarning(UserWarning):
    """The input is likely not to be what was meant, or a result is worth little."""


class CoverageWarning(PrframeWarning):
    """An interval is known to hold the value that it is about less often than it says."""


class DependentFoldsWarning(PrframeWarning):
    """The values of folds of the same data are taken as independent, which they are not."""


class EffectiveSampleSizeWarning(PrframeWarning):
    """Importance weights give a few resamples nearly all of the weight."""


class ManyGradesWarning(PrframeWarning):
    """Labels have many values, for example classes, and all above 0 count as positive."""


class ManyPairsWarning(PrframeWarning):
    """All pairs of so many models are compared that this takes much time and memory."""


class EmptyFrameWarning(PrframeWarning):
    """A frame has no rows, so that its result says nothing."""


class NoCutoffWarning(PrframeWarning):
    """Precision or recall is asked for by a name without a cut-off, and counts all rows."""


class NormalizationWarning(PrframeWarning):
    """Ids are equal but for the form of their Unicode, and count as different."""


class NoNegativesWarning(PrframeWarning):
    """Every row is positive, so precision is 1 everywhere, for example with labels 1 and 2."""


class NoPositivesWarning(PrframeWarning):
    """No row is positive, so that nothing can be a hit, for example as a label is misspelt."""


class PooledRankingWarning(PrframeWarning):
    """Rows are ranked together that a column tells apart, for example those of several queries."""


class RankOrderWarning(PrframeWarning):
    """The ranks of a run contradict its scores, which alone decide."""


class SharedItemsWarning(PrframeWarning):
    """The rankings of a mean are tested as independent ones, and have items in common."""


class SkewedDifferencesWarning(PrframeWarning):
    """Two models differ by few, skewed values, of which the test may reject equal means."""


class TiePolicyWarning(PrframeWarning):
    """A metric is asked for by a name of trec_eval, which would give tied rows another value."""


class UnlistedItemsWarning(PrframeWarning):
    """Rows are a part of the items that a result is about, such as a pool or lists cut short."""


class UnmatchedIdsWarning(PrframeWarning):
    """A run and its judgments share no query, or no document."""


class MissingQueriesWarning(UnmatchedIdsWarning):
    """Some of several runs lack judged queries, which count as 0 in their means."""


class UnretrievedWarning(PrframeWarning):
    """Negatives have the score -inf, as the logarithm of 0 is, and are not ranked."""


class UndefinedMetricWarning(PrframeWarning):
    """A result is undefined for some groups, and is null for these."""


class _Caller(NamedTuple):
    """A line of code outside this package, in whose name a warning is given."""

    filename: str
    lineno: int
    module: str
    registry: dict[str | tuple[str, type[Warning], int], int]


# The caller of work that polars does in its own threads.
_of_work: ContextVar[_Caller | None] = ContextVar("caller", default=None)
# The warnings of the call that is under way, if its steps may repeat them.
_said: ContextVar[set[tuple[str, type[UserWarning]]] | None] = ContextVar("said", default=None)


def warn(message: str, category: type[UserWarning]) -> None:
    """Warn in the name of the first caller outside this package."""
    said = _said.get()
    if said is not None:
        if (message, category) in said:
            return
        said.add((message, category))
    warnings.warn_explicit(message, category, *(_of_work.get() or _caller()))


@contextmanager
def each_once() -> Iterator[None]:
    """Give a warning that several steps of one call have only once."""
    token = _said.set(set() if (said := _said.get()) is None else said)
    try:
        yield
    finally:
        _said.reset(token)


def in_name_of_caller(work: Callable[P, Result]) -> Callable[P, Result]:
    """Return work that warns in the name of the present caller, whichever thread does it."""
    caller = _caller()

    def named(*args: P.args, **options: P.kwargs) -> Result:
        token = _of_work.set(caller)
        try:
            return work(*args, **options)
        finally:
            _of_work.reset(token)

    return named


def _caller() -> _Caller:
    """Return the first caller outside this package and functools."""
    within = (__name__.partition(".")[0], "functools")
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith(within):
        frame = frame.f_back
    if frame is None:
        return _Caller("sys", 1, "sys", {})
    variables = frame.f_globals
    name, registry = variables.get("__name__", ""), variables.setdefault("__warningregistry__", {})
    return _Caller(frame.f_code.co_filename, frame.f_lineno, name, registry)
