"""The array functions against plain enumeration in rational arithmetic; what is public of them."""

import re
from fractions import Fraction
from itertools import permutations
from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from prframe import RR, stats
from prframe.stats import tie_expectations as tied_ranks
from prframe.stats.tie_expectations import (
    expected_reciprocal_rank,
    hit_probability,
    mean_shortfall,
)

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def first_hits(size: int, hits: int) -> list[int]:
    """Return the position of the first hit in every order of a block."""
    return [order.index(1) + 1 for order in permutations([1] * hits + [0] * (size - hits))]


@pytest.mark.parametrize("size", range(1, 7))
def test_block_expectations(size: int) -> None:
    for hits in range(1, size + 1):
        firsts = first_hits(size, hits)
        for depth in range(size + 1):
            inside = [first for first in firsts if first <= depth]
            share = Fraction(len(inside), len(firsts))
            assert hit_probability([size], [hits], [depth])[0] == pytest.approx(float(share))
            for start in (0, 3):
                mean = sum((Fraction(1, start + first) for first in inside), Fraction(0))
                got = expected_reciprocal_rank([start], [size], [hits], [depth])[0]
                assert got == pytest.approx(float(mean / len(firsts)), abs=1e-15)


def test_long_sums_come_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    size = rng.integers(1, 200, 300)
    hits = rng.integers(1, size + 1)
    start = rng.integers(0, 100, 300)
    depth = rng.integers(0, size + 1)
    whole = expected_reciprocal_rank(start, size, hits, depth)
    monkeypatch.setattr(tied_ranks, "_CHUNK", 64)
    np.testing.assert_allclose(
        expected_reciprocal_rank(start, size, hits, depth), whole, rtol=1e-12
    )


def test_large_blocks_at_the_top_have_a_closed_form() -> None:
    size = np.array([1 << 20, (1 << 20) - 1, 10**12, 10**12])
    hits = np.array([40, 40, 1, 10**9])
    got = expected_reciprocal_rank(np.zeros(4, np.int64), size, hits, size)
    # One item less, whose terms are added up, moves the mean by a millionth of itself.
    assert got[0] == pytest.approx(got[1], rel=2e-6)
    assert got[2] == pytest.approx((log(10**12) + np.euler_gamma) / 10**12, rel=1e-12)
    # Next to independent hits: p ln(1 / p) / (1 - p), and p is .001.
    assert got[3] == pytest.approx(0.001 * log(1000) / 0.999, rel=1e-8)
    assert RR.at_random(10**12, 1) == got[2]


@pytest.mark.parametrize("pages", ["index.rst", "stats/*.rst"])
def test_public_names_stand_in_the_reference(pages: str) -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted(REFERENCE.glob(pages))]
    after = [text.split(".. currentmodule:: prframe.stats")[1] for text in texts]
    arrays = "\n".join(text.split(".. toctree::")[0] for text in after)
    listed = re.findall(r"^(?: {3}| *\.\. auto\w+:: )(\w+)$", arrays, re.MULTILINE)
    assert sorted(listed) == sorted(stats.__all__)


def test_public_names_come_with_an_example() -> None:
    result_of = {"PRBootstrap": "pr_bootstrap", "PRPosterior": "pr_posterior"}
    result_of["PairedTest"] = "paired_t_test"
    for name in stats.__all__:
        assert ">>> " in getattr(stats, result_of.get(name, name)).__doc__, name


@pytest.mark.filterwarnings("error::RuntimeWarning")
@given(
    st.floats(0, 1),
    st.one_of(st.just(0.0), st.floats(5e-324, 1e-290), st.floats(1e-15, 1)),
    st.floats(0, 1),
)
def test_mean_shortfall_keeps_its_digits(start: float, width: float, reach: float) -> None:
    """Narrow stretches far below the reach are as exact as wide ones."""
    end = start + width
    got = float(mean_shortfall(np.array(start), np.array(end), np.array(reach)))
    first, last, level = Fraction(start), Fraction(end), Fraction(reach)
    left, right = max(level - first, Fraction(0)), max(level - last, Fraction(0))
    exact = (left**2 - right**2) / (2 * (last - first)) if last > first else left
    assert got == pytest.approx(float(exact), rel=1e-12, abs=1e-16)
    assert got <= max(reach - start, 0)
