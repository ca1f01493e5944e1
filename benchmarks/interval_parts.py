"""``python -m benchmarks.interval_parts``: intervals in settings that the main study leaves out.

``--part`` takes one of the parts, ``--quick`` and ``--samples`` take fewer samples, ``--only KEY ...``
the populations of these keys in `benchmarks.populations`.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from time import process_time
from typing import TypeAlias

import numpy as np

from benchmarks.data import SEED
from benchmarks.paired_study import rows_of
from benchmarks.populations import POPULATIONS, Population
from benchmarks.threshold_parts import first, thresholds
from prframe.stats.curves import drawn_weights
from prframe.stats.intervals import Confidence, posterior_replicates
from prframe.stats.intervals.rankings import ranking_interval
from prframe.stats.rankings import (
    AveragePrecision,
    CellStatistic,
    DiscountedGain,
    GainArea,
    PartialAveragePrecision,
    PrecisionAt,
    RankBiasedPrecision,
    RankedCells,
    RocArea,
    TrapezoidArea,
    ranking_bootstrap,
)
from prframe.typing import Floats

Ends: TypeAlias = tuple[float, float]

BY_DRAWS, BY_RESAMPLES = "bayesian-bootstrap", ("percentile",)
AP_METHODS = (BY_DRAWS, "logit-t")
TOP_METHODS = (BY_DRAWS, "logit-t", *BY_RESAMPLES)
PREVALENCES = (0.01, 0.05, 0.1, 0.5)
POSITIVES = (10, 20, 50, 100)
SIZES_OF_LEVELS = ((0.01, 2000), (0.01, 10_000), (0.1, 200), (0.1, 1000))
FEW = ("few", "five", "ten")
SIZES = ((0.5, 40), (0.1, 200), (0.01, 2000))
DRAWS, NUMBERS = 500, (250, 500, 1000, 2000)
K, MAX_RECALL = 10, 0.1
# Scores of few levels have a part of their own.
UNTIED = [key for key, population in POPULATIONS.items() if not population.levels]
MEASURE = "in brackets how often it lies above it and below it, and the mean width"
AP = f"""## interval-ap

95 % intervals of AP: the share of samples whose interval covers the AP of the population, {MEASURE}. \
*hard*: that share of the negatives stands above the positives. {{samples:,}} samples, {DRAWS:,} draws. \
*Wider*: draws at the level which Student's distribution with as many positives asks of resamples.
"""
LEVELS = f"""## interval-levels

95 % intervals of what the first of few levels of score decide: the share of samples whose interval \
covers the metric of the population, {MEASURE}. {{samples:,}} samples, {DRAWS:,} draws.
"""
TOP = f"""## interval-top

95 % intervals of metrics of the top by each method: the share of samples whose interval covers the \
metric of the population, {MEASURE}. {{samples:,}} samples, {DRAWS:,} draws or resamples.
"""
NUMBER = """## interval-draws

95 % intervals by draws of the curve: coverage and, in brackets, the standard deviation of an end over \
seeds, in standard errors of the metric; CPU milliseconds of all three metrics. {samples:,} samples.
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.interval_parts", description=__doc__
    )
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--samples", type=int, default=500, help="samples per setting")
    parser.add_argument("--part", choices=list(PARTS), help="one part alone")
    parser.add_argument("--only", nargs="+", choices=POPULATIONS, default=UNTIED)
    options = parser.parse_args()
    samples = 20 if options.quick else options.samples
    for name, part in PARTS.items():
        if options.part in {None, name}:
            for line in part(options.only, samples):
                print(line, flush=True)
            print(flush=True)


def average_precision(keys: Sequence[str], samples: int) -> Iterator[str]:
    """Study AP by both methods at many prevalences and numbers of positives."""
    yield AP.format(samples=samples)
    header = ["scores", "prevalence", "n_pos", "AP", *AP_METHODS, "draws, wider"]
    yield from rows_of(header, chain.from_iterable(_of_ap(key, samples) for key in keys))


def _of_ap(key: str, samples: int) -> Iterator[list[str]]:
    """Return a row per prevalence and number of positives."""
    population = POPULATIONS[key]
    for prevalence in PREVALENCES:
        true = population.metrics(prevalence, 0.5, 0.5)["AP"]
        for n_pos in POSITIVES:
            n = round(n_pos / prevalence)
            rng = np.random.default_rng([SEED, n, n_pos])
            drawn = population.samples(prevalence, n, samples, rng)
            ends = np.array([_ap_ends(cells, rng) for cells in drawn])
            described = [_described(ends[:, i], true) for i in range(len(AP_METHODS) + 1)]
            yield [population.name, f"{prevalence:g}", f"{n_pos}", f"{true:.3g}", *described]


