"""Clusters of the queries, or other groups, of a mean: each query lies in one of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from prframe._engine.arguments import WORKING, Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import considered, in_groups, is_missing, key_names
from prframe.errors import PrframeError
from prframe.typing import Floats, Integers

# The working column of the cluster of each value.
CLUSTER = "cluster"
_VARIES = f"{WORKING}varies"


def refuse_varying_clusters(source: Source, args: Arguments, over: Sequence[str]) -> None:
    """Require that the rows of a query are of one cluster, before these are ranked."""
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


class KeyedByCluster(NamedTuple):
    """The rows of queries that are each of one cluster, and arguments that have it as a key."""

    source: Source
    args: Arguments
    name: str

    @classmethod
    def of(cls, source: Source, args: Arguments, n_kept: int) -> "KeyedByCluster":
        """Check the queries, whose keys follow on the first `n_kept` ones."""
        column = str(args.cluster)
        # These rows are read more than once.
        source = source.holding(source.whole())
        kept = replace(args, by=args.keys[:n_kept])
        refuse_varying_clusters(source, kept, args.keys[n_kept:])
        # The column of clusters may be among those of queries.
        keyed = replace(args, by=list(dict.fromkeys([*args.keys, column])), cluster=None)
        return cls(source, keyed, key_names(keyed)[keyed.keys.index(column)])

    def marked(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Add the column of clusters to a row per query."""
        return rows.with_columns(pl.col(self.name).alias(CLUSTER))


@dataclass(frozen=True, eq=False)
class MeanSample:
    """The sorted values of a mean, or curves of a mean curve, and the ranks of their clusters."""

    values: Floats
    rank: Integers | None = None

    @classmethod
    def of(cls, values: Floats, rank: Integers | None = None) -> "MeanSample":
        """Return the sample of values, or curves in rows, in any order."""
        keys = np.atleast_2d(values.T)[::-1]
        if rank is None:
            return cls(values[np.lexsort(keys)])
        order = np.lexsort([rank, *keys])
        return cls(values[order], rank[order])

    def at_each_level(self) -> list["MeanSample"]:
        """Return the values of curves at each of their levels."""
        return [MeanSample.of(values, self.rank) for values in self.values.T]

    @property
    def n_units(self) -> int:
        """The number of clusters, or of values or curves if these are independent."""
        return len(self.values if self.rank is None else np.unique(self.rank))

    @cached_property
    def cluster(self) -> Integers | None:
        """The clusters, numbered by their first values; None if there are none."""
        if self.rank is None:
            return None
        _, first, place = np.unique(self.rank, return_index=True, return_inverse=True)
        return np.asarray(first[place])


def ranks(cluster: pl.Series) -> Integers:
    """Return the ranks of the names of clusters."""
    # Categories are in order of their text.
    names = cluster.cast(pl.String) if cluster.dtype == pl.Categorical else cluster
    return names.rank("dense").cast(pl.Int64).to_numpy()


def varying(args: Arguments, queries: pl.DataFrame) -> PrframeError:
    """Return the error that names queries of several clusters, or of none."""
    return PrframeError(
        f"`cluster` {args.cluster!r} must be one value, and no null, for "
        f"each group of `over`{in_groups(queries.rows())}; mend these rows, or, if numbers begin "
        f"anew in each {args.cluster!r}, name it in `over` too."
    )
