"""The plan of a verb: its options, the arguments that it accepts, and the rows that it makes."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import key_names
from prframe._engine.runs import Counting
from prframe.errors import ArgumentError, PrframeError
from prframe.tie_policies import ALL_TIES, Ties

if TYPE_CHECKING:
    from prframe.spark.groups import Counted, Steps


@dataclass(frozen=True)
class Accepts:
    """The shared arguments that a verb accepts, and what else its call has to say of itself."""

    verb: str
    # What the verb does with whole items if it takes no weight, for example "counts".
    whole_items: str = ""
    ties: Collection[Ties] = ALL_TIES
    # Who takes these policies only, if it is not the verb, and why it takes no others.
    taker: str = ""
    otherwise: str = ""
    # Why the verb takes no mean over rankings, and the remedy.
    one_ranking: str = ""
    # Calls of the verb to which this applies, if not all.
    where: str = ""
    # Whether clusters are of items, so that they and totals exclude each other.
    clusters_of_items: bool = False
    # Whether `over`, if the verb takes it, goes with the other options.
    has_mean: bool = True
    # Whether labels are grades alone, so that no row need be negative, and whether results count
    # hits, and have a value where there are no positives.
    uses_grades: bool = False
    counts_hits: bool = False
    # Whether rankings are compared with random ones, and the keys of rankings that are taken as
    # independent of each other.
    at_random: bool = False
    independent: Sequence[str] = ()
    # Why groups cannot be computed apart from each other, nothing if they can.
    undivided: str = ""
    # What must be kept of rows that are counted; None if each row is needed.
    counting: Counting | None = None

    def check(self, args: Arguments) -> None:
        """Refuse the arguments that the verb does not accept."""
        if self.whole_items and args.weight is not None:
            remedy = "leave it out"
            if self.whole_items in {"draws", "compares"}:
                remedy += ", or take quantiles of what evaluate makes of resamples with weight="
            raise ArgumentError(
                f"{self.verb} {self.whole_items} whole items and takes no `weight`{self.where}; "
                f"{remedy}."
            )
        if self.one_ranking and args.policy.mean:
            raise ArgumentError(
                f"ties={args.ties!r} is a mean over rankings, {self.one_ranking} 'group', or the "
                "range from 'worst' to 'best'."
            )
        takes_ties(self.taker or self.verb, self.ties, args, self.where, self.otherwise)
        if self.clusters_of_items and args.cluster is not None and args.totals:
            raise ArgumentError(
                f"`{args.totals[0]}` counts items that are not listed, and so in no cluster; list "
                "them with a score of -inf."
            )


def takes_ties(
    taker: str, ties: Collection[Ties], args: Arguments, where: str = "", otherwise: str = ""
) -> None:
    """Refuse the tie policies that a verb, or a metric, does not take."""
    if args.ties not in ties:
        raise ArgumentError(
            f"{taker} takes ties={checks.listed(ties)}{where}; got {args.ties!r}{otherwise}."
        )


@dataclass(frozen=True)
class Plan(ABC):
    """The arguments of a call of a verb; a subclass adds the verb's own options."""

    args: Arguments

    @abstractmethod
    def accepts(self) -> Accepts:
        """Return the arguments that the verb accepts with these options."""

    def check(self) -> None:  # noqa: B027 - verbs without options of their own need no check
        """Refuse options of the verb that do not go together."""

    @abstractmethod
    def results(self, source: Source) -> pl.DataFrame:
        """Return the rows of the result, with the working names of the keys."""


