"""The rows of curves: counts along the thresholds of each group, and the rates from them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe._engine.frames import Source
from prframe._engine.pieces import Piece, Ranking
from prframe._engine.ranks import Thresholds, thresholds, thresholds_reaching
from prframe._engine.rows import ROW, computed, key_names
from prframe._engine.runs import Counting
from prframe._engine.tasks import Task, results
from prframe.metrics.quantities import HAIR_BELOW, precision
from prframe.stats._arrays import first_at_least
from prframe.typing import Floats, Integers, RowOrder
from prframe.verbs._plan import Accepts, Plan
from prframe.verbs._verb import positives_of, warn_undefined

_COUNTS = ("threshold", "k", "tp", "fp")


def precision_recall(
    prior: float | None, *, interpolate: bool
) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Return a function that adds recall and precision to the counts."""
    tp, fp, n_pos, n_neg = (pl.col(name) for name in ("tp", "fp", "n_pos", "n_neg"))
    after = precision(tp, fp, prior, n_pos, n_neg)
    value = pl.when(pl.col("k") == 0).then(1.0).otherwise(after)

    def add(rows: pl.DataFrame) -> pl.DataFrame:
        rates = computed(rows, recall=_ratio(tp, n_pos), precision=value)
        rows = pl.concat([rows, rates], how="horizontal")
        if not interpolate:
            return rows
        return rows.with_columns(pl.col("precision").cum_max(reverse=True).over("group"))

    return add


def with_gains(rows: pl.DataFrame, prior: float | None) -> pl.DataFrame:
    """Add the gains of recall and precision, ``(x - pi) / ((1 - pi) x)`` of a rate x.

    The share of positives pi is the prior, if one is given.
    """
    n_pos, n_neg = pl.col("n_pos"), pl.col("n_neg")
    share = pl.lit(prior)
    if prior is None:
        share = pl.when((n_pos > 0) & (n_neg > 0)).then(n_pos / (n_pos + n_neg))
    gains = {
        f"{name}_gain": (pl.col(name) - share) / ((1 - share) * pl.col(name))
        for name in ("recall", "precision")
    }
    return pl.concat([rows, computed(rows, **gains)], how="horizontal")


def true_false_rates(rows: pl.DataFrame) -> pl.DataFrame:
    """Add fpr and tpr to the counts."""
    fpr, tpr = _ratio(pl.col("fp"), pl.col("n_neg")), _ratio(pl.col("tp"), pl.col("n_pos"))
    return pl.concat([rows, computed(rows, fpr=fpr, tpr=tpr)], how="horizontal")


def _ratio(count: pl.Expr, total: pl.Expr) -> pl.Expr:
    """Return count / total, null where the total is 0."""
    return pl.when(total > 0).then(count / total)


def of_one_ranking(name: str) -> Accepts:
    """Return the arguments under which a group has one ranking, and so one curve."""
    return Accepts(name, one_ranking="which have different curves; draw")


