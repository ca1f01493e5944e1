"""How a plan is carried out on rows that lie in many places, in no order."""

from collections.abc import Callable, Sequence
from functools import partial

import polars as pl

from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import key_names
from prframe._engine.runs import Counting
from prframe.errors import PrframeError
from prframe.spark.groups import Counted, Steps
from prframe.verbs._plan import Plan, TwoStepPlan, named_by_caller


def steps_of(plan: Plan, keys: Sequence[str]) -> Steps:
    """Return the steps of a plan whose result has the columns `keys` first, or refuse it."""
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


def _counted(plan: Plan, counting: Counting) -> Counted:
    """Return how rows are counted for a plan."""
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
