"""``python -m benchmarks.default_coverage``: how often intervals and bands of the default method cover.

``--part`` takes some of the studies, ``--metric`` and ``--only`` (keys in `benchmarks.populations`)
some of their rows, ``--samples`` another number of samples, ``--quick`` few. ``--every`` prints
all rows, and not only those that are covered too seldom. Settings are declared below, in `verb_coverage` and in `band_coverage`.
"""

import argparse
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from multiprocessing import Pool
from statistics import median

import numpy as np
from scipy.special import ndtr

from benchmarks import band_coverage, rank_study, verb_coverage
from benchmarks.coverage import HEADER, HIGH, LOW, Row, Task
from benchmarks.data import SEED
from benchmarks.populations import POPULATIONS, STUDIED
from benchmarks.ranking_metrics import METRICS
from benchmarks.report import table
from prframe.draws import INTERVAL_DRAWS
from prframe.stats.curves import drawn_weights
from prframe.stats.intervals import Confidence, mean_interval, posterior_replicates
from prframe.stats.intervals.rankings import POSTERIOR, ranking_interval, suited_method
from prframe.stats.rank_statistics.statistic import RankStatistic, rank_null
from prframe.stats.rankings import (
    CellStatistic,
    RankedCells,
    SetBalancedAccuracy,
    SetFMeasure,
    SetMatthews,
    SetPrecision,
    SetRecall,
    SetSpecificity,
    cells_from_scores,
)
from prframe.stats.score_functions import parse_phi
from prframe.typing import Floats

TITLE = """## default-coverage

95 % intervals and bands of the default method, {samples:,} samples of each setting: how many \
settings are covered in less than {low} and in more than {high} by more than two standard errors, and \
for how many of these an end of the range or equal estimates explain it.
"""
OUTSIDE = """Settings that are covered too seldom. In brackets how often intervals lie above the value \
of the population and below it, then the mean width. *At an end*: the share of intervals with an end at \
that of the range of the metric. *Alike*: the share of samples that have the most frequent estimate; \
coverage of counts jumps by about as much. {draws:,} draws, which {shared} samples share.
"""
SUMMARY = ["part", "metric", "settings", "least", "median", "largest", "too low", "too high"]
SUMMARY += ["explained"]
# Draws are made anew for so many samples, which bounds what their noise does to the coverage.
SHARED = 20
LEAST_POSITIVES = 15

# Population, share of positives and number of items of the main part.
SETTINGS = [
    *((key, *size) for key in "123" for size in ((0.5, 40), (0.1, 200), (0.1, 1000))),
    *((key, *size) for key in "123" for size in ((0.01, 2000), (0.01, 10_000))),
    ("1", 0.5, 400),
    ("1", 0.001, 20_000),
    ("2", 0.001, 20_000),
    ("2", 0.001, 100_000),
    ("beta", 0.1, 300),
    ("beta", 0.001, 20_000),
    ("ten", 0.1, 500),
    ("ten", 0.01, 2000),
    ("few", 0.01, 2000),
    ("few", 0.01, 10_000),
    *((key, 0.05, n) for key in ("half pure", "third pure") for n in (360, 5000, 20_000)),
    *(("edge", *size) for size in ((0.05, 400), (0.1, 500), (0.3, 300), (0.1, 2000), (0.2, 5000))),
    *((key, *size) for key in ("t(2)", "Cauchy") for size in ((0.05, 400), (0.1, 1000))),
]
# Scores of few levels have a part of their own.
UNTIED = [key for key, population in POPULATIONS.items() if not population.levels]
FEW = ("few", "five", "ten")
# Share of positives and number of items.
SIZES_OF_AP = tuple(product((0.01, 0.05, 0.1, 0.5), (10, 20, 50, 100)))
SIZES_OF_TOP = ((0.5, 40), (0.1, 200), (0.01, 2000))
SIZES_OF_LEVELS = ((0.01, 2000), (0.01, 10_000), (0.1, 200), (0.1, 1000))
SIZES_OF_FIRST = ((0.5, 40), (0.1, 200), (0.2, 300), (0.1, 1000), (0.01, 2000))
SIZES = tuple(product((0.1, 0.5, 0.9), (20, 200, 2000, 20_000)))
# The values of groups have these beta distributions.
LAWS = ((0.6, 1.2), (2, 2), (0.3, 3), (5, 0.5))
GROUPS = (25, 50, 200)
AT_THRESHOLD: dict[str, CellStatistic] = {
    "P": SetPrecision(),
    "R": SetRecall(),
    "Specificity": SetSpecificity(),
    "F1": SetFMeasure(),
    "F(beta=2)": SetFMeasure(beta=2.0),
    "BalancedAccuracy": SetBalancedAccuracy(),
    "MCC": SetMatthews(),
}
# Shares of positives and numbers of items for metrics at a threshold, with normal scores so far apart.
SIZES_AT_THRESHOLD = tuple(product((0.01, 0.1, 0.5, 0.95), (40, 200, 1000, 20_000)))
APART = (1.0, 2.0, 4.0)


