"""Lower tails far below the mean: enumeration, what is known near the least value, and laws."""

from itertools import combinations
from math import lgamma, log

import numpy as np
import pytest

from prframe.stats import APNull
from prframe.stats.null.average_precision.generating_function.lanes import Lanes
from prframe.stats.null.average_precision.generating_function.likely_path import (
    at_random,
    most_likely,
)
from prframe.stats.null.average_precision.generating_function.step_sums import _drifted, _gained
from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.stats.null.average_precision.generating_function.sunken_path import total_at
from prframe.stats.null.average_precision.generating_function.walk import Course
from prframe.stats.null.average_precision.groups import Case, Cases
from prframe.stats.null.average_precision.likely_tails import likely_log_tails

WAY = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.6])

# n, n_pos, items retrieved, tie blocks of equal size (0: no ties), share of the way from the least
# AP to the mean, log P(AP <= ap) and its standard error, by `python -m benchmarks.null_study
# --part lower`; before steps were fine at the end these were off by .2 to 120.
RECORDED = [
    (1000, 10, 1000, 0, 0.02, -18.876, 0.033),
    (10_000, 100, 10_000, 0, 0.02, -195.523, 0.065),
    (10_000, 100, 10_000, 0, 0.05, -123.087, 0.060),
    (10_000, 1000, 10_000, 0, 0.02, -1604.01, 0.11),
    (100_000, 100, 100_000, 0, 0.05, -121.818, 0.059),
    (1_000_000, 60, 1_000_000, 0, 0.01, -150.099, 0.045),
    (1_000_000, 100, 1_000_000, 0, 0.02, -194.439, 0.064),
    (1_000_000, 1000, 1_000_000, 0, 0.05, -1281.48, 0.11),
    (10_000_000, 100, 10_000_000, 0, 0.1, -68.677, 0.053),
    (1000, 50, 1000, 5, 0.03, -60.678, 0.045),
    (10_000, 100, 10_000, 100, 0.03, -91.077, 0.052),
    (10_000, 1000, 9500, 0, 0.03, -1492.62, 0.10),
]


def on_the_way(null: APNull, share: "float | np.ndarray") -> "float | np.ndarray":
    least = null.support()[0]
    return least + share * (null.mean() - least)


@pytest.mark.parametrize(("n", "n_pos", "depth", "block", "share", "log_p", "error"), RECORDED)
def test_recorded_lower_tails(
    n: int, n_pos: int, depth: int, block: int, share: float, log_p: float, error: float
) -> None:
    ties = [block] * (n // block) if block else None
    null = APNull(n, n_pos, ties, depth=depth if depth < n else None)
    value = float(null.logcdf(on_the_way(null, share)))
    assert abs(value - log_p) <= 3 * error + max(0.02, 1e-3 * abs(log_p))


@pytest.mark.parametrize(("n", "n_pos"), [(26, 7), (24, 12), (40, 5)])
def test_lower_tails_are_those_of_all_rankings(n: int, n_pos: int) -> None:
    ranks = np.array(list(combinations(range(1, n + 1), n_pos)))
    total = (np.arange(1, n_pos + 1) / ranks).sum(axis=1)
    null = APNull(n, n_pos)
    x = on_the_way(null, WAY)
    counted = [np.log((total <= n_pos * value * (1 + 1e-12)).mean()) for value in x]
    assert np.asarray(null.logcdf(x)) == pytest.approx(np.array(counted), abs=0.03)


def test_next_to_the_least_value_tails_are_those_of_a_gamma_distribution() -> None:
    # The gaps between 1/rank of rare positives at the end fill a simplex, whose volume is known.
    n, n_pos = 10**7, 40
    null = APNull(n, n_pos)
    least, mean = null.support()[0], null.mean()
    share = 0.01
    excess = n_pos * share * (mean - least)
    # log of n^(2m) (2 excess)^m / (m! m! (m + 1)!) over C(n, m)
    log_volume = n_pos * log(2 * n**2 * excess) - lgamma(n_pos + 1) * 2 - lgamma(n_pos + 2)
    log_count = n_pos * log(n) - lgamma(n_pos + 1)
    # Ranks become less dense upwards, which takes something off the volume.
    value = float(null.logcdf(least + share * (mean - least)))
    assert log_volume - log_count - 8 <= value <= log_volume - log_count


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_pos"), [(1000, 10), (10_000, 100), (10**6, 60), (10**5, 1000)])
def test_lower_tails_rise(n: int, n_pos: int) -> None:
    null = APNull(n, n_pos)
    x = on_the_way(null, np.linspace(0.005, 1.2, 40))
    # One by one, so that nothing makes them rise.
    alone = [float(APNull(n, n_pos).logcdf(value)) for value in x]
    assert (np.diff(alone) > 0).all()


def test_a_wrong_way_round_ranking_has_a_small_p_value() -> None:
    # All 60 positives are among the last 1,000 of a million.
    null = APNull(10**6, 60)
    ranks = 10**6 - 1000 + np.arange(60) * 16 + 1
    ap = float((np.arange(1, 61) / ranks).mean())
    found = null.p_value(ap, "less")
    # The chance that all of them are there bounds it from below, and it is not much larger.
    log_there = lgamma(1001) - lgamma(941) - (lgamma(10**6 + 1) - lgamma(10**6 - 59))
    assert log_there < np.log(found) < 0.6 * log_there


@pytest.mark.parametrize("is_low", [False, True])
def test_steps_that_are_fine_at_the_end_hold_the_same_items(is_low: bool) -> None:
    for items in (Items(5000, 5000), Items(5000, 4000), Items(500, 500, np.arange(5, 501, 5))):
        table = items.table(48, 0.08, is_fine_below=is_low)
        assert table.end[-1] == items.n
        assert (table.above[1:] == table.end[:-1]).all()
    fine = Items(5000, 5000).table(48, 0.08, is_fine_below=True)
    assert (fine.size[-48:] == 1).all()
    assert (fine.size <= np.maximum(1, 0.08 * (5000 - fine.above))).all()


@pytest.mark.parametrize(("n", "n_pos"), [(10_000, 50), (10**5, 100), (10**6, 1000)])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.4])
def test_paths_in_closed_form_lead_to_the_value(n: int, n_pos: int, share: float) -> None:
    null = APNull(n, n_pos)
    total = np.array([n_pos * on_the_way(null, share)])
    lanes = Lanes.of([Items(n, n).table(64, 0.08, is_fine_below=True)], [n_pos])
    path = most_likely(lanes, total)
    assert path.slope[0] < 0
    assert total_at(lanes, path.slope) == pytest.approx(total, rel=0.2)
    rough = likely_log_tails([Items(n, n)], [n_pos], total, is_lower=True)[0]
    log_tail = float(null.logcdf(total[0] / n_pos))
    assert rough == pytest.approx(log_tail, abs=2 + 0.05 * abs(log_tail))


