"""``python -m benchmarks.skewed_means``: intervals of means of few, skewed values.

``--quick`` takes fewer samples, to see that it runs.
"""

import argparse
import warnings
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

import prframe
from benchmarks.data import SEED
from benchmarks.report import table
from prframe.verbs._skewed_values import few_for_skewness

Floats: TypeAlias = NDArray[np.float64]

TITLE = """## skewed-means

The share of samples in which 95 % intervals of `interval(values=, over=)` hold the mean of the \
population, and that of samples that are warned of. RR is 1 over a uniform rank up to 49. Samples \
without an interval do not cover.
"""
NUMBERS = (10, 15, 30, 50, 100)
METHODS = ("t", "logit", "percentile", "bca", "hall")
_Draw: TypeAlias = Callable[[np.random.Generator, tuple[int, int]], Floats]
POPULATIONS: dict[str, tuple[_Draw, float]] = {
    "beta(.2, 2)": (lambda rng, shape: rng.beta(0.2, 2, shape), 0.2 / 2.2),
    "beta(2, .2)": (lambda rng, shape: rng.beta(2, 0.2, shape), 2 / 2.2),
    "beta(.5, .5)": (lambda rng, shape: rng.beta(0.5, 0.5, shape), 0.5),
    "RR": (
        lambda rng, shape: 1 / rng.integers(1, 50, shape),
        float(np.mean(1 / np.arange(1, 50))),
    ),
    "zeros and ones, .1": (lambda rng, shape: 1.0 * (rng.random(shape) < 0.1), 0.1),
    "exponential": (lambda rng, shape: rng.exponential(size=shape), 1.0),
    "lognormal": (lambda rng, shape: rng.lognormal(size=shape), float(np.exp(0.5))),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.skewed_means")
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--samples", type=int, default=1000, help="samples of each setting")
    given = parser.parse_args()
    samples = 20 if given.quick else given.samples
    warnings.simplefilter("ignore")
    print(TITLE, flush=True)
    print(f"{samples:,} samples of each setting.\n")
    print(table(["values", "n", *METHODS, "warned of, t"], []), end="", flush=True)
    for name, (draw, mean) in POPULATIONS.items():
        for n in NUMBERS:
            values = draw(np.random.default_rng([SEED, n]), (samples, n))
            warned = np.mean([few_for_skewness(row, "t") for row in values])
            shares = (_covered(values, method, mean) for method in METHODS)
            print(f"| {name} | {n} | {' | '.join(shares)} | {warned:.2f} |", flush=True)


def _covered(values: Floats, method: str, mean: float) -> str:
    """Return the share of rows whose interval holds the mean; nothing where there is no logit."""
    if method == "logit" and values.max() > 1:
        return ""
    samples, n = values.shape
    frame = pl.DataFrame({"sample": np.repeat(np.arange(samples), n), "size": values.ravel()})
    frame = frame.with_columns(query_id=pl.int_range(pl.len()).over("sample"))
    found = prframe.interval(
        frame, values="size", over="query_id", by="sample", method=method, rng=1
    )
    holds = pl.lit(mean).is_between("conf_low", "conf_high").fill_null(value=False)
    return f"{found.select(holds.mean()).item():.3f}"


if __name__ == "__main__":
    main()