@dataclass(frozen=True)
class TwoStepPlan(Plan):
    """A plan whose rows follow from those that are computed of each group alone."""

    @abstractmethod
    def of_groups(self, source: Source) -> pl.DataFrame:
        """Return the rows that are computed of each group alone."""

    @abstractmethod
    def of_all(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of the result, given those of all groups."""

    def looks_at_all(self) -> bool:
        """Return whether rows of the result depend on several groups."""
        return True

    def results(self, source: Source) -> pl.DataFrame:
        """Return the rows of the result, with the working names of the keys."""
        return self.of_all(self.of_groups(source))


def named_by_caller(args: Arguments, keys: Sequence[str], results: pl.DataFrame) -> pl.DataFrame:
    """Return results with the caller's names of the keys."""
    working = key_names(args)
    # Columns that are no part of the result may have the name of a key.
    rest = results.drop([key for key in keys if key not in working], strict=False)
    return rest.rename(dict(zip(working, keys, strict=False)))


# How a plan is carried out on rows that lie in many places, in no order.


def steps_of(plan: Plan, keys: Sequence[str]) -> "Steps":
    """Return the steps of a plan whose result has the columns `keys` first, or refuse it."""
    from prframe.spark.groups import Steps  # noqa: PLC0415 - for frames elsewhere alone

    args = plan.args
    _refuse(plan)
    counting = None if _needs_rows(plan) else plan.accepts().counting
    counted = None if counting is None else _counted(plan, counting)
    finish = partial(named_by_caller, args, keys)
    whole = partial(_then, finish, partial(_of_rows, plan.results))
    if args.at_hand:
        # A row is a value of a whole ranking, so that one worker can hold all of them.
        return Steps((), partial(_of_rows, Source.whole), whole)
    if isinstance(plan, TwoStepPlan) and plan.looks_at_all():
        of_all = partial(_then, finish, plan.of_all)
        return Steps(args.keys, partial(_of_rows, plan.of_groups), of_all, counted)
    return Steps(args.keys, whole, counted=counted)


def _refuse(plan: Plan) -> None:
    """Refuse what needs the order of the rows, or all of them at once."""
    args = plan.args
    if args.policy.ordered and not args.policy.then:
        raise PrframeError(
            f"ties={args.ties!r} keeps the input order, and the rows of a Spark frame have none; "
            "take 'group', or order tied items by their names with ties='trec' and item=."
        )
    if reason := plan.accepts().undivided:
        raise PrframeError(
            f"{reason}, which is not done on Spark; pass these rows to polars, for example with "
            "polars.from_arrow(frame.toArrow())."
        )
    if args.keys or args.at_hand:
        return
    if reason := _needs_rows(plan):
        raise PrframeError(
            f"all rows are one ranking, and {reason}, so that one worker would have to hold all "
            "of them; name groups with by=, or pass the rows to polars, for example with "
            "polars.scan_parquet of files that Spark has written."
        )


def _needs_rows(plan: Plan) -> str:
    """Return why each row of a ranking is needed, nothing if rows may be counted."""
    args, accepts = plan.args, plan.accepts()
    if accepts.counting is None:
        return f"{accepts.verb} needs each of them"
    if args.further_scores:
        return "each column of scores has an order of its own"
    if args.weight is not None:
        return "weights are added up in order of rank"
    if args.item is not None:
        return "items are compared with all others"
    return ""


def _counted(plan: Plan, counting: Counting) -> "Counted":
    """Return how rows are counted for a plan."""
    from prframe.spark.groups import Counted  # noqa: PLC0415 - for frames elsewhere alone

    args, keys = plan.args, key_names(plan.args)
    return Counted(
        keys=keys,
        score=args.score,
        same=dict(zip(keys, args.keys, strict=True)),
        runs=partial(_runs, counting, args),
    )


def _runs(counting: Counting, args: Arguments, rows: pl.DataFrame) -> pl.DataFrame:
    return counting.runs(_source(rows), args)


def _of_rows(
    compute: Callable[[Source], pl.DataFrame], rows: pl.DataFrame, runs: pl.DataFrame | None = None
) -> pl.DataFrame:
    return compute(_source(rows, runs))


def _source(rows: pl.DataFrame, runs: pl.DataFrame | None = None) -> Source:
    """Return a source of rows as Spark brings them together: from many places, in no order."""
    return Source(rows, scattered=True, runs=runs)


def _then(
    last: Callable[[pl.DataFrame], pl.DataFrame],
    first: Callable[..., pl.DataFrame],
    *rows: pl.DataFrame,
) -> pl.DataFrame:
    return last(first(*rows))
