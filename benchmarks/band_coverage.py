"""``python -m benchmarks.band_coverage``: how often bands cover the curve of the population.

``--quick`` takes fewer samples and resamples, to see that it runs. ``--samples``, ``--methods`` and
``--settings`` take a part of the study, whose numbers are those of all of it but for the draws of
methods that come after one left out. ``--prior`` gives the population another share of positives
than the samples, and is for the studentized band alone.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks.data import SEED
from benchmarks.populations import POPULATIONS, SUNK, Population, binormal
from benchmarks.report import table
from prframe.stats.curves.bayesian_bootstrap import (
    cells_of_classes,
    posterior_of,
    posterior_of_clusters,
)
from prframe.stats.curves.drawn.gamma_walks import drawn_weights
from prframe.stats.curves.drawn.roc_path import empirical_precision as precision_of_cells
from prframe.stats.curves.gaussian_process import BandKind, pr_asymptotic_band
from prframe.stats.curves.precision_recall import empirical_precision
from prframe.stats.curves.smoothed_bootstrap import resampled_curve
from prframe.stats.rankings.cells import cells_from_scores
from prframe.stats.rankings.classes import ClassScores, two_classes
from prframe.typing import KernelName

Floats: TypeAlias = NDArray[np.float64]
Band: TypeAlias = tuple[Floats, Floats]
Classes: TypeAlias = tuple[ClassScores, ClassScores]

LEVELS = np.linspace(0.05, 0.95, 181)
LEVEL = 0.95
TITLE = """## band-coverage

95 % bands over the recalls .05 to .95: the share of samples whose band covers the curve of the \
population at all levels, in brackets how often it lies above the curve somewhere and below it, \
and the mean width; in square brackets that of the ball as Algorithm 1 has it, not cut off at 0 \
and 1.
"""
CLUSTERED = """## band-clusters

