"""Upper tails near the largest AP, where rankings are counted by what they lack."""

from itertools import combinations
from math import exp, log

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.stats import APNull
from prframe.stats.null.average_precision.tails.counted import lack_lattice
from prframe.stats.null.average_precision.tails.counted.lack_lattice import log_tail_by_lack

# log P(AP >= x) with its standard error, from draws of tilted rankings that are weighed: (n, n_pos,
# sizes of tie blocks that repeat, x).
REFERENCES = {
    (200, 180, (), 0.9970): (-42.2444, 0.0040),
    (200, 180, (), 0.9980490254366645): (-46.5404, 0.0040),
    (200, 180, (), 0.9984): (-48.2809, 0.0039),
    (200, 120, (), 0.9961699090405484): (-116.4926, 0.0023),
    (200, 120, (), 0.9933609277301729): (-110.414, 0.0075),
    (200, 120, (), 0.9951809903076548): (-114.177, 0.0065),
    (200, 150, (), 0.9955707790717524): (-88.086, 0.0076),
    (200, 150, (), 0.9964234789374466): (-90.669, 0.0072),
    (160, 96, (), 0.9957468969701707): (-92.544, 0.0059),
    (160, 96, (), 0.9965783367875406): (-94.161, 0.0057),
    (200, 140, (1, 9), 0.970564735042026): (-65.687, 0.012),
    (200, 140, (1, 9), 0.9762635446664949): (-71.5187, 0.0029),
    (200, 140, (1, 9), 0.9831242942521138): (-79.929, 0.008),
    (200, 140, (1, 9), 0.9877618527123906): (-86.844, 0.008),
    (200, 140, (9, 1), 0.9727993822658535): (-67.852, 0.008),
    (200, 140, (9, 1), 0.9836645160559956): (-80.666, 0.008),
    (300, 210, (1, 9), 0.9813639082946831): (-113.921, 0.009),
    (300, 210, (1, 9), 0.9925228282559058): (-141.016, 0.008),
}


@pytest.mark.parametrize("case", REFERENCES, ids=str)
def test_references(case: tuple[int, int, tuple[int, ...], float]) -> None:
    """Inversion of a walk whose steps took many ranks was off by 5 to 13 %, unlabelled."""
    n, n_pos, sizes, x = case
    log_p, error = REFERENCES[case]
    null = APNull(n, n_pos, list(sizes) * (n // sum(sizes)) if sizes else None)
    assert null.logsf(x) == pytest.approx(log_p, abs=0.01 + 3 * error)


@pytest.mark.parametrize(("n", "n_pos"), [(16, 8), (18, 6), (18, 13), (20, 16), (14, 3)])
def test_it_counts_all_rankings(n: int, n_pos: int) -> None:
    places = np.array(list(combinations(range(1, n + 1), n_pos)))
    total = (np.arange(1, n_pos + 1) / places).sum(axis=1)
    for target in np.quantile(total, [0.9, 0.97, 0.99]) - 1e-6:
        found = log_tail_by_lack(n, n_pos, target)
        # Single rankings carry weight here, of which those at the end count half.
        assert found is not None
        near = [np.mean(total >= target + by * (n_pos - target)) for by in (0.01, -0.01)]
        assert log(near[0]) - 1e-9 <= found <= log(near[1]) + 1e-9


@pytest.mark.parametrize(
    ("n", "n_pos", "x"), [(200, 180, 0.99), (150, 75, 0.985), (100, 60, 0.99), (400, 380, 0.998)]
)
def test_it_is_between_certified_bounds(n: int, n_pos: int, x: float) -> None:
    low, high = APNull(n, n_pos).sf_bounds(x, cell=0.005)
    found = log_tail_by_lack(n, n_pos, n_pos * x)
    assert found is not None
    assert low * 0.998 <= exp(found) <= high * 1.002


@pytest.mark.parametrize(("n", "n_pos", "x"), [(200, 100, 0.97), (300, 280, 0.99), (90, 30, 0.95)])
def test_more_cells_change_little(n: int, n_pos: int, x: float, monkeypatch) -> None:
    found = log_tail_by_lack(n, n_pos, n_pos * x)
    monkeypatch.setattr(lack_lattice, "_CELLS", 8000)
    assert found == pytest.approx(log_tail_by_lack(n, n_pos, n_pos * x), abs=0.005)


def test_where_it_would_take_long_there_is_none() -> None:
    assert log_tail_by_lack(10_000, 5_000, 4_900.0) is None
    assert log_tail_by_lack(200, 100, 100.0) is None


@pytest.mark.parametrize(("n", "n_pos"), [(3000, 6), (1000, 5), (2900, 12), (300, 30)])
def test_parts_that_crowd_in_a_cell_are_not_counted_there(n: int, n_pos: int) -> None:
    """Where m negatives above a positive lack m/(i + m), further ones lack hardly more."""
    assert log_tail_by_lack(n, n_pos, n_pos - 0.995) is None
    assert APNull(n, n_pos).tails(1 - 0.995 / n_pos).method == "exact"


def test_tails_are_monotone_where_methods_meet() -> None:
    null = APNull(200, 120)
    x = np.linspace(0.85, 0.999, 60)
    assert (np.diff([null.logsf(value) for value in x]) < 0).all()
    assert set(null.tails(x).method) == {"transform", "lattice", "exact"}


def test_segments_that_are_ranked_nearly_perfectly() -> None:
    rng = np.random.default_rng(4)
    label = np.repeat([True, False], [110, 90])
    frame = pl.DataFrame({"score": rng.normal(size=200) + 3.0 * label, "label": label})
    row = prframe.ap_test(frame).row(0, named=True)
    assert row["method"] == "lattice"
    low, high = APNull(200, 110).sf_bounds(row["ap"], cell=0.01)
    assert low <= row["p_value"] <= high
