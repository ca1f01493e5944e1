"""Metrics that are asked for by trec_eval's names, where trec_eval would rank ties otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from prframe._engine.arguments import Arguments
from prframe._engine.hits import Hits
from prframe._engine.keys import UNRETRIEVED
from prframe._engine.measure import measure
from prframe._engine.pieces import Piece
from prframe._engine.ranks import hits, task_of_hits
from prframe._engine.rows import in_groups
from prframe._engine.tasks import Task
from prframe.metrics import Metric, in_trec_eval
from prframe.tie_policies import Ties
from prframe.typing import Integers

# Rankings of so many rows in all are ranked again, to see what trec_eval's order of ties gives.
_MOST_ROWS = 1 << 16
# A smaller difference changes none of the four decimals that trec_eval shows.
_SHOWN = 5e-5


class _Difference(NamedTuple):
    """A metric of a group whose value depends on the order of rows with equal scores.

    `n_more` is the number of other groups of which that was found.
    """

    metric: str
    here: float
    others: list[float]
    group: Integers
    n_more: int


@dataclass(frozen=True)
class TrecEvalNames:
    """The metrics that are asked for by trec_eval's names under another tie policy."""

    args: Arguments
    metrics: Mapping[str, Metric]
    prior: float | None = None
    interpolate: bool = False
    over: int = 0

    @classmethod
    def of(
        cls,
        wanted: Mapping[str, Metric],
        args: Arguments,
        prior: float | None = None,
        *,
        interpolate: bool = False,
        over: int = 0,
    ) -> "TrecEvalNames":
        """Find these metrics; trec_eval knows no weights. Means are over the last `over` keys."""
        compares = not args.policy.by_item and args.weight is None
        metrics = {
            name: metric
            for name, metric in wanted.items()
            if compares and in_trec_eval(name) is not None and metric.terms_under(args.ties)
        }
        return cls(args, metrics, prior, interpolate, over)

    def task_of_hits(self, piece: Piece) -> Task[Hits]:
        """Return the task that reduces a piece to its hits, and looks for ties among them."""
        task = task_of_hits(piece)
        if not self.metrics or piece.ranking.source.seen.tied:
            return task

        def look(found: Hits) -> Hits:
            if not piece.ranking.source.seen.tied:
                piece.ranking.source.seen.tied = self._sentence(piece, found)
            return found

        return task.then(look)

    def _sentence(self, piece: Piece, found: Hits) -> str:
        """Return the warning, empty if the order of ties makes no difference."""
        groups = self._tied_groups(piece, found)
        if not groups.size:
            return ""
        last = np.searchsorted(np.cumsum(piece.sizes[groups]), _MOST_ROWS, side="right")
        if not last:
            name, values = next(iter(self.metrics)), ""
        else:
            difference = self._difference(piece, groups[:last])
            if difference is None:
                return ""
            name, values = difference.metric, self._values(piece, difference)
        documents = "" if self._has_items(piece) else " and name the documents in item="
        own = in_trec_eval(name)
        is_called = "trec_eval's name" if own == name else f"what trec_eval calls {own!r}"
        return (
            f"{name!r} is {is_called}, and trec_eval ranks equal scores by the names of "
            f"documents, which ties={self.args.ties!r} does not{values}. Say ties='trec'"
            f"{documents} for its numbers; if ties={self.args.ties!r} is meant, ask for "
            f"{str(self.metrics[name])!r}, or ignore TiePolicyWarning."
        )

    def _values(self, piece: Piece, difference: _Difference) -> str:
        """Return the values of the metric under both policies, in words."""
        keys = piece.keys[difference.group] if piece.keys.width else pl.DataFrame()
        least, most = min(difference.others), max(difference.others)
        elsewhere = (
            f"{least:.6g} by the names"
            if self._has_items(piece)
            else f"{least:.6g} to {most:.6g} by their order"
        )
        # Not all groups are ranked again where there are many rows.
        n_more = difference.n_more
        more = f", and differs in at least {n_more} more" if n_more else ""
        return f": it is {difference.here:.6g} here and {elsewhere}{in_groups(keys.rows())}{more}"

    def _tied_groups(self, piece: Piece, found: Hits) -> Integers:
        """Return the numbers of groups with positives that are tied, as far as they are known."""
        policy = self.args.policy
        if policy.blocks or policy.mean:
            tied = found.columns.filter(pl.col("end") - pl.col("start") > 1)
            return np.unique(tied.select("group").collect(engine="in-memory").to_numpy())
        # Hits have ranks of their own under these policies. The first rows show it where ties are
        # usual, and to sort all rows a second time would take too long.
        rows = piece.rows.select("run", "key").head(_MOST_ROWS)
        tied_rows = rows.filter(rows.is_duplicated(), rows["key"] > UNRETRIEVED)
        run, first = (
            column["run"].to_numpy().astype(np.int64) for column in (tied_rows, rows.head(1))
        )
        return np.asarray(np.unique(run) - first)

    def _difference(self, piece: Piece, groups: Integers) -> _Difference | None:
        """Return the first difference that another order of ties makes in any of the groups."""
        orders: tuple[Ties, ...] = ("trec",) if self._has_items(piece) else ("worst", "best")
        metrics = {
            name: metric
            for name, metric in self.metrics.items()
            if set(orders) <= set(metric.ties)
        }
        part = _part(piece, groups)
        here, *others = (self._measured(part, metrics, ties) for ties in (self.args.ties, *orders))
        changes = [np.nan_to_num(other - here) for other in others]
        shown = [self._means(piece, groups, change) > _SHOWN for change in changes]
        differs = np.any(shown, axis=0) & (np.abs(changes).max(axis=0) > _SHOWN)
        if not differs.any():
            return None
        group, column = map(int, np.argwhere(differs)[0])
        values = [other[group, column] for other in others]
        n_more = int(np.count_nonzero(differs[:, column])) - 1
        name = list(metrics)[column]
        return _Difference(name, here[group, column], values, groups[[group]], n_more)

    def _means(
        self, piece: Piece, groups: Integers, change: "np.ndarray[Any, np.dtype[np.float64]]"
    ) -> "np.ndarray[Any, np.dtype[np.float64]]":
        """Return how far the largest mean of each metric changes; single values unless `over`."""
        if not self.over:
            return np.asarray(np.abs(change))
        columns = [f"metric{i}" for i in range(change.shape[1])]
        every = np.zeros((piece.keys.height, change.shape[1]))
        every[groups] = change
        rows = piece.keys.hstack(pl.DataFrame(every, schema=columns))
        keys, means = piece.keys.columns[: -self.over], pl.col(columns).mean()
        mean = rows.group_by(keys).agg(means) if keys else rows.select(means)
        return np.asarray(np.abs(mean.select(columns).to_numpy()).max(axis=0, keepdims=True))

    def _measured(
        self, part: Piece, metrics: Mapping[str, Metric], ties: Ties
    ) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
        """Return a row per group and a column per metric under a tie policy; NaN if undefined."""
        args = replace(self.args, ties=ties)
        again = replace(part, ranking=replace(part.ranking, args=args))
        if args.policy.by_item:
            again = replace(again, rows=part.rows.with_columns(pl.col("item").cast(pl.String)))
        values = measure(
            hits(again),
            list(metrics.values()),
            ties=ties,
            prior=self.prior,
            interpolate=self.interpolate,
        )
        return values.cast(pl.Float64).fill_null(float("nan")).to_numpy()

    def _has_items(self, piece: Piece) -> bool:
        """Tell whether there are items that can be sorted as text."""
        if self.args.item is None:
            return False
        dtype = piece.rows.schema["item"]
        return not (dtype.is_nested() or dtype.is_object() or dtype == pl.Binary)


def _part(piece: Piece, groups: Integers) -> Piece:
    """Return some of the groups of a piece."""
    bounds = zip(piece.first_rows[groups].tolist(), piece.sizes[groups].tolist(), strict=True)
    rows = pl.concat([piece.rows.slice(first, size) for first, size in bounds])
    keys = piece.keys[groups] if piece.keys.width else piece.keys
    return Piece(piece.ranking, rows, keys)
