"""``python -m benchmarks.band_coverage``: how often bands cover the curve of the population.

It compares the default with the bands of other methods. ``--quick`` takes fewer samples and
resamples, to see that it runs. ``--samples``, ``--methods`` and ``--settings`` take a part of the
study. `benchmarks.default_coverage` runs the parts below: the default band, single levels, clusters,
differences of two curves, and mean curves.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np

from benchmarks.coverage import Row, Task, of_band
from benchmarks.data import SEED
from benchmarks.populations import STUDIED, Clustered, Population, binormal
from benchmarks.report import table
from prframe.stats.curves import (
    cells_of_classes,
    drawn_weights,
    empirical_precision,
    posterior_of,
    posterior_of_clusters,
    pr_asymptotic_band,
    pr_bootstrap,
    pr_curve_difference,
)
from prframe.stats.intervals import Confidence, mean_band
from prframe.stats.rankings.classes import ClassScores, two_classes
from prframe.typing import Flags, Floats, Integers

Band: TypeAlias = tuple[Floats, Floats]
Classes: TypeAlias = tuple[ClassScores, ClassScores]
Method: TypeAlias = Callable[[Classes, np.random.Generator], Band]

LEVELS = np.linspace(0.05, 0.95, 181)
LEVEL = 0.95
TITLE = """## band-coverage

