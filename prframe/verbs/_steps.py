"""How a plan is carried out on rows that lie in many places, in no order."""

from collections.abc import Callable, Sequence
from functools import partial

import polars as pl

from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import key_names
from prframe.errors import PrframeError
from prframe.spark.groups import Steps
from prframe.verbs._plan import Plan, TwoStepPlan


def named_by_caller(args: Arguments, keys: Sequence[str], results: pl.DataFrame) -> pl.DataFrame:
    """Return results with the caller's names of the keys."""
    working = key_names(args)
    # Columns that are no part of the result may have the name of a key.
    rest = results.drop([key for key in keys if key not in working], strict=False)
    return rest.rename(dict(zip(working, keys, strict=False)))


def steps_of(plan: Plan, keys: Sequence[str]) -> Steps:
    """Return the steps of a plan whose result has the columns `keys` first, or refuse it."""
    args = plan.args
    _refuse(plan)
    finish = partial(named_by_caller, args, keys)
    whole = partial(_then, finish, partial(_of_rows, plan.results))
    if args.at_hand:
        # A row is a value of a whole ranking, so that one worker can hold all of them.
        return Steps((), partial(_of_rows, Source.whole), whole)
    if isinstance(plan, TwoStepPlan) and plan.looks_at_all():
        of_all = partial(_then, finish, plan.of_all)
        return Steps(args.keys, partial(_of_rows, plan.of_groups), of_all)
    return Steps(args.keys, whole)


def _refuse(plan: Plan) -> None:
    """Refuse what needs the order of the rows, or all of them at once."""
    args = plan.args
    if args.policy.ordered and not args.policy.then:
        raise PrframeError(
            f"ties={args.ties!r} keeps the input order, and the rows of a Spark frame have none; "
            "take 'group', or order tied items by their names with ties='trec' and item=."
        )
    if reason := plan.undivided():
        raise PrframeError(
            f"{reason}, which is not done on Spark; pass these rows to polars, for example with "
            "polars.from_arrow(frame.toArrow())."
        )
    if not (args.keys or args.at_hand):
        raise PrframeError(
            "a Spark frame is ranked group by group, each of them whole on one worker; name the "
            "groups with by=. If all rows are one ranking, pass them to polars, for example with "
            "polars.scan_parquet of files that Spark has written."
        )


def _of_rows(compute: Callable[[Source], pl.DataFrame], rows: pl.DataFrame) -> pl.DataFrame:
    return compute(Source(rows))


def _then(
    last: Callable[[pl.DataFrame], pl.DataFrame],
    first: Callable[[pl.DataFrame], pl.DataFrame],
    rows: pl.DataFrame,
) -> pl.DataFrame:
    return last(first(rows))
