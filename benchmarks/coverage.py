"""``python -m benchmarks.coverage``: how often intervals and bands cover the value in the population.

Parts and their settings are declared in `benchmarks.settings`. ``--part``, ``--metric`` and
``--only`` (keys of `benchmarks.populations`) take some of them, ``--samples`` another number of
samples, ``--quick`` few. ``--every`` prints all settings, not only those covered too seldom.
"""

import argparse
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from multiprocessing import get_context
from statistics import median

import numpy as np
import polars as pl

from benchmarks.data import SEED
from benchmarks.populations import STUDIED
from benchmarks.report import table
from benchmarks.settings import PARTS, Study
from prframe.typing import Floats

LOW, HIGH = 0.93, 0.97
# From these shares on, the ends of the range or equal estimates explain a coverage.
OFTEN_AT_END, OFTEN_ALIKE = 0.5, 0.04
HAIR = 1e-12
# So many samples share the draws of one call, which bounds what their noise does to the coverage.
SHARED = 20
TITLE = """## default-coverage

95 % intervals and bands, {samples:,} samples of each setting at most: how many settings are covered \
in less than {low} and in more than {high} by more than two standard errors, and for how many of \
these an end of the range or equal estimates explain it.
"""
OUTSIDE = """Settings that are covered too seldom. In brackets how often intervals lie above the value \
of the population and below it, then the mean width. *At an end*: the share of intervals with an end at \
that of the range of the metric. *Alike*: the share of samples that have the most frequent estimate; \
coverage of counts jumps by about as much. {shared} samples share draws.
"""
SUMMARY = ["part", "metric", "settings", "least", "median", "largest", "too low", "too high"]
SUMMARY += ["explained"]
HEADER = ["part", "metric", "scores", "size", "value", "coverage", "at an end", "alike"]
HEADER += ["verdict", "reason"]


@dataclass(frozen=True)
class Row:
    """What was found of a metric in one setting: estimate, low and high of each sample."""

    part: str
    metric: str
    scores: str
    size: str
    true: float
    limits: tuple[float, float]
    found: Floats
    width: float

    @property
    def misses(self) -> tuple[float, float]:
        """How often intervals lie above the value, and below it."""
        _, low, high = self.found.T
        above, below = ~(low <= self.true + HAIR), high < self.true - HAIR
        return float(above.mean()), float(below.mean())

    @property
    def coverage(self) -> float:
        """How often intervals cover."""
        return 1 - sum(self.misses)

    @property
    def side(self) -> int:
        """-1 or 1 if the coverage is below or above the band by two standard errors, else 0."""
        n, coverage = len(self.found), self.coverage
        low, high = (2 * (end * (1 - end) / n) ** 0.5 for end in (LOW, HIGH))
        return int(coverage > HIGH + high) - int(coverage < LOW - low)

    @property
    def at_end(self) -> float:
        """The share of intervals with an end at that of the range."""
        _, low, high = self.found.T
        return float(((low <= self.limits[0]) | (high >= self.limits[1])).mean())

    @property
    def alike(self) -> float:
        """The share of samples with the most frequent estimate."""
        counts = np.unique(self.found[:, 0].round(9), return_counts=True)[1]
        return float(counts.max() / len(self.found))

    def why(self) -> str:
        """Return what explains a coverage outside of the band."""
        reasons = {
            "an end of the range": self.at_end > OFTEN_AT_END and self.side > 0,
            "few counts": self.alike > OFTEN_ALIKE,
        }
        return ", ".join(reason for reason, holds in reasons.items() if holds)

    def cells(self) -> list[str]:
        """Return the cells of a line in the table."""
        above, below = self.misses
        return [
            self.part,
            self.metric,
            self.scores,
            self.size,
            f"{self.true:.4g}",
            f"{self.coverage:.3f} ({above:.3f}, {below:.3f}) {self.width:.3f}",
            f"{self.at_end:.2f}",
            f"{self.alike:.2f}",
            ("within", "too high", "too low")[self.side],
            self.why() if self.side else "",
        ]