95 % bands over the recalls .05 to .95: the share of samples whose band covers the curve of the \
population at all levels, in brackets how often it lies above the curve somewhere and below it, \
and the mean width; in square brackets that of the ball as Algorithm 1 has it, not cut off at 0 \
and 1.
"""
SETTINGS = [
    *(("1", 0.5, n) for n in (20, 40, 400, 2000)),
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
    *(("4", *size) for size in ((0.1, 600), (0.5, 300), (0.5, 1000), (0.8, 1000), (0.9, 2000))),
    ("3", 0.9, 1000),
    ("2", 0.9, 300),
    ("t(3)", 0.9, 1000),
    # A part of the positives is below most negatives.
    *(("wide", *size) for size in ((0.1, 180), (0.3, 60), (0.1, 1000))),
    # Precision falls steeply at a gap between the scores of positives, or at an edge.
    ("third", 0.2, 100),
    ("far", 0.2, 100),
    ("far", 0.1, 1000),
    ("half", 0.1, 1000),
    ("apart", 0.05, 400),
    ("apart", 0.1, 1000),
    ("little apart", 0.1, 1000),
    ("little apart", 0.1, 5000),
    *(("edge", *size) for size in ((0.05, 400), (0.1, 500), (0.2, 5000))),
    ("half pure", 0.1, 300),
    ("half pure", 0.05, 5000),
    # Heavy tails.
    *((key, *size) for key in ("t(2)", "Cauchy") for size in ((0.05, 400), (0.1, 1000))),
]
# What resamples rows takes long with many of them.
_LARGEST = {"naive bootstrap": 20_000}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.band_coverage")
    parser.add_argument("--quick", action="store_true", help="fewer samples and resamples")
    parser.add_argument("--samples", type=int, help="number of samples")
    parser.add_argument("--methods", nargs="+", help="names of columns")
    parser.add_argument("--settings", nargs="+", type=int, help="numbers of rows, from 1 on")
    given = parser.parse_args()
    samples, resamples, few = (20, 100, 20) if given.quick else (1000, 2000, 500)
    samples = given.samples or samples
    methods: dict[str, Method] = {
        "studentized": partial(_studentized, resamples),
        "sup ball": partial(_ball, few),
        "gaussian process": partial(_limit, resamples),
        "naive bootstrap": partial(_naive, few),
    }
    if given.methods:
        methods = {name: methods[name] for name in given.methods}
    rows = [number - 1 for number in given.settings or range(1, len(SETTINGS) + 1)]
    print(TITLE, flush=True)
    print(
        f"{samples:,} samples, a tenth of them for the naive bootstrap; {resamples:,} draws of the "
        f"studentized band and of the Gaussian process, {few} resamples of the others.\n",
        flush=True,
    )
    header = ["scores", "prevalence, n", "n_pos", *methods]
    # It takes long: each row is shown when it is there.
    print(table(header, []), end="", flush=True)
    for row in study(samples, methods, rows):
        print(f"| {' | '.join(row)} |", flush=True)


def study(samples: int, methods: dict[str, Method], numbers: list[int]) -> Iterator[list[str]]:
    """Return a row per setting."""
    for number in numbers:
        key, prevalence, n = SETTINGS[number]
        population, found = STUDIED[key], {name: [] for name in methods}
        true = population.precision(prevalence, LEVELS)
        for i in range(samples):
            rng = np.random.default_rng([SEED, number, i])
            classes = _drawn(population, prevalence, n, rng)
            for name, method in methods.items():
                if n <= _LARGEST.get(name, n) and i % (10 if name in _LARGEST else 1) == 0:
                    found[name].append(_judged(method(classes, rng), true))
        about = [population.name, f"{prevalence:g}, {n}", f"{prevalence * n:.0f}"]
        yield [*about, *(_described(rows) for rows in found.values())]


def _drawn(population: Population, prevalence: float, n: int, rng: np.random.Generator) -> Classes:
    """Draw the scores of n items, both labels among them."""
    n_pos = 0
    while not 0 < n_pos < n:
        n_pos = int(rng.binomial(n, prevalence))
    return two_classes(*population.scores(rng, n_pos, n - n_pos), None, None)


def _studentized(resamples: int, classes: Classes, rng: np.random.Generator) -> Band:
    """The default of the verb `band`."""
    weights, cells = drawn_weights(resamples, rng), cells_of_classes(*classes)
    band = posterior_of(cells, LEVELS, weights, None, simultaneous=True).band(LEVEL)
    return band.low, band.high


def _ball(resamples: int, classes: Classes, rng: np.random.Generator) -> Band:
    """Clemencon & Vayatis, Algorithm 1."""
    scores = (some.ascending for some in classes)
    found = pr_bootstrap(*scores, LEVELS, n_resamples=resamples, rng=rng)
    radius = found.radius(LEVEL)
    return found.precision - radius, found.precision + radius


def _limit(resamples: int, classes: Classes, rng: np.random.Generator) -> Band:
    """Clemencon & Vayatis, Theorem 1; all of [0, 1] where there is no band."""
    scores = (some.ascending for some in classes)
    band = pr_asymptotic_band(*scores, LEVELS, kind="studentized", n_resamples=resamples, rng=rng)
    return np.nan_to_num(band.low, nan=0.0), np.nan_to_num(band.high, nan=1.0)


def _naive(resamples: int, classes: Classes, rng: np.random.Generator) -> Band:
    """The same ball from samples of the rows themselves."""
    center = empirical_precision(cells_of_classes(*classes), LEVELS)
    some, others = classes
    n, farthest = some.total + others.total, []
    for n_pos in np.clip(rng.binomial(n, some.total / n, resamples), 1, n - 1):
        pos, neg = rng.choice(some.ascending, n_pos), rng.choice(others.ascending, n - n_pos)
        again = empirical_precision(cells_of_classes(*two_classes(pos, neg, None, None)), LEVELS)
        farthest.append(np.abs(again - center).max())
    radius = np.quantile(farthest, LEVEL)
    return np.maximum(center - radius, 0), np.minimum(center + radius, 1)


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


# The parts that `benchmarks.default_coverage` runs.

PRIOR, DRAWS, SHARED = 0.05, 1000, 20
SINGLE_LEVELS = np.array([0.5, 0.7, 0.8, 0.9])
SINGLE_KEYS = ("tenth", "fifth", "third", "half", "near", "far", "apart", "little apart", "wide")
SINGLE_SIZES = ((0.2, 100), (0.05, 400), (0.3, 100), (0.1, 1000))


def bands(only: Sequence[str] | None, samples: int) -> Iterator[Task]:
    """Yield studies of the default band, as it is and for a known prior."""
    for setting, prior in product(SETTINGS, (None, PRIOR)):
        if only is None or setting[0] in only:
            yield partial(_of_items, "bands", setting, prior, LEVELS, samples)


def single(only: Sequence[str] | None, samples: int) -> Iterator[Task]:
    """Yield studies of intervals at single levels of recall."""
    for key, size, prior in product(only or SINGLE_KEYS, SINGLE_SIZES, (None, PRIOR)):
        yield partial(_of_items, "single levels", (key, *size), prior, SINGLE_LEVELS, samples)


def _of_items(
    part: str, setting: tuple[str, float, int], prior: float | None, levels: Floats, samples: int
) -> list[Row]:
    """Return the row of bands, or one per single level."""
    key, share, n = setting
    population, together = STUDIED[key], part == "bands"
    rng = np.random.default_rng([SEED, n, round(1000 * share)])
    ends = []
    for number, cells in enumerate(population.samples(share, n, samples, rng)):
        if number % SHARED == 0:
            weights = drawn_weights(DRAWS, rng)
        posterior = posterior_of(cells, levels, weights, prior, simultaneous=together)
        band = posterior.band(LEVEL, simultaneous=together)
        ends.append((band.low, band.high))
    low, high = np.moveaxis(np.array(ends), 1, 0)
    true = population.precision(share if prior is None else prior, levels)
    size = f"{share:g}, {n}" + ("" if prior is None else f", prior {prior:g}")
    if together:
        return [of_band((part, "band", population.name, size), low, high, true)]
    return [
        Row(
            part,
            f"precision at {level:g}",
            population.name,
            size,
            true[i],
            (0.0, 1.0),
            np.column_stack([np.arange(len(low)), low[:, i], high[:, i]]),
        )
        for i, level in enumerate(levels)
    ]


CLUSTERED = (
    Clustered(30, 0.3, (1.5, 1.5)),
    Clustered(30, 0.3, (1.5, 1.5), signal=1.0),
    Clustered(30, 0.3, (1.5, 1.5), noise=0.5),
    Clustered(30, 0.3, (1.5, 1.5), signal=0.5, noise=0.2, empty=0.5),
    Clustered(30, 0.3, (1.0, 2.0), signal=0.5, noise=0.2),
    Clustered(60, 0.05, (1.5, 2.0), signal=0.5, noise=0.2),
    Clustered(30, 0.3, (4.0, 5.0), noise=0.3),
    Clustered(5, 0.3, (1.5, 1.5), signal=0.3, noise=0.3),
    Clustered(100, 0.3, (1.5, 2.0), signal=0.7, noise=0.3),
)
CLUSTERS = (3, 5, 7, 10, 20, 40)


def clusters(only: Sequence[str] | None, samples: int) -> Iterator[Task]:
    """Yield studies of bands of items in clusters, of one curve and of the difference of two."""
    del only
    for setting, number in product(CLUSTERED, CLUSTERS):
        yield partial(_of_clusters, setting, number, min(samples, 300))


def _of_clusters(setting: Clustered, number: int, samples: int) -> list[Row]:
    """Return the rows of both bands; samples without a band are left out."""
    levels, found = np.linspace(0.05, 0.95, 46), []
    for i in range(samples):
        rng = np.random.default_rng([SEED, number, i])
        scores, *items = setting.sample(number, rng)
        both = pr_curve_difference(
            *scores, items[0], levels, n_resamples=500, rng=i, cluster=items[1]
        )
        if not np.isnan(both.p_value[0]):
            one = posterior_of_clusters(scores[0], *items, levels, 500, rng).band()
            found.append([one.low, one.high, both.low, both.high])
    first, second = (setting.curve(apart, levels) for apart in setting.apart)
    return _both_rows("cluster bands", setting.about(number), found, first, first - second)


def _both_rows(
    part: str, about: tuple[str, str], found: list[list[Floats]], curve: Floats, gap: Floats
) -> list[Row]:
    """Return the rows of bands of a curve and of a difference."""
    low, high, least, most = np.moveaxis(np.array(found).reshape(-1, 4, curve.size), 1, 0)
    if not len(low):
        return []
    return [
        of_band((part, "curve", *about), low, high, curve),
        of_band((part, "difference", *about), least, most, gap),
    ]


SIZES = [(0.3, 200), (0.3, 1000), (0.1, 200), (0.1, 1000), (0.1, 5000), (0.01, 5000)]
# Sizes, and the means of the positives of either model; nearly perfect models among them.
PAIRS = [
    *product(SIZES, [(1.5, 1.5), (1.7, 1.5), (2.5, 1.0)]),
    *product([(0.1, 600), (0.1, 2000), (0.5, 600)], [(4.0, 4.0), (5.0, 4.0)]),
    ((0.5, 300), (4.0, 4.0)),
    ((0.02, 2000), (5.0, 4.0)),
    ((0.5, 600), (4.0, 2.0)),
    ((0.9, 1000), (4.0, 4.0)),
]


def differences(only: Sequence[str] | None, samples: int) -> Iterator[Task]:
    """Yield studies of the difference of two curves of models with correlated scores."""
    del only
    for (size, means), rho in product(PAIRS, (0.0, 0.5, 0.9, 0.99)):
        yield partial(_of_difference, size, means, rho, min(samples, 500))


def _of_difference(
    size: tuple[float, int], means: tuple[float, float], rho: float, samples: int
) -> list[Row]:
    (prevalence, n), levels, ends = size, np.linspace(0.05, 0.95, 91), []
    for i in range(samples):
        rng = np.random.default_rng([SEED, n, int(1000 * prevalence), int(100 * rho), i])
        scores, label = _two_models(prevalence, n, means, rho, rng)
        band = pr_curve_difference(*scores, label, levels, n_resamples=DRAWS, rng=rng)
        ends.append((band.low, band.high))
    low, high = np.moveaxis(np.array(ends), 1, 0)
    one, other = (binormal(mu).precision(prevalence, levels) for mu in means)
    scores = f"{means[0]:g} and {means[1]:g} apart, correlation {rho:g}"
    about = ("differences", "difference", scores, f"{prevalence:g}, {n}")
    return [of_band(about, low, high, one - other)]


def _two_models(
    prevalence: float, n: int, means: tuple[float, float], rho: float, rng: np.random.Generator
) -> tuple[Floats, Flags]:
    """Draw the scores of n items by two models, with three positives at least."""
    label = np.zeros(n, dtype=np.bool_)
    while not 3 <= label.sum() < n:
        label = rng.random(n) < prevalence
    common, *own = rng.standard_normal((3, n))
    noise = np.sqrt(rho) * common + np.sqrt(1 - rho) * np.stack(own)
    return noise + np.outer(means, label), label


class Queries(NamedTuple):
    """How queries are drawn: further positives beside one, and how far they stand apart."""

    positives: float
    apart: float
    spread: float
    better: float


ITEMS, POPULATION, RECALL = 200, 8_000, np.arange(101) / 100
QUERIES = (Queries(8, 2.0, 0.8, 0.0), Queries(8, 2.0, 0.8, 0.4))
QUERIES += (Queries(8, 0.7, 0.4, 0.2), Queries(1, 2.0, 0.8, 0.2))


def mean_curves(only: Sequence[str] | None, samples: int) -> Iterator[Task]:
    """Yield studies of bands of mean curves over queries, and of their differences."""
    del only
    for setting, number in product(QUERIES, (10, 20, 50, 200)):
        yield partial(_of_queries, setting, number, min(samples, 400))


def _of_queries(setting: Queries, number: int, samples: int) -> list[Row]:
    rng = np.random.default_rng([SEED, *(round(10 * x) for x in setting)])
    one, other = _curves(setting, rng)
    gap, found = other - one, []
    for i in range(samples):
        rng = np.random.default_rng([SEED, number, i])
        chosen = rng.integers(0, POPULATION, number)
        bands = (
            mean_band(curves[chosen], Confidence(limits=limits), 499, rng)
            for curves, limits in ((one, (0, 1)), (gap, (-1, 1)))
        )
        found.append([end for band in bands for end in (band.low, band.high)])
    scores = f"1 + {setting.positives:g} positives, {setting.apart:g} ({setting.spread:g}) apart"
    about = (f"{scores}, {setting.better:g} better", f"{number} queries")
    return _both_rows("mean curves", about, found, one.mean(axis=0), gap.mean(axis=0))


def _curves(setting: Queries, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw the curves of two models for many queries."""
    n_pos = 1 + rng.poisson(setting.positives, POPULATION)
    positive = np.arange(ITEMS) < n_pos[:, None]
    apart = rng.normal(setting.apart, setting.spread, POPULATION)[:, None]
    common = np.sqrt(0.67) * rng.standard_normal(positive.shape)
    one, other = (
        _precision(
            common + np.sqrt(0.33) * rng.standard_normal(positive.shape) + mean * positive, n_pos
        )
        for mean in (apart, apart + setting.better)
    )
    return one, other


def _precision(score: Floats, n_pos: Integers) -> Floats:
    """Return the precision at which each query's recall first reaches the levels."""
    order = np.argsort(-score, axis=1)
    hits = (order < n_pos[:, None]).cumsum(axis=1)
    needed = np.ceil(RECALL * n_pos[:, None] - 1e-9).clip(min=1)
    place = np.stack([np.searchsorted(*row) for row in zip(hits, needed, strict=True)])
    precision: Floats = np.take_along_axis(hits, place, axis=1) / (place + 1)
    precision[:, 0] = 1.0
    return precision


PARTS = {
    "bands": bands,
    "single levels": single,
    "cluster bands": clusters,
    "differences": differences,
    "mean curves": mean_curves,
}

if __name__ == "__main__":
    warnings.simplefilter("error")
    main()
