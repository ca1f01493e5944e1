"""``python -m benchmarks.paired_items``: coverage of differences of two models on the same items.

``--quick`` takes few samples, to see that it runs. ``--samples`` takes another number.
"""

import argparse
from collections.abc import Iterator, Sequence
from multiprocessing import Pool
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from benchmarks.data import SEED
from benchmarks.populations import Population, binormal, hard, heavy
from benchmarks.report import table
from prframe.draws import INTERVAL_DRAWS
from prframe.stats import ranking_levels
from prframe.stats.curves import Weights, drawn_weights
from prframe.stats.intervals.confidence import Confidence
from prframe.stats.paired_rankings import PairedRankings
from prframe.stats.paired_rankings.tests import resampled_comparison
from prframe.stats.paired_rankings.unseen import Room, single_intervals
from prframe.stats.rankings import (
    AveragePrecision,
    CellEvaluator,
    LargestF1,
    PrecisionAt,
    RocArea,
    SetBalancedAccuracy,
    TrapezoidArea,
)

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

TITLE = """## paired-items

95 % intervals of the difference of two models on the same items, `test="bootstrap"`: the share of {samples} samples \
whose interval covers the difference of the populations, with `interval="percentile"` and, behind the arrow, with the \
default; in brackets how often the default lies above it and below it, and how many times as wide it is. *Apart* is \
how far the means of the classes are apart for either model, and *alike* the correlation of the scores of both models \
within a class. *Hard*: a tenth of the negatives stands 1 above the positives in both models. *Five*: scores of five \
levels. P@k at the expected number of positives, balanced accuracy above a score of 2. {draws:,} resamples; \
{single:,} draws of curves, which {shared} samples share. `python -m benchmarks.paired_items`.
"""
METRICS = ("AP", "AUC", "AUPRC", "P@k", "MaxF1", "balanced accuracy")
SAMPLES, DRAWS, SHARED, THRESHOLD = 300, 600, 20, 2.0
_FIVE = (0.1, 0.3, 0.6, 0.85, 1.0)
# Sizes of the samples that tell the balanced accuracy of a population.
_FINE = 2_000_000


class Setting(NamedTuple):
    """The items, how far the classes are apart for either model, and how alike the models are."""

    n: int
    share: float
    apart: tuple[float, float]
    law: str = "normal"
    alike: float = 0.5

    def cells(self) -> list[str]:
        """Return the first cells of the row."""
        apart = " / ".join(f"{one:g}" for one in self.apart)
        return [f"{self.n:,}", f"{self.share:g}", apart, self.law, f"{self.alike:g}"]


SETTINGS = (
    Setting(40, 0.5, (1, 1)),
    Setting(40, 0.5, (2, 1)),
    Setting(40, 0.5, (3, 2)),
    Setting(40, 0.5, (5, 4)),
    Setting(150, 0.1, (2, 1)),
    Setting(150, 0.1, (3, 2)),
    Setting(150, 0.1, (3, 2), alike=0.9),
    Setting(200, 0.1, (1.5, 1)),
    Setting(200, 0.1, (1.5, 1), alike=0.0),
    Setting(200, 0.1, (1.5, 1), alike=0.9),
    Setting(200, 0.1, (4, 4)),
    Setting(200, 0.1, (4, 4), alike=0.98),
    Setting(200, 0.1, (5, 4)),
    Setting(200, 0.1, (5, 4), alike=0.9),
    Setting(200, 0.5, (5, 4)),
    Setting(200, 0.9, (1.5, 1)),
    Setting(200, 0.9, (3, 2)),
    Setting(200, 0.9, (5, 4)),
    Setting(1000, 0.05, (1, 1)),
    Setting(2000, 0.01, (2, 1)),
    Setting(2000, 0.01, (3, 2)),
    Setting(2000, 0.01, (5, 4)),
    Setting(2000, 0.05, (4, 4)),
    Setting(2000, 0.05, (5, 4)),
    Setting(20_000, 0.005, (3, 2)),
    Setting(200, 0.1, (2, 1), "t(3)"),
    Setting(200, 0.5, (5, 4), "t(3)"),
    Setting(2000, 0.01, (3, 2), "t(3)"),
    Setting(200, 0.1, (2, 1), "hard"),
    Setting(200, 0.5, (3, 2), "hard"),
    Setting(2000, 0.01, (3, 2), "hard"),
    Setting(200, 0.1, (2, 1), "five"),
    Setting(200, 0.5, (5, 4), "five"),
)


