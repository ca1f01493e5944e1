"""Rankings in cells, and metrics as functions of their counts."""

from math import inf, isnan

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import prframe
from prframe.stats.rankings import (
    AveragePrecision,
    Bedroc,
    CellStatistic,
    Enrichment,
    F1At,
    FAt,
    LargestF1,
    LiftAt,
    PrecisionAt,
    PrecisionAtRecall,
    RecallAt,
    RelativePrecisionAt,
    RocArea,
    RPrecision,
    SetStatistic,
    TrapezoidArea,
)
from prframe.stats.rankings.cells import RankedCells, cells_from_scores

SMOOTH: list[CellStatistic] = [AveragePrecision(), TrapezoidArea(), RocArea(), LargestF1()]
SMOOTH += [Bedroc(20.0), Bedroc(0.5)]
SETS: list[CellStatistic] = [SetStatistic("precision"), SetStatistic("recall"), SetStatistic("ap")]
SETS += [SetStatistic("f"), SetStatistic("f", 2.0)]
CUT: list[CellStatistic] = [PrecisionAt(1), PrecisionAt(4), RecallAt(3), RecallAt(50)]
CUT += [FAt(4, 2.0), FAt(50, 0.5)]
CUT += [F1At(4), F1At(50), LiftAt(3), RelativePrecisionAt(3), RPrecision(), Enrichment(0.3)]
LEVELS: list[CellStatistic] = [PrecisionAtRecall(r) for r in (0.1, 0.3, 0.5, 0.9)]
ROWS = st.lists(
    st.tuples(st.sampled_from([-inf, 0.0, 1.0, 2.0, 3.0, inf]), st.booleans()),
    min_size=1,
    max_size=12,
)


def split(rows: list[tuple[float, bool]]) -> tuple[list[float], list[bool]]:
    return [score for score, _ in rows], [label for _, label in rows]


def metric(statistic: CellStatistic, rows: list[tuple[float, bool]]) -> float:
    """Ask the catalogue, or the curve."""
    frame = pl.DataFrame(rows, schema={"score": pl.Float64, "label": pl.Boolean}, orient="row")
    if isinstance(statistic, PrecisionAtRecall):
        value = prframe.curve(frame, recall=[statistic.r])["precision"][0]
    else:
        value = prframe.evaluate(frame, statistic.name)[statistic.name][0]
    return np.nan if value is None else value


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")
@pytest.mark.filterwarnings(
    "ignore::prframe.NoNegativesWarning", "ignore::prframe.NoPositivesWarning"
)
@pytest.mark.parametrize("statistic", SMOOTH + SETS + CUT + LEVELS, ids=lambda one: one.name)
@given(rows=ROWS, data=st.data())
def test_values_are_those_of_the_repeated_rows(
    statistic: CellStatistic, rows: list[tuple[float, bool]], data: st.DataObject
) -> None:
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    cells, cell = cells_from_scores(*split(rows))
    labels = np.array([label for _, label in rows])
    kept = [np.array(times) * labels, np.array(times) * ~labels]
    pos, neg = (np.bincount(cell, one, minlength=cells.pos.size) for one in kept)
    repeated = [row for row, often in zip(rows, times, strict=True) for _ in range(often)]
    resampled = metric(statistic, repeated) if repeated else np.nan
    if not repeated and statistic.name.startswith(("P@", "SetP")):
        resampled = 0.0
    values = statistic.values(np.stack([cells.pos, pos]), np.stack([cells.neg, neg]))
    expected = [metric(statistic, rows), resampled]
    assert values == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert statistic.value(cells) == pytest.approx(expected[0], abs=1e-12, nan_ok=True)


def random_cells(seed: int, n: int = 60) -> RankedCells:
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 25, n).astype(float)
    score[score < 2] = -inf
    return cells_from_scores(score, rng.random(n) < 0.4)[0]


@pytest.mark.parametrize("statistic", SMOOTH + SETS, ids=lambda one: one.name)
@pytest.mark.parametrize("seed", range(2))
def test_influence_is_the_derivative(statistic: CellStatistic, seed: int) -> None:
    cells, step = random_cells(seed), 1e-6
    influence = statistic.influence(cells)
    for side in (0, 1):
        counts = (cells.pos, cells.neg)[side]
        for at in np.flatnonzero(counts):
            ends = []
            for sign in (-1, 1):
                weights = [cells.pos.astype(float), cells.neg.astype(float)]
                weights[side][at] += sign * step
                ends.append(statistic.values(*weights))
            slope = (ends[1] - ends[0]) / (2 * step)
            assert influence[side][at] == pytest.approx(slope, abs=1e-8)


