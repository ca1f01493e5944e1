"""Ranks of the positives: the one place that knows sorting, ties and unretrieved items.

The rows are reduced to group totals and *hits* (see `prframe._engine.hits`). Curves, which need
every threshold, and weighted hits come from the fully sorted rows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe._engine.hits import (
    ClassSums,
    Hits,
    RunningSums,
    from_marks,
    unit_hits,
    weighted_hits,
)
from prframe._engine.pieces import Piece, Task, group_totals, reaching, retrieved
from prframe._engine.rows import UNRETRIEVED, rounded
from prframe._engine.runs import hits_of_runs, ranked_runs, sizes_of_runs
from prframe._engine.sorting import (
    Ranks,
    RowOrder,
    SortedRows,
    n_marked,
    order_of_rows,
    ranks_of,
    sort_rows,
)
from prframe.metrics.quantities import above_name
from prframe.typing import Floats, Integers

_KEY, _POSITIVE = pl.col("key"), pl.col("positive")
_RETRIEVED = _KEY > UNRETRIEVED


def hits(piece: Piece) -> Hits:
    """Reduce the rows of a piece to its hits."""
    return task_of_hits(piece).result()


def task_of_hits(piece: Piece) -> Task[Hits]:
    """Return the task that reduces the rows of a piece to its hits."""
    if piece.is_counted:
        more = _carries_more_than_labels(piece)
        return Task(lambda: None, lambda _: hits_of_runs(piece, carry_more=more))
    if piece.ranking.args.weight is not None:
        return _weighted_hits(piece)
    if _carries_more_than_labels(piece):
        return _marked_hits(piece)
    sort, positive = _sort(piece), piece.positive
    first_rows, merit = piece.first_rows, piece.ranking.args.policy.merit
    totals = group_totals(piece)
    # Rows that are not retrieved stand below all others.
    n = None if piece.all_ranked else totals["n"].to_numpy()

    def work() -> Ranks:
        kind, begins = sort(positive.view(np.uint8))
        ranks = ranks_of(kind.view(np.bool_), begins, first_rows, merit)
        return ranks if n is None else ranks.among(n)

    return Task(work, partial(unit_hits, totals))


def _sort(piece: Piece) -> Callable[[NDArray[np.unsignedinteger]], SortedRows]:
    """Return the function that brings rows into order, given their kinds, without polars."""
    if not piece.ranking.args.policy.ordered:
        return partial(sort_rows, piece.rows["run"].to_numpy(), piece.rows["key"].to_numpy())
    ordered = _order_of_rows(piece)

    def sort(kind: NDArray[np.unsignedinteger]) -> SortedRows:
        order, begins, _ = ordered()
        return SortedRows(kind[order], begins)

    return sort


def _carries_more_than_labels(piece: Piece) -> bool:
    """Return whether rows have judgments, or gains that are not their labels over again."""
    extra, rows = piece.ranking.extra, piece.rows
    return "judged" in extra or (
        "gain" in rows.columns and bool((rows["gain"] != rows["positive"]).any())
    )


def _marked_hits(piece: Piece) -> Task[Hits]:
    """Return the task that ranks the rows that are positive, graded or judged (see `Hits`)."""
    names = ["positive", *(("judged", "pooled") if "judged" in piece.ranking.extra else ())]
    flags = [piece.rows[name].to_numpy() for name in names]
    column = piece.rows["gain" if "gain" in piece.rows.columns else "positive"].cast(pl.Float64)
    # A gain of 0 comes first, so that a row of kind 0 has nothing.
    gain, gains = column.to_numpy(), np.union1d(0.0, column.unique().to_numpy())
    sort, first_rows, totals = _sort(piece), piece.first_rows, group_totals(piece)
    n = totals["n"].to_numpy()

    def work() -> dict[str, NDArray[Any]]:
        kind = gains.searchsorted(gain)
        for flag in flags:
            kind = 2 * kind + flag
        rows = sort(kind.astype(np.min_scalar_type(kind.max(initial=0))))
        marked = rows.kind > 0
        ranks = ranks_of(marked, rows.begins, first_rows)
        kind = rows.kind[marked].astype(np.int64)
        start, end = (np.minimum(rank, n[ranks.group]) for rank in (ranks.start, ranks.end))
        columns: dict[str, NDArray[Any]] = {"group": ranks.group, "start": start, "end": end}
        for name in reversed(names):
            columns["weight" if name == "positive" else name] = (kind & 1).astype(np.float64)
            kind >>= 1
        return columns | {"gain": gains[kind]}

    def finish(marks: dict[str, NDArray[Any]]) -> Hits:
        return from_marks(totals, pl.DataFrame(marks), piece.ranking.args.policy)

    return Task(work, finish)


def tie_sizes(piece: Piece, group_hits: Hits) -> pl.Series:
    """Return lists of the sizes of tie blocks, best first; null where none can tie."""
    if group_hits.are_apart or not piece.ranking.args.policy.blocks:
        nothing = pl.Series("sizes", [None], dtype=pl.List(pl.UInt32))
        return nothing.new_from_index(0, group_hits.totals.height)
    if piece.is_counted:
        return sizes_of_runs(piece)
    blocks = _KEY.filter(_RETRIEVED).sort(descending=True).rle().struct.field("len")
    return piece.aggregate(sizes=blocks.implode())["sizes"]


def class_scores(piece: Piece) -> Iterator[tuple[Floats, Floats]]:
    """Yield the scores of each group's positives and negatives; the ranking carries them."""
    for rows in piece.groups():
        scores, positive = rows["score"], rows["positive"].to_numpy()
        score = rounded(scores) if piece.ranking.args.float32 else scores.to_numpy()
        yield score[positive], score[~positive]