@pytest.mark.parametrize(("n", "n_pos"), [(1000, 10), (1000, 100), (10**5, 30)])
def test_low_means_are_as_rare_as_their_terms_together(n: int, n_pos: int) -> None:
    null, count = APNull(n, n_pos), 10
    for share in (0.05, 0.2):
        x = float(on_the_way(null, share))
        mean = Cases([Case(n, n_pos, n)] * count).mean_tail(x)
        assert mean is not None
        assert mean.method == "saddlepoint"
        # All terms may be as low as the mean. That some are lower and others higher multiplies
        # this by no more than some e^3 a term, as Chernoff's bound of each has such a factor.
        each = float(null.logcdf(x))
        assert count * each < mean.log_missed < count * (each + 3)


@pytest.mark.parametrize("slope", [-300.0, -3.0, 3.0])
def test_walks_side_by_side_of_lists_that_are_cut_elsewhere_are_those_alone(slope: float) -> None:
    shapes = [Items(1000, 300), Items(2000, 2000), Items(1500, 700)]
    n_pos = [40, 40, 40]
    steps = [items.table(64, 0.08) for items in shapes]

    def log_mgf(places: "list[int]") -> "list[float]":
        lanes = Lanes.of([steps[k] for k in places], [n_pos[k] for k in places])
        course = Course.planned(lanes, at_random(lanes))
        return course.log_mgf(np.full((len(places), 1), slope))[:, 0].tolist()

    alone = [log_mgf([k])[0] for k in range(3)]
    assert log_mgf([0, 1, 2]) == pytest.approx(alone, rel=1e-9)


def test_what_a_step_gains_has_the_drift_as_its_derivative() -> None:
    slope = np.linspace(-400.0, 20.0, 43)
    variance, slack = np.float64(0.01), np.float64(0.8)
    step = 1e-4
    up, down = (_gained(slope + side, variance, slack) for side in (step, -step))
    assert (up - down) / 2 / step == pytest.approx(_drifted(slope, variance, slack), abs=1e-6)
    # Growth is never below the least, which slack is below the mean.
    assert (_gained(slope, variance, slack) <= np.maximum(-slope, 0) * slack + 2.0 + 1e-9).all()
    assert _gained(slope, np.zeros(43), np.zeros(43)).tolist() == [0.0] * 43