def _ap_ends(cells: RankedCells, rng: np.random.Generator) -> list[Ends]:
    """Return low and high of AP by each method, and by draws at a level for few positives."""
    intervals = [
        ranking_interval(cells, AveragePrecision(), method, n_resamples=DRAWS, rng=rng)
        for method in AP_METHODS
    ]
    # Draws of their own leave the samples as they are.
    wider = Confidence().expanded(cells.n_pos)
    intervals.append(
        ranking_interval(
            cells, AveragePrecision(), BY_DRAWS, wider, n_resamples=DRAWS, rng=SEED + cells.n_pos
        )
    )
    return [(interval.low, interval.high) for interval in intervals]


def top(keys: Sequence[str], samples: int) -> Iterator[str]:
    """Study metrics of the top of rankings by all methods."""
    yield TOP.format(samples=samples)
    header = ["metric", "scores", "prevalence, n", "value", *TOP_METHODS]
    yield from rows_of(header, chain.from_iterable(_of_top(key, samples) for key in keys))


def _of_top(key: str, samples: int) -> Iterator[list[str]]:
    """Return a row per size of the sample and metric."""
    population = POPULATIONS[key]
    metrics: list[CellStatistic] = [
        DiscountedGain(K, normalised=True),
        RankBiasedPrecision(),
        PartialAveragePrecision(MAX_RECALL),
    ]
    for prevalence, n in SIZES:
        true = true_of_top(population, prevalence, n)
        rng = np.random.default_rng([SEED, n])
        drawn = population.samples(prevalence, n, samples, rng)
        ends = np.array([_top_ends(cells, metrics, rng) for cells in drawn])
        for i, (metric, value) in enumerate(zip(metrics, true, strict=True)):
            described = [_described(ends[:, i, j], value) for j in range(len(TOP_METHODS))]
            about = [population.name, f"{prevalence:g}, {n}", f"{value:.3g}"]
            yield [metric.name, *about, *described]


def true_of_top(population: Population, prevalence: float, n: int) -> list[float]:
    """Return nDCG@10, RBP and pAP of the population, as `_of_top` lists them."""
    ranks = np.arange(1, n + 1)
    shares = np.concatenate([[0.0], ranks / n])
    precision = np.diff(n * prevalence * population.recall_above(prevalence, shares))
    discounts = 1 / np.log2(ranks + 1)
    best = np.interp(min(K, n * prevalence), np.append(0, ranks), np.append(0, discounts.cumsum()))
    levels = (np.arange(100_000) + 0.5) / 100_000 * MAX_RECALL
    return [
        float(discounts[:K] @ precision[:K] / best),
        float((0.2 * 0.8 ** (ranks - 1)) @ precision),
        float(population.precision(prevalence, levels).mean()),
    ]


def _top_ends(
    cells: RankedCells, metrics: Sequence[CellStatistic], rng: np.random.Generator
) -> list[list[Ends]]:
    """Return low and high of each metric by each method."""
    resampled = ranking_bootstrap(cells, metrics, DRAWS, rng)
    drawn = posterior_replicates(cells, metrics, drawn_weights(DRAWS, rng))
    ends = []
    for metric, of_draws, of_samples in zip(metrics, drawn, resampled, strict=True):
        replicates = {BY_DRAWS: of_draws} | dict.fromkeys(BY_RESAMPLES, of_samples)
        intervals = [
            ranking_interval(cells, metric, method, replicates=replicates.get(method))
            for method in TOP_METHODS
        ]
        ends.append([(interval.low, interval.high) for interval in intervals])
    return ends


def levels(keys: Sequence[str], samples: int) -> Iterator[str]:
    """Study metrics of scores of few levels by the default and by influence values."""
    tied = [key for key in keys if POPULATIONS[key].levels] or FEW
    yield LEVELS.format(samples=samples)
    header = ["metric", "scores", "prevalence, n", "value", "auto", "influence values"]
    yield from rows_of(header, chain.from_iterable(_of_levels(key, samples) for key in tied))


