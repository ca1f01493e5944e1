"""Tails of AP on a lattice, for many small groups at once."""

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.stats import APNull
from prframe.stats.ap_lattice import NEAREST, Retrieved, lattice_tails

CASES = [(1000, 10, 1000), (300, 12, 300), (50, 8, 50), (400, 20, 90), (4000, 6, 70), (65, 30, 64)]


@pytest.mark.parametrize("z", [-0.3, 0.5, 2.0, 4.0])
def test_agrees_with_the_inversion(z):
    nulls = [APNull(n, n_pos, depth=depth, method="transform") for n, n_pos, depth in CASES]
    x = np.array([null.mean() + z * null.std() for null in nulls])
    ends = [null.support() for null in nulls]
    chosen = [
        k
        for k, (low, high) in enumerate(ends)
        if 1.01 * low < x[k] < 0.9 * high and x[k] * CASES[k][1] > NEAREST
    ]
    assert len(chosen) >= 3
    values = np.array([x[k] * CASES[k][1] for k in chosen])
    found = lattice_tails([Retrieved(*CASES[k]) for k in chosen], values)
    assert not found.lumpy.all()
    for k, reached, missed, _, lumpy in zip(chosen, *found, strict=True):
        if lumpy:
            continue
        assert reached == pytest.approx(nulls[k].logsf(x[k]), abs=0.01)
        assert missed == pytest.approx(nulls[k].logcdf(x[k]), abs=0.01)


def test_both_tails_add_up():
    found = lattice_tails([Retrieved(200, 9, 200)] * 20, np.linspace(0.5, 8, 20))
    assert np.exp(found.reached) + np.exp(found.missed) == pytest.approx(np.ones(20), abs=1e-9)
    assert (np.diff(found.reached) < 0).all()


def test_single_values_that_carry_weight_are_noticed():
    # One of six positives is retrieved at most, hardly ever two: T is 1, 1/2, 1/3, ...
    found = lattice_tails([Retrieved(4_000, 6, 70)] * 3, np.array([1.0, 0.5, 0.2]))
    assert found.lumpy.all()
    rows = pl.concat(
        pl.DataFrame(
            {"q": q, "score": -np.arange(70.0), "label": np.arange(70) == q, "n_pos": 6, "n": 3994}
        )
        for q in range(12)
    )
    tested = prframe.ap_test(rows, by="q", n_pos="n_pos", n_neg="n")
    for q in range(12):
        alone = APNull(4_000, 6, depth=70).sf(1 / (6 * (q + 1)))
        assert tested["p_value"][q] == pytest.approx(alone, rel=0.02)


def test_many_groups_are_what_one_is():
    rng = np.random.default_rng(3)
    groups = pl.concat(
        pl.DataFrame(
            {
                "q": q,
                "score": rng.normal(size=60 + q) + np.repeat([1, 0], [5 + q % 4, 55 + q - q % 4]),
                "label": np.arange(60 + q) < 5 + q % 4,
            }
        )
        for q in range(12)
    )
    rows = prframe.ap_test(groups, by="q")
    assert "lattice" in rows["method"].to_list()
    for q in range(12):
        alone = prframe.ap_test(groups.filter(pl.col("q") == q)).row(0, named=True)
        expected = pytest.approx(alone["log10_p_value"], abs=0.005)
        assert rows["log10_p_value"][q] == expected
