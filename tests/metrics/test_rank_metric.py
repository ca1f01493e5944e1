"""The metric W: linear rank statistics in the catalogue."""

from itertools import product
from math import inf
from statistics import fmean

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

import prframe
from prframe import PrframeError, W, parse_metric
from prframe.stats.score_functions import (
    SCORE_GENERATING,
    base as tied_scores,
    expected_score,
    mid_rank_score,
    parse_phi,
)
from tests.oracle import Group, Item, value

pytestmark = pytest.mark.filterwarnings("ignore::prframe.NoNegativesWarning")

RNG = np.random.default_rng(7)
N = 60
RANKING = pl.DataFrame(
    {"score": RNG.integers(0, 25, N).astype(float), "label": RNG.random(N) < 0.4}
)
PHIS = [*SCORE_GENERATING, "local-auc(u0=0.5)", "dcg(k=7)", "rtb(u0=0.4, beta=5, lam=9)"]


def value_of(data: pl.DataFrame, phi: str, **options: object) -> float:
    """Return W of one ranking."""
    return prframe.evaluate(data, W(phi=phi), **options).item()


@pytest.mark.parametrize("phi", PHIS)
def test_mid_ranks_are_scipy_s(phi: str) -> None:
    u = scipy_stats.rankdata(RANKING["score"]) / (N + 1)
    function = parse_phi(phi).of_size(N)
    wanted = function(u[RANKING["label"].to_numpy()]).mean()
    assert value_of(RANKING, phi) == pytest.approx(wanted, rel=1e-12)


def test_with_mww_it_is_auc() -> None:
    n_pos = RANKING["label"].sum()
    auc = prframe.evaluate(RANKING, "AUC").item()
    wanted = ((N - n_pos) * auc + (n_pos + 1) / 2) / (N + 1)
    assert value_of(RANKING, "mww") == pytest.approx(wanted, rel=1e-14)
    whitney = scipy_stats.mannwhitneyu(
        RANKING.filter("label")["score"], RANKING.filter(~pl.col("label"))["score"]
    )
    assert auc == pytest.approx(whitney.statistic / n_pos / (N - n_pos), rel=1e-14)


def test_dcg_at_the_ranks_is_dcg() -> None:
    distinct = RANKING.with_columns(score=pl.int_range(pl.len()).shuffle(seed=1).cast(pl.Float64))
    n_pos = distinct["label"].sum()
    for name, phi in (("DCG", "dcg"), ("DCG@9", "dcg(k=9)")):
        wanted = prframe.evaluate(distinct, name).item() / n_pos
        assert value_of(distinct, phi) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("phi", ["logrank", "median", "dcg(k=2)"])
def test_the_mean_over_all_orders(phi: str) -> None:
    for scores, label in product(([1.0, 1, 1, 0, -inf], [0.0, 0, 1, -inf, -inf]), range(5)):
        labels = [float(i in {label, 2}) for i in range(5)]
        items = [Item(*pair) for pair in zip(scores, labels, strict=True)]
        listed = Group(items, "expected", include_unretrieved=True)
        orders = [value(order, "W", None, {"phi": phi}) for order in listed.orders()]
        data = pl.DataFrame({"score": scores, "label": labels})
        assert value_of(data, phi, ties="expected") == pytest.approx(fmean(orders), rel=1e-12)


def test_groups_of_many_sizes() -> None:
    sizes = [1, 2, 3, 5, 8, 8, 13]
    data = pl.concat(
        pl.select(
            q=pl.lit(i).repeat_by(n).explode(),
            score=pl.Series(RNG.integers(0, 4, n) / 4),
            label=pl.Series([1] + [0] * (n - 1)),
        )
        for i, n in enumerate(sizes)
    )
    for ties in ("group", "expected"):
        found = prframe.evaluate(data, W("dcg(k=3)"), by="q", ties=ties).drop("q").to_series()
        alone = [value_of(data.filter(q=i), "dcg(k=3)", ties=ties) for i in range(len(sizes))]
        assert found.to_list() == pytest.approx(alone, rel=1e-14)


def test_weights_are_frequencies() -> None:
    weights = RNG.integers(0, 4, N)
    twice = RANKING.select(pl.all().repeat_by(pl.Series(weights)).explode())
    weighted = RANKING.with_columns(w=pl.Series(weights))
    for phi in PHIS:
        wanted = value_of(twice, phi)
        assert value_of(weighted, phi, weight="w") == pytest.approx(wanted, rel=1e-12)
    halves = weighted.with_columns(pl.col("w") / 2)
    assert np.isfinite(value_of(halves, "dcg", weight="w"))


def test_long_blocks_come_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    start = np.array([0, 3, 0, 100, 50, 3])
    end = np.array([1, 90, 100, 100, 350, 90])
    n = np.array([10, 90, 100, 100, 400, 91])
    for phi in map(parse_phi, ("logrank", "dcg(k=70)")):
        wanted = [
            fmean(phi.of_size(m)((m + 1 - place) / (m + 1)) for place in range(a + 1, b + 1))
            if b > a
            else 0.0
            for a, b, m in zip(start.tolist(), end.tolist(), n.tolist(), strict=True)
        ]
        monkeypatch.setattr(tied_scores, "_CHUNK", 1 << 20)
        np.testing.assert_allclose(expected_score(phi, start, end, n), wanted, rtol=1e-12)
        monkeypatch.setattr(tied_scores, "_CHUNK", 16)
        np.testing.assert_allclose(expected_score(phi, start, end, n), wanted, rtol=1e-12)


@pytest.mark.slow
def test_a_cut_at_a_mid_rank_does_not_depend_on_rounding() -> None:
    # Two items are tied at the ranks k and k + 1.
    for n in range(2, 200):
        k = np.arange(1, n)
        values = [
            mid_rank_score(parse_phi(f"dcg(k={cut})"), [cut - 1], [cut + 1], [n])[0] for cut in k
        ]
        assert not any(values)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("W(phi=mvw)", "`phi` must be one of .* Did you mean 'mww'"),
        ("W(phi=3)", r"`phi of W` must be the name of a score-generating function; got 3\."),
        ('W("local-auc(u0=2)")', "`u0` must be a number > 0 and < 1; got 2"),
        ("W@3", r"W takes no cut-off; got 'W@3'\."),
    ],
)
def test_wrong_functions_are_refused_before_any_work(name: str, message: str) -> None:
    with pytest.raises(PrframeError, match=message):
        parse_metric(name)
