"""Clusters of the queries, or other groups, of a mean: each query lies in one of them."""

from collections.abc import Sequence

import polars as pl

from prframe._engine.arguments import WORKING, Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import considered, in_groups, is_missing
from prframe.errors import PrframeError

# The working column of the cluster of each value.
CLUSTER = "cluster"
_VARIES = f"{WORKING}varies"


def refuse_varying_clusters(source: Source, args: Arguments, over: Sequence[str]) -> None:
    """Require that the rows of a query are of one cluster, before these are ranked.

    A query has the same values of the keys of the arguments and of `over`.
    """
    if args.cluster is None:
        return
    missing = is_missing(pl.col(args.cluster), source.schema[args.cluster])
    varies = missing.any() | (pl.col(args.cluster).n_unique() > 1)
    rows = source.lazy()
    if not args.at_hand:
        rows = rows.filter(True, *considered(args, source.schema))  # noqa: FBT003
    # Categories are in order of their text.
    text = [pl.col(n).cast(pl.String) for n in over if source.schema[n] == pl.Categorical]
    queries = rows.group_by(*args.keys, *over).agg(varies.alias(_VARIES)).filter(_VARIES)
    wrong = queries.select(over).with_columns(text).unique().sort(over).collect()
    if wrong.height:
        raise varying(args, wrong)


def varying(args: Arguments, queries: pl.DataFrame) -> PrframeError:
    """Return the error that names queries of several clusters, or of none."""
    return PrframeError(
        f"`cluster` {args.cluster!r} must be one value, and no null, for "
        f"each group of `over`{in_groups(queries.rows())}; mend these rows."
    )
