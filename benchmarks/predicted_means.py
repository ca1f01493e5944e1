"""``python -m benchmarks.predicted_means``: intervals from few human labels and many of a machine.

``--quick`` takes fewer samples, to see that it runs.
"""

import argparse
import warnings

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import SEED
from benchmarks.report import table
from prframe.stats import Confidence, mean_interval, predicted_mean

Floats = NDArray[np.float64]

TITLE = """## predicted-means

Samples of 1,000 queries, of which 20, 50 or 200 have human labels: how often 95 % intervals of \
`interval(over=, predicted=)` and `compare(predicted=)` hold the mean of the population, their mean \
width divided by that of the human labels alone, the mean weight, and the median effective number \
of human queries. A population has 100,000 queries of 30 documents, of two systems; "difference" is \
that of these. Query values are drawn from it as arrays, which is the same as drawing queries.

- good: finds 90 % of the relevant documents, and takes 5 % of the others for relevant.
- biased: finds 95 %, and takes 35 %.
- useless: takes 30 % of all documents for relevant, at random.
- adversarial: takes 20 % of the relevant documents for relevant, and 80 % of the others.
"""
RATES = {
    "good": (0.9, 0.05),
    "biased": (0.95, 0.35),
    "useless": (0.3, 0.3),
    "adversarial": (0.2, 0.8),
}
NUMBERS = (20, 50, 200)
N, DEPTH, QUERIES = 1000, 30, 100_000
METRICS = ("AP", "nDCG@10", "P@10")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.predicted_means")
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--samples", type=int, default=1000, help="samples of each setting")
    given = parser.parse_args()
    samples = 20 if given.quick else given.samples
    warnings.simplefilter("ignore")
    print(TITLE, flush=True)
    print(f"{samples:,} samples of each setting.\n")
    head = ["judge", "mean of", "correlation", "human", "coverage", "human alone", "width"]
    print(table([*head, "weight", "effective"], []), end="", flush=True)
    for judge, rates in RATES.items():
        human, machine = population(np.random.default_rng([SEED, *judge.encode()]), *rates)
        for kind, a, b in [
            *((name, human[0][i], machine[0][i]) for i, name in enumerate(METRICS)),
            *(
                (f"difference of {name}", human[0][i] - human[1][i], machine[0][i] - machine[1][i])
                for i, name in enumerate(METRICS)
            ),
        ]:
            for n in NUMBERS:
                cells = measured(a, b, n, samples, is_difference=kind not in METRICS)
                print(f"| {judge} | {kind} | {' | '.join(cells)} |", flush=True)


def population(rng: np.random.Generator, hit: float, false: float) -> tuple[list[Floats], ...]:
    """The metrics of two systems for each query, by humans and by a machine."""
    quality = rng.normal(size=(QUERIES, DEPTH))
    chance = 1 / (1 + np.exp(1 - rng.normal(size=(QUERIES, 1)) - 1.5 * quality))
    true = rng.random((QUERIES, DEPTH)) < chance
    taken = rng.random((QUERIES, DEPTH)) < np.where(true, hit, false)
    human, machine = [], []
    for noise in (1.0, 1.8):
        order = np.argsort(-quality - rng.normal(0, noise, quality.shape), axis=1)
        human.append(metrics(np.take_along_axis(true, order, 1)))
        machine.append(metrics(np.take_along_axis(taken, order, 1)))
    return human, machine


def metrics(ranked: NDArray[np.bool_]) -> Floats:
    """AP, nDCG@10 and P@10 of rankings in rows; 0 where nothing is relevant."""
    rank = np.arange(1, DEPTH + 1)
    number = ranked.sum(axis=1)
    precision = np.cumsum(ranked, axis=1) / rank
    discount = 1 / np.log2(rank[:10] + 1)
    ideal = np.concatenate([[1.0], np.cumsum(discount)])[np.minimum(number, 10)]
    ap = (precision * ranked).sum(axis=1) / np.maximum(number, 1)
    return np.stack([ap, (ranked[:, :10] * discount).sum(axis=1) / ideal, precision[:, 9]])


def measured(y: Floats, g: Floats, n: int, samples: int, *, is_difference: bool) -> list[str]:
    """Return the cells of a setting."""
    confidence = Confidence(limits=(-1.0, 1.0) if is_difference else (0.0, 1.0))
    rng, rows = np.random.default_rng([SEED, n]), []
    for _ in range(samples):
        drawn = rng.integers(0, QUERIES, N)
        human = np.where(np.arange(N) < n, y[drawn], np.nan)
        found = predicted_mean(human, g[drawn], confidence=confidence)
        alone = mean_interval(human[:n], confidence=confidence)
        rows.append(
            (
                found.low <= y.mean() <= found.high,
                alone.low <= y.mean() <= alone.high,
                found.high - found.low,
                alone.high - alone.low,
                found.weight,
                found.n_effective,
            )
        )
    holds, held, width, human_width, weight, effective = np.array(rows).T
    return [
        f"{np.corrcoef(y, g)[0, 1]:.2f}",
        str(n),
        f"{holds.mean():.3f}",
        f"{held.mean():.3f}",
        f"{width.mean() / human_width.mean():.2f}",
        f"{weight.mean():.2f}",
        f"{np.median(effective):.0f}",
    ]


if __name__ == "__main__":
    main()
