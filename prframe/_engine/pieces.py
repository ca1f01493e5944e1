"""The groups, which are brought together piece by piece, as cheaply as their order allows.

Where each group stands in one stretch of rows, the rows flow through in batches and only the
unfinished group is kept; no key is hashed. Where a group turns up twice, all rows are taken at
once and grouped by hashing. A thread works on the arrays of one piece while the next is read.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source, run_starts
from prframe._engine.rows import (
    UNRETRIEVED,
    in_groups,
    key_names,
    labels_are_gains,
    prepare,
    threshold_key,
)
from prframe.errors import PrframeError
from prframe.metrics.quantities import above_name
from prframe.typing import Floats, Integers

# From this size on a group is worth a sort that uses all cores.
_HUGE_GROUP = 1 << 20
_SAMPLE_ROWS = 1 << 16


@dataclass(frozen=True)
class Ranking:
    """The rows that are ranked and the arguments.

    `spares_gains` leaves out gains that labels repeat; totals count scores from `thresholds` on.
    """

    source: Source
    args: Arguments
    include_unretrieved: bool = False
    extra: tuple[str, ...] = ()
    spares_gains: bool = False
    thresholds: tuple[float, ...] = ()

    def over_groups(self, compute: Callable[["Piece"], pl.DataFrame]) -> pl.DataFrame:
        """Apply a computation to pieces made of complete groups and stack what it returns."""
        return self.of_pieces(lambda pieces: pl.concat(list(map(compute, pieces))))

    def of_pieces(self, join: Callable[[Iterable["Piece"]], pl.DataFrame]) -> pl.DataFrame:
        """Return what a function makes of all pieces; it is called again if a group is in two."""
        try:
            return join(self._pieces())
        except _ScatteredGroupsError:
            return join([self._gathered(self.source.whole())])

    def _pieces(self) -> Iterator["Piece"]:
        """Yield runs of complete groups while each group stands in one stretch of rows."""
        if self.source.runs is not None:
            yield self._grouped(self.source.runs)
            return
        if not self.args.keys:
            yield self._gathered(self.source.whole())
            return
        batches = self.source.batches()
        first = next(batches, None)
        if first is not None and (self.source.scattered or self._looks_scattered(first)):
            yield self._gathered(self.source.joined(first, batches))
            return
        batches = chain([] if first is None else [first], batches)
        heads = []
        # While a piece is used, other rows would take memory.
        del first
        for rows in map(self._prepared, self.source.whole_runs(self.args.keys, batches)):
            if rows.height:
                piece = Piece.of_runs(self, rows)
                heads.append(piece.keys)
                del rows
                yield piece
                del piece
        if not heads:
            yield self._gathered(self.source.whole())
        elif _has_repeats(pl.concat(heads)):
            raise _ScatteredGroupsError

    def _looks_scattered(self, batch: pl.DataFrame) -> bool:
        """Return whether groups turn up twice in the first rows; to find out late costs more."""
        keys = batch.head(_SAMPLE_ROWS).select(self.args.keys)
        return _has_repeats(keys[run_starts(keys.get_columns())])

    def _prepared(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Check rows of the caller and return the working columns."""
        spared = self.spares_gains and labels_are_gains(rows[self.args.label], self.args)
        extra = (name for name in self.extra if not (spared and name == "gain"))
        prepared = prepare(rows, self.args, self.source, *extra)
        self.source.seen.lost &= not self.include_unretrieved
        return prepared

    def _gathered(self, rows: pl.DataFrame) -> "Piece":
        """Return all rows of the caller as one piece."""
        return self._grouped(self._prepared(rows))

    def _grouped(self, rows: pl.DataFrame) -> "Piece":
        """Return prepared rows as one piece, each group's brought together, in input order."""
        keys = key_names(self.args)
        if not keys:
            one_run = pl.lit(0, dtype=pl.UInt8).alias("run")
            return Piece(self, rows.with_columns(one_run), pl.DataFrame())
        lists = rows.lazy().group_by(keys, maintain_order=True).agg(pl.exclude(keys).implode())
        groups = lists.collect(engine="in-memory")
        # The rows are in the lists now; those as they came take as much memory again.
        del rows, lists
        count = groups["key"].list.len().to_numpy()
        run = pl.Series("run", np.repeat(np.arange(groups.height, dtype=np.uint32), count))
        flat = groups.select(pl.exclude(keys).explode(empty_as_null=False))
        return Piece(self, flat.with_columns(run), groups.select(keys))


