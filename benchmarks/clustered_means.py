"""``python -m benchmarks.clustered_means``: intervals of means over queries in clusters.

``--quick`` takes fewer samples, to see that it runs.
"""

import argparse
import warnings

import numpy as np
import polars as pl
from scipy.special import ndtr

import prframe
from benchmarks.data import SEED
from benchmarks.report import table

TITLE = """## clustered-means

The share of samples in which 95 % intervals of `interval(values=, over=, cluster=)` hold the mean \
of the population. A value is the normal distribution function of .8 plus a normal deviate of the \
cluster and one of the query, so that clusters have half of the variance of deviates. Clusters \
have four queries each, or one to seven. The last column takes queries as independent.
"""
CLUSTERS = (5, 8, 15, 30, 60)
METHODS = ("t", "logit", "hall", "percentile", "bca")
QUERIES = {"4": (4, 4), "1 to 7": (1, 7)}
_SHIFT = 0.8
# A normal deviate of variance 3 is below the shift as often as the mean value says.
MEAN = float(ndtr(_SHIFT / 3**0.5))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.clustered_means")
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--samples", type=int, default=2000, help="samples of each setting")
    given = parser.parse_args()
    samples = 20 if given.quick else given.samples
    warnings.simplefilter("ignore")
    print(TITLE, flush=True)
    print(f"{samples:,} samples of each setting.\n")
    print(table(["queries of each", "clusters", *METHODS, "logit of queries"], []), end="")
    for name, sizes in QUERIES.items():
        for clusters in CLUSTERS:
            values = drawn(np.random.default_rng([SEED, clusters]), samples, clusters, sizes)
            shares = [_covered(values, method, "user") for method in METHODS]
            shares.append(_covered(values, "logit", None))
            print(f"| {name} | {clusters} | {' | '.join(shares)} |", flush=True)


def drawn(
    rng: np.random.Generator, samples: int, clusters: int, sizes: tuple[int, int]
) -> pl.DataFrame:
    """Return a row per query of each user of each sample."""
    numbers = rng.integers(*sizes, samples * clusters, endpoint=True)
    user = np.repeat(np.arange(numbers.size), numbers)
    deviate = rng.normal(size=numbers.size)[user] + rng.normal(size=user.size)
    columns = {"sample": user // clusters, "user": user, "AP": ndtr(_SHIFT + deviate)}
    return pl.DataFrame(columns).with_row_index("query_id")


def _covered(values: pl.DataFrame, method: str, cluster: str | None) -> str:
    """Return the share of samples whose interval holds the mean."""
    found = prframe.interval(
        values,
        values="AP",
        over="query_id",
        by="sample",
        cluster=cluster,
        method=method,
        rng=1,
        n_resamples=500,
    )
    holds = pl.lit(MEAN).is_between("conf_low", "conf_high").fill_null(value=False)
    return f"{found.select(holds.mean()).item():.3f}"


if __name__ == "__main__":
    main()