def _of_levels(key: str, samples: int) -> Iterator[list[str]]:
    """Return a row per size of the sample and metric."""
    population = POPULATIONS[key]
    for prevalence, n in SIZES_OF_LEVELS:
        true = true_of_levels(population, prevalence, n)
        rng = np.random.default_rng([SEED, n, len(population.levels)])
        drawn = list(population.samples(prevalence, n, samples, rng))
        for metric, value in true.items():
            described = []
            for method in ("auto", "logit-t"):
                found = [
                    ranking_interval(cells, metric, method, n_resamples=DRAWS, rng=rng)
                    for cells in drawn
                ]
                ends = np.array([(interval.low, interval.high) for interval in found])
                described.append(_described(ends, value))
            about = [population.name, f"{prevalence:g}, {n}", f"{value:.3g}"]
            yield [metric.name, *about, *described]


def true_of_levels(
    population: Population, prevalence: float, n: int
) -> dict[CellStatistic, float]:
    """Return the metrics of a population with levels."""
    recall = np.array(population.levels)
    false = population.false(recall)
    pos, neg = (np.append(np.diff(rate, prepend=0.0), 0.0) for rate in (recall, false))
    counts = 1e9 * prevalence * pos, 1e9 * (1 - prevalence) * neg
    shared: list[CellStatistic] = [
        TrapezoidArea(),
        GainArea(),
        PartialAveragePrecision(MAX_RECALL),
    ]
    of_ranks = true_of_top(population, prevalence, n)
    return {metric: float(metric.values(*counts)) for metric in shared} | {
        PrecisionAt(K): population.metrics(prevalence, K / n, 0.5)["P@k"],
        DiscountedGain(K, normalised=True): of_ranks[0],
        RankBiasedPrecision(): of_ranks[1],
    }


def numbers(keys: Sequence[str], samples: int) -> Iterator[str]:
    """Study how many draws an interval needs."""
    yield NUMBER.format(samples=samples)
    header = ["scores", "draws", "AP", "AUC", "P@10", "milliseconds"]
    yield from rows_of(header, chain.from_iterable(_of_numbers(key, samples) for key in keys))


def _of_numbers(key: str, samples: int) -> Iterator[list[str]]:
    """Return a row per number of draws."""
    population, prevalence, n = POPULATIONS[key], 0.05, 1000
    metrics = [AveragePrecision(), RocArea(), PrecisionAt(K)]
    known = population.metrics(prevalence, K / n, 0.5)
    true = [known["AP"], known["AUC"], known["P@k"]]
    for number in NUMBERS:
        rng, spread = np.random.default_rng([SEED, n]), np.random.default_rng(SEED)
        drawn, ends, begun = population.samples(prevalence, n, samples, rng), [], process_time()
        for cells in drawn:
            weights = drawn_weights(number, spread)
            ends.append(_quantiles(posterior_replicates(cells, metrics, weights)))
        took = 1000 * (process_time() - begun) / samples
        cells = next(population.samples(prevalence, n, 1, np.random.default_rng(SEED)))
        seeds = [drawn_weights(number, spread) for _ in range(30)]
        replicates = [posterior_replicates(cells, metrics, weights) for weights in seeds]
        noise = np.std([_quantiles(values) for values in replicates], axis=0).mean(axis=1)
        noise /= np.mean([values.std(axis=1) for values in replicates], axis=0)
        covers = [_covers(np.array(ends)[:, i], value) for i, value in enumerate(true)]
        described = [f"{c:.3f} ({s:.3f})" for c, s in zip(covers, noise, strict=True)]
        yield [population.name, f"{number:,}", *described, f"{took:.1f}"]


def _quantiles(replicates: Floats) -> Floats:
    """Return the ends of 95 % intervals, shape (n_metrics, 2)."""
    return np.quantile(replicates, [0.025, 0.975], axis=1).T


def _covers(ends: Floats, true: float) -> float:
    """Return the share of intervals that cover a value."""
    low, high = ends.T
    return float(((low <= true) & (true <= high)).mean())


def _described(ends: Floats, true: float) -> str:
    """Write coverage, misses on either side and the mean width."""
    low, high = ends.T
    above, below = (low > true + 1e-12).mean(), (high < true - 1e-12).mean()
    covers, width = _covers(ends + np.array([-1e-12, 1e-12]), true), np.nanmean(high - low)
    return f"{covers:.3f} ({above:.3f}, {below:.3f}) {width:.3f}"


PARTS: dict[str, Callable[[Sequence[str], int], Iterator[str]]] = {
    "ap": average_precision,
    "top": top,
    "levels": levels,
    "draws": numbers,
    "thresholds": thresholds,
    "first": first,
}

if __name__ == "__main__":
    main()