class _ScatteredGroupsError(Exception):
    """A group turned up in two stretches of rows."""


def _has_repeats(keys: pl.DataFrame) -> bool:
    """Return whether keys turn up more than once."""
    return keys.n_unique() < keys.height


@dataclass(frozen=True)
class Piece:
    """Rows of complete groups, numbered in ``run``; `keys` holds the keys of each group."""

    ranking: Ranking
    rows: pl.DataFrame
    keys: pl.DataFrame

    @classmethod
    def of_runs(cls, ranking: Ranking, rows: pl.DataFrame) -> "Piece":
        """Make a piece of rows that hold their keys, each group of which is a run already."""
        names = key_names(ranking.args)
        keys = pl.DataFrame([rows[name] for name in names])
        starts = run_starts(keys.get_columns())
        sizes = np.diff(starts, append=rows.height)
        run = pl.Series("run", np.repeat(np.arange(starts.size, dtype=np.uint32), sizes))
        others = [column for column in rows.iter_columns() if column.name not in names]
        return cls(ranking, pl.DataFrame([*others, run]), keys[starts])

    @cached_property
    def positive(self) -> NDArray[np.bool_]:
        """Whether each row is positive."""
        return self.rows["positive"].to_numpy()

    @cached_property
    def all_ranked(self) -> bool:
        """Whether all rows are ranked: no score is -inf, or these rows are ranked as well."""
        least = self.rows["key"].to_numpy().min(initial=UNRETRIEVED + 1)
        return self.ranking.include_unretrieved or bool(least > UNRETRIEVED)

    def aggregate(self, **columns: pl.Expr) -> pl.DataFrame:
        """Return one row per group: its keys and aggregates, which implode many values."""
        n_huge = self.rows.height // _HUGE_GROUP
        if n_huge and self.first_rows.size <= n_huge:
            # A select sorts on all cores; inside group_by a group has one.
            groups = pl.concat([group.select(**columns) for group in self.groups()])
        else:
            # A sorted key spares the hashing.
            rows = self.rows.lazy().with_columns(pl.col("run").set_sorted())
            grouped = rows.group_by("run", maintain_order=True).agg(**columns)
            groups = grouped.drop("run").collect(engine="streaming")
        return pl.concat([self.keys, groups], how="horizontal") if self.keys.width else groups

    def groups(self) -> "Iterator[pl.DataFrame]":
        """Yield the rows of each group."""
        if not self.rows.height:
            return
        for low, high in pairwise([*self.first_rows.tolist(), self.rows.height]):
            yield self.rows.slice(low, high - low)

    @cached_property
    def first_rows(self) -> Integers:
        """The first row of each group."""
        return run_starts([self.rows["run"]])

    @property
    def sizes(self) -> Integers:
        """The number of rows of each group."""
        return np.diff(self.first_rows, append=self.rows.height)

    @property
    def n_items(self) -> Integers:
        """The number of items of each group, for which there is a row each, or for several."""
        return self.counts(np.ones(self.rows.height, np.bool_)) if self.is_counted else self.sizes

    @property
    def is_counted(self) -> bool:
        """Whether a row may stand for several items."""
        return "count" in self.rows.columns

    def counts(self, mask: NDArray[np.bool_]) -> Integers:
        """Return how many items of each group are in rows that a mask marks."""
        if self.is_counted:
            return np.add.reduceat(self.rows["count"].to_numpy() * mask, self.first_rows)
        if self.first_rows.size == 1:
            return np.array([np.count_nonzero(mask)])
        # Sums of bytes are several times faster in 32 bits, which hold the number of any rows.
        counts = np.add.reduceat(mask.view(np.uint8), self.first_rows, dtype=np.uint32)
        return counts.astype(np.int64)


