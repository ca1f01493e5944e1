"""The metrics whose intervals are studied, and their values in populations."""

from collections.abc import Callable

import numpy as np

from benchmarks.data import SEED
from benchmarks.populations import Population
from prframe.stats.rankings import (
    AveragePrecision,
    AveragePrecisionAt,
    Bedroc,
    CellStatistic,
    DiscountedGain,
    F1At,
    GainArea,
    LargestF1,
    LiftAt,
    LinearRankMean,
    PartialAveragePrecision,
    PartialRocArea,
    PrecisionAt,
    PrecisionAtRecall,
    RankBiasedPrecision,
    RecallAt,
    RecallAtPrecision,
    ReciprocalRank,
    RocArea,
    RPrecision,
    SuccessAt,
    TrapezoidArea,
)
from prframe.typing import Integers

LEVEL, K, MAX_RECALL = 0.5, 10, 0.1
# The metrics of a large ranking with the curve of a population, which has so many positives.
_FINE = 400_000


def of_main(population: Population, prevalence: float, n: int) -> dict[CellStatistic, float]:
    """Return metrics of the whole ranking and of the top, and their values."""
    metrics = statistics_of(round(prevalence * n))
    share = 2 * round(prevalence * n) / n
    true = population.metrics(prevalence, share, LEVEL)
    values = {metric: true[name] for name, metric in metrics.items()}
    return values | of_top(population, prevalence, n)


def statistics_of(n_pos: int) -> dict[str, CellStatistic]:
    """Return the metrics; cut-offs at twice the expected number of positives."""
    return {
        "AP": AveragePrecision(),
        "AUPRC": TrapezoidArea(),
        "AUC": RocArea(),
        "P@k": PrecisionAt(2 * n_pos),
        "R@k": RecallAt(2 * n_pos),
        "Prec@r": PrecisionAtRecall(LEVEL),
        "F1@k": F1At(2 * n_pos),
        "Lift@k": LiftAt(2 * n_pos),
        "Rprec": RPrecision(),
        "MaxF1": LargestF1(),
        "BEDROC": Bedroc(),
    }


def of_top(population: Population, prevalence: float, n: int) -> dict[CellStatistic, float]:
    """Return the metrics of the first ranks and levels of recall, and their values."""
    gain, rbp = _of_ranks(population, prevalence, n)
    of_ranks: dict[CellStatistic, float] = {
        DiscountedGain(K, normalised=True): gain,
        RankBiasedPrecision(): rbp,
    }
    if population.levels:
        return _of_levels(population, prevalence, n) | of_ranks
    for max_recall in (MAX_RECALL, 0.5):
        levels = (np.arange(100_000) + 0.5) / 100_000 * max_recall
        value = float(population.precision(prevalence, levels).mean())
        of_ranks[PartialAveragePrecision(max_recall)] = value
    return of_ranks


def _of_ranks(population: Population, prevalence: float, n: int) -> tuple[float, float]:
    """Return nDCG@10 and RBP."""
    ranks = np.arange(1, n + 1)
    shares = np.concatenate([[0.0], ranks / n])
    precision = np.diff(n * prevalence * population.recall_above(prevalence, shares))
    discounts = 1 / np.log2(ranks + 1)
    best = np.interp(min(K, n * prevalence), np.append(0, ranks), np.append(0, discounts.cumsum()))
    gain = float(discounts[:K] @ precision[:K] / best)
    return gain, float((0.2 * 0.8 ** (ranks - 1)) @ precision)


def _of_levels(population: Population, prevalence: float, n: int) -> dict[CellStatistic, float]:
    """Return the metrics of a population with few levels of score."""
    recall = np.array(population.levels)
    rates = (recall, population.false(recall))
    pos, neg = (np.append(np.diff(rate, prepend=0.0), 0.0) for rate in rates)
    counts = 1e9 * prevalence * pos, 1e9 * (1 - prevalence) * neg
    shared = (TrapezoidArea(), GainArea(), PartialAveragePrecision(MAX_RECALL))
    values: dict[CellStatistic, float] = {one: float(one.values(*counts)) for one in shared}
    return values | {PrecisionAt(K): population.metrics(prevalence, K / n, 0.5)["P@k"]}


def of_ap(population: Population, prevalence: float, n: int) -> dict[CellStatistic, float]:
    """Return AP and its value; n does not matter."""
    del n
    return {AveragePrecision(): population.metrics(prevalence, 0.5, 0.5)["AP"]}


def of_sizes(population: Population, prevalence: float, n: int) -> dict[CellStatistic, float]:
    """Return metrics that read whole curves, and their values in a very large ranking.

    A rank of the sample is one of as large a share of it.
    """
    recall = (np.arange(_FINE) + 0.5) / _FINE
    n_neg = _FINE * (1 - prevalence) / prevalence
    pos, neg = np.zeros((2, 2 * _FINE + 2))
    pos[1:-1:2] = 1
    neg[::2] = n_neg * np.diff(population.false(recall), prepend=0.0, append=1.0)
    precision = float(population.precision(prevalence, np.array([LEVEL]))[0])
    metrics: list[CellStatistic] = [
        AveragePrecision(),
        PartialAveragePrecision(0.3),
        PartialRocArea(0.1),
        GainArea(),
        LinearRankMean("mww"),
        LargestF1(),
        RecallAtPrecision(precision),
    ]
    k = max(1, n // 50)
    whole = AveragePrecisionAt(round(k * (_FINE + n_neg) / n))
    values = {metric: float(metric.values(pos, neg)) for metric in metrics}
    return values | {AveragePrecisionAt(k): float(whole.values(pos, neg))}


def of_first(population: Population, prevalence: float, n: int) -> dict[CellStatistic, float]:
    """Return metrics of the first positive, and their means over many rankings of n items."""
    rng = np.random.default_rng([SEED, n, 1])
    n_pos = rng.binomial(n, prevalence, 1_000_000)
    n_pos = n_pos[(n_pos > 0) & (n_pos < n)]
    # The recall of the first of so many positives.
    first = -np.expm1(-rng.standard_exponential(n_pos.size) / n_pos)
    rank: Integers = 1 + rng.binomial(n - n_pos, population.false(first))
    successes: dict[CellStatistic, float] = {
        SuccessAt(k): float((rank <= k).mean()) for k in (1, 3, 5, 10)
    }
    return successes | {
        ReciprocalRank(): float((1 / rank).mean()),
        ReciprocalRank(10): float(((rank <= 10) / rank).mean()),
    }


METRICS: dict[str, Callable[[Population, float, int], dict[CellStatistic, float]]] = {
    "main": of_main,
    "ap": of_ap,
    "top": of_top,
    "levels": of_top,
    "sizes": of_sizes,
    "first": of_first,
}
