"""``python -m benchmarks.heavy_negatives``: intervals at a prior by which a negative counts often.

``--quick`` takes fewer samples, to see that it runs.
"""

import argparse
import warnings
from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import poisson

import prframe
from benchmarks.data import SEED
from benchmarks.report import table

TITLE = """## heavy-negatives

95 % intervals of `interval(prior=)`, {samples} samples: the share that covers AP and MaxF1 of the population, by the \
default and by `"logit-t"`, and with `cluster=` for clusters of five independent rows each. A negative counts *weight* \
times. Normal scores are 1.5 apart, counts have Poisson distributions with means 4 and 1. 500 draws.
"""
METRICS = ["AP", "MaxF1"]
SETTINGS = (
    *(("normal", 400, 0.5, prior) for prior in (0.5, 0.25, 0.125, 0.05, 0.02)),
    *(("normal", 400, 0.2, prior) for prior in (0.1, 0.05, 0.02, 0.008)),
    *(("counts", n, 0.3, prior) for n in (60, 300, 2000) for prior in (0.1, 0.01)),
)
CASES: tuple[dict[str, str], ...] = ({}, {"method": "logit-t"}, {"cluster": "cluster"})


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.heavy_negatives")
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    samples = 10 if parser.parse_args().quick else 200
    warnings.simplefilter("ignore")
    print(TITLE.format(samples=samples), flush=True)
    header = ["scores", "items", "share positive", "prior", "weight"]
    for how in ("default", "logit-t", "clusters"):
        header += [f"{metric}, {how}" for metric in METRICS]
    print(table(header, list(_rows(samples))), flush=True)


def _rows(samples: int) -> Iterator[list[str]]:
    """Return a row per setting."""
    for kind, n, share, prior in SETTINGS:
        rows = pl.concat(_sample(kind, n, share, i) for i in range(samples))
        weight = share / (1 - share) * (1 - prior) / prior
        cells = [kind, f"{n:,}", f"{share:g}", f"{prior:g}", f"{weight:.3g}"]
        for options in CASES:
            found = prframe.interval(
                rows, METRICS, by="sample", prior=prior, rng=1, n_resamples=500, **options
            )
            for metric, value in zip(METRICS, _values(kind, prior), strict=True):
                ends = found.filter(metric=metric).drop_nulls("conf_low")
                covered = ends.select(pl.lit(value).is_between("conf_low", "conf_high").mean())
                cells.append(f"{covered.item():.3f}")
        yield cells


def _sample(kind: str, n: int, share: float, i: int) -> pl.DataFrame:
    """Return a sample of n items."""
    rng = np.random.default_rng([SEED, n, i])
    label = rng.random(n) < share
    score = rng.normal(1.5 * label) if kind == "normal" else rng.poisson(1 + 3 * label)
    columns = {"sample": i, "score": score.astype(np.float64), "label": label}
    return pl.DataFrame(columns).with_columns(cluster=pl.int_range(n) // 5)


def _values(kind: str, prior: float) -> tuple[float, float]:
    """Return AP and MaxF1 of the population."""
    recall, false = _curve(kind)
    above = prior * recall + (1 - prior) * false
    steps = np.diff(recall, prepend=0.0)
    return float(steps @ (prior * recall / above)), float(
        (2 * prior * recall / (above + prior)).max()
    )


def _curve(kind: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return recall and the false positive rate from the largest score on."""
    if kind == "normal":
        score = np.linspace(10, -8, 200_001)
        return ndtr(1.5 - score), ndtr(-score)
    level = np.arange(60, -1, -1)
    return poisson.sf(level - 1, 4), poisson.sf(level - 1, 1)


if __name__ == "__main__":
    main()
