"""Inversions between the humps of rankings with and without a hit at the top."""

import numpy as np
import pytest

from prframe.stats import APNull
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