def rows_of(study: Study, samples: int, metrics: Sequence[str] | None = None) -> list[Row]:
    """Return a row per metric of a study."""
    true = study.true()
    wanted = [name for name in true if metrics is None or name in metrics]
    if not wanted:
        return []
    samples, seed, parts = min(samples, study.samples), [SEED, *study.size.encode()], []
    for first in range(0, samples, SHARED):
        frames = [
            study.draw(np.random.default_rng([*seed, i])).with_columns(sample=pl.lit(i))
            for i in range(first, min(first + SHARED, samples))
        ]
        parts.append(study.verb(pl.concat(frames), wanted, first, **study.options))
    found, rows = pl.concat(parts), []
    for name in wanted:
        known = found.filter(metric=name).drop_nulls("conf_low")
        # Precision of no item has no interval and is left out.
        if known.height > samples / 2:
            ends = known.select("estimate", "conf_low", "conf_high").to_numpy()
            width = known["width"] if "width" in known.columns else ends[:, 2] - ends[:, 1]
            about = (study.part, name, study.scores, study.size, true[name])
            rows.append(Row(*about, study.limits_of(name), ends, float(np.nanmean(width))))
    return rows


def _run(samples: int, metrics: Sequence[str] | None, which: tuple[str, int]) -> list[Row]:
    """Run one study; a process that is started anew finds it by its part and its number."""
    warnings.simplefilter("ignore")
    part, number = which
    return rows_of(next(islice(PARTS[part](), number, None)), samples, metrics)


def summary(rows: Sequence[Row]) -> Iterator[list[str]]:
    """Return a row per part and metric; cut-offs and thresholds are one metric."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        name = re.sub(r"@\d+$", "@k", re.sub(r"threshold=[-\d.]+", "threshold", row.metric))
        groups.setdefault((row.part, name), []).append(row)
    for (part, metric), some in groups.items():
        covered, sides = [row.coverage for row in some], [row.side for row in some]
        ends = (f"{end:.3f}" for end in (min(covered), median(covered), max(covered)))
        explained = sum(bool(row.side and row.why()) for row in some)
        counts = (len(some), sides.count(-1), sides.count(1), explained)
        settings, *outside = map(str, counts)
        yield [part, metric, settings, *ends, *outside]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--part", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--metric", nargs="+", help="metrics, methods or functions of these names")
    parser.add_argument("--only", nargs="+", choices=STUDIED, help="populations")
    parser.add_argument("--samples", type=int, default=1000, help="samples per setting, at most")
    parser.add_argument("--quick", action="store_true", help="20 samples")
    parser.add_argument("--every", action="store_true", help="print all settings")
    parser.add_argument("--processes", type=int, help="as many as there are CPUs by default")
    options = parser.parse_args()
    options.samples = 20 if options.quick else options.samples
    return options


def main() -> None:
    options = _options()
    chosen = [
        (part, number)
        for part in options.part
        for number, study in zip(count(), PARTS[part](), strict=False)
        if options.only is None or study.key in options.only
    ]
    rows = []
    with get_context("spawn").Pool(options.processes) as pool:
        for found in pool.imap(partial(_run, options.samples, options.metric), chosen):
            rows.extend(found)
            # It takes long: what is outside of the band is shown at once.
            for row in found:
                if row.side:
                    print("; ".join(row.cells()), file=sys.stderr, flush=True)
    print(TITLE.format(low=LOW, high=HIGH, samples=options.samples))
    print(table(SUMMARY, summary(rows)))
    print(OUTSIDE.format(shared=SHARED))
    shown = [row.cells() for row in rows if row.side < 0 or options.every]
    print(table(HEADER, shown), flush=True)


if __name__ == "__main__":
    main()
