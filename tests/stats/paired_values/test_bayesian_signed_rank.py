"""The Bayesian signed-rank test: naive double loops, closed forms, simulation."""

from math import nan, sqrt

import numpy as np
import pytest
from scipy import stats

from prframe.errors import PrframeError
from prframe.stats import signed_rank_posterior
from prframe.stats.paired_values.bayesian_signed_rank import _weights


def naive_winners(z: list[float], w: list[float], rope: float) -> list[float]:
    """Return who has the largest of the three sums, by definition; shared if several have."""
    sums = [0.0, 0.0, 0.0]
    for i in range(len(z)):
        for j in range(len(z)):
            total = round(z[i] + z[j], 9)
            product = w[i] * w[j]
            if rope == 0 and total == 0:
                sums[0] += product / 2
                sums[2] += product / 2
            else:
                sums[(total >= -2 * rope) + (total > 2 * rope)] += product
    best = [value > max(sums) - 1e-9 for value in sums]
    return [one / sum(best) for one in best]


@pytest.mark.parametrize("rope", [0.0, 0.1, 0.15, 0.25])
@pytest.mark.parametrize("prior", [0.0, 0.5, 3.0])
def test_naive_double_loop_with_the_same_weights(rope: float, prior: float) -> None:
    differences = np.random.default_rng(5).integers(-4, 6, 9) / 10
    found = signed_rank_posterior(differences, rope, prior=prior, n_resamples=300, rng=6)
    weights = _weights(9, prior, 300, np.random.default_rng(6))
    weights /= weights.sum(axis=0)
    z = [0.0, *differences.tolist()]
    winners = [naive_winners(z, w, rope) for w in weights.T.tolist()]
    expected = np.mean(winners, axis=0)
    assert 0 < expected.max() < 1
    assert [float(p) for p in found[:3]] == pytest.approx(expected, abs=1e-12)


def within(found: float, expected: float, draws: int) -> bool:
    """Tell whether a share of draws is compatible with a probability."""
    return abs(found - expected) < 4 * sqrt(expected * (1 - expected) / draws)


def test_closed_forms() -> None:
    draws = 40_000
    # w_b^2 + 2 w_a w_b > w_a^2, a ratio of two exponential variates being above sqrt(2) - 1.
    found = signed_rank_posterior([-1, 2], prior=0, n_resamples=draws, rng=1)
    assert within(found.greater, 1 / sqrt(2), draws)
    assert found.rope == 0
    # w_a^2, 2 w_a w_b and w_b^2: a weight more than twice the other wins.
    found = signed_rank_posterior([-1, 1], 0.1, prior=0, n_resamples=draws, rng=2)
    for share in found[:3]:
        assert within(share, 1 / 3, draws)
    # w^2 against w_0^2 + 2 w_0 w, where w / (w_0 + w) is Beta(1, prior).
    for prior in (0.5, 2.0):
        found = signed_rank_posterior([1], 0.6, prior=prior, n_resamples=draws, rng=3)
        assert within(found.greater, stats.beta.sf(1 / sqrt(2), 1, prior), draws)
    assert found.less == 0


@pytest.mark.parametrize("rope", [0.0, 0.02])
def test_independent_simulation(rope: float) -> None:
    rng = np.random.default_rng(7)
    differences = rng.normal(0.015, 0.08, 25)
    z = np.append(differences, 0)
    sums = z[:, None] + z
    weights = rng.dirichlet(np.append(np.ones(25), 0.5), 20_000)
    below, above = (
        np.einsum("di,ij,dj->d", weights, where, weights, optimize=True)
        for where in ((sums < -2 * rope) * 1.0, (sums > 2 * rope) * 1.0)
    )
    middle = 1 - below - above if rope else -np.ones(20_000)
    winner = np.stack([below, middle, above]).argmax(axis=0)
    found = signed_rank_posterior(differences, rope, n_resamples=20_000, rng=8)
    for side, share in enumerate(found[:3]):
        expected = (winner == side).mean()
        error = sqrt(2 * expected * (1 - expected) / 20_000)
        assert share == pytest.approx(expected, abs=4 * error + 1e-9)
    assert 0.05 < found.greater < found.less < 0.95


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"differences": [0.1, nan]},
            "`differences` must be finite numbers, at least one along the last axis; "
            "got [0.1, nan].",
        ),
        (
            {"differences": 0.5},
            "`differences` must be finite numbers, at least one along the last axis; got 0.5.",
        ),
        ({"prior": -1}, "`prior` must be a number >= 0; got -1."),
        ({"n_resamples": 0}, "`n_resamples` must be a whole number >= 1; got 0."),
    ],
)
def test_what_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(PrframeError) as caught:
        signed_rank_posterior(**{"differences": [0.1], **arguments})
    assert str(caught.value) == message
