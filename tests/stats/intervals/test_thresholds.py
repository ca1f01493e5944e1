"""Intervals of metrics at a threshold, against naive draws of the four counts."""

import itertools

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import beta, binom

from prframe.stats.curves import drawn_weights
from prframe.stats.intervals import (
    Confidence,
    posterior_replicates,
    proportion_interval,
    ranking_interval,
)
from prframe.stats.rankings import (
    AtPrior,
    CellStatistic,
    RankedCells,
    SetStatistic,
)
from prframe.typing import Floats

METRICS: dict[str, CellStatistic] = {
    "P": SetStatistic("precision"),
    "R": SetStatistic("recall"),
    "Specificity": SetStatistic("specificity"),
    "F1": SetStatistic("f"),
    "F2": SetStatistic("f", beta=2.0),
    "P R": SetStatistic("ap"),
    "BalancedAccuracy": SetStatistic("balanced accuracy"),
    "MCC": SetStatistic("matthews"),
}
# Positives and negatives that pass, and that do not.
TABLES = [(30, 12, 10, 200), (40, 8, 0, 352), (0, 5, 25, 70), (25, 0, 1, 74), (12, 90, 3, 0)]


def cells_of(tp: int, fp: int, fn: int, tn: int) -> RankedCells:
    """Return a ranking of which the first two counts are retrieved."""
    return RankedCells(pos=[tp, fn], neg=[fp, tn])


def by_definition(name: str, tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    """Return a metric of four shares, as textbooks define it."""
    precision, recall, specificity = tp / (tp + fp), tp / (tp + fn), tn / (tn + fp)
    spread = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return {
        "P": precision,
        "R": recall,
        "Specificity": specificity,
        "F1": 2 * tp / (2 * tp + fp + fn),
        "F2": 5 * tp / (5 * tp + fp + 4 * fn),
        "P R": precision * recall,
        "BalancedAccuracy": (recall + specificity) / 2,
        "MCC": (tp * tn - fp * fn) / spread,
    }[name]


def naive_shares(
    table: tuple[int, int, int, int], end: str, prior: float | None, rng: np.random.Generator
) -> list[Floats]:
    """Draw prevalence, recall and false positive rate one by one, each from a beta distribution."""
    good = {0: 0.0, 1: 1.0}
    bad = {0: 1.0, 1: 1.5}
    right = good if end == "low" else bad
    wrong = bad if end == "low" else good
    rules = [right, wrong, wrong, right]
    tp, fp, fn, tn = (
        rule.get(count, count + 0.5) for rule, count in zip(rules, table, strict=True)
    )

    def share(a: float, b: float) -> Floats:
        """Draw from a beta distribution, of which a shape may be 0."""
        if not a or not b:
            return np.full(50_000, float(a > 0))
        return rng.beta(a, b, 50_000)

    p = share(tp + fn, fp + tn) if prior is None else np.full(50_000, prior)
    recall, rate = share(tp, fn), share(fp, tn)
    return [p * recall, (1 - p) * rate, p * (1 - recall), (1 - p) * (1 - rate)]


@pytest.mark.parametrize("prior", [None, 0.3])
@pytest.mark.parametrize("table", TABLES[::2])
@pytest.mark.parametrize("name", METRICS)
def test_draws_are_those_of_beta_distributions(
    name: str, table: tuple[int, int, int, int], prior: float | None
) -> None:
    rng = np.random.default_rng(1)
    metric = METRICS[name] if prior is None else AtPrior(METRICS[name], prior)
    [drawn] = posterior_replicates(cells_of(*table), [metric], drawn_weights(10_000, rng))
    for end, level in itertools.product(("low", "high"), (0.025, 0.2)):
        values = by_definition(name, *naive_shares(table, end, prior, rng))
        at = level if end == "low" else 1 - level
        wanted = np.quantile(values, at)
        if np.ptp(values) == 0:
            assert np.quantile(drawn, at) == pytest.approx(wanted)
        else:
            assert (drawn <= wanted).mean() == pytest.approx(at, abs=0.015)


@pytest.mark.parametrize(("hits", "trials"), [(57, 60), (2, 500), (200, 400)])
def test_recall_has_the_interval_of_jeffreys(hits: int, trials: int) -> None:
    cells = cells_of(hits, 7, trials - hits, 93)
    found = ranking_interval(cells, SetStatistic("recall"), n_resamples=40_000, rng=1)
    wanted = [float(end) for end in proportion_interval(hits, trials, method="jeffreys")]
    assert [found.low, found.high] == pytest.approx(wanted, abs=0.1 * found.std_error)
    assert found.estimate == hits / trials


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_recall_of_all_is_bounded_as_by_clopper_and_pearson(alternative: str) -> None:
    confidence = Confidence(0.95, alternative)  # type: ignore[arg-type]
    cells = cells_of(40, 8, 0, 352)
    found = ranking_interval(
        cells, SetStatistic("recall"), "auto", confidence, n_resamples=40_000, rng=1
    )
    least = 0.0 if alternative == "less" else beta.ppf(confidence.tail, 40.5, 1)
    assert (found.low, found.high) == pytest.approx((least, 1), abs=0.002)


def coverage(
    chances: tuple[float, float, float, float], n: int, name: str, samples: int = 400
) -> float:
    """Return the share of samples whose interval holds the metric of the population."""
    rng, true = np.random.default_rng([3, n]), by_definition(name, *map(np.float64, chances))
    covered = 0
    for number in range(samples):
        if number % 20 == 0:
            weights = drawn_weights(2000, rng)
        tp, fp, fn, tn = rng.multinomial(n, chances)
        cells = cells_of(tp, fp, fn, tn)
        [drawn] = posterior_replicates(cells, [METRICS[name]], weights)
        found = ranking_interval(cells, METRICS[name], replicates=drawn)
        covered += found.low <= true <= found.high
    return covered / samples


@pytest.mark.slow
@pytest.mark.parametrize("name", ["BalancedAccuracy", "MCC", "F1"])
@pytest.mark.parametrize(
    ("share", "n", "apart", "threshold"),
    [(0.1, 400, 4.0, 2.0), (0.1, 200, 1.5, -0.3), (0.1, 200, 2.0, 0.0), (0.5, 200, 2.0, 3.0)],
)
def test_intervals_at_a_threshold_cover(
    share: float, n: int, apart: float, threshold: float, name: str
) -> None:
    recall, rate = float(ndtr(apart - threshold)), float(ndtr(-threshold))
    chances = (
        share * recall,
        (1 - share) * rate,
        share * (1 - recall),
        (1 - share) * (1 - rate),
    )
    assert coverage(chances, n, name) >= binom.ppf(0.001, 400, 0.94) / 400
