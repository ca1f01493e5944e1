"""Tests of the difference of a metric between two rankings of the same items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from prframe.stats._p_values import of_small_sample, sampled_p_value
from prframe.stats._units import units_of
from prframe.stats.intervals import Confidence, bca_interval, percentile_interval
from prframe.stats.paired_rankings.areas import area_swap_test, auc_covariance
from prframe.stats.paired_rankings.rankings import PairedRankings
from prframe.stats.paired_rankings.unseen import Room, correlation_from, correlation_of
from prframe.stats.paired_values import PairedTest
from prframe.stats.rank_statistics import rank_difference
from prframe.stats.rankings import CellEvaluator, RocArea
from prframe.typing import Alternative, Floats, Integers


class RankingComparison(NamedTuple):
    """A metric of two rankings, and whether it differs; NaN for undefined numbers.

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
    n_undefined: int
    method: str


def untested(value_a: float, value_b: float) -> RankingComparison:
    """Return two values, with nothing said of their difference."""
    return RankingComparison(
        value_a=value_a,
        value_b=value_b,
        difference=value_a - value_b,
        conf_low=np.nan,
        conf_high=np.nan,
        statistic=np.nan,
        p_value=np.nan,
        p_std_error=np.nan,
        n_undefined=0,
        method="",
    )


def swap_tests(
    rankings: PairedRankings,
    pair: tuple[int, int],
    alternatives: Sequence[Alternative],
    n_resamples: int,
    rng: np.random.Generator,
) -> list[PairedTest]:
    """Test two rankings by swaps of their ranks, which are drawn unless AUC is the metric."""
    tests = _area_tests(rankings, pair, alternatives)
    if drawn := [row for row in range(len(alternatives)) if row not in tests]:
        chosen = _with_metrics(rankings, drawn) if tests else rankings
        swaps = chosen.randomization(*pair, n_resamples, rng)
        differences = np.subtract(*chosen.values()[:, list(pair)].T).tolist()
        method = "randomization-exact" if swaps.exact else "randomization"
        for row, observed, null in zip(drawn, differences, swaps.differences, strict=True):
            p = sampled_p_value(observed, null, alternatives[row], exact=swaps.exact)
            tests[row] = PairedTest(observed, *p, method)
    return [tests[row] for row in range(len(alternatives))]


def _area_tests(
    rankings: PairedRankings, pair: tuple[int, int], alternatives: Sequence[Alternative]
) -> dict[int, PairedTest]:
    """Return the tests of AUC, by the number of the metric."""
    evaluate = rankings.evaluate
    if not isinstance(evaluate, CellEvaluator):
        return {}
    levels = rankings.levels[list(pair)]
    units = units_of(rankings.cluster, levels.shape[1])
    return {
        row: area_swap_test(levels, evaluate.label, units, alternatives[row])
        for row, metric in enumerate(evaluate.statistics)
        if isinstance(metric, RocArea)
    }


def _with_metrics(rankings: PairedRankings, chosen: Sequence[int]) -> PairedRankings:
    """Return the rankings with some of their metrics of cells."""
    evaluate = cast(CellEvaluator, rankings.evaluate)
    some = CellEvaluator(evaluate.label, [evaluate.statistics[row] for row in chosen])
    return PairedRankings(rankings.levels, some, rankings.cluster)


def resampled_comparison(  # noqa: PLR0913, PLR0917
    values: Floats,
    replicates: Floats,
    confidences: Sequence[Confidence],
    n_units: int,
    tests: Sequence[PairedTest] | None = None,
    bends: Floats | None = None,
    room: Room | None = None,
) -> list[RankingComparison]:
    """Compare two rankings by their resamples, metric by metric.

    Quantiles and p-values are corrected for the number of units; see `Confidence.expanded`. One
    unit has no interval. Without `tests`, p-values come from the resampled differences less the
    observed one. With `bends`, the accelerations, intervals are BCa. `room` has the intervals of
    either ranking, to which those of the differences are extended.
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
        expanded = confidence.expanded(n_units)
        if n_units == 1:
            # Resamples of one positive do not vary as samples do.
            low, high = np.nan, np.nan
        elif bends is None:
            low, high = percentile_interval(drawn, expanded)
        else:
            low, high = bca_interval(difference, drawn, float(bends[row]), expanded)
        if room is not None:
            correlation = correlation_of(*replicates[row])
            low, high = room.around(row, (low, high), correlation, confidence)
        comparisons.append(
            RankingComparison(
                value_a=float(a),
                value_b=float(b),
                difference=difference,
                conf_low=low,
                conf_high=high,
                statistic=difference,
                p_value=test.p_value,
                p_std_error=test.std_error,
                n_undefined=int(np.isnan(drawn).sum()),
                method=test.method,
            )
        )
    return comparisons


def delong_comparison(
    levels: Integers,
    label: ArrayLike,
    confidence: Confidence,
    cluster: ArrayLike | None = None,
    room: Room | None = None,
) -> RankingComparison:
    """Compare the AUC of two rankings by the normal distribution; see `auc_covariance`.

    Rankings that do not differ have the values that `paired_rank_test` describes.
    """
    areas = auc_covariance(levels, label, cluster)
    difference = rank_difference(areas, confidence)
    low, high = difference.conf_low, difference.conf_high
    if room is not None:
        correlation = correlation_from(areas.covariance)
        low, high = room.around(0, (low, high), correlation, confidence)
    return untested(*areas.estimates.tolist())._replace(
        conf_low=low,
        conf_high=high,
        statistic=difference.z,
        p_value=difference.p_value,
        method="delong",
    )
