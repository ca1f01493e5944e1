"""Models that are compared over queries are compared on the same labels and positives."""

from collections.abc import Sequence

import polars as pl

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import considered, in_groups
from prframe.errors import PrframeError, UnlistedItemsWarning, warn

# Sums of the same weights in another order differ by less.
_ROUNDING = 1e-9


def refuse_unlike_labels(source: Source, args: Arguments, over: Sequence[str]) -> None:
    """Require that the labels of an item, if items have names, are the same for all models."""
    if args.model is None or args.item is None or args.at_hand:
        return
    label, item = pl.col(args.label), [*args.keys, *over, args.item]
    rows = source.lazy().filter(True, *considered(args, source.schema))  # noqa: FBT003
    items = rows.group_by(item).agg(differs=(label != label.first()).any())
    total, differ = pl.collect_all([items.select(pl.len()), items.filter("differs")])
    if differ.height:
        first = differ.sort(item).select(item).head(checks.SHOWN).rows()
        raise PrframeError(
            f"`label` of an item must be the same for all models: {differ.height} of "
            f"{total.item()} items differ, the first are {first}; mend these rows."
        )


def warn_of_unlike_positives(source: Source, keys: Sequence[str], query: Sequence[str]) -> None:
    """Warn once of queries of which models have not the same number of positives.

    `keys` are the working names of what tells rankings apart, and `query` those without models.
    """
    totals = pl.concat(source.seen.totals or [pl.DataFrame(schema=[*keys, "n_pos"])])
    number = pl.col("n_pos")
    found = totals.group_by(query).agg(number.min(), most=number.max())
    differ = found.filter(number < pl.col("most") * (1 - _ROUNDING)).sort(query)
    if differ.height:
        least, most = differ.select("n_pos", "most").row(0)
        warn(
            f"models have different numbers of positives, as lists that are cut short do, for "
            f"{differ.height} of {found.height} groups of `over`, of the first {least:g} and "
            f"{most:g}, and what is missed counts for some alone"
            f"{in_groups(differ.select(query).rows())}. Give the number of all positives in "
            "n_pos=, or list each with a score of -inf; if models rank different items, ignore "
            "UnlistedItemsWarning.",
            UnlistedItemsWarning,
        )
