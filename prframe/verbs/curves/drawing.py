"""The rows of curves: counts along the thresholds of each group, and the rates from them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl

from prframe._engine.frames import Source
from prframe._engine.pieces import Piece, Ranking
from prframe._engine.ranks import Thresholds, thresholds
from prframe._engine.rows import ROW, computed, key_names
from prframe._engine.runs import Counting
from prframe._engine.tasks import results
from prframe.metrics.quantities import HAIR_BELOW, precision
from prframe.stats._arrays import first_at_least
from prframe.typing import RowOrder
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
    """Add the gains ``(x - pi) / ((1 - pi) x)`` of the rates x; pi is the share, or a prior."""
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
    order: RowOrder = "rank"
    verb: str = "curve"
    then: Callable[[pl.DataFrame], pl.DataFrame] | None = None
    undefined: str = "recall"

    def accepts(self) -> Accepts:
        """Return the arguments under which there is one ranking."""
        in_order = self.order == "input"
        is_counted = self.levels is not None and not in_order
        return replace(
            of_one_ranking(self.verb),
            has_mean=self.verb == "curve" and self.then is None and not in_order,
            undivided="order='input' keeps the order of the rows" if in_order else "",
            # Levels of recall need the blocks with positives, and the first one.
            counting=Counting(_scores, blocks=True) if is_counted else None,
        )

    def results(self, source: Source) -> pl.DataFrame:
        """Return a row per threshold, level or input row, and warn of groups without a class."""
        rows = self._by_input(source) if self.order == "input" else self.rows(source)
        lack = [positives_of(self.args), *(["negatives"] if len(self.needs) > 1 else [])]
        warn_undefined([self.undefined], rows, self.args, pl.col("lacking"), lack)
        return rows.drop("lacking")

    def rows(self, source: Source) -> pl.DataFrame:
        """Return the rows, with the best score first, and whether their groups lack a class."""

        def draw(piece: Piece, ranked: Thresholds) -> pl.DataFrame:
            rows = _with_totals(_with_thresholds(ranked, piece), ranked.totals)
            rows = self.rates(_with_anchors(rows, ranked.totals) if self.anchor else rows)
            if self.levels is not None:
                rows = _at_levels(rows, ranked.totals, self.levels)
            return self._shown(rows, key_names(self.args))

        def draw_all(pieces: Iterable[Piece]) -> pl.DataFrame:
            tasks = (thresholds(piece).then(partial(draw, piece)) for piece in pieces)
            return pl.concat(list(results(tasks)))

        ranking = Ranking(source, self.args, self.include_unretrieved, ("score",))
        return ranking.of_pieces(draw_all)

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


def _scores(_: Source) -> tuple[str, ...]:
    """Return that scores are needed of items."""
    return ("score",)


def _with_thresholds(ranked: Thresholds, piece: Piece) -> pl.DataFrame:
    """Return tie blocks with their scores."""
    score = piece.rows["score"].cast(pl.Float64).gather(ranked.last_rows)
    return ranked.table.with_columns(threshold=score)


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


def _at_levels(rows: pl.DataFrame, totals: pl.DataFrame, levels: Sequence[float]) -> pl.DataFrame:
    """Return for each group and level the first row whose recall reaches the level."""
    group = np.repeat(np.arange(totals.height), len(levels))
    n_pos = totals["n_pos"].to_numpy()
    needed = np.asarray(levels) * n_pos[:, None] * HAIR_BELOW
    bounds = np.searchsorted(rows["group"].to_numpy(), np.arange(totals.height + 1))
    stops = bounds[group + 1]
    place = first_at_least(rows["tp"].to_numpy(), bounds[group], stops, needed.ravel())
    defined = n_pos[group] > 0
    reached, counts = defined & (place < stops), (*_COUNTS, "precision")
    points = rows.select(counts)
    points = points[np.where(reached, place, 0)] if rows.height else points.clear(group.size)
    points = points.with_columns(pl.when(pl.lit(pl.Series(reached))).then(pl.col(counts)))
    points = points.with_columns(
        pl.Series("recall", np.tile(np.asarray(levels, dtype=np.float64), totals.height)),
        pl.when(pl.lit(pl.Series(defined))).then(pl.col("precision").fill_null(0.0)),
    )
    return pl.concat([points, totals.drop("n", "present_pos")[group]], how="horizontal")
