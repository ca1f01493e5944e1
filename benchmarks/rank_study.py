"""``python -m benchmarks.rank_study``: p-values of linear rank statistics, by each approximation.

``--quick`` takes fewer of everything, to see that it runs.
"""

import argparse
import warnings
from collections.abc import Iterator

import numpy as np

from benchmarks.data import SEED
from benchmarks.report import table
from prframe.stats import LinearRankNull, parse_phi
from prframe.stats.null.subset_sums import counting
from prframe.typing import Floats

TITLE = """## rank-accuracy

P(W >= w) of linear rank statistics under random labels: the largest difference of an \
approximation, relative to the probability, *saddlepoint* / *normal*, by the size of the \
probability.
"""
PHIS = ("mww", "p-norm-push(q=3)", "van-der-waerden", "logrank", "rtb", "dcg", "dcg(k=10)")
PHIS += ("local-auc", "p-norm-push(q=20)", "rtb(beta=1000, lam=1000)")
SMALL = ((30, 15), (40, 20), (60, 4), (40, 5))
LARGE = ((1000, 4), (1000, 10), (1000, 100))
BINS = ((1, 0.1), (0.1, 1e-2), (1e-2, 1e-3), (1e-3, 1e-5))
LEVELS = (0.5, 0.1, 0.03, 0.01, 0.001)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rank_study", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    # Half of the classes of subsets that are counted here, more than the package does.
    counting.MOST_ENTRIES = 1 << 21
    print(TITLE, flush=True)
    print("Where subsets are counted.\n", flush=True)
    header = ["N, n_pos", "phi", *(f"p in ({low:g}, {high:g}]" for high, low in BINS)]
    print(table(header, counted(SMALL[:1] if quick else SMALL)), flush=True)
    draws = 20_000 if quick else 1_000_000
    print(f"Where not: the ratio to the share of {draws:,} random labellings.\n", flush=True)
    header = ["N, n_pos", "phi", *(f"p = {level:g}" for level in LEVELS)]
    print(table(header, simulated(draws)), flush=True)


def _scores(name: str, n: int) -> Floats:
    return parse_phi(name).of_size(n)(np.arange(1, n + 1) / (n + 1))


def counted(sizes: tuple[tuple[int, int], ...]) -> Iterator[list[str]]:
    """Return a row per size and function: approximations against exact probabilities."""
    for n, n_pos in sizes:
        for name in PHIS:
            yield [f"{n}, {n_pos}", name, *_differences(LinearRankNull(_scores(name, n), n_pos))]


def _differences(null: LinearRankNull) -> list[str]:
    """Return the largest differences in each bin of probabilities."""
    high = null.support()[1]
    values = np.append(null.rvs(60, rng=SEED), null.mean() + null.std() * np.linspace(1, 6, 60))
    found = []
    for w in values[values < high - 1e-9]:
        exact, *others = (
            float(null.using(m).logsf(w)) for m in ("exact", "saddlepoint", "normal")
        )
        found.append([np.exp(exact), *(abs(np.expm1(other - exact)) for other in others)])
    rows = np.array(found)
    cells = []
    for most, least in BINS:
        inside = rows[(rows[:, 0] <= most) & (rows[:, 0] > least)]
        cells.append(" / ".join(f"{d:.2g}" for d in inside[:, 1:].max(0)) if len(inside) else "")
    return cells


def simulated(draws: int) -> Iterator[list[str]]:
    """Return a row per size and function: approximations against simulation."""
    for n, n_pos in LARGE:
        for name in PHIS:
            scores = _scores(name, n)
            null, drawn = LinearRankNull(scores, n_pos), _drawn(scores, n_pos, draws)
            yield [f"{n}, {n_pos}", name, *(_ratios(null, drawn, level) for level in LEVELS)]


def _drawn(scores: Floats, n_pos: int, draws: int) -> Floats:
    """Return sums of random subsets, rising."""
    rng, some = np.random.default_rng(SEED), 2000
    parts = [
        scores[np.argpartition(rng.random((some, scores.size), np.float32), n_pos)[:, :n_pos]]
        for _ in range(draws // some)
    ]
    return np.sort(np.concatenate([part.sum(1) for part in parts]))


def _ratios(null: LinearRankNull, drawn: Floats, level: float) -> str:
    """Return approximations over the share of draws, at the value nearest to a level."""
    w = drawn[int((1 - level) * drawn.size)]
    share = drawn.size - np.searchsorted(drawn, w - 1e-9)
    values = [null.using(m).sf(w) for m in ("saddlepoint", "normal")]
    ratios = " / ".join(f"{value / share * drawn.size:.3f}" for value in values)
    return f"{ratios} (± {share**-0.5:.3f})"


if __name__ == "__main__":
    main()