@dataclass(frozen=True)
class Ranking:
    """A population and a size of its samples, and the metrics whose intervals are studied."""

    part: str
    key: str
    prevalence: float
    n: int
    samples: int
    wanted: Sequence[str] | None

    def __call__(self) -> list[Row]:
        """Return a row per metric."""
        population = STUDIED[self.key]
        true = {
            metric: value
            for metric, value in METRICS[self.part](population, self.prevalence, self.n).items()
            if self.wanted is None or metric.name in self.wanted
        }
        rng = np.random.default_rng([SEED, round(1e6 * self.prevalence), self.n])
        drawn = population.samples(self.prevalence, self.n, self.samples, rng)
        found = _intervals(drawn, list(true), rng)
        size = f"{self.prevalence:g}, {self.n}"
        return [
            Row(self.part, metric.name, population.name, size, value, metric.limits, found[:, i])
            for i, (metric, value) in enumerate(true.items())
        ]


def _intervals(
    samples: Iterator[RankedCells], metrics: list[CellStatistic], rng: np.random.Generator
) -> Floats:
    """Return estimate, low and high of each metric in each sample."""
    rows = []
    for number, cells in enumerate(samples):
        if number % SHARED == 0:
            weights = drawn_weights(INTERVAL_DRAWS, rng)
        drawn = [m for m in metrics if suited_method(cells, m, clustered=False) == POSTERIOR]
        replicates = posterior_replicates(cells, drawn, weights) if drawn else ()
        known = dict(zip(drawn, replicates, strict=True))
        intervals = [ranking_interval(cells, m, replicates=known.get(m)) for m in metrics]
        rows.append([(found.estimate, found.low, found.high) for found in intervals])
    return np.array(rows)


def settings(keys: Sequence[str] | None) -> Iterator[tuple[str, str, float, int]]:
    """Yield part, population, prevalence and number of items."""
    for key, prevalence, n in SETTINGS:
        yield "main", key, prevalence, n
    for (prevalence, n_pos), key in product(SIZES_OF_AP, keys or UNTIED):
        if n_pos >= LEAST_POSITIVES:
            yield "ap", key, prevalence, round(n_pos / prevalence)
    for key, size in product(keys or UNTIED, SIZES_OF_TOP):
        yield "top", key, *size
    for key, size in product(FEW, SIZES_OF_LEVELS):
        yield "levels", key, *size
    for key, (prevalence, n_pos) in product("124", SIZES):
        yield "sizes", key, prevalence, round(n_pos / prevalence)
    for key, size in product(keys or UNTIED, SIZES_OF_FIRST):
        yield "first", key, *size


def at_threshold(
    size: tuple[float, int], apart: float, wanted: Sequence[str] | None, samples: int
) -> list[Row]:
    """Return a row per threshold and metric of those that pass it.

    Thresholds go from one that nearly all items pass to one that nearly none does.
    """
    (share, n), rows = size, []
    metrics = {name: m for name, m in AT_THRESHOLD.items() if wanted is None or name in wanted}
    for threshold in (-4.0, -2.0, -0.5, apart / 2, apart, apart + 1.5, apart + 3.0):
        passing = np.array([ndtr(apart - threshold), ndtr(-threshold)])
        chances = np.array([[share], [1 - share]]) * np.stack([passing, 1 - passing], axis=1)
        seed = [SEED, n, round(100 * share), round(10 * (threshold + 9))]
        rng = np.random.default_rng(seed)
        found = _intervals(_tables(chances, n, samples, rng), list(metrics.values()), rng)
        for i, (name, metric) in enumerate(metrics.items()):
            known = found[~np.isnan(found[:, i, 1]), i]
            # Precision of no item has no interval and is left out.
            if len(known) > samples / 2:
                about = (f"normal, {apart:g} apart, at {threshold:g}", f"{share:g}, {n}")
                true = float(metric.values(*chances))
                rows.append(Row("thresholds", name, *about, true, metric.limits, known))
    return rows


def _tables(
    chances: Floats, n: int, samples: int, rng: np.random.Generator
) -> Iterator[RankedCells]:
    """Draw samples of n items that hold both labels."""
    while samples:
        counts = rng.multinomial(n, chances.ravel() / chances.sum()).reshape(2, 2)
        if counts.sum(axis=1).all():
            yield RankedCells(*counts)
            samples -= 1


def of_means(law: tuple[float, float], groups: int, samples: int) -> list[Row]:
    """Return the row of means of values with a beta distribution."""
    rng, confidence = np.random.default_rng([SEED, groups]), Confidence(limits=(0.0, 1.0))
    intervals = [mean_interval(rng.beta(*law, groups), "auto", confidence) for _ in range(samples)]
    found = np.array([(one.estimate, one.low, one.high) for one in intervals])
    true = law[0] / sum(law)
    return [Row("means", "mean", f"beta{law}", f"{groups} groups", true, (0.0, 1.0), found)]


