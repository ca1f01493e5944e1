"""``python -m benchmarks.default_coverage``: how often intervals of the default method cover.

All rows of the studies of intervals, by the default method alone. ``--part``, ``--metric`` and
``--only`` (keys in `benchmarks.populations`) take some of the rows, ``--samples`` another number of
samples, ``--quick`` few. ``--every`` prints the rows within the band too.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from multiprocessing import Pool

import numpy as np

from benchmarks import drawn_items, interval_parts, rank_study
from benchmarks.data import SEED
from benchmarks.interval_coverage import LAWS, LEVEL, SETTINGS, statistics_of
from benchmarks.populations import POPULATIONS, Population
from benchmarks.report import table
from prframe.draws import INTERVAL_DRAWS
from prframe.stats.curves import drawn_weights
from prframe.stats.intervals import Confidence, mean_interval, posterior_replicates
from prframe.stats.intervals.rankings import POSTERIOR, ranking_interval, suited_method
from prframe.stats.rank_statistics.statistic import RankStatistic, rank_null
from prframe.stats.rankings import (
    AveragePrecision,
    CellStatistic,
    DiscountedGain,
    PartialAveragePrecision,
    RankBiasedPrecision,
    RankedCells,
    cells_from_scores,
)
from prframe.stats.score_functions import parse_phi
from prframe.typing import Floats

TITLE = """## default-coverage

