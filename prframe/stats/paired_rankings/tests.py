"""Tests of the difference of a metric between two rankings of the same items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from prframe.stats._p_values import of_small_sample, sampled_p_value
from prframe.stats.intervals import Confidence, percentile_interval
from prframe.stats.paired_rankings.areas import area_swap_test, auc_covariance
from prframe.stats.paired_rankings.rankings import PairedRankings
from prframe.stats.paired_rankings.unseen import Margin, correlation_from, correlation_of
from prframe.stats.paired_values import PairedTest
from prframe.stats.rank_statistics import rank_difference
from prframe.stats.rankings import CellEvaluator, RocArea
from prframe.typing import Alternative, Floats


class RankingComparison(NamedTuple):
    """The comparison of a metric in two rankings; NaN for undefined numbers.

    Examples
    --------
    >>> from prframe.stats import AveragePrecision, compare_rankings
    >>> compared = compare_rankings([3, 2, 1], [1, 2, 3], [True, False, False], AveragePrecision())
    >>> round(compared.difference, 3), compared.p_value, compared.method
    (0.667, 0.75, 'randomization-exact')
    """

    value_a: float
    value_b: float
    difference: float
    conf_low: float
    conf_high: float
    statistic: float
    p_value: float
    p_std_error: float
    method: str


def untested(value_a: float, value_b: float) -> RankingComparison:
    """Return two values, with nothing said of their difference."""
    numbers = dict.fromkeys(RankingComparison._fields[3:-1], np.nan)
    return RankingComparison(value_a, value_b, value_a - value_b, **numbers, method="")


def swap_tests(
    rankings: PairedRankings,
    pair: tuple[int, int],
    alternatives: Sequence[Alternative],
    n_resamples: int,
    rng: np.random.Generator,
) -> list[PairedTest]:
    """Test two rankings by swaps of their ranks, which are drawn unless AUC is the metric."""
    label, metrics = rankings.evaluate.label, rankings.evaluate.statistics
    levels = rankings.levels[list(pair)]
    tests = {
        row: area_swap_test(levels, label, rankings.units, alternatives[row])
        for row, metric in enumerate(metrics)
        if isinstance(metric, RocArea)
    }
    if drawn := [row for row in range(len(metrics)) if row not in tests]:
        some = CellEvaluator(label, [metrics[row] for row in drawn])
        chosen = PairedRankings(levels, some, rankings.cluster)
        swaps = chosen.randomization(0, 1, n_resamples, rng)
        differences = np.subtract(*chosen.values().T).tolist()
        method = "randomization-exact" if swaps.exact else "randomization"
        for row, observed, null in zip(drawn, differences, swaps.differences, strict=True):
            p = sampled_p_value(observed, null, alternatives[row], exact=swaps.exact)
            tests[row] = PairedTest(observed, *p, method)
    return [tests[row] for row in range(len(metrics))]


def resampled_comparison(  # noqa: PLR0913, PLR0917
    values: Floats,
    replicates: Floats,
    confidences: Sequence[Confidence],
    n_units: int,
    tests: Sequence[PairedTest] | None = None,
    margin: Margin | None = None,
) -> list[RankingComparison]:
    """Compare two rankings by their resamples, metric by metric.

    Quantiles and p-values are corrected for the number of units; see `Confidence.expanded`. One
    unit has no interval. Without `tests`, p-values come from the resampled differences less the
    observed one. `margin` extends intervals to those of both rankings.
    """
    comparisons = []
    for row, ((a, b), confidence) in enumerate(zip(values, confidences, strict=True)):
        difference, drawn = float(a - b), replicates[row, 0] - replicates[row, 1]
        if tests is None:
            counted = sampled_p_value(difference, drawn - difference, confidence.alternative)
            p = of_small_sample(*counted, n_units, confidence.alternative)
            test = PairedTest(difference, *p, "bootstrap")
        else:
            test = tests[row]
        low, high = np.nan, np.nan
        # Resamples of one positive do not vary as samples do.
        if n_units != 1:
            low, high = percentile_interval(drawn, confidence.expanded(n_units))
        if margin is not None:
            correlation = correlation_of(*replicates[row])
            low, high = margin.extended(row, (low, high), correlation, confidence)
        numbers = (low, high, difference, test.p_value, test.std_error)
        comparisons.append(
            RankingComparison(float(a), float(b), difference, *numbers, test.method)
        )
    return comparisons


def delong_comparison(
    rankings: PairedRankings, pair: tuple[int, int], confidence: Confidence, margin: Margin | None
) -> RankingComparison:
    """Compare the AUC of two rankings by the normal distribution; see `auc_covariance`.

    Rankings that do not differ have the values that `paired_rank_test` describes.
    """
    areas = auc_covariance(rankings.levels[list(pair)], rankings.evaluate.label, rankings.cluster)
    found = rank_difference(areas, confidence)
    ends = found.conf_low, found.conf_high
    if margin is not None:
        ends = margin.extended(0, ends, correlation_from(areas.covariance), confidence)
    a, b = areas.estimates.tolist()
    return RankingComparison(a, b, a - b, *ends, found.z, found.p_value, np.nan, "delong")