_LARGEST_SUM = 1e100


def group_totals(
    piece: Piece, weights: Mapping[str, Integers | Floats] | None = None
) -> pl.DataFrame:
    """Return the totals of each group, with its keys, checked; `weights` replace counts."""
    positive = piece.positive
    n_pos = piece.counts(positive)
    seen = piece.ranking.source.seen
    n_items = piece.n_items
    seen.rows |= positive.size > 0
    n_positives = n_pos.sum()
    seen.positives |= bool(n_positives > 0)
    seen.negatives |= bool(n_positives < n_items.sum())
    counts: dict[str, Integers | Floats] = {
        "n": n_items if piece.all_ranked else piece.counts(retrieved(piece)),
        "present_pos": n_pos,
        "present_neg": n_items - n_pos,
    }
    if weights is None:
        weights = {above_name(t): items_above(piece, t) for t in piece.ranking.thresholds}
    above = weights.keys() - counts.keys()
    counts |= weights
    args = piece.ranking.args
    for name in ("n_pos", "n_neg"):
        if getattr(args, name) is None:
            counts[name] = counts[f"present_{name[2:]}"]
    aggregates = _given_totals(piece)
    seen.nameless |= {
        key
        for key, name in zip(args.keys, key_names(args), strict=True)
        if piece.keys[name].null_count()
    }
    keys = piece.aggregate(**aggregates) if aggregates else piece.keys
    columns = [pl.Series(name, values) for name, values in counts.items()]
    groups = _checked(pl.DataFrame([*keys.iter_columns(), *columns]), piece)
    names = [*key_names(args), "n", "n_pos", "n_neg", "present_pos"]
    totals = pl.DataFrame([groups[name] for name in [*names, *sorted(above)]])
    if args.n_pos is not None:
        seen.unlisted |= bool((totals["n_pos"] > totals["present_pos"]).any())
    if seen.totals is not None:
        seen.totals.append(totals)
    return totals


def items_above(piece: Piece, threshold: float) -> Integers:
    """Count the items of each group whose score reaches a threshold."""
    return piece.counts(reaching(piece, threshold))


def reaching(piece: Piece, threshold: float) -> NDArray[np.bool_]:
    """Return which rows have a score that reaches a threshold."""
    return np.asarray(piece.rows["key"].to_numpy() >= least_key(piece, threshold))


def least_key(piece: Piece, threshold: float) -> int:
    """Return the least key of a score that reaches a threshold."""
    args, schema = piece.ranking.args, piece.ranking.source.schema
    return threshold_key(threshold, schema[args.score], float32=args.float32)


def retrieved(piece: Piece) -> NDArray[np.bool_]:
    """Return which rows are retrieved."""
    return piece.rows["key"].to_numpy() > UNRETRIEVED


def _given_totals(piece: Piece) -> dict[str, pl.Expr]:
    """Return the aggregates of the columns that say more of a group than its rows do."""
    args = piece.ranking.args
    totals: dict[str, pl.Expr] = {}
    for name in ("n_pos", "n_neg"):
        if isinstance(getattr(args, name), str):
            totals |= {name: pl.col(name).first(), f"{name}_values": pl.col(name).n_unique()}
    if args.item is not None and not piece.ranking.source.distinct:
        totals["repeated"] = pl.len() - pl.col("item").n_unique()
    return totals


