"""``python -m benchmarks.threshold_coverage``: coverage of the threshold of MaxF1.

``--samples`` takes another number of samples of each setting, ``--only`` some populations, and
``--prior`` another share of positives in the population than in the samples.
"""

import argparse
import warnings
from functools import partial
from itertools import product
from math import inf
from multiprocessing import Pool

import numpy as np
import polars as pl

import prframe
from benchmarks.data import SEED
from benchmarks.populations import POPULATIONS, Population, edge
from benchmarks.report import table

TITLE = """## threshold-coverage

95 % intervals of the threshold at which F1 is largest: the share of samples in which they cover, in \
brackets how often they lie above the best threshold of the population and below it, and their median width \
as a share of the range of nine tenths of the scores. The best threshold is that of two million items of either \
class, weighted. Where no item of the population is between two thresholds, as below a pure top, both are best, \
and so is that of all items where no other one is better by a thousandth. An end may be infinite.
"""
TOPS = {
    "even, a small edge": edge(0.05, 0.5),
    "even, two edges alike": edge(0.1, 0.3),
    "even, half pure": edge(0.0, 0.5),
}
KEYS = ("1", "2", "3", "t(3)", "hard", "wide", "ten", "few", "five")
KEYS += ("pure", "third pure", "half pure", "all but pure", "edge")
STUDIED = {**{key: POPULATIONS[key] for key in KEYS}, **TOPS}
SIZES = ((0.5, 40), (0.3, 100), (0.1, 200), (0.3, 300), (0.5, 400), (0.1, 2000), (0.02, 2000))
VERY_MANY = 2_000_000


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threshold_coverage")
    parser.add_argument("--samples", type=int, default=300, help="samples of each setting")
    parser.add_argument("--only", nargs="+", choices=STUDIED, default=list(STUDIED))
    parser.add_argument("--prior", type=float, help="the share of positives that is told")
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    print(TITLE, flush=True)
    known = "" if args.prior is None else f", prior={args.prior:g}"
    print(f"{args.samples:,} samples of each setting{known}.\n", flush=True)
    with Pool(args.processes) as pool:
        jobs = list(product(args.only, SIZES))
        cells = iter(pool.starmap(partial(_cell, args.samples, args.prior), jobs, chunksize=1))
    header = ["scores", *(f"{prevalence:g}, {n}" for prevalence, n in SIZES)]
    rows = [[STUDIED[key].name, *(next(cells) for _ in SIZES)] for key in args.only]
    print(table(header, rows))


def best_thresholds(population: Population, prevalence: float) -> list[tuple[float, float]]:
    """Return between which values the best thresholds of the population are.

    The end of a pure top and all items are among them if nothing is better by a thousandth.
    """
    rng = np.random.default_rng(SEED)
    pos, neg = (np.sort(some) for some in population.scores(rng, VERY_MANY, VERY_MANY))
    thresholds = np.append(-inf, np.unique(pos))
    recall, false = (1 - np.searchsorted(some, thresholds) / VERY_MANY for some in (pos, neg))
    f1 = 2 * prevalence * recall / (prevalence * (recall + 1) + (1 - prevalence) * false)
    ends = {int(np.argmax(f1)), 0, min(int(np.argmin(false > 0)), f1.size - 1)}
    found = []
    for end in ends:
        if f1[end] >= 0.999 * f1.max():
            least = most = float(thresholds[end])
            if end and not population.levels:
                below = [some[max(0, np.searchsorted(some, most) - 1)] for some in (pos, neg)]
                least = float(max(below))
            found.append((least, most))
    return found


def _cell(samples: int, prior: float | None, key: str, size: tuple[float, int]) -> str:
    """Return the coverage in one setting."""
    warnings.simplefilter("ignore")
    population, (prevalence, n) = STUDIED[key], size
    true = best_thresholds(population, prevalence if prior is None else prior)
    frame = pl.concat(_sample(population, prevalence, n, i) for i in range(samples))
    rows = prframe.interval(frame, "MaxF1", by="sample", n_resamples=100, rng=1, prior=prior)
    rows = rows.filter(metric="MaxF1 threshold")
    low, high = (
        rows[name].fill_null(end) for name, end in (("conf_low", -inf), ("conf_high", inf))
    )
    above = np.all([low > most for _, most in true], axis=0)
    below = np.all([high < least for least, _ in true], axis=0)
    usual = np.subtract(*np.quantile(frame["score"].to_numpy(), [0.95, 0.05]))
    width = np.median(high - low) / usual
    covered = 1 - above.mean() - below.mean()
    return f"{covered:.3f} ({above.mean():.3f}, {below.mean():.3f}) {width:.2f}"


def _sample(population: Population, prevalence: float, n: int, i: int) -> pl.DataFrame:
    """Return a sample of n items."""
    rng = np.random.default_rng([SEED, n, i])
    positive = rng.random(n) < prevalence
    n_pos = int(positive.sum())
    score = np.concatenate(population.scores(rng, n_pos, n - n_pos))
    label = np.arange(n) < n_pos
    return pl.DataFrame({"score": score, "label": label, "sample": i})


if __name__ == "__main__":
    main()
