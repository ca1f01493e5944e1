"""The bootstrap at levels of recall, against samples of n scores drawn and sorted."""

import warnings
from functools import cache

import numpy as np
import pytest
from scipy import stats

import prframe
from prframe.stats import pr_bootstrap, pr_curve
from prframe.stats.curves.kernels import class_kernels
from prframe.stats.rankings.classes import two_classes

LEVELS = np.linspace(0.05, 1, 20)
RESAMPLES = 4000
# A true agreement fails a test at this level once in a thousand seeds; the seeds are fixed.
CHANCE = 0.001


def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Scores of positives and negatives."""
    rng = np.random.default_rng(3)
    return {
        "binormal": (rng.normal(1, 1, 60), rng.normal(0, 1, 240)),
        "rare": (rng.normal(2, 1, 4), rng.normal(0, 1, 196)),
        "ties": (rng.integers(1, 5, 50).astype(float), rng.integers(0, 4, 150).astype(float)),
        "unretrieved": (
            np.append(rng.normal(1, 1, 40), [-np.inf] * 20),
            np.append(rng.normal(0, 1, 90), [-np.inf] * 50),
        ),
        "few negatives": (rng.normal(1, 1, 120), rng.normal(0, 1, 6)),
    }[name]


def smeared(scores: np.ndarray, size: int, bandwidth: float, rng: np.random.Generator):
    """Scores drawn with replacement, each with a Gaussian error (the paper's Remark 4)."""
    return rng.choice(scores, size) + bandwidth * rng.normal(size=size)


@cache
def naive(name: str, prevalence: float | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of positives and precision of samples of n pairs from the smoothed law."""
    positives, negatives = data(name)
    n = positives.size + negatives.size
    prevalence = positives.size / n if prevalence is None else prevalence
    some, others = two_classes(positives, negatives, None, None)
    h_pos, h_neg = (kernel.bandwidth for kernel in class_kernels(some, others, "scott"))
    rng = np.random.default_rng(12)
    counts, curves = [], []
    while len(counts) < RESAMPLES:
        n_pos = int((rng.random(n) < prevalence).sum())
        if 0 < n_pos < n:
            drawn = smeared(positives, n_pos, h_pos, rng)
            curves.append(pr_curve(drawn, smeared(negatives, n - n_pos, h_neg, rng), LEVELS))
            counts.append(n_pos)
    return np.array(counts), np.array(curves)


def same_law(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether a Kolmogorov-Smirnov test lets two samples pass as one."""
    return stats.ks_2samp(first, second, method="asymp").pvalue > CHANCE


NAMES = ["binormal", "rare", "ties", "unretrieved", "few negatives"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_law_is_that_of_full_samples(name: str) -> None:
    found = pr_bootstrap(*data(name), LEVELS, n_resamples=RESAMPLES, rng=5)
    _, expected = naive(name)
    center = pr_curve(*data(name), LEVELS)
    assert found.precision.tolist() == center.tolist()
    both = [np.abs(curves - center).max(axis=1) for curves in (found.replicates, expected)]
    assert same_law(*both)
    for level in (0, 5, 10, 15, 19):
        both = [curves[:, level] for curves in (found.replicates, expected)]
        assert same_law(*both)
    # Neighbouring levels go together as they do in full samples.
    for first, second in ((4, 5), (4, 12)):
        steps = [curves[:, second] - curves[:, first] for curves in (found.replicates, expected)]
        assert same_law(*steps)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "tilted"), [("binormal", 0.22), ("rare", 0.03), ("ties", 0.21)])
def test_weighted_samples_have_the_moments_of_full_ones(name: str, tilted: float) -> None:
    found = pr_bootstrap(*data(name), LEVELS, n_resamples=20_000, importance=tilted, rng=6)
    _, expected = naive(name)
    for power in (1, 2):
        weighted = found.weights @ found.replicates**power
        plain = (expected**power).mean(axis=0)
        scatter = found.weights**2 @ (found.replicates**power - weighted) ** 2
        error = np.sqrt(scatter + (expected**power).var(axis=0) / RESAMPLES)
        assert (np.abs(weighted - plain) < 4 * error + 1e-12).all()
    # Without their weights they have not.
    off = found.replicates.mean(axis=0) - expected.mean(axis=0)
    assert (np.abs(off[5:]) > 4 * expected.std(axis=0)[5:] / np.sqrt(RESAMPLES)).any()


def test_a_tilt_of_one_half_with_rare_positives_leaves_one_sample() -> None:
    rng = np.random.default_rng(1)
    positives, negatives = rng.normal(1, 1, 10), rng.normal(0, 1, 9990)
    with pytest.warns(prframe.EffectiveSampleSizeWarning) as caught:
        found = pr_bootstrap(positives, negatives, LEVELS, importance=0.5, rng=2)
    assert 1 <= found.effective_sample_size < 2
    assert str(caught[0].message) == (
        "The 2000 resamples drawn with prevalence 0.5 are worth "
        f"{found.effective_sample_size:.1f} unweighted ones; draw with importance=None, "
        "or nearer to the data."
    )
    assert np.isfinite(found.weights).all()
    assert np.isfinite(found.radius())
    found = pr_bootstrap(positives, negatives, LEVELS, rng=2)
    assert found.effective_sample_size == pytest.approx(2000)


@pytest.mark.parametrize("importance", [None, 0.22])
def test_radius_and_band_by_their_definitions(importance: float | None) -> None:
    found = pr_bootstrap(*data("binormal"), LEVELS, n_resamples=500, importance=importance, rng=4)
    distance = np.abs(found.replicates - found.precision).max(axis=1)
    for level in (0.5, 0.8, 0.95, 0.999):
        reached = [r for r in distance if found.weights[distance <= r].sum() >= level - 1e-12]
        assert found.radius(level) == min(reached)
        low, high = found.band(level)
        assert low.tolist() == np.clip(found.precision - min(reached), 0, 1).tolist()
        assert high.tolist() == np.clip(found.precision + min(reached), 0, 1).tolist()


def test_seeds() -> None:
    first, second, third = (pr_bootstrap(*data("rare"), LEVELS, rng=rng) for rng in (7, 7, 8))
    assert (first.replicates == second.replicates).all()
    assert (first.replicates != third.replicates).any()
    again = pr_bootstrap(*(np.flip(scores) for scores in data("rare")), LEVELS, rng=7)
    assert (first.replicates == again.replicates).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"recall": []}, "`recall` must be a list of one level or more; got []."),
        ({"recall": 0.5}, "`recall` must be a list of one level or more; got 0.5."),
        ({"negatives": []}, "`negatives` must hold at least one score, or `n_neg` exceed 0; got none."),
        ({"bandwidth": 0}, "`bandwidth` must be a number > 0; got 0."),
    ],
)  # fmt: skip
def test_refusals(change: dict[str, object], message: str) -> None:
    arguments = {"positives": [1.0, 2.0], "negatives": [0.0, 1.0], "recall": [0.5], **change}
    with pytest.raises(prframe.PrframeError) as caught, warnings.catch_warnings():
        pr_bootstrap(**arguments)
    assert str(caught.value) == message