@dataclass(frozen=True)
class Drawing(Plan):
    """The plan of a curve: counts along the thresholds, and the rates that follow from them."""

    rates: Callable[[pl.DataFrame], pl.DataFrame]
    names: tuple[str, ...]
    needs: tuple[str, ...]
    include_unretrieved: bool
    anchor: bool
    levels: Sequence[float] | None = None
    interpolate: bool = False
    order: RowOrder = "rank"
    verb: str = "curve"
    then: Callable[[pl.DataFrame], pl.DataFrame] | None = None
    undefined: str = "recall"

    def accepts(self) -> Accepts:
        """Return the arguments under which there is one ranking."""
        return of_one_ranking(self.verb)

    def has_mean(self) -> bool:
        """Tell that gains and rows in input order are of single curves."""
        return self.then is None and self.order == "rank"

    def undivided(self) -> str:
        """Return that rows in input order are a matter of the whole frame."""
        return "order='input' keeps the order of the rows" if self.order == "input" else ""

    def counting(self) -> Counting | None:
        """Return that levels of recall need the blocks with positives, and the first one."""
        if self.levels is None or self.order == "input":
            return None
        return Counting(_scores, blocks=True)

    def results(self, source: Source) -> pl.DataFrame:
        """Return a row per threshold, level or input row, and warn of groups without a class."""
        return self._warned(self._by_input(source) if self.order == "input" else self.rows(source))

    def rows(self, source: Source) -> pl.DataFrame:
        """Return the rows, with the best score first, and whether their groups lack a class."""

        def draw(piece: Piece, ranked: Thresholds) -> pl.DataFrame:
            rows = _with_totals(_with_thresholds(ranked, piece), ranked.totals)
            rows = self.rates(_with_anchors(rows, ranked.totals) if self.anchor else rows)
            if self.levels is not None:
                rows = _at_levels(rows, ranked.totals, self.levels)
            return self._shown(rows, key_names(self.args))

        def draw_all(pieces: Iterable[Piece]) -> pl.DataFrame:
            tasks = (self._ranked(piece).then(partial(draw, piece)) for piece in pieces)
            return pl.concat(list(results(tasks)))

        ranking = Ranking(source, self.args, self.include_unretrieved, ("score",))
        return ranking.of_pieces(draw_all)

    def _ranked(self, piece: Piece) -> Task[Thresholds]:
        """Find the blocks whose rows are needed: at levels of recall, those that reach one."""
        if self.levels is None or self.interpolate:
            return thresholds(piece)
        if self.args.weight is None and not piece.is_counted:
            return thresholds_reaching(piece, partial(_needed, self.levels))
        return thresholds(piece).then(partial(_reaching, self.levels))

    def _by_input(self, source: Source) -> pl.DataFrame:
        """Return a row per input row, in input order."""
        frame = source.whole().with_row_index(ROW)

        def draw(piece: Piece) -> pl.DataFrame:
            ranked = thresholds(piece).result()
            rows = self.rates(_with_totals(_with_thresholds(ranked, piece), ranked.totals))
            row = piece.rows["row"].to_numpy()[ranked.order]
            return self._shown(rows, [])[ranked.block_of_row].with_columns(row=row)

        ranking = Ranking(
            source.holding(frame), self.args, self.include_unretrieved, ("score", "row")
        )
        rows = ranking.over_groups(draw)
        keys = zip(self.args.keys, key_names(self.args), strict=True)
        every = frame.select(
            pl.col(ROW).alias("row"), *(pl.col(key).alias(by) for key, by in keys)
        )
        joined = every.join(rows, on="row", how="left", maintain_order="left")
        return joined.drop("row")

    def _shown(self, rows: pl.DataFrame, others: list[str]) -> pl.DataFrame:
        """Return the columns of the result, and whether the group lacks a class."""
        rows = rows if self.then is None else self.then(rows)
        lacking = pl.any_horizontal(pl.col(self.needs) == 0).alias("lacking")
        return rows.select(*others, *_COUNTS, *self.names, lacking)

    def _warned(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Warn once of groups that lack a class."""
        if rows["lacking"].any():
            keys = key_names(self.args)
            groups = rows.group_by(keys or pl.lit(0), maintain_order=True).agg(
                pl.col("lacking").any()
            )
            lack = [positives_of(self.args), *(["negatives"] if len(self.needs) > 1 else [])]
            warn_undefined([self.undefined], groups, self.args, lack)
        return rows.drop("lacking")


def _scores(_: Source) -> tuple[str, ...]:
    """Return that scores are needed of items."""
    return ("score",)


def _with_thresholds(ranked: Thresholds, piece: Piece) -> pl.DataFrame:
    """Return tie blocks with their scores."""
    score = piece.rows["score"].cast(pl.Float64).gather(ranked.last_rows)
    return ranked.table.with_columns(threshold=score)


def _reaching(levels: Sequence[float], ranked: Thresholds) -> Thresholds:
    """Return the blocks that first reach a level of recall."""
    reach = _Reach.of(ranked.group, ranked.tp, ranked.totals, levels)
    return ranked.among(np.unique(reach.place[reach.reached]))


def _needed(levels: Sequence[float], n_pos: Integers | Floats) -> Floats:
    """Return how many positives reach each level of recall, shape (n_groups, n_levels)."""
    wanted = np.asarray(levels, dtype=np.float64)
    return np.asarray(wanted * n_pos[:, None] * HAIR_BELOW)


def _with_totals(rows: pl.DataFrame, totals: pl.DataFrame) -> pl.DataFrame:
    """Add each row's keys and group totals."""
    return pl.concat([rows, totals.drop("n", "present_pos")[rows["group"]]], how="horizontal")


def _with_anchors(rows: pl.DataFrame, totals: pl.DataFrame) -> pl.DataFrame:
    """Put the row k = 0 before each group's first."""
    opening = {"threshold": np.inf, "k": 0, "tp": 0, "fp": 0}
    anchors = totals.drop("n", "present_pos").with_columns(
        pl.int_range(pl.len()).alias("group"),
        *(pl.lit(value).cast(rows.schema[name]).alias(name) for name, value in opening.items()),
    )
    stacked = pl.concat([rows.select(anchors.columns), anchors])
    firsts = np.searchsorted(rows["group"].to_numpy(), np.arange(totals.height))
    places = np.insert(np.arange(rows.height), firsts, rows.height + np.arange(totals.height))
    return stacked[places]


class _Reach(NamedTuple):
    """Where the recall of each group reaches each level, group by group."""

    group: Integers
    level: Floats
    place: Integers
    reached: NDArray[np.bool_]
    defined: NDArray[np.bool_]

    @classmethod
    def of(
        cls, group: Integers, tp: Floats, totals: pl.DataFrame, levels: Sequence[float]
    ) -> "_Reach":
        """Find the first row that reaches a level, given the groups of rows and their tp."""
        groups = np.repeat(np.arange(totals.height), len(levels))
        wanted = np.tile(np.asarray(levels, dtype=np.float64), totals.height)
        bounds = np.searchsorted(group, np.arange(totals.height + 1))
        starts, stops = bounds[groups], bounds[groups + 1]
        n_pos = totals["n_pos"].to_numpy()
        place = first_at_least(tp, starts, stops, _needed(levels, n_pos).ravel())
        return cls(groups, wanted, place, place < stops, n_pos[groups] > 0)


def _at_levels(rows: pl.DataFrame, totals: pl.DataFrame, levels: Sequence[float]) -> pl.DataFrame:
    """Return for each group and level the first row whose recall reaches the level."""
    reach = _Reach.of(rows["group"].to_numpy(), rows["tp"].to_numpy(), totals, levels)
    counts = (*_COUNTS, "precision")
    points = rows.select(counts)
    points = (
        points[np.where(reach.reached, reach.place, 0)]
        if rows.height
        else points.clear(reach.group.size)
    )
    is_reached = pl.lit(pl.Series(reach.reached & reach.defined))
    defined = pl.lit(pl.Series(reach.defined))
    points = points.with_columns(pl.when(is_reached).then(pl.col(counts)))
    points = points.with_columns(
        pl.Series("recall", reach.level),
        pl.when(defined).then(pl.col("precision").fill_null(0.0)),
    )
    return pl.concat([points, totals.drop("n", "present_pos")[reach.group]], how="horizontal")
