"""``python -m benchmarks.small_samples``: what few positives and few clusters do to the verbs.

``--quick`` takes fewer samples, to see that it runs, and ``--part`` some of the rows.
"""

import argparse
import warnings
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

import prframe
from benchmarks.cluster_coverage import Setting
from benchmarks.data import SEED
from benchmarks.report import table

Floats: TypeAlias = NDArray[np.float64]

TITLE = """## small-samples

AP and AUC of few positives, or of few clusters: the share of samples in which a 95 % interval \
covers, of `interval` and of the difference in `compare(over=None)`, and that in which \
`compare` tells two models apart at .05 that are equally good. Positives are *apart* from \
negatives; *signal* and *noise* are as in `cluster_coverage`. Samples without an interval are left \
out.
"""
COUNTS = (
    (3, 200),
    (5, 5),
    (5, 200),
    (8, 200),
    (10, 10),
    (12, 200),
    (15, 15),
    (15, 200),
    (20, 200),
)
COUNTS_TURNED = ((200, 5), (200, 10), (200, 15))
CLUSTERS = (2, 3, 4, 5, 7, 10, 15, 20, 30, 40)
METRICS = ["AP", "AUC"]
TESTS = ("randomization", "bootstrap", "delong")
_TESTED = [
    (test, metric) for metric in METRICS for test in TESTS if (test, metric) != ("delong", "AP")
]
# Draws are made anew for so many samples, which bounds what their noise does to the shares.
SHARED = 20
APART = ((1.0, 1.0), (2.0, 2.0), (1.0, 2.0))
CLUSTERED = (
    Setting(30, 0.3, (1.5, 1.5), noise=0.5),
    Setting(30, 0.3, (1.5, 1.5), signal=1.0),
    Setting(30, 0.3, (1.0, 2.0), signal=0.5, noise=0.2),
    Setting(60, 0.05, (1.5, 1.5), signal=0.5, noise=0.2),
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.small_samples")
    parser.add_argument("--quick", action="store_true", help="fewer samples and draws")
    parser.add_argument("--samples", type=int, default=400, help="samples of each setting")
    parser.add_argument("--part", choices=("positives", "clusters"), help="some of the rows")
    given = parser.parse_args()
    samples, draws = (10, 200) if given.quick else (given.samples, 500)
    warnings.simplefilter("ignore")
    print(TITLE, flush=True)
    print(f"{samples:,} samples of each setting, {draws} draws.\n")
    tests = [f"{test} {metric}" for test, metric in _TESTED]
    header = ["sample", "apart", *METRICS, "difference of AP", "of AUC", *tests]
    print(table(header, []), end="", flush=True)
    for counts in () if given.part == "clusters" else (*COUNTS, *COUNTS_TURNED):
        for apart in APART:
            frame = pl.concat(_counted(counts, apart, i) for i in range(samples))
            share = counts[0] / sum(counts)
            _print_row(f"{counts[0]} and {counts[1]}", Setting(1, share, apart), frame, draws)
    for number, setting in () if given.part == "positives" else enumerate(CLUSTERED):
        for clusters in CLUSTERS:
            frame = pl.concat(
                _clustered(setting, clusters, i, (number, clusters)) for i in range(samples)
            )
            about = f"{clusters} clusters of {setting.size}, {setting.signal:g}, {setting.noise:g}"
            _print_row(about, setting, frame, draws)


def _counted(counts: tuple[int, int], apart: tuple[float, float], i: int) -> pl.DataFrame:
    """Return a sample of so many positives and negatives, with scores correlated by a half."""
    rng = np.random.default_rng([SEED, *counts, i])
    positive = np.arange(sum(counts)) < counts[0]
    common, *own = rng.standard_normal((3, positive.size))
    scores = [np.sqrt(0.5) * (common + own[k]) + apart[k] * positive for k in (0, 1)]
    columns = {"old": scores[0], "new": scores[1], "label": positive, "sample": i}
    return pl.DataFrame(columns).with_columns(cluster=None)


def _clustered(setting: Setting, clusters: int, i: int, seed: tuple[int, int]) -> pl.DataFrame:
    """Return a sample of so many clusters."""
    rng = np.random.default_rng([SEED, *seed, i])
    scores, positive, cluster = setting.sample(clusters, rng)
    columns = {"old": scores[0], "new": scores[1], "label": positive, "sample": i}
    return pl.DataFrame({**columns, "cluster": cluster})


def _print_row(about: str, setting: Setting, frame: pl.DataFrame, draws: int) -> None:
    """Print the shares of samples that cover, and that tell models apart."""
    cluster = None if frame["cluster"].dtype == pl.Null else "cluster"
    options = {"by": "sample", "cluster": cluster, "n_resamples": draws}
    pair = {**options, "over": None, "score": ["old", "new"]}
    parts = list(
        enumerate(frame.with_columns(part=pl.col("sample") // SHARED).partition_by("part"))
    )
    one = pl.concat(prframe.interval(x, METRICS, "old", rng=i, **options) for i, x in parts)
    two = {
        test: pl.concat(
            prframe.compare(x, "AUC" if test == "delong" else METRICS, test=test, rng=i, **pair)
            for i, x in parts
        )
        for test in TESTS
    }
    values = np.array([_values(setting, apart) for apart in setting.apart])
    cells = [about, " and ".join(f"{x:g}" for x in setting.apart)]
    cells += [_covered(one, metric, values[0, k]) for k, metric in enumerate(METRICS)]
    gaps = values[0] - values[1]
    cells += [_covered(two[TESTS[0]], metric, gaps[k]) for k, metric in enumerate(METRICS)]
    equal = setting.apart[0] == setting.apart[1]
    for test, metric in _TESTED:
        p = two[test].filter(pl.col("metric") == metric)["p_value"].drop_nulls()
        cells.append(f"{(p <= 0.05).mean():.3f}" if equal and p.len() else "")
    print(f"| {' | '.join(cells)} |", flush=True)


def _covered(rows: pl.DataFrame, metric: str, value: float) -> str:
    """Return the share of intervals of a metric that hold its value."""
    rows = rows.filter(pl.col("metric") == metric).drop_nulls("conf_low")
    if rows.is_empty():
        return ""
    return f"{rows.select(pl.lit(value).is_between('conf_low', 'conf_high').mean()).item():.3f}"


def _values(setting: Setting, apart: float) -> tuple[float, float]:
    """Return AP and AUC of the population."""
    recall = (np.arange(20_000) + 0.5) / 20_000
    threshold = apart + np.sqrt(1 + setting.signal**2) * ndtri(1 - recall)
    share = setting.prevalence
    precision = share * recall / (share * recall + (1 - share) * ndtr(-threshold))
    return float(precision.mean()), float(ndtr(apart / np.sqrt(2 + setting.signal**2)))


if __name__ == "__main__":
    main()