def main() -> None:
    """Print a row for each setting."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paired_items", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20 samples of small settings")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="samples per setting")
    parser.add_argument("--processes", type=int, help="as many as there are CPUs by default")
    asked = parser.parse_args()
    samples = 20 if asked.quick else asked.samples
    settings = [one for one in SETTINGS if not asked.quick or one.n <= 200]
    about = {"draws": DRAWS, "single": INTERVAL_DRAWS, "shared": SHARED}
    print(TITLE.format(samples=samples, **about), flush=True)
    header = ["items", "positive", "apart", "scores", "alike", *METRICS]
    print(table(header, []).rstrip("\n"), flush=True)
    with Pool(asked.processes) as pool:
        for row in pool.imap(_row, [(setting, samples) for setting in settings]):
            print(table(header, [row]).rstrip("\n").split("\n")[-1], flush=True)


def _row(task: tuple[Setting, int]) -> list[str]:
    """Return the row of a setting."""
    setting, samples = task
    true = _truth(setting)
    rng = np.random.default_rng([SEED, *_numbers(setting)])
    found = np.array(list(_ends(setting, samples, rng)))
    cells = []
    for ends, value in zip(np.moveaxis(found, 0, 1), true, strict=True):
        below, above = (ends[..., 0] > value).mean(axis=0), (ends[..., 1] < value).mean(axis=0)
        widths = (ends[..., 1] - ends[..., 0]).mean(axis=0)
        before, after = 1 - below - above
        sides = f"({below[1]:.3f}, {above[1]:.3f})"
        cells.append(f"{before:.3f} → {after:.3f} {sides} {widths[1] / widths[0]:.2f}")
    return [*setting.cells(), *cells]


def _numbers(setting: Setting) -> Iterator[int]:
    """Yield whole numbers that tell settings apart."""
    yield setting.n
    for number in (setting.share, *setting.apart, setting.alike):
        yield round(1000 * number)
    yield from setting.law.encode()


def _ends(
    setting: Setting, samples: int, rng: np.random.Generator
) -> Iterator[list[list[tuple[float, float]]]]:
    """Yield, of each sample, both intervals of each metric."""
    cut = max(1, round(setting.n * setting.share))
    ranked = [AveragePrecision(), RocArea(), TrapezoidArea(), PrecisionAt(cut), LargestF1()]
    for number in range(samples):
        if number % SHARED == 0:
            weights = drawn_weights(INTERVAL_DRAWS, rng)
        label, scores = _sample(setting, rng)
        levels = ranking_levels(scores)
        above = np.where(scores >= THRESHOLD, levels, 0)
        yield [
            *_both(levels, CellEvaluator(label, ranked), weights, rng),
            *_both(above, CellEvaluator(label, [SetBalancedAccuracy()]), weights, rng),
        ]


def _both(
    levels: NDArray[np.int64],
    evaluate: CellEvaluator,
    weights: Sequence[Weights],
    rng: np.random.Generator,
) -> Iterator[list[tuple[float, float]]]:
    """Yield the interval of resamples of each metric, and the default."""
    rankings = PairedRankings(levels, evaluate)
    confidences = [Confidence(limits=(-1.0, 1.0))] * len(evaluate.statistics)
    first, second = (
        single_intervals(one, evaluate, confidences[0], lambda: weights) for one in levels
    )
    drawn = rankings.values(), rankings.replicates(DRAWS, rng), confidences, rankings.n_units
    room = Room(first, second, rankings.n_units)
    for pair in zip(
        resampled_comparison(*drawn), resampled_comparison(*drawn, room=room), strict=True
    ):
        yield [(one.conf_low, one.conf_high) for one in pair]


def _sample(setting: Setting, rng: np.random.Generator) -> tuple[Flags, Floats]:
    """Draw labels, two of either at least, and the scores of both models."""
    label = np.zeros(setting.n, dtype=np.bool_)
    while not 2 <= label.sum() <= setting.n - 2:
        label = rng.random(setting.n) < setting.share
    common, *own = rng.normal(size=(3, setting.n))
    is_hard = rng.random(setting.n) < 0.1
    noise = (np.sqrt(setting.alike) * common + np.sqrt(1 - setting.alike) * one for one in own)
    return label, np.stack(
        [
            _scores(setting.law, apart, one, label, is_hard)
            for apart, one in zip(setting.apart, noise, strict=True)
        ]
    )


def _scores(law: str, apart: float, noise: Floats, label: Flags, is_hard: Flags) -> Floats:
    """Return scores whose distribution in either class is that of `_population`."""
    if law == "t(3)":
        noise = np.asarray(stdtrit(3, ndtr(noise)))
    scores = noise + apart * label
    if law == "hard":
        return np.asarray(scores + (apart + 1) * (is_hard & ~label))
    if law == "five":
        cuts = apart - ndtri(np.array(_FIVE[:-1][::-1]))
        return np.searchsorted(cuts, scores).astype(np.float64)
    return scores


def _population(law: str, apart: float) -> Population:
    """Return the population of the scores of one model."""
    if law == "t(3)":
        return heavy(apart, 3)
    if law == "hard":
        return hard(apart)
    return binormal(apart, _FIVE if law == "five" else ())


def _truth(setting: Setting) -> list[float]:
    """Return the differences of the metrics in the population."""
    first, second = (_values(setting, apart) for apart in setting.apart)
    return [one - other for one, other in zip(first, second, strict=True)]


def _values(setting: Setting, apart: float) -> Sequence[float]:
    """Return the metrics of one model in the population."""
    population = _population(setting.law, apart)
    cut = max(1, round(setting.n * setting.share))
    values = population.metrics(setting.share, cut / setting.n, 0.5)
    pos, neg = population.scores(np.random.default_rng(SEED), _FINE, _FINE)
    balanced = ((pos >= THRESHOLD).mean() + (neg < THRESHOLD).mean()) / 2
    if setting.law == "normal":
        balanced = (ndtr(apart - THRESHOLD) + ndtr(THRESHOLD)) / 2
    return [*(values[name] for name in METRICS[:-1]), float(balanced)]


if __name__ == "__main__":
    main()
