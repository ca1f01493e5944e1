"""The options of comparisons over queries and of those on the same items."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe.errors import ArgumentError
from prframe.stats._p_values import check_alternative
from prframe.stats.paired_values import (
    LEAST_ALPHA,
    QUERY_TESTS,
    QueryTestName,
)
from prframe.verbs._groups import resamples
from prframe.verbs.comparison.matched_items import Incomplete as IncompleteItems
from prframe.verbs.comparison.query_values import Incomplete as IncompleteQueries
from prframe.verbs.comparison.rows import JOINT, Comparison, JointCorrection, Within

Test: TypeAlias = Literal[QueryTestName, "delong"]
IntervalKind: TypeAlias = Literal["auto", "t", "hall", "percentile", "bca"]
Incomplete: TypeAlias = IncompleteQueries | IncompleteItems

# Other libraries call tests by these names.
_ELSEWHERE: dict[str, str] = {
    **dict.fromkeys(("student", "ttest", "ttest_rel", "t-test"), "test='t'"),
    **dict.fromkeys(("fisher", "permutation"), "test='randomization'"),
    **dict.fromkeys(("tost", "equivalence"), "equivalence=margin, whatever the test,"),
    "max-t": "correction='max-t'",
}
# What tells on the same items whether differences matter.
_BY_INTERVAL = (
    " Two models are equivalent within a margin, at the level .05, if the interval of their "
    "difference with confidence_level=0.9 lies within it."
)


@dataclass(frozen=True)
class Mode:
    """The options of comparisons over queries, or on the same items."""

    wording: str
    tests: tuple[str, ...]
    intervals: tuple[str, ...]
    incomplete: tuple[str, ...]
    remedy: str


OVER_QUERIES = Mode(
    wording="over groups of `over`",
    tests=tuple(QUERY_TESTS),
    intervals=("auto", "t", "hall", "percentile", "bca"),
    incomplete=get_args(IncompleteQueries),
    remedy="to compare on the same items say over=None",
)
ON_ITEMS = Mode(
    wording="on the same items (over=None)",
    tests=("randomization", "bootstrap", "delong"),
    intervals=("auto", "percentile", "bca"),
    incomplete=get_args(IncompleteItems),
    remedy="to compare over queries name them with over=",
)


def check_options(asked: Comparison, args: Arguments, incomplete: object, mode: Mode) -> None:
    """Refuse options that are not known, or have no meaning in this mode."""
    check_alternative(asked.alternative)
    checks.one_of("within", asked.within, get_args(Within))
    if asked.correction is not None:
        checks.one_of("correction", asked.correction, get_args(JointCorrection))
    _check_test(asked.test, mode)
    known = {
        "`interval`": (asked.interval, mode.intervals),
        "`incomplete`": (incomplete, mode.incomplete),
    }
    for name, (value, options) in known.items():
        if not checks.is_one_of(value, options):
            raise ArgumentError(
                f"{name} {mode.wording} must be one of {checks.listed(options)}; "
                f"got {checks.brief(value)}."
            )
    if args.cluster is not None and mode is OVER_QUERIES:
        _check_clusters(asked)
    _check_power(asked)
    if asked.correction in JOINT:
        _check_joint(asked, args, mode)
    if _is_drawn(asked) or mode is ON_ITEMS:
        resamples(asked.n_resamples, asked.confidence_level)


def _check_test(test: object, mode: Mode) -> None:
    """Refuse a test that there is not in this mode, and say where it is if there is one."""
    if checks.is_one_of(test, mode.tests):
        return
    remedy = ""
    if checks.is_one_of(test, _ELSEWHERE):
        remedy = f"; that is {_ELSEWHERE[str(test)]} here"
    elif checks.is_one_of(test, get_args(Test)):
        remedy = f"; {mode.remedy}"
    raise ArgumentError(
        f"`test` {mode.wording} must be one of {checks.listed(mode.tests)}; "
        f"got {checks.brief(test)}{remedy}."
    )


def _is_drawn(asked: Comparison) -> bool:
    """Tell whether results over queries rest on draws whatever the number of queries."""
    is_resampled = asked.test == "bootstrap" or asked.interval in {"percentile", "bca"}
    return is_resampled or asked.correction in JOINT


def _check_power(asked: Comparison) -> None:
    """Require a power above the level of the test, and a level that can be computed."""
    # The level is rounded, because 1 - 0.95 is slightly above 0.05 as a float.
    alpha = round(1 - asked.confidence_level, 12)
    if asked.power is not None and not asked.power > alpha >= LEAST_ALPHA:
        raise ArgumentError(
            f"`power` must be above the level of the test, 1 - confidence_level = {alpha:.3g}, "
            f"and that at least {LEAST_ALPHA:g}; got power={asked.power:g}."
        )


def _check_clusters(asked: Comparison) -> None:
    """Refuse options that would ignore clusters."""
    chosen = {
        f"test={asked.test!r}": not QUERY_TESTS[asked.test].clusters,
        "`power`": asked.power is not None,
    }
    given = [name for name, is_given in chosen.items() if is_given]
    if given:
        raise ArgumentError(
            f"{given[0]} takes queries as independent and knows no clusters; leave out `cluster`."
        )


def check_resampled(asked: Comparison, args: Arguments) -> None:
    """Refuse options that would take folds as independent."""
    others = {
        f"test={asked.test!r}": asked.test != "t",
        f"interval={asked.interval!r}": asked.interval not in {"auto", "t"},
        "`power`": asked.power is not None,
        "`cluster`": args.cluster is not None,
    }
    if given := [name for name, is_given in others.items() if is_given]:
        is_other = given[0] == "`cluster`"
        other = "is for other dependence" if is_other else "takes values as independent"
        raise ArgumentError(
            f"`resampling` corrects the variance of Student's t for folds, and "
            f"{given[0]} {other}: say test='t', with interval='auto' and "
            "without `power` and `cluster`."
        )


def _check_joint(asked: Comparison, args: Arguments, mode: Mode) -> None:
    """Refuse joint corrections where the joint distribution is not known."""
    if mode is ON_ITEMS or asked.test != "randomization":
        raise ArgumentError(
            f"correction={asked.correction!r} is the joint distribution of "
            "test='randomization' over queries; take 'holm' with other tests."
        )
    if asked.within == "all" and args.keys:
        raise ArgumentError(
            "correction='max-t' knows the joint distribution within a group of `by`: say "
            "within='by'; 'holm' is for all rows."
        )


def check_of_items(
    asked: Comparison,
    undefined: float | None,
    resampling: object,
) -> None:
    """Refuse options that have a meaning over queries only."""
    given: dict[str, object] = {"equivalence": asked.equivalence}
    given |= {"power": asked.power, "resampling": resampling}
    given |= {"undefined": undefined}
    for name, value in given.items():
        if value is not None:
            instead = _BY_INTERVAL if name == "equivalence" else ""
            raise ArgumentError(
                f"`{name}` is for comparisons over queries; leave it out.{instead}"
            )
