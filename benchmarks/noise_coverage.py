"""``python -m benchmarks.noise_coverage``: intervals and bands where labels are noisy, or scores tied.

Label noise, mass at one score, clusters of near-duplicates, tied tops, mean curves, and the
standard errors. ``--part`` takes some of it, ``--samples`` another number of samples.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import poisson

from benchmarks.data import SEED
from benchmarks.default_coverage import Row
from benchmarks.mean_curve_coverage import curves
from benchmarks.populations import Population, binormal, sunk
from benchmarks.report import table
from prframe.stats.curves import drawn_weights, posterior_of
from prframe.stats.intervals import Confidence, mean_band, mean_interval, posterior_replicates
from prframe.stats.intervals.rankings import POSTERIOR, ranking_interval, suited_method
from prframe.stats.rankings import (
    AveragePrecision,
    CellStatistic,
    DiscountedGain,
    PrecisionAt,
    ReciprocalRank,
    RocArea,
    SetPrecision,
    SetRecall,
    SetSpecificity,
    SuccessAt,
    cells_from_scores,
    cluster_counts,
)
from prframe.typing import Floats

TITLE = """## noise-coverage

Default 95 % intervals and bands where labels are noisy, scores have mass at one value, and clusters \
hold near-duplicates: coverage, in brackets how often intervals lie above the value of the population \
and below it, and the mean width in standard deviations of the estimate over samples. *Error*: the \
root of the mean square of ``std_error`` over that deviation. \
{samples:,} samples, {draws:,} draws, \
which {shared} samples share.
"""
DRAWS, SHARED = 500, 20
LEVELS = np.linspace(0.05, 0.95, 181)
UNIT = Confidence(limits=(0.0, 1.0))


def of_levels(name: str, pos: Floats, neg: Floats) -> Population:
    """Return scores of few values, from the lowest one, with these shares of either class."""
    recall, passed = (np.cumsum(shares[::-1] / shares.sum()) for shares in (pos, neg))
    recall[-1] = 1.0

    def rate(at: Floats) -> Floats:
        return np.interp(at, np.insert(recall, 0, 0.0), np.insert(passed, 0, 0.0))

    def scores(rng: np.random.Generator, n_pos: int, n_neg: int) -> tuple[Floats, Floats]:
        of_pos, of_neg = (
            rng.choice(shares.size, n, p=shares / shares.sum()).astype(np.float64)
            for shares, n in ((pos, n_pos), (neg, n_neg))
        )
        return of_pos, of_neg

    return Population(name, rate, scores, tuple(recall))


def flipped(mu: float, share: float) -> Population:
    """Return normal scores mu apart, a share of the labels of either class being wrong."""
    cut = np.linspace(mu + 10, -10, 400_001)
    good, bad = ndtr(mu - cut), ndtr(-cut)

    def scores(rng: np.random.Generator, n_pos: int, n_neg: int) -> tuple[Floats, Floats]:
        wrong = rng.random(n_pos) < share, rng.random(n_neg) < share
        return rng.normal(np.where(wrong[0], 0, mu)), rng.normal(np.where(wrong[1], mu, 0))

    def rate(recall: Floats) -> Floats:
        reached, passed = good + share * (bad - good), bad + share * (good - bad)
        return np.interp(recall, reached, passed)

    return Population(f"normal, {mu:g} apart, {100 * share:g} % of labels wrong", rate, scores)


def counts(mean: float, other: float, zeros: float, name: str) -> Population:
    """Return Poisson counts, a share of the positives and of the negatives being 0."""
    number = np.arange(40)
    pos, neg = poisson.pmf(number, mean), poisson.pmf(number, other)
    pos, neg = 0.95 * pos, (1 - zeros) * neg
    pos[0], neg[0] = pos[0] + 0.05, neg[0] + zeros
    kept = pos + neg > 1e-12
    return of_levels(name, pos[kept], neg[kept])


# Of 15 nearest neighbours, and of probabilities most of which are 0 or 1.
_NEIGHBOURS = (
    np.array([12, 15, 20, 20, 25, 30, 35, 45, 60, 75, 90, 110, 130, 140, 113, 80.0]),
    np.array([8200, 850, 350, 200, 120, 80, 60, 40, 30, 25, 20, 10, 8, 4, 2, 1.0]),
)
_CONFIDENT = (
    np.array([6, 1, 1, 1, 1, 2, 3, 5, 10, 70.0]),
    np.array([90, 4, 2, 1, 1, 0.5, 0.5, 0.3, 0.3, 0.4]),
)
NEIGHBOURS = of_levels("shares of 15 neighbours", *_NEIGHBOURS)
CONFIDENT = of_levels("overconfident probabilities", *_CONFIDENT)
ZEROS, PURE = counts(5, 1, 0.7, "counts, many 0"), counts(6, 0.5, 0.0, "counts with a pure top")
NOISE = [
    (sunk(0.03, 4, 0), 0.06, 1000),
    (sunk(0.03, 4, 0), 0.02, 2000),
    (sunk(0.01, 4, 0), 0.1, 1500),
    (sunk(0.03, 2, 0), 0.06, 1000),
    (flipped(4, 0.03), 0.1, 1000),
    (NEIGHBOURS, 0.05, 1000),
    (NEIGHBOURS, 0.2, 300),
    (CONFIDENT, 0.1, 500),
    (ZEROS, 0.1, 500),
]
TOPS = [
    (binormal(1.2, tuple(ndtr(np.arange(-4, 4.5, 0.5)))), 0.5, 40),
    (binormal(1.2, tuple(ndtr(np.arange(-4, 4.5, 0.5)))), 0.05, 400),
    (binormal(1.2, tuple(ndtr(np.arange(-4, 5.0, 1.0)))), 0.05, 400),
    (PURE, 0.2, 100),
]
BANDS = [(PURE, 0.05, 1000), (PURE, 0.2, 300), (ZEROS, 0.1, 500), (NEIGHBOURS, 0.05, 1000)]
ERRORS = list(product((0.8, 0.9, 0.95, 0.99), ((0.3, 200), (0.05, 1000))))
CLUSTERS = [(400, 8), (100, 8), (400, 2)]
# A recall beyond what lists of so many items hold has precision 0, as most queries have near 1.
CUT, QUERIES = 20, (20, 50, 93)


def _ranked(  # noqa: PLR0913, PLR0917
    part: str,
    population: Population,
    prevalence: float,
    n: int,
    samples: int,
    true: dict[CellStatistic, float],
) -> Iterator[tuple[Row, float]]:
    """Yield the row of each metric, and the size of its standard errors."""
    rng = np.random.default_rng([SEED, n, round(1e4 * prevalence)])
    metrics, found = list(true), []
    for number, cells in enumerate(population.samples(prevalence, n, samples, rng)):
        if number % SHARED == 0:
            weights = drawn_weights(DRAWS, rng)
        drawn = [m for m in metrics if suited_method(cells, m, clustered=False) == POSTERIOR]
        known = dict(zip(drawn, posterior_replicates(cells, drawn, weights), strict=True))
        ones = [ranking_interval(cells, m, replicates=known.get(m)) for m in metrics]
        found.append([(one.estimate, one.low, one.high, one.std_error) for one in ones])
    numbers = np.array(found)
    for i, (metric, value) in enumerate(true.items()):
        yield _row(
            part, metric.name, population.name, f"{prevalence:g}, {n}", value, numbers[:, i]
        )


def _row(  # noqa: PLR0913, PLR0917
    part: str, metric: str, scores: str, size: str, true: float, found: Floats
) -> tuple[Row, float]:
    row = Row(part, metric, scores, size, true, (0.0, 1.0), found[:, :3])
    spread = found[:, 0].std()
    error = np.sqrt(np.nanmean(found[:, 3] ** 2)) / spread if spread else np.nan
    return row, float(error)


def noise(samples: int) -> Iterator[tuple[Row, float]]:
    """Study AP and AUC under label noise, and with mass at one score."""
    for population, prevalence, n in NOISE:
        of = population.metrics(prevalence, 0.5, 0.5)
        true = {AveragePrecision(): of["AP"], RocArea(): of["AUC"]}
        yield from _ranked("noise", population, prevalence, n, samples, true)


def tops(samples: int) -> Iterator[tuple[Row, float]]:
    """Study the first positive where the top is tied; the mean of many samples is its value."""
    for population, prevalence, n in TOPS:
        rng, metrics = np.random.default_rng([SEED, n]), (ReciprocalRank(), SuccessAt(2))
        many = list(population.samples(prevalence, n, 20_000, rng))
        true: dict[CellStatistic, float] = {
            one: float(np.mean([one.value(cells) for cells in many])) for one in metrics
        }
        yield from _ranked("tied tops", population, prevalence, n, samples, true)


def errors(samples: int) -> Iterator[tuple[Row, float]]:
    """Study standard errors of good rankings, and the widths of the default intervals."""
    for auc, (prevalence, n) in ERRORS:
        population = binormal(float(ndtri(auc) * 2**0.5))
        of = population.metrics(prevalence, 10 / n, 0.5)
        rng, gain = np.random.default_rng([SEED, n]), DiscountedGain(10, normalised=True)
        many = list(population.samples(prevalence, n, 20_000, rng))
        true = {
            AveragePrecision(): of["AP"],
            RocArea(): of["AUC"],
            PrecisionAt(10): of["P@k"],
            gain: float(np.mean([gain.value(cells) for cells in many])),
        }
        yield from _ranked("errors", population, prevalence, n, samples, true)


def clusters(samples: int) -> Iterator[tuple[Row, float]]:
    """Study metrics next to 1 of clusters whose rows have one label and nearly one score."""
    cut = {
        "P(threshold=2.8)": (SetPrecision(), 2.8),
        "R(threshold=0)": (SetRecall(), 0.0),
        "Specificity(threshold=2.5)": (SetSpecificity(), 2.5),
        "P@40": (PrecisionAt(40), -np.inf),
    }
    for number, size in CLUSTERS:
        at = 1 - 40 / (number * size)
        of_pos, of_neg = ndtr(2 - 2.8), ndtr(-2.8)
        grid = np.linspace(-6, 8, 400_001)
        above = 0.25 * ndtr(2 - grid) + 0.75 * ndtr(-grid)
        least = float(np.interp(1 - at, above[::-1], grid[::-1]))
        true = {
            "P(threshold=2.8)": of_pos / (of_pos + 3 * of_neg),
            "R(threshold=0)": float(ndtr(2)),
            "Specificity(threshold=2.5)": float(ndtr(2.5)),
            "P@40": float(0.25 * ndtr(2 - least) / (1 - at)),
        }
        rng, unit, found = (
            np.random.default_rng([SEED, number]),
            np.arange(number).repeat(size),
            [],
        )
        for _ in range(samples):
            label = rng.random(number) < 0.25
            score = (rng.normal(size=number) + 2 * label)[unit]
            rows = []
            for metric, threshold in cut.values():
                cells, cell = cells_from_scores(
                    np.where(score >= threshold, score, -np.inf), label[unit]
                )
                held = cluster_counts(cell, label[unit], unit, cells.pos.size)
                one = ranking_interval(cells, metric, clusters=held)
                rows.append((one.estimate, one.low, one.high, one.std_error))
            found.append(rows)
        for i, (name, value) in enumerate(true.items()):
            about = f"{number} clusters of {size}"
            yield _row("clusters", name, "near-duplicates", about, value, np.array(found)[:, i])


def bands(samples: int) -> Iterator[tuple[Row, float]]:
    """Study bands of scores with mass; a band covers if it lies nowhere above or below the curve."""
    for population, prevalence, n in BANDS:
        true, found = population.precision(prevalence, LEVELS), []
        rng = np.random.default_rng([SEED, n])
        for number, cells in enumerate(population.samples(prevalence, n, samples, rng)):
            if number % SHARED == 0:
                weights = drawn_weights(DRAWS, rng)
            low, high = posterior_of(cells, LEVELS, weights, simultaneous=True).band()
            found.append((0.0, (low - true).max(), (high - true).min(), np.nan))
        yield _row(
            "bands", "PR curve", population.name, f"{prevalence:g}, {n}", 0.0, np.array(found)
        )


def mean_curves(samples: int) -> Iterator[tuple[Row, float]]:
    """Study bands of the mean curve of short lists at the levels .1 to .9, and of 0 to 1."""
    rng, many = np.random.default_rng(SEED), 8000
    n_pos = 1 + rng.poisson(8, many)
    positive = np.arange(200) < n_pos[:, None]
    score = rng.normal(size=positive.shape) + rng.normal(1.5, 0.8, many)[:, None] * positive
    of_lists = curves(score, n_pos)
    needed = np.ceil(np.arange(101) / 100 * n_pos[:, None] - 1e-9)
    of_lists[needed / np.maximum(of_lists, 1e-9) > CUT] = 0.0
    for chosen, about in ((slice(10, 91), "recall .1 to .9"), (slice(None), "recall 0 to 1")):
        true = of_lists[:, chosen].mean(axis=0)
        for queries in QUERIES:
            found = []
            for _ in range(samples):
                sample = of_lists[rng.integers(0, many, queries), chosen]
                # The verb extends the band to the interval of each level.
                band = mean_band(sample, UNIT, DRAWS, rng)
                single = [mean_interval(values, "logit", UNIT) for values in sample.T]
                low = np.fmin(band.low, [one.low for one in single])
                high = np.fmax(band.high, [one.high for one in single])
                ends = (low - true).max() - 1e-9, (high - true).min() + 1e-9
                found.append((0.0, *ends, float((high - low).mean())))
            row, _ = _row(
                "mean curves",
                "PR curve",
                f"lists of {CUT}",
                f"{queries}, {about}",
                0.0,
                np.array(found),
            )
            yield row, float(np.mean([width for *_, width in found]))


PARTS: dict[str, Callable[[int], Iterator[tuple[Row, float]]]] = {
    "noise": noise,
    "clusters": clusters,
    "tied tops": tops,
    "bands": bands,
    "mean curves": mean_curves,
    "errors": errors,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.noise_coverage", description=__doc__
    )
    parser.add_argument("--part", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--samples", type=int, default=1000, help="samples of each setting")
    parser.add_argument("--quick", action="store_true", help="20 samples")
    options = parser.parse_args()
    samples = 20 if options.quick else options.samples
    warnings.simplefilter("ignore")
    print(TITLE.format(samples=samples, draws=DRAWS, shared=SHARED), flush=True)
    header = ["part", "metric", "scores", "size", "value", "coverage", "width", "error"]
    print(table(header, []).rstrip("\n"), flush=True)
    for row, error in (
        found for part in options.part for found in partial(PARTS[part], samples)()
    ):
        above, below = row.misses
        estimate, low, high = row.found.T
        spread = estimate.std()
        width = f"{np.nanmean(high - low) / spread:.2f}" if spread else ""
        covered = f"{row.coverage:.3f} ({above:.3f}, {below:.3f})"
        about = [row.part, row.metric, row.scores, row.size, f"{row.true:.4g}", covered, width]
        told = "" if np.isnan(error) else f"{error:.2f}"
        if row.part == "mean curves":
            about[-1], told = f"{error:.3f}", ""
        print(table(header, [[*about, told]]).rstrip("\n").split("\n")[-1], flush=True)


if __name__ == "__main__":
    main()
