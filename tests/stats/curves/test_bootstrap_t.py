"""The studentized bootstrap: its samples, its standard deviations, and its bands."""

import numpy as np
import pytest

import prframe
from prframe.stats import PRBootstrapT, pr_bootstrap, pr_bootstrap_t, pr_curve
from prframe.stats.curves.bootstrap_t import _sample
from prframe.stats.rankings.classes import two_classes

LEVELS = np.array([0.2, 0.5, 0.8])


def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.normal(1, 1, 60), rng.normal(0, 1, 240)


def test_samples_come_from_the_smoothed_distributions() -> None:
    scores = np.append(data()[0], [-np.inf] * 20), data()[1]
    classes = two_classes(*scores, None, 300)
    rng = np.random.default_rng(5)
    drawn = [_sample(classes, (0.4, 0.2), rng) for _ in range(300)]
    sizes = np.array([[one.total, other.total] for one, other in drawn])
    assert (sizes.sum(axis=1) == 380).all()
    assert sizes[:, 0].mean() == pytest.approx(80, abs=4 * np.sqrt(380 * 0.2 * 0.8 / 300))
    for side, width in ((0, 0.4), (1, 0.2)):
        every = np.concatenate([sample[side].ascending for sample in drawn])
        retrieved = scores[side][np.isfinite(scores[side])]
        share = every.size / sizes[:, side].sum()
        assert share == pytest.approx(retrieved.size / classes[side].total, abs=0.02)
        # The variance of a sum is that of the scores and of the errors.
        assert every.mean() == pytest.approx(retrieved.mean(), abs=0.03)
        assert every.var() == pytest.approx(retrieved.var() + width**2, rel=0.05)
        assert (np.diff(drawn[0][side].ascending) >= 0).all()


@pytest.mark.slow
def test_curve_and_standard_deviations() -> None:
    found = pr_bootstrap_t(*data(), LEVELS, n_resamples=79, n_inner=20, rng=1)
    assert found.precision.tolist() == pr_curve(*data(), LEVELS).tolist()
    other = pr_bootstrap(*data(), LEVELS, bandwidth="undersmoothed", rng=2)
    assert found.std == pytest.approx(other.replicates.std(axis=0), rel=0.25)
    assert found.deviations.shape == (79, 3)
    # Studentized deviations have a spread of about 1.
    quartiles = np.quantile(found.deviations, [0.25, 0.75], axis=0)
    assert np.diff(quartiles, axis=0).ravel() == pytest.approx(np.full(3, 1.35), abs=0.5)
    again = pr_bootstrap_t(*data(), LEVELS, n_resamples=9, n_inner=20, rng=1)
    assert (again.deviations == found.deviations[:9]).all()


def made(deviations: list[list[float]], std: list[float]) -> PRBootstrapT:
    """A bootstrap of two levels with given deviations."""
    return PRBootstrapT(
        np.array([0.3, 0.6]), np.array([0.5, 0.4]), np.array(std), np.array(deviations)
    )


def test_bands_by_hand() -> None:
    n = 19
    first = np.linspace(-0.9, 1.8, n)
    curve = made(np.stack([first, np.zeros(n)], axis=1).tolist(), [0.1, 0.2])
    # Of 19 the 18th is reached by another one with probability .9.
    c = np.sort(np.abs(first))[17]
    low, high = curve.band(0.9)
    assert low == pytest.approx([0.5 - 0.1 * c, 0.4 - 0.2 * c])
    assert high == pytest.approx([0.5 + 0.1 * c, 0.4 + 0.2 * c])
    # At a level the long upper tail of the deviations is below the curve.
    low, high = curve.band(0.9, simultaneous=False)
    assert low[0] == pytest.approx(0.5 - 0.1 * first[18])
    assert high[0] == pytest.approx(0.5 - 0.1 * first[0])
    assert low[1] == high[1] == 0.4
    # An infinite deviation leaves everything open where there is a spread.
    open_ = made([[np.inf, 0.0], [0.0, 0.0]], [0.1, 0.0]).band(0.9)
    assert open_.low.tolist() == [0, 0.4]
    assert open_.high.tolist() == [1, 0.4]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pr_bootstrap_t([1.0], [0.0], [0.5], n_inner=1), "`n_inner` must be a whole number >= 2; got 1."),
        (lambda: pr_bootstrap_t([1.0], [0.0], [0.5], n_resamples=0), "`n_resamples` must be a whole number >= 1; got 0."),
        (lambda: pr_bootstrap_t([1.0], [0.0], [0.5, 0.2]), "`recall` must be a list of rising levels, each once; got [0.5, 0.2]."),
        (lambda: pr_bootstrap_t([1.0], [], [0.5]), "`negatives` must hold at least one score, or `n_neg` exceed 0; got none."),
        (lambda: made([[0.0, 0.0]], [1.0, 1.0]).band(1), "`confidence_level` must be a number > 0 and < 1; got 1."),
    ],
)  # fmt: skip
def test_refusals(call, message: str) -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        call()
    assert str(caught.value) == message