@pytest.mark.parametrize("statistic", SMOOTH + SETS + CUT + LEVELS, ids=lambda one: one.name)
def test_influence_adds_up_to_nothing(statistic: CellStatistic) -> None:
    for seed in range(5):
        cells = random_cells(seed)
        values, number = statistic.influence(cells).of_items(cells)
        assert number @ values == pytest.approx(0, abs=1e-12)


def test_influence_on_precision_at_a_cut_within_a_large_tie_block_is_the_derivative() -> None:
    # k stays the same share of all items.
    pos, neg, k = np.array([3.0, 0, 9, 2, 0]), np.array([0.0, 2, 21, 5, 1]), 15

    def precision(weights: list[np.ndarray]) -> float:
        depth = k * (weights[0].sum() + weights[1].sum()) / (pos.sum() + neg.sum())
        size = weights[0] + weights[1]
        above = np.cumsum(size) - size
        return float(weights[0] @ (np.clip(depth - above, 0, size) / size)) / depth

    influence = PrecisionAt(k).influence(RankedCells(pos.astype(int), neg.astype(int)))
    for side, counts in enumerate((pos, neg)):
        for at in np.flatnonzero(counts):
            ends = []
            for sign in (-1, 1):
                weights = [pos.copy(), neg.copy()]
                weights[side][at] += sign * 1e-6
                ends.append(precision(weights))
            assert influence[side][at] == pytest.approx((ends[1] - ends[0]) / 2e-6, abs=1e-8)


def test_the_variance_of_auc_is_delong_s() -> None:
    rng = np.random.default_rng(3)
    good, bad = rng.integers(2, 12, 23), rng.integers(0, 10, 31)
    wins = (good[:, None] > bad) + (good[:, None] == bad) / 2
    delong = wins.mean(1).var(ddof=1) / 23 + wins.mean(0).var(ddof=1) / 31
    cells, _ = cells_from_scores(np.append(good, bad), np.arange(54) < 23)
    influence = RocArea().influence(cells)
    parts = [influence.pos**2 @ cells.pos * 23 / 22, influence.neg**2 @ cells.neg * 31 / 30]
    assert sum(parts) == pytest.approx(delong, rel=1e-12)


def test_what_is_not_there_is_not_defined() -> None:
    none = RankedCells(np.array([0, 0]), np.array([3, 0]))
    defined = {one.name for one in SMOOTH + SETS + CUT + LEVELS if not isnan(one.value(none))}
    assert defined == {"P@1", "P@4", "SetP"}
    every = RankedCells(np.array([3, 0]), np.array([0, 0]))
    assert isnan(RocArea().value(every))
    assert isnan(Bedroc().value(every))
    assert np.isnan(Bedroc().influence(every).pos).all()
    assert AveragePrecision().value(every) == 1


def test_refusals() -> None:
    with pytest.raises(prframe.PrframeError, match=r"`k` must be a whole number >= 1; got 0."):
        PrecisionAt(0)
    with pytest.raises(prframe.PrframeError, match=r"`r` must be a number > 0 and <= 1; got 0."):
        PrecisionAtRecall(0.0)
    with pytest.raises(prframe.PrframeError, match="of one length; got shapes"):
        cells_from_scores([1.0, 2.0], [True])
    with pytest.raises(prframe.PrframeError, match=r"`score` must not be NaN: 1 of 2."):
        cells_from_scores([1.0, np.nan], [True, False])
    with pytest.raises(prframe.PrframeError, match=r"`neg` must be whole numbers >= 0; got -1."):
        RankedCells([1, 0], [-1, 0])
    for pos, neg in [([1, 0], [1]), ([], []), (1, 1)]:
        with pytest.raises(prframe.PrframeError, match="at least one; got shapes"):
            RankedCells(pos, neg)


COUNTS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=8)


@given(COUNTS, st.integers(1, 30))
def test_hits_are_means_over_the_orders_within_ties(counts, k) -> None:
    pos, neg = np.array(counts).T
    cells = RankedCells(pos, neg)
    # Each item of a retrieved cell is positive with the share of positives in its cell.
    shares = [p / (p + m) for p, m in counts[:-1] for _ in range(p + m)]
    assert PrecisionAt(k).value(cells) == pytest.approx(sum(shares[:k]) / k)