def clustered(
    piece: Piece, least: int = UNRETRIEVED + 1
) -> Iterator[tuple[Floats, NDArray[np.bool_], Integers]]:
    """Yield what `levels` does of each group, and the clusters of items, by value from 0."""
    for rows, of_items in zip(piece.groups(), levels(piece, least), strict=True):
        yield *of_items, rows["cluster"].rank("dense").cast(pl.Int64).to_numpy() - 1


def levels(
    piece: Piece, least: int = UNRETRIEVED + 1
) -> Iterator[tuple[Floats, NDArray[np.bool_]]]:
    """Yield levels of items, which rise as scores do (-inf below a key), and their positives."""
    for rows in piece.groups():
        key = rows["key"].to_numpy()
        _, level = np.unique(key, return_inverse=True)
        yield np.where(key >= least, level, -np.inf), rows["positive"].to_numpy()


@dataclass(frozen=True)
class Thresholds:
    """The tie blocks of a piece in order of rank, with the counts up to their ends.

    `totals` are those of `Hits` without ``n_hits``, and `order` has the numbers of the ranked
    rows. Each block has a `group`, its end in `order` (`ends`), the rows up to its end (`k`), and
    the positives and negatives among them (`tp`, `fp`; with weights, sums of weights).
    """

    totals: pl.DataFrame
    order: Integers
    group: Integers
    ends: Integers
    k: Integers
    tp: NDArray[Any]
    fp: NDArray[Any]

    @property
    def block_of_row(self) -> Integers:
        """The number of the block of each ranked row, in order of rank."""
        return np.repeat(np.arange(self.ends.size), np.diff(self.ends, prepend=0))

    @property
    def last_rows(self) -> Integers:
        """The number of the last row of each block."""
        return self.order[self.ends - 1]

    @property
    def table(self) -> pl.DataFrame:
        """A row for each block."""
        return pl.DataFrame({name: getattr(self, name) for name in ("group", "k", "tp", "fp")})


def thresholds(piece: Piece) -> Task[Thresholds]:
    """Return the task that sorts the rows of a piece within their groups and counts along them."""
    if not piece.is_counted:
        return Task(_ranked_rows(piece), partial(_thresholds_of_rows, piece))
    order, group, ends, k, tp = ranked_runs(piece)
    found = Thresholds(group_totals(piece), order, group, ends, k, tp, k - tp)
    return Task(lambda: None, lambda _: found)


def _thresholds_of_rows(piece: Piece, rows: "_RankedRows") -> Thresholds:
    """Count along ranked rows."""
    ends = _ends(rows.begins)
    n_blocks = np.diff(np.searchsorted(ends, np.append(0, np.cumsum(rows.sizes)), side="right"))
    group = np.repeat(np.arange(n_blocks.size), n_blocks)
    tp, k = np.cumsum(rows.positive, dtype=np.int64), ends
    if ends.size < rows.order.size:
        tp = tp[ends - 1]
    if n_blocks.size > 1:
        k = ends - np.repeat(rows.first_rows, n_blocks)
        tp -= np.repeat(_sums_before(rows.n_pos), n_blocks)
    if piece.ranking.args.weight is None:
        return Thresholds(group_totals(piece), rows.order, group, ends, k, tp, k - tp)
    sums = _class_sums(rows, _class_weights(piece, rows))
    totals = group_totals(piece, _weights(piece, sums))
    tp_sum, fp_sum = sums.positives.of_first(group, tp), sums.negatives.of_first(group, k - tp)
    return Thresholds(totals, rows.order, group, ends, k, tp_sum, fp_sum)


def _ends(begins: NDArray[np.bool_]) -> Integers:
    """Return where each block ends, given which rows begin one."""
    ends = np.flatnonzero(np.append(begins[1:], True)[: begins.size])
    ends += 1
    return ends


class _RankedRows(NamedTuple):
    """The ranked rows of a piece in order of rank, and how many each group has."""

    order: Integers
    begins: NDArray[np.bool_]
    positive: NDArray[np.bool_]
    sizes: Integers

    @property
    def first_rows(self) -> Integers:
        """Where the ranked rows of each group begin."""
        return _sums_before(self.sizes)

    @property
    def n_pos(self) -> Integers:
        """The number of positives among the ranked rows of each group."""
        return n_marked(self.positive, self.first_rows)


