"""Metrics that are asked for by trec_eval's names, where trec_eval would rank ties otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

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
from prframe.typing import Floats, Integers

# Ties are looked for in so many rows, and rankings of as many in all are ranked again.
_MOST_ROWS = 1 << 16
# A smaller difference changes none of the four decimals that trec_eval shows.
_SHOWN = 5e-5


@dataclass(frozen=True)
class TrecEvalNames:
    """The metrics that are asked for by trec_eval's names under another tie policy.

    Their means are over the last `over` keys.
    """

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
        """Find these metrics; trec_eval knows no weights."""
        compares = not args.policy.by_item and args.weight is None
        metrics = {
            name: metric
            for name, metric in wanted.items()
            if compares and in_trec_eval(name) is not None and metric.terms_under(args.ties)
        }
        return cls(args, metrics, prior, interpolate, over)

    def task_of_hits(self, piece: Piece) -> Task[Hits]:
        """Return the task that reduces a piece to its hits, and looks for ties among them."""
        task, seen = task_of_hits(piece), piece.ranking.source.seen
        if not self.metrics or seen.tied:
            return task

        def look(found: Hits) -> Hits:
            seen.tied = seen.tied or self._sentence(piece)
            return found

        return task.then(look)

    def _sentence(self, piece: Piece) -> str:
        """Return the warning, empty if the order of ties makes no difference."""
        groups = _tied_groups(piece)
        few = groups[np.cumsum(piece.sizes[groups]) <= _MOST_ROWS]
        if not groups.size:
            return ""
        name, told = self._change(piece, few) if few.size else (next(iter(self.metrics)), "")
        if not name:
            return ""
        documents = "" if self._has_items(piece) else " and name the documents in item="
        own = in_trec_eval(name)
        is_called = "trec_eval's name" if own == name else f"what trec_eval calls {own!r}"
        return (
            f"{name!r} is {is_called}, and trec_eval ranks equal scores by the names of "
            f"documents, which ties={self.args.ties!r} does not{told}. Say ties='trec'"
            f"{documents} for its numbers; if ties={self.args.ties!r} is meant, ask for "
            f"{str(self.metrics[name])!r}, or ignore TiePolicyWarning."
        )

    def _change(self, piece: Piece, groups: Integers) -> tuple[str, str]:
        """Return the first metric that another order of ties changes, and how, in words."""
        has_items = self._has_items(piece)
        orders: tuple[Ties, ...] = ("trec",) if has_items else ("worst", "best")
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
            return "", ""
        group, column = map(int, np.argwhere(differs)[0])
        name, values = list(metrics)[column], [other[group, column] for other in others]
        keys = piece.keys[groups[[group]]] if piece.keys.width else pl.DataFrame()
        elsewhere = f"{values[0]:.6g} by the names"
        if not has_items:
            elsewhere = f"{min(values):.6g} to {max(values):.6g} by their order"
        value = f"{here[group, column]:.6g}"
        return name, f": it is {value} here and {elsewhere}{in_groups(keys.rows())}"

    def _means(self, piece: Piece, groups: Integers, change: Floats) -> Floats:
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

    def _measured(self, part: Piece, metrics: Mapping[str, Metric], ties: Ties) -> Floats:
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
        """Return whether there are items that can be sorted as text."""
        if self.args.item is None:
            return False
        dtype = piece.rows.schema["item"]
        return not (dtype.is_nested() or dtype.is_object() or dtype == pl.Binary)


def _tied_groups(piece: Piece) -> Integers:
    """Return the numbers of groups with retrieved items that are tied, among the first rows."""
    rows = piece.rows.select("run", "key").head(_MOST_ROWS)
    tied = rows.filter(rows.is_duplicated(), rows["key"] > UNRETRIEVED)["run"]
    first = rows["run"].head(1).to_numpy().astype(np.int64)
    return np.asarray(np.unique(tied.to_numpy().astype(np.int64)) - first)


def _part(piece: Piece, groups: Integers) -> Piece:
    """Return some of the groups of a piece."""
    bounds = zip(piece.first_rows[groups].tolist(), piece.sizes[groups].tolist(), strict=True)
    rows = pl.concat([piece.rows.slice(first, size) for first, size in bounds])
    keys = piece.keys[groups] if piece.keys.width else piece.keys
    return Piece(piece.ranking, rows, keys)