def of_ranks(
    size: tuple[int, int], name: str, wanted: Sequence[str] | None, samples: int
) -> list[Row]:
    """Return a row for each function of ranks."""
    (n_pos, n_neg), law, rows = size, rank_study.LAWS[name], []
    label, n = np.arange(n_pos + n_neg) < n_pos, n_pos + n_neg
    for text in wanted or rank_study.COVERED:
        phi = parse_phi(text).of_size(n)
        true = rank_study.truth(phi, n_pos / n, law)
        null, rng = rank_null(phi, np.ones(n, dtype=np.int64), n_pos), np.random.default_rng(SEED)
        found = []
        for _ in range(samples):
            score = np.concatenate([law[0](rng, n_pos), law[1](rng, n_neg)])
            one = RankStatistic(phi, cells_from_scores(score, label)[0], null).interval()
            found.append((one.estimate, one.low, one.high))
        limits = float(phi(1e-15)), float(phi(1 - 1e-15))
        size_text = f"{n_pos}, {n_neg}"
        rows.append(Row("ranks", text, name, size_text, true, limits, np.array(found)))
    return rows


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield what is to be measured."""
    parts, samples, wanted = set(options.part), options.samples, options.metric
    for part, *about in settings(options.only):
        if part in parts and (options.only is None or about[0] in options.only):
            yield Ranking(part, *about, samples, wanted)
    yield from _of_numbers(parts, wanted, samples)
    for part, of_part in OTHERS.items():
        if part in parts:
            yield from of_part(options.only, samples)


def _of_numbers(parts: set[str], wanted: Sequence[str] | None, samples: int) -> Iterator[Task]:
    """Yield what is not about a population of scores."""
    if "thresholds" in parts:
        sizes = [(share, n) for share, n in SIZES_AT_THRESHOLD if n * min(share, 1 - share) >= 2]
        for size, apart in product(sizes, APART):
            yield partial(at_threshold, size, apart, wanted, samples)
    if "means" in parts:
        for law, groups in product(LAWS, GROUPS):
            yield partial(of_means, law, groups, samples)
    if "ranks" in parts:
        sizes = [size for size in rank_study.SIZES if min(size) >= LEAST_POSITIVES]
        for name, size in product(rank_study.LAWS, sizes):
            yield partial(of_ranks, size, name, wanted, samples)


# The parts whose settings other modules declare.
OTHERS = verb_coverage.PARTS | band_coverage.PARTS
PARTS = (*METRICS, "thresholds", "means", "ranks", *OTHERS)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.default_coverage", description=__doc__
    )
    parser.add_argument("--part", choices=PARTS, nargs="+", default=PARTS)
    parser.add_argument("--metric", nargs="+", help="metrics or functions of these names alone")
    parser.add_argument("--only", nargs="+", choices=STUDIED, help="populations")
    parser.add_argument("--samples", type=int, default=1000, help="samples per setting")
    parser.add_argument("--quick", action="store_true", help="20 samples")
    parser.add_argument("--every", action="store_true", help="print all rows")
    parser.add_argument("--processes", type=int, help="as many as there are CPUs by default")
    options = parser.parse_args()
    options.samples = 20 if options.quick else options.samples
    return options


def _run(task: Task) -> list[Row]:
    warnings.simplefilter("ignore")
    return task()


def main() -> None:
    options = _options()
    rows = []
    with Pool(options.processes) as pool:
        for row in (row for rows in pool.imap(_run, tasks(options)) for row in rows):
            rows.append(row)
            # It takes long: rows outside of the band are told apart from the results.
            if row.side:
                print("; ".join(row.cells()), file=sys.stderr, flush=True)
    print(TITLE.format(low=LOW, high=HIGH, samples=options.samples))
    print(table(SUMMARY, summary(rows)))
    print(OUTSIDE.format(draws=INTERVAL_DRAWS, shared=SHARED))
    shown = [row for row in rows if row.side < 0 or options.every]
    print(table(HEADER, [row.cells() for row in shown]), flush=True)


def summary(rows: Sequence[Row]) -> Iterator[list[str]]:
    """Return a row per part and metric; cut-offs and thresholds are one metric."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.part, re.sub(r"@\d+", "@k", row.metric)), []).append(row)
    for (part, metric), some in groups.items():
        covered, sides = [row.coverage for row in some], [row.side for row in some]
        ends = (f"{end:.3f}" for end in (min(covered), median(covered), max(covered)))
        explained = sum(bool(row.side and row.why()) for row in some)
        counts = (len(some), sides.count(-1), sides.count(1), explained)
        settings, *outside = map(str, counts)
        yield [part, metric, settings, *ends, *outside]


if __name__ == "__main__":
    main()
