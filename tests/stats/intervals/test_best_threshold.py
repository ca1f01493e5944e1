"""The interval of the best threshold is what tests of all thresholds, one by one, leave in."""

from math import inf, isnan

import numpy as np
from hypothesis import given, strategies as st
from scipy.special import betainc

from prframe.stats import Confidence, cells_from_scores
from prframe.stats.intervals import best_threshold_interval
from prframe.stats.rankings import cluster_counts

ITEMS = st.lists(
    st.tuples(
        st.sampled_from([-inf, -1.0, 0.0, 0.5, 1.0, 2.0, 3.5, 4.0, 5.0]),
        st.booleans(),
        st.integers(0, 4),
    ),
    min_size=2,
    max_size=30,
)


def squares_over_units(
    score: np.ndarray,
    label: np.ndarray,
    unit: np.ndarray,
    best: float,
    other: float,
    weight: float,
) -> tuple[float, float, float, float]:
    """Return positives and negatives between two thresholds, the share, and the variance of Z."""
    one = np.where(label, 1.0, weight)
    above, retrieved = score >= best, (score > -inf) & (score >= other)
    between = above != retrieved
    divisor = one[above].sum() + label.sum()
    f = label[above].sum() / divisor
    z = np.where(label, 1 - f, -f * weight) * between
    q = np.where(label, np.where(above, 2 * f - 1, f), np.where(above, f * weight, 0.0))
    terms = z + q * one[between].sum() / divisor
    units = np.unique(unit)
    sums = np.array([terms[unit == number].sum() for number in units])
    variance = (sums**2).sum() * len(units) / (len(units) - 1)
    share = weight * f / (1 - f + weight * f)
    return label[between].sum(), (~label[between]).sum(), share, variance


def naive_p_value(pos: float, neg: float, share: float, variance: float, *, lower: bool) -> float:
    """Return the p-value of the binomial test whose numbers are divided by the ratio."""
    if not pos + neg:
        return 1.0
    # Z is that of Bernoulli variates times 1 - f + w f.
    ratio = max(1.0, variance / ((pos + neg) * share * (1 - share)))
    a, b = pos / ratio, neg / ratio
    if lower:
        return 1 - betainc(a + 1, b, share) if b else 1.0
    return float(betainc(a, b + 1, share)) if a else 1.0


@given(items=ITEMS, prior=st.sampled_from([None, 0.2, 0.7]), level=st.sampled_from([0.5, 0.95]))
def test_clusters_agree_with_all_tests(
    items: list[tuple[float, bool, int]], prior: float | None, level: float
) -> None:
    """All thresholds that the sample has are in the interval if and only if their test says so."""
    score, label, unit = (np.array(column) for column in zip(*items, strict=True))
    retrieved_pos = label & (score > -inf)
    if retrieved_pos.sum() < 2 or len(set(unit)) < 2:
        return
    cells, cell = cells_from_scores(score, label)
    clusters = cluster_counts(cell, label, unit, cells.pos.size)
    found = best_threshold_interval(
        cells, (score[label], score[~label]), Confidence(level), prior=prior, clusters=clusters
    )
    n_neg = int((~label).sum())
    weight = 1.0 if prior is None or not n_neg else label.sum() * (1 - prior) / prior / n_neg
    kept = []
    for other in sorted(set(score[score > -inf])):
        pos, neg, share, variance = squares_over_units(
            score, label, unit, found.estimate, other, weight
        )
        f = share / (weight - weight * share + share)
        scaled = variance / (1 - f + weight * f) ** 2
        p_value = naive_p_value(pos, neg, share, scaled, lower=other < found.estimate)
        assert abs(p_value - (1 - level)) > 1e-9 or p_value == 0
        if p_value >= 1 - level:
            kept.append(other)
    assert found.high == max(kept)
    assert found.low <= min(kept)
    lower = [other for other in set(score[score > -inf]) if other < min(kept)]
    # The next score is where thresholds retrieve other items, which only negatives do as well.
    if lower:
        negatives = not label[score == max(lower)].any()
        assert found.low >= min(lower) if negatives else found.low >= max(lower)
    else:
        assert found.low == -inf


def test_one_cluster_and_one_positive_tell_nothing() -> None:
    score, label = np.arange(6.0), np.array([0, 0, 0, 1, 0, 1]).astype(bool)
    cells, cell = cells_from_scores(score, label)
    one = cluster_counts(cell, label, np.zeros(6, dtype=int), cells.pos.size)
    found = best_threshold_interval(cells, (score[label], score[~label]), clusters=one)
    assert found.estimate == 3
    assert isnan(found.low)
    assert isnan(found.high)
    alone, _ = cells_from_scores(score[:4], label[:4])
    found = best_threshold_interval(alone, ([3.0], [0.0, 1.0, 2.0]))
    assert found.estimate == 3
    assert isnan(found.low)