95 % intervals of the default method with 15 and more positives, queries or items of a class: rows \
whose coverage of {samples:,} samples lies outside of [{low}, {high}] by more than two standard \
errors. In brackets how often intervals lie above the value of the population and below it. *At an \
end*: the share of intervals with an end at that of the range of the metric, which can miss on one \
side only, so that .975 is what is aimed at. *Alike*: the share of samples that have the most \
frequent estimate; coverage of counts jumps by about as much. {draws:,} draws, which {shared} samples share.
"""
LOW, HIGH = 0.93, 0.97
# Draws are made anew for so many samples, which bounds what their noise does to the coverage.
SHARED = 20
LEAST_POSITIVES = 15
# From these shares on, the ends of the range or equal estimates explain a coverage.
OFTEN_AT_END, OFTEN_ALIKE = 0.5, 0.04
HAIR = 1e-12


@dataclass(frozen=True)
class Row:
    """What was found of a metric in one setting.

    Attributes
    ----------
    part, metric, scores, size : str
    true : float
        The value in the population.
    limits : tuple of float
        The range of the metric.
    found : ndarray, shape (n_samples, 3)
        Estimate, low and high in each sample.
    """

    part: str
    metric: str
    scores: str
    size: str
    true: float
    limits: tuple[float, float]
    found: Floats

    @property
    def misses(self) -> tuple[float, float]:
        """How often intervals lie above the value, and below it."""
        _, low, high = self.found.T
        above, below = ~(low <= self.true + HAIR), high < self.true - HAIR
        return float(above.mean()), float(below.mean())

    @property
    def coverage(self) -> float:
        """How often intervals cover."""
        return 1 - sum(self.misses)

    @property
    def side(self) -> int:
        """-1 or 1 if the coverage is below or above the band by two standard errors, else 0."""
        n, coverage = len(self.found), self.coverage
        low, high = (2 * (end * (1 - end) / n) ** 0.5 for end in (LOW, HIGH))
        return int(coverage > HIGH + high) - int(coverage < LOW - low)

    @property
    def at_end(self) -> float:
        """The share of intervals with an end at that of the range."""
        _, low, high = self.found.T
        return float(((low <= self.limits[0]) | (high >= self.limits[1])).mean())

    @property
    def alike(self) -> float:
        """The share of samples with the most frequent estimate."""
        counts = np.unique(self.found[:, 0].round(9), return_counts=True)[1]
        return float(counts.max() / len(self.found))

    def why(self) -> str:
        """Return what explains a coverage outside of the band."""
        reasons = {
            "an end of the range": self.at_end > OFTEN_AT_END and self.side > 0,
            "few counts": self.alike > OFTEN_ALIKE,
        }
        return ", ".join(reason for reason, holds in reasons.items() if holds)

    def cells(self) -> list[str]:
        """Return the cells of a line in the table."""
        above, below = self.misses
        width = float(np.nanmean(self.found[:, 2] - self.found[:, 1]))
        return [
            self.part,
            self.metric,
            self.scores,
            self.size,
            f"{self.true:.4g}",
            f"{self.coverage:.3f} ({above:.3f}, {below:.3f}) {width:.3f}",
            f"{self.at_end:.2f}",
            f"{self.alike:.2f}",
            ("within", "too high", "too low")[self.side],
            self.why() if self.side else "",
        ]


HEADER = ["part", "metric", "scores", "size", "value", "coverage", "at an end", "alike"]
HEADER += ["verdict", "reason"]
Task = Callable[[], list[Row]]


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
        population = POPULATIONS[self.key]
        true = {
            metric: value
            for metric, value in METRICS[self.part](population, self.prevalence, self.n).items()
            if self.wanted is None or metric.name in self.wanted
        }
        rng = np.random.default_rng([SEED, round(1e6 * self.prevalence), self.n])
        drawn = population.samples(self.prevalence, self.n, self.samples, rng)
        found = np.array(list(_intervals(drawn, list(true), rng)))
        size = f"{self.prevalence:g}, {self.n}"
        return [
            Row(self.part, metric.name, population.name, size, value, metric.limits, found[:, i])
            for i, (metric, value) in enumerate(true.items())
        ]


def _intervals(
    samples: Iterator[RankedCells], metrics: list[CellStatistic], rng: np.random.Generator
) -> Iterator[list[tuple[float, float, float]]]:
    """Yield estimate, low and high of each metric in each sample."""
    for number, cells in enumerate(samples):
        if number % SHARED == 0:
            weights = drawn_weights(INTERVAL_DRAWS, rng)
        drawn = [m for m in metrics if suited_method(cells, m, clustered=False) == POSTERIOR]
        replicates = posterior_replicates(cells, drawn, weights) if drawn else ()
        known = dict(zip(drawn, replicates, strict=True))
        intervals = [ranking_interval(cells, m, replicates=known.get(m)) for m in metrics]
        yield [(found.estimate, found.low, found.high) for found in intervals]


def _main_metrics(population: Population, prevalence: float, n: int) -> dict[CellStatistic, float]:
    """Return the metrics of the main study and of the top, and their values."""
    metrics = statistics_of(round(prevalence * n))
    share = metrics["P@k"].at_cut(0, n)[0] / n
    true = population.metrics(prevalence, share, LEVEL)
    values = {metric: true[name] for name, metric in metrics.items()}
    return values | _top_metrics(population, prevalence, n)


def _top_metrics(population: Population, prevalence: float, n: int) -> dict[CellStatistic, float]:
    """Return the metrics of the first ranks and levels of recall, and their values."""
    if population.levels:
        return interval_parts.true_of_levels(population, prevalence, n)
    of_ranks = interval_parts.true_of_top(population, prevalence, n)
    metrics = [DiscountedGain(interval_parts.K, normalised=True), RankBiasedPrecision()]
    values = dict(zip(metrics, of_ranks, strict=False))
    for max_recall in (interval_parts.MAX_RECALL, 0.5):
        levels = (np.arange(100_000) + 0.5) / 100_000 * max_recall
        metric = PartialAveragePrecision(max_recall)
        values[metric] = float(population.precision(prevalence, levels).mean())
    return values


def _average_precision(
    population: Population, prevalence: float, n: int
) -> dict[CellStatistic, float]:
    """Return AP and its value; n does not matter."""
    del n
    return {AveragePrecision(): population.metrics(prevalence, 0.5, 0.5)["AP"]}


METRICS: dict[str, Callable[[Population, float, int], dict[CellStatistic, float]]] = {
    "main": _main_metrics,
    "ap": _average_precision,
    "top": _top_metrics,
    "levels": _top_metrics,
}


def settings(keys: Sequence[str] | None) -> Iterator[tuple[str, str, float, int]]:
    """Yield part, population, prevalence and number of items."""
    for key, prevalence, n in SETTINGS:
        yield "main", key, prevalence, n
    of_ap = product(interval_parts.PREVALENCES, interval_parts.POSITIVES)
    for (prevalence, n_pos), key in product(list(of_ap), keys or interval_parts.UNTIED):
        if n_pos >= LEAST_POSITIVES:
            yield "ap", key, prevalence, round(n_pos / prevalence)
    for key, size in product(keys or interval_parts.UNTIED, interval_parts.SIZES):
        yield "top", key, *size
    for key, size in product(interval_parts.FEW, interval_parts.SIZES_OF_LEVELS):
        yield "levels", key, *size


def of_means(law: tuple[float, float], groups: int, samples: int) -> list[Row]:
    """Return the row of means of values with a beta distribution."""
    rng, confidence = np.random.default_rng([SEED, groups]), Confidence(limits=(0.0, 1.0))
    intervals = [mean_interval(rng.beta(*law, groups), "auto", confidence) for _ in range(samples)]
    found = np.array([(one.estimate, one.low, one.high) for one in intervals])
    true = law[0] / sum(law)
    return [Row("means", "mean", f"beta{law}", f"{groups} groups", true, (0.0, 1.0), found)]


def of_items(design: drawn_items.Design, samples: int) -> list[Row]:
    """Return rows of means over queries whose items are drawn with them."""
    rng, drawn = np.random.default_rng([SEED, design.queries, design.items]), 3
    measured = [drawn_items.variances(design, rng) for _ in range(samples)]
    means, rows = np.append(drawn_items.truth(design), 0.0), []
    for place, name in enumerate([*drawn_items.METRICS, drawn_items.DIFFERENCE]):
        method = "t" if name == drawn_items.DIFFERENCE else "logit"
        found = [
            (sample[place][0].mean(), *drawn_items.mean_ends(*sample[place], drawn, method))
            for sample in measured
        ]
        about = "own items" if design.shared is None else f"shared, {design.shared:g}"
        size = f"{design.items} items, {design.queries} queries"
        limits = (-np.inf, np.inf) if method == "t" else (0.0, 1.0)
        rows.append(Row("items", name, about, size, means[place], limits, np.array(found)))
    return rows


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
    if "means" in parts:
        for law, groups in product(LAWS, (25, 50, 200)):
            yield partial(of_means, law, groups, samples)
    if "items" in parts:
        for shared, queries in product(drawn_items.SHARED, drawn_items.QUERIES):
            design = drawn_items.Design(queries, 100, shared)
            yield partial(of_items, design, min(samples, 400))
    if "ranks" in parts:
        sizes = [size for size in rank_study.SIZES if min(size) >= LEAST_POSITIVES]
        for name, size in product(rank_study.LAWS, sizes):
            yield partial(of_ranks, size, name, wanted, samples)


PARTS = (*METRICS, "means", "items", "ranks")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.default_coverage", description=__doc__
    )
    parser.add_argument("--part", choices=PARTS, nargs="+", default=PARTS)
    parser.add_argument("--metric", nargs="+", help="metrics or functions of these names alone")
    parser.add_argument("--only", nargs="+", choices=POPULATIONS, help="populations")
    parser.add_argument("--samples", type=int, default=1000, help="samples per setting")
    parser.add_argument("--quick", action="store_true", help="20 samples")
    parser.add_argument("--every", action="store_true", help="print the rows within the band too")
    parser.add_argument("--processes", type=int, help="as many as there are CPUs by default")
    options = parser.parse_args()
    options.samples = 20 if options.quick else options.samples
    return options


def _run(task: Task) -> list[Row]:
    warnings.simplefilter("ignore")
    return task()


def main() -> None:
    options = _options()
    about = {"samples": options.samples, "draws": INTERVAL_DRAWS, "shared": SHARED}
    print(TITLE.format(low=LOW, high=HIGH, **about), flush=True)
    print(table(HEADER, []).rstrip("\n"), flush=True)
    sides = []
    with Pool(options.processes) as pool:
        for row in (row for rows in pool.imap(_run, tasks(options)) for row in rows):
            sides.append((row.side, bool(row.why())))
            if row.side or options.every:
                print(table(HEADER, [row.cells()]).rstrip("\n").split("\n")[-1], flush=True)
    counts = [sum(side == wanted for side, _ in sides) for wanted in (0, -1, 1)]
    known = sum(side != 0 and why for side, why in sides)
    print(
        f"\n{counts[0]:,} rows within, {counts[1]:,} too low, {counts[2]:,} too high, "
        f"{known:,} of these for a known reason.",
        flush=True,
    )


if __name__ == "__main__":
    main()
