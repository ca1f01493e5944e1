"""Inversions between the humps of rankings with and without a hit at the top, and their periods."""

import numpy as np
import pytest

from prframe.stats import APNull
from prframe.stats.null.average_precision.generating_function.inversion import Inversion
from prframe.stats.null.average_precision.generating_function.lanes import Lanes
from prframe.stats.null.average_precision.generating_function.path_search import along_paths
from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.stats.null.average_precision.generating_function.walk import DENSE, GROWTH, Course
from prframe.stats.null.average_precision.tails.plain import lattice


@pytest.mark.parametrize(("n", "n_pos"), [(1_000_000, 300), (10_000_000, 1000), (3_000_000, 700)])
def test_periods_reach_beyond_hits_at_the_top(n, n_pos, monkeypatch):
    # A lattice for so many hits would not be tried, but shares nothing with the inversion.
    monkeypatch.setattr(lattice, "MOST_HITS", 2000)
    null = APNull(n, n_pos)
    values = null.mean() + null.std() * np.array([1.0, 1.5, 1.75, 2.0, 3.0, 3.5, 4.0])
    cases = [lattice.Retrieved(n, n_pos, n)] * values.size
    expected = lattice.lattice_tails(cases, n_pos * values)
    assert not expected.lumpy.any()
    assert null.logsf(values) == pytest.approx(expected.reached, abs=1e-3)


@pytest.mark.parametrize("z", [-1.5, 0.4, 4.0, 40.0, 300.0])
@pytest.mark.parametrize(
    ("n", "n_pos", "depth"),
    [
        (3_000, 150, None),
        (2_000, 1_800, None),
        (100_000, 1_000, 1_000),
        (20_000, 3_000, 400),
        pytest.param(50_000, 25_000, None, marks=pytest.mark.slow),
        pytest.param(1_000_000, 1_000, None, marks=pytest.mark.slow),
    ],
)
def test_longer_periods_change_nothing(n, n_pos, depth, z, monkeypatch):
    null = APNull(n, n_pos, depth=depth)
    target = n_pos * (null.mean() + z * null.std())
    if not 0 < target < 0.9 * n_pos * null.support()[1]:
        pytest.skip("T takes few values there, or none")
    lanes = Lanes.of([Items(n, depth or n).table(DENSE, GROWTH)], [n_pos])
    points, path = along_paths(lanes, np.array([target]))
    course = Course.planned(lanes, path)
    slope = float(np.where(np.isnan(points.slope), path.slope, points.slope)[0])
    moments = np.array([n_pos * null.mean()]), np.array([n_pos * null.std()])
    periods: list[float] = []
    plain = Inversion._tail

    def noted(self, slope, group, x, period):
        periods.append(period)
        return plain(self, slope, group, x, period)

    monkeypatch.setattr(Inversion, "_tail", noted)
    at = np.zeros(1, np.int64), np.array([target])
    inversion = Inversion(course, *moments)
    own = inversion.at(slope, *at)
    period = periods[-1]
    longer = inversion._at(slope, *at, 5 * period)
    assert own.converged.all()
    assert longer.converged.all()
    assert own.reached == pytest.approx(longer.reached, abs=1.5e-3)
    assert own.missed == pytest.approx(longer.missed, abs=1.5e-3)
    deviation = float(inversion.tilts.at(slope).variance[0] ** 0.5)
    assert n >= 100_000 or period < 11 * deviation + 2 / abs(slope)