def _checked(groups: pl.DataFrame, piece: Piece) -> pl.DataFrame:
    """Settle n_pos and n_neg, and refuse groups whose totals or items contradict each other."""
    args = piece.ranking.args
    number = pl.Int64 if args.weight is None else pl.Float64
    if "repeated" in groups.columns:
        bad = groups.filter(pl.col("repeated") > 0)
        number_repeated = bad["repeated"].sum()
        got = pl.lit(f"{number_repeated} repeated row{'s' * (number_repeated != 1)}")
        must = f"`item` {args.item!r} must name each item once"
        remedy = "drop the duplicates, or name the columns that keep rankings apart with by="
        _refuse_groups(bad, piece, must, got, remedy)
    if args.weight is not None:
        total = pl.col("present_pos") + pl.col("present_neg")
        # Products of two sums must be floats.
        is_usual = (total == 0) | total.is_between(1 / _LARGEST_SUM, _LARGEST_SUM)
        must = f"`weight` {args.weight!r} must add up to a number from 1e-100 to 1e100"
        remedy = "divide all weights by the same number"
        _refuse_groups(groups.filter(~is_usual), piece, must, total, remedy)
    totals = {}
    for name, present in (("n_pos", "present_pos"), ("n_neg", "present_neg")):
        given = getattr(args, name)
        if given is not None:
            total = pl.col(name) if isinstance(given, str) else pl.lit(given)
            totals[name] = total.cast(number)
            _refuse_wrong_totals(groups.with_columns(total.alias(name)), piece, name, present)
    if not totals:
        return groups
    groups = groups.with_columns(**totals)
    if args.weight is None:
        both = pl.col("n_pos") + pl.col("n_neg")
        must = "`n_pos` and `n_neg` must add up to 2^53 at most, beyond which floats round"
        remedy = "give smaller totals"
        _refuse_groups(groups.filter(both > checks.LARGEST_COUNT), piece, must, both, remedy)
    return groups


def _refuse_wrong_totals(groups: pl.DataFrame, piece: Piece, name: str, present: str) -> None:
    """Refuse groups whose given total of a class varies or is below what is present."""
    given = getattr(piece.ranking.args, name)
    if isinstance(given, str):
        values = pl.col(f"{name}_values")
        got = pl.format("{} different values", values)
        must = f"`{name}` {given!r} must be constant within a group"
        remedy = "if a group holds several queries, name their column in over= or by="
        _refuse_groups(groups.filter(values > 1), piece, must, got, remedy)
    below = groups.filter(pl.col(name) < pl.col(present))
    got = pl.format("{} given, {} present", name, present)
    must, remedy = f"`{name}` must be at least what is present", "count what is listed as well"
    _refuse_groups(below, piece, must, got, remedy)


def _refuse_groups(bad: pl.DataFrame, piece: Piece, must: str, got: pl.Expr, remedy: str) -> None:
    """Raise if any group is bad: what must hold, what was got, what to do."""
    if bad.height:
        # Of several chunks some may be empty, which polars does not expect when it formats.
        first = bad.head(1).rechunk().select(got).item()
        where = in_groups(bad.select(key_names(piece.ranking.args)).rows())
        raise PrframeError(f"{must}: {first}{where}; {remedy}.")


T = TypeVar("T")
R = TypeVar("R")


class Task(NamedTuple, Generic[T]):
    """A computation: work that a thread may do, and what the calling thread makes of it."""

    work: Callable[[], Any]
    finish: Callable[[Any], T]

    def result(self) -> T:
        """Return the result, computed by the calling thread alone."""
        return self.finish(self.work())

    def then(self, compute: Callable[[T], R]) -> "Task[R]":
        """Return the task whose result is computed from that of this one."""
        return Task(self.work, lambda done: compute(self.finish(done)))


def results(tasks: Iterable[Task[T]]) -> Iterator[T]:
    """Yield the results of tasks in order; the work of one is done while the next one is made."""
    if pl.thread_pool_size() == 1:
        yield from map(Task.result, tasks)
        return
    with ThreadPoolExecutor(1, "prframe") as thread:
        begun = []
        for task in tasks:
            begun.append((thread.submit(task.work), task.finish))
            # While results are used, the rows of the last task would take memory.
            del task
            if len(begun) > 1:
                work, finish = begun.pop(0)
                yield finish(work.result())
                del work, finish
        for work, finish in begun:
            yield finish(work.result())


def prefetched(items: Iterator[T]) -> Generator[T]:
    """Yield items in order, of which a thread makes the next one while the last one is used."""
    end: Any = object()
    with ThreadPoolExecutor(1, "prframe") as thread:
        upcoming = thread.submit(next, items, end)
        while (item := upcoming.result()) is not end:
            upcoming = thread.submit(next, items, end)
            yield item