def _ranked_rows(piece: Piece) -> Callable[[], _RankedRows]:
    """Return the function that sorts the rows of a piece within their groups, without polars."""
    ordered, sizes = _order_of_rows(piece), piece.sizes
    if piece.all_ranked:
        return lambda: _RankedRows(*ordered(), sizes)
    # Rows that are not retrieved stand below all others.
    is_retrieved = retrieved(piece)
    sizes = piece.counts(is_retrieved)

    def sort_retrieved() -> _RankedRows:
        order, begins, positive = ordered()
        ranked = is_retrieved[order]
        return _RankedRows(order[ranked], begins[ranked], positive[ranked], sizes)

    return sort_retrieved


def _order_of_rows(piece: Piece) -> Callable[[], RowOrder]:
    """Return the function that orders rows, best first within a group, without polars."""
    policy, positive = piece.ranking.args.policy, piece.positive
    if policy.then:
        order = _order_by_names(piece)
        return lambda: RowOrder(order, np.ones(order.size, np.bool_), positive.take(order))
    run, key = (piece.rows[name].to_numpy() for name in ("run", "key"))

    def sort() -> RowOrder:
        kind = {0: np.zeros_like(positive), 1: ~positive, -1: positive}[policy.merit]
        rows = order_of_rows(run, key, kind.view(np.uint8), positive)
        return rows if policy.blocks else rows._replace(begins=np.ones_like(rows.begins))

    return sort


def _order_by_names(piece: Piece) -> Integers:
    """Return the order of rows in which the names that the policy takes break ties."""
    run, key = (piece.rows[name].to_numpy() for name in ("run", "key"))
    nothing = np.zeros(key.size, np.uint8)
    order, begins, _ = order_of_rows(run, key, nothing, nothing.view(np.bool_))
    is_tied = ~begins
    is_tied[:-1] |= is_tied[1:]
    if not piece.all_ranked:
        is_tied &= key[order] > UNRETRIEVED
    places = np.flatnonzero(is_tied)
    if places.size:
        tied = np.sort(order[places])
        order[places] = tied[_order_of_tied(replace(piece, rows=piece.rows[tied]))]
    return order


def _order_of_tied(piece: Piece) -> Integers:
    """Return the order of rows, all of which polars sorts by their scores and by names."""
    then = piece.ranking.args.policy.then
    place = pl.int_range(pl.len())
    ranked = place.sort_by(_KEY, *then, descending=True, maintain_order=True)
    places = replace(piece, keys=pl.DataFrame()).aggregate(place=ranked.implode())["place"]
    of_groups = places.explode(empty_as_null=False).to_numpy()
    return np.asarray(of_groups + np.repeat(piece.first_rows, piece.sizes))


def _sums_before(counts: Integers) -> Integers:
    """Return the sum of the counts before each one."""
    return np.cumsum(counts) - counts


def _class_weights(piece: Piece, rows: _RankedRows) -> tuple[Floats, Floats]:
    """Return the weights of positives and of negatives, in order of rank."""
    weight = piece.rows["weight"].gather(rows.order).to_numpy()
    # To take the marked ones by their places is several times faster than by the marks.
    return weight[np.flatnonzero(rows.positive)], weight[np.flatnonzero(~rows.positive)]


def _class_sums(rows: _RankedRows, weights: tuple[Floats, Floats]) -> ClassSums:
    """Add up the weights of positives and of negatives, which are given in order of rank."""
    n_pos = rows.n_pos
    return ClassSums(RunningSums(weights[0], n_pos), RunningSums(weights[1], rows.sizes - n_pos))


def _weights(piece: Piece, sums: ClassSums) -> dict[str, Floats]:
    """Return the sums of weights, added up as along the curve, so that recall ends at 1."""
    tp, fp = sums.positives.totals, sums.negatives.totals
    totals = {"n": tp + fp, "present_pos": tp, "present_neg": fp}
    groups = np.arange(tp.size)
    for threshold in piece.ranking.thresholds:
        above = reaching(piece, threshold)
        n_pos, n = piece.counts(above & piece.positive), piece.counts(above)
        positives = sums.positives.of_first(groups, n_pos)
        negatives = sums.negatives.of_first(groups, n - n_pos)
        totals[above_name(threshold)] = positives + negatives
        totals[above_name(threshold, negatives=True)] = negatives
    if piece.all_ranked:
        return totals
    of_row = np.repeat(np.arange(tp.size), piece.sizes)
    unranked = (piece.rows["key"] == UNRETRIEVED).to_numpy()
    positive = piece.positive
    weight = piece.rows["weight"].to_numpy()
    for name, mask in (
        ("present_pos", unranked & positive),
        ("present_neg", unranked & ~positive),
    ):
        totals[name] = totals[name] + np.bincount(of_row[mask], weight[mask], minlength=tp.size)
    return totals


def _weighted_hits(piece: Piece) -> Task[Hits]:
    """Return the task that reduces weighted rows to hits."""

    def finish(rows: _RankedRows) -> Hits:
        weights = _class_weights(piece, rows)
        sums = _class_sums(rows, weights)
        ranks = ranks_of(rows.positive, rows.begins, rows.first_rows)
        totals = group_totals(piece, _weights(piece, sums))
        return weighted_hits(totals, ranks, weights[0], sums)

    return Task(_ranked_rows(piece), finish)