95 % bands over the recalls .1 to .9 of items in clusters: the share of {samples:,} samples whose \
band covers at all levels, with *clusters* or *items* drawn, and the mean share of levels at which \
the bands for single levels cover; {few} draws. The log odds of a positive vary by cluster with \
standard deviation 1, and scores with the correlation.
"""
CLUSTERED_BANDS = ("clusters", "clusters, single", "items", "items, single")
CLUSTERED_SETTINGS = (
    (5, 20, 0.5, 1.5),
    (10, 20, 0.5, 1.5),
    (10, 20, 0.0, 1.5),
    (20, 10, 0.5, 1.5),
    (40, 5, 0.5, 1.5),
    (100, 5, 0.3, 2.5),
    (40, 10, 0.0, 1.5),
)
# What resamples rows takes long with many of them.
_LARGEST = {"naive bootstrap": 20_000, "replicas": 2000}
SETTINGS = [
    ("1", 0.5, 20),
    ("1", 0.5, 40),
    ("1", 0.5, 400),
    ("1", 0.5, 2000),
    ("2", 0.1, 100),
    ("1", 0.1, 200),
    ("1", 0.1, 1000),
    ("beta", 0.1, 300),
    ("beta", 0.02, 2500),
    ("2", 0.01, 1000),
    ("1", 0.01, 2000),
    ("3", 0.01, 2000),
    ("2", 0.01, 5000),
    ("1", 0.01, 10_000),
    ("1", 0.01, 100_000),
    ("2", 0.001, 20_000),
    ("2", 0.001, 50_000),
    ("ten", 0.1, 500),
    ("ten", 0.01, 5000),
    ("few", 0.01, 5000),
    ("pure", 0.5, 60),
    ("pure", 0.1, 200),
    ("pure", 0.1, 600),
    ("pure", 0.01, 5000),
    ("all but pure", 0.1, 200),
    # Nearly perfect rankings, or most items positive.
    ("4", 0.1, 600),
    ("4", 0.5, 300),
    ("4", 0.5, 1000),
    ("4", 0.8, 1000),
    ("4", 0.9, 2000),
    ("3", 0.9, 1000),
    ("2", 0.9, 300),
    ("t(3)", 0.9, 1000),
    # A part of the positives is below most negatives.
    ("wide", 0.1, 180),
    ("wide", 0.3, 60),
    ("wide", 0.1, 1000),
    # Precision falls steeply at a gap between the scores of positives, or at an edge.
    ("third", 0.2, 100),
    ("far", 0.2, 100),
    ("far", 0.1, 1000),
    ("half", 0.1, 1000),
    ("apart", 0.05, 400),
    ("apart", 0.1, 1000),
    ("little apart", 0.1, 1000),
    ("little apart", 0.1, 5000),
    ("edge", 0.05, 400),
    ("edge", 0.1, 500),
    ("edge", 0.2, 5000),
    ("half pure", 0.1, 300),
    ("half pure", 0.05, 5000),
    # Heavy tails.
    ("t(2)", 0.05, 400),
    ("t(2)", 0.1, 1000),
    ("Cauchy", 0.05, 400),
    ("Cauchy", 0.1, 1000),
]
_POPULATIONS = POPULATIONS | SUNK | {"4": binormal(4)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.band_coverage")
    parser.add_argument("--quick", action="store_true", help="fewer samples and resamples")
    parser.add_argument("--samples", type=int, help="number of samples")
    parser.add_argument("--methods", nargs="+", help="names of columns")
    parser.add_argument("--settings", nargs="+", type=int, help="numbers of rows, from 1 on")
    parser.add_argument("--prior", type=float, help="share of positives that the band is for")
    parser.add_argument("--clusters", action="store_true", help="bands of clusters alone")
    given = parser.parse_args()
    samples, resamples, few = (20, 100, 20) if given.quick else (1000, 2000, 500)
    samples = given.samples or samples
    if given.prior is not None:
        given.methods = ["studentized"]
    if not given.methods and not given.settings:
        print(CLUSTERED.format(samples=samples, few=few), flush=True)
        header = ["clusters, items of each", "correlation", "apart", *CLUSTERED_BANDS]
        print(table(header, list(clustered(samples, few))), flush=True)
    if given.clusters:
        return
    methods: dict[str, Callable[[Classes, np.random.Generator], Band]] = {
        "studentized": lambda classes, rng: _studentized(classes, resamples, rng, given.prior),
        "sup ball": lambda classes, rng: _ball(classes, few, rng),
        "naive bootstrap": lambda classes, rng: _naive(classes, few, rng),
    }
    if find_spec("replicas"):
        methods["replicas"] = _replicas
    methods |= {
        "gaussian process": lambda classes, rng: _limit(classes, "studentized", resamples, rng),
        "gaussian ball": lambda classes, rng: _limit(classes, "sup", resamples, rng),
        "box kernel ball": lambda classes, rng: _ball(classes, few, rng, "box"),
    }
    if given.methods:
        methods = {name: methods[name] for name in given.methods}
    rows = [number - 1 for number in given.settings or range(1, len(SETTINGS) + 1)]
    print(TITLE, flush=True)
    print(
        f"{samples:,} samples, a tenth of them for the naive bootstrap, and replicas; "
        f"{resamples:,} draws of the studentized band and of the Gaussian process, {few} resamples "
        "of the balls, 100 for the package replicas, whose band is "
        "for single levels.\n",
        flush=True,
    )
    header = ["scores", "prevalence, n", "n_pos", *methods]
    # It takes long: each row is shown when it is there.
    print(table(header, []), end="", flush=True)
    for row in study(samples, methods, rows, given.prior):
        print(f"| {' | '.join(row)} |", flush=True)


def clustered(samples: int, draws: int) -> Iterator[list[str]]:
    """Return a row per number and size of clusters."""
    levels = np.linspace(0.1, 0.9, 17)
    for number, size, correlation, apart in CLUSTERED_SETTINGS:
        rng = np.random.default_rng([SEED, number, size])
        score, positive, _ = _in_clusters(100_000, size, correlation, apart, rng)
        true = precision_of_cells(cells_from_scores(score, positive)[0], levels)
        inside = np.zeros(4)
        for _ in range(samples):
            items = _in_clusters(number, size, correlation, apart, rng)
            drawn = [
                posterior_of_clusters(*items, levels, draws, rng),
                posterior_of(cells_from_scores(*items[:2])[0], levels, drawn_weights(draws, rng)),
            ]
            for i, posterior in enumerate(drawn):
                for j, simultaneous in enumerate((True, False)):
                    band = posterior.band(LEVEL, simultaneous=simultaneous)
                    covers = (band.low <= true) & (true <= band.high)
                    inside[2 * i + j] += covers.all() if simultaneous else covers.mean()
        shares = [f"{share:.3f}" for share in inside / samples]
        yield [f"{number}, {size}", f"{correlation:g}", f"{apart:g}", *shares]


def _in_clusters(
    number: int, size: int, correlation: float, apart: float, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.bool_], NDArray[np.int64]]:
    """Draw scores, labels and clusters of items."""
    cluster = np.repeat(np.arange(number), size)
    shared, own = rng.normal(size=number)[cluster], rng.normal(size=cluster.size)
    positive = rng.random(cluster.size) < expit(rng.normal(size=number)[cluster] - 1)
    score = apart * positive + correlation**0.5 * shared + (1 - correlation) ** 0.5 * own
    return score, positive, cluster


def study(
    samples: int,
    methods: dict[str, Callable[[Classes, np.random.Generator], Band]],
    numbers: list[int],
    prior: float | None = None,
) -> Iterator[list[str]]:
    """Return a row per setting."""
    for number in numbers:
        key, prevalence, n = SETTINGS[number]
        population = _POPULATIONS[key]
        true = population.precision(prevalence if prior is None else prior, LEVELS)
        found: dict[str, list[tuple[bool, bool, float, float]]] = {name: [] for name in methods}
        for i in range(samples):
            rng = np.random.default_rng([SEED, number, i])
            classes = _drawn(population, prevalence, n, rng)
            for name, method in methods.items():
                if n <= _LARGEST.get(name, n) and i % (10 if name in _LARGEST else 1) == 0:
                    found[name].append(_judged(method(classes, rng), true))
        yield [
            population.name,
            f"{prevalence:g}, {n}",
            f"{prevalence * n:.0f}",
            *(_described(rows) for rows in found.values()),
        ]


def _drawn(population: Population, prevalence: float, n: int, rng: np.random.Generator) -> Classes:
    """Draw the scores of n items, both labels among them."""
    n_pos = 0
    while not 0 < n_pos < n:
        n_pos = int(rng.binomial(n, prevalence))
    return two_classes(*population.scores(rng, n_pos, n - n_pos), None, None)


def _studentized(
    classes: Classes, resamples: int, rng: np.random.Generator, prior: float | None
) -> Band:
    """The default of the verb `band`."""
    weights, cells = drawn_weights(resamples, rng), cells_of_classes(*classes)
    band = posterior_of(cells, LEVELS, weights, prior, simultaneous=True).band(LEVEL)
    return band.low, band.high


def _ball(
    classes: Classes, resamples: int, rng: np.random.Generator, kernel: KernelName = "gaussian"
) -> Band:
    """Clemencon & Vayatis, Algorithm 1: ``method="smoothed-bootstrap"``."""
    found = resampled_curve(*classes, LEVELS, resamples, "scott", None, rng, kernel)
    radius = found.radius(LEVEL)
    return found.precision - radius, found.precision + radius


def _limit(classes: Classes, kind: BandKind, resamples: int, rng: np.random.Generator) -> Band:
    """Clemencon & Vayatis, Theorem 1; all of [0, 1] where there is no band."""
    scores = (some.ascending for some in classes)
    band = pr_asymptotic_band(*scores, LEVELS, kind=kind, n_resamples=resamples, rng=rng)
    return np.nan_to_num(band.low, nan=0.0), np.nan_to_num(band.high, nan=1.0)


def _naive(classes: Classes, resamples: int, rng: np.random.Generator) -> Band:
    """The same ball from samples of the rows themselves."""
    center = empirical_precision(*classes, LEVELS)
    n = classes[0].total + classes[1].total
    farthest = []
    for n_pos in np.clip(rng.binomial(n, classes[0].total / n, resamples), 1, n - 1):
        some, others = classes
        again = two_classes(
            rng.choice(some.ascending, n_pos), rng.choice(others.ascending, n - n_pos), None, None
        )
        farthest.append(np.abs(empirical_precision(*again, LEVELS) - center).max())
    radius = np.quantile(farthest, LEVEL)
    return np.maximum(center - radius, 0), np.minimum(center + radius, 1)


def _replicas(classes: Classes, rng: np.random.Generator) -> Band:
    """The band of the package replicas, read at the levels."""
    import replicas  # noqa: PLC0415

    some, others = classes
    positive = np.repeat([1, 0], [some.total, others.total])
    rows = pl.DataFrame(
        {
            "prediction": np.concatenate([some.ascending, others.ascending]),
            "positive": positive,
            "negative": 1 - positive,
            "unlabeled": 0 * positive,
        }
    )
    drawn = replicas.bootstrap(rows, n_replicas=100, seed=int(rng.integers(1 << 31)))
    curves = replicas.calculate_pr(replicas.confusion_table(drawn, by="replica"), by="replica")
    # Its curves hardly ever share a recall unless rounded.
    band = replicas.pr_band(curves, ci=LEVEL, recall_round=2).drop_nulls()
    recall, low, high = (band[name].to_numpy() for name in ("recall", "low", "high"))
    return np.interp(LEVELS, recall, low), np.interp(LEVELS, recall, high)


def _judged(band: Band, true: Floats) -> tuple[bool, bool, float, float]:
    """Tell whether the band lies above the curve somewhere, or below, and its widths."""
    low, high = band
    within = np.clip(high, 0, 1) - np.clip(low, 0, 1)
    above, below = bool((low > true + 1e-12).any()), bool((high < true - 1e-12).any())
    return above, below, float(within.mean()), float((high - low).mean())


def _described(rows: list[tuple[bool, bool, float, float]]) -> str:
    """Write coverage, misses on either side and the mean width."""
    if not rows:
        return ""
    above, below, width, whole = np.array(rows, dtype=np.float64).T
    covers = ((above + below) == 0).mean()
    text = f"{covers:.3f} ({above.mean():.3f}, {below.mean():.3f}) {width.mean():.3f}"
    # Algorithm 1 has a ball, of which part lies beyond 0 and 1.
    return text + (f" [{whole.mean():.3f}]" if (whole > width + 1e-9).any() else "")


if __name__ == "__main__":
    warnings.simplefilter("error")
    main()
