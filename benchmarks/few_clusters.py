"""``python -m benchmarks.few_clusters``: coverage of many metrics of few clusters.

``--samples`` takes another number of samples of each setting.
"""

import argparse
import warnings
from functools import partial
from itertools import product
from multiprocessing import Pool

import numpy as np
import polars as pl

import prframe
from benchmarks.cluster_coverage import Setting
from benchmarks.data import SEED
from benchmarks.report import table

TITLE = """## few-clusters

95 % intervals of the default method for metrics of rows in clusters: the share of samples in which they \
cover, in brackets how often they lie above the value, which is that of 40,000 clusters. *Signal* and *noise* \
are as in `cluster_coverage`. 600 resamples. With fewer than 40 clusters a `CoverageWarning` tells.
"""
SETTINGS = (
    Setting(30, 0.3, (1.5, 1.5), noise=0.5),
    Setting(30, 0.3, (1.5, 1.5), signal=1.0),
    Setting(60, 0.05, (1.5, 1.5), signal=0.5, noise=0.2),
)
CLUSTERS = (8, 12, 20, 30, 40, 60, 100)
VERY_MANY = 40_000
METRICS = (
    "AP",
    "AUC",
    "AUPRC",
    "AUPRG",
    "pAUC(max_fpr=0.1)",
    "R(at_precision=0.5)",
    "MaxF1",
    "P(threshold=1)",
    "R(threshold=1)",
    "BEDROC",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.few_clusters")
    parser.add_argument("--samples", type=int, default=300, help="samples of each setting")
    samples = parser.parse_args().samples
    print(TITLE, flush=True)
    print(f"{samples:,} samples of each setting.\n", flush=True)
    with Pool() as pool:
        jobs = product(range(len(SETTINGS)), CLUSTERS)
        rows = list(pool.starmap(partial(_row, samples), jobs, chunksize=1))
    print(table(["clusters", "signal, noise", *METRICS], rows))


def _row(samples: int, number: int, clusters: int) -> list[str]:
    """Return the coverage of each metric in one setting."""
    warnings.simplefilter("ignore")
    setting = SETTINGS[number]
    true = prframe.evaluate(_sample(setting, VERY_MANY, 0, number), METRICS).row(0)
    frame = pl.concat(_sample(setting, clusters, i, number) for i in range(samples))
    options = {"by": "sample", "cluster": "cluster", "n_resamples": 600, "rng": 1}
    rows = prframe.interval(frame, METRICS, **options).drop_nulls("conf_low")
    about = f"{clusters} of {setting.size}, {100 * setting.prevalence:g} % positive"
    covered = [
        _covered(rows.filter(metric=metric), value)
        for metric, value in zip(METRICS, true, strict=True)
    ]
    return [about, f"{setting.signal:g}, {setting.noise:g}", *covered]


def _sample(setting: Setting, clusters: int, i: int, number: int) -> pl.DataFrame:
    """Return a sample of so many clusters."""
    rng = np.random.default_rng([SEED, number, clusters, i])
    (score, _), positive, cluster = setting.sample(clusters, rng)
    return pl.DataFrame({"score": score, "label": positive, "cluster": cluster, "sample": i})


def _covered(rows: pl.DataFrame, value: float) -> str:
    """Return the share of intervals that hold a value, and that of those above it."""
    low, high = rows["conf_low"].to_numpy(), rows["conf_high"].to_numpy()
    return f"{((low <= value) & (value <= high)).mean():.3f} ({(low > value).mean():.3f})"


if __name__ == "__main__":
    main()
