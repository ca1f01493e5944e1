"""``python -m benchmarks.clustered_curves``: bands of mean curves over queries in clusters.

``--quick`` takes fewer samples, to see that it runs.
"""

import argparse
import warnings
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import prframe
from benchmarks.data import SEED
from benchmarks.report import table
from prframe.typing import Floats

TITLE = """## clustered-curves

The share of samples in which 95 % bands of `band(over=, cluster=)`, at ten levels at once, hold \
the mean curve of the population, the same of `compare_curves(over=, cluster=)` for two models \
whose mean curves are equal, and how often the test of these has a p-value of .05 or less. Each \
query has 5 positives and 25 negatives with normal scores. How far positives stand apart, and how \
much the models differ in that, is normal, with half of the variance between clusters. Clusters have \
four queries each, or one to seven. The last three columns take queries as independent.
"""
CLUSTERS = (5, 15, 30)
QUERIES = {"4": (4, 4), "1 to 7": (1, 7)}
ITEMS, POSITIVES = 30, 5
APART, DIFFERS = 2.0, 0.7
LEVELS = [i / 10 for i in range(1, 11)]
POPULATION = 30_000


class Shares(NamedTuple):
    """The shares of samples whose bands cover, and whose models are told apart."""

    curve: float
    difference: float
    rejected: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.clustered_curves")
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--samples", type=int, default=600, help="samples of each setting")
    given = parser.parse_args()
    samples = 20 if given.quick else given.samples
    warnings.simplefilter("ignore")
    print(TITLE, flush=True)
    print(f"{samples:,} samples of each setting, 499 draws.\n")
    names = ["curve", "difference", "rejected"]
    header = ["queries of each", "clusters", *names, *(f"{name} (queries)" for name in names)]
    print(table(header, []), end="")
    true = mean_curve(np.random.default_rng(SEED))
    for name, sizes in QUERIES.items():
        for clusters in CLUSTERS:
            rows = drawn(np.random.default_rng([SEED, clusters]), samples, clusters, sizes)
            found = [f"{share:.3f}" for by in ("user", None) for share in shares(rows, true, by)]
            print(f"| {name} | {clusters} | {' | '.join(found)} |", flush=True)


def drawn(
    rng: np.random.Generator, samples: int, clusters: int, sizes: tuple[int, int]
) -> pl.DataFrame:
    """Return the rows of all queries of each user of each sample, scored by models a and b."""
    numbers = rng.integers(*sizes, samples * clusters, endpoint=True)
    user = np.repeat(np.arange(numbers.size), numbers)

    def deviates() -> Floats:
        of_user = rng.normal(size=numbers.size)[user]
        return np.asarray((of_user + rng.normal(size=user.size)) / 2**0.5)

    label = np.arange(ITEMS) < POSITIVES
    common, apart = rng.normal(size=(user.size, ITEMS)), APART + deviates()
    scores = {
        model: common
        + rng.normal(size=common.shape)
        + (apart + DIFFERS * deviates())[:, None] * label
        for model in "ab"
    }
    keys = {"sample": user // clusters, "user": user, "query": np.arange(user.size)}
    of_items = {name: np.repeat(key, ITEMS) for name, key in keys.items()}
    of_models = {model: score.ravel() for model, score in scores.items()}
    return pl.DataFrame({**of_items, **of_models, "label": np.tile(label, user.size)})


def mean_curve(rng: np.random.Generator) -> Floats:
    """Return the mean curve of the population, from independent queries."""
    rows = drawn(rng, 1, POPULATION, (1, 1))
    return prframe.curve(rows, "a", over="query", recall=LEVELS)["precision"].to_numpy()


def shares(rows: pl.DataFrame, true: Floats, cluster: str | None) -> Shares:
    """Return how often bands of the samples cover, and how often models are told apart."""
    options: dict[str, Any] = {"by": "sample", "over": "query", "cluster": cluster}
    options |= {"recall": LEVELS, "n_resamples": 499, "rng": 1}
    bands = prframe.band(rows, "a", **options)
    compared = prframe.compare_curves(rows, ["a", "b"], **options)
    p_values = compared.group_by("sample").agg(pl.col("p_value").first())["p_value"]
    rejected = float((p_values <= 0.05).to_numpy().mean())
    return Shares(_covered(bands, true), _covered(compared, np.zeros_like(true)), rejected)


def _covered(bands: pl.DataFrame, true: Floats) -> float:
    """Return the share of bands that hold a curve throughout, except for rounding."""
    low, high = (bands[end].to_numpy().reshape(-1, true.size) for end in ("conf_low", "conf_high"))
    return float(((low <= true + 1e-12) & (true - 1e-12 <= high)).all(axis=1).mean())


if __name__ == "__main__":
    main()
