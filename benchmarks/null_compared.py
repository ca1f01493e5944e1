"""Compares the package with the references, and writes the tables of the study."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, log

import numpy as np

from benchmarks.null_reference import Reference
from benchmarks.report import table

# Depths of p: names, and the logarithm down to which they go.
DEPTHS = (
    ("p > 1e-2", log(1e-2)),
    ("1e-2 to 1e-6", log(1e-6)),
    ("1e-6 to 1e-20", log(1e-20)),
    ("1e-20 to 1e-300", -300 * log(10)),
    ("beyond", -float("inf")),
)
_SIZES = ((100, "n <= 100"), (3000, "300 to 3,000"), (10**5, "10^4 to 10^5"), (10**9, "2 10^5 up"))
_SHARES = ((0.005, "up to .001"), (0.05, ".01"), (0.3, ".1"), (0.7, ".5"), (1.0, ".9"))
# Beyond these depths what counts is the relative error of the logarithm.
_ABSOLUTE = 3


@dataclass(frozen=True)
class Point:
    """A value at which the package and a reference were asked."""

    what: str
    size: int
    share: float
    deviations: float
    reference: Reference
    log_p: float
    method: str
    group: str = ""

    @property
    def depth(self) -> int:
        """The number of the depth of p."""
        return next(i for i, (_, low) in enumerate(DEPTHS) if self.reference.log_p >= low)

    @property
    def scale(self) -> float:
        """What differences are divided by."""
        return 1.0 if self.depth < _ABSOLUTE else abs(self.reference.log_p)

    @property
    def difference(self) -> float:
        """How far the logarithms are from each other, relative to them far out."""
        gap = abs(self.log_p - self.reference.log_p) / self.scale
        return gap if isfinite(gap) else float("inf")

    @property
    def error(self) -> float:
        """The standard error of the reference on the same scale."""
        return self.reference.error / self.scale

    @property
    def excess(self) -> float:
        """The difference beyond three standard errors, relative to what is tolerated."""
        tolerated = 0.02 if self.depth < _ABSOLUTE else 1e-3
        return max(0.0, self.difference - 3 * self.error) / tolerated

    @property
    def region(self) -> tuple[str, str, int]:
        """Group or size class, share class, and depth of p."""
        size = self.group or next(name for most, name in _SIZES if self.size <= most)
        return size, next(name for most, name in _SHARES if self.share <= most), self.depth


def regions(points: Sequence[Point]) -> str:
    """Return the largest difference of each region."""
    known = [point for point in points if isfinite(point.reference.error)]
    names = list(dict.fromkeys(point.region[0] for point in known))
    found: dict[tuple[int, str, int], list[Point]] = {}
    for point in known:
        name, share, depth = point.region
        found.setdefault((names.index(name), share, depth), []).append(point)
    shares = [name for _, name in _SHARES]
    rows = []
    for size, share, depth in sorted(
        found, key=lambda key: (key[0], shares.index(key[1]), key[2])
    ):
        inside = found[size, share, depth]
        worst = max(inside, key=lambda point: (point.excess, point.difference))
        errors = worst.difference / worst.error if worst.error else 0.0
        sources = Counter(point.reference.source for point in inside)
        rows.append(
            [
                names[size],
                share,
                DEPTHS[depth][0],
                str(len(inside)),
                f"{max(point.difference for point in inside):.2g}",
                f"{worst.difference:.2g} ± {worst.error:.1g}",
                f"{errors:.1f}" if worst.error else "",
                f"{np.median([point.error for point in inside]):.1g}",
                ", ".join(f"{name} {count}" for name, count in sources.most_common()),
            ]
        )
    header = ["size", "share", "p", "points", "largest", "worst", "in s. e.", "median s. e."]
    return table([*header, "references"], rows)


def worst(points: Sequence[Point], most: int = 20) -> str:
    """Return the points with the largest excess."""
    known = [point for point in points if isfinite(point.reference.error)]
    bad = sorted(known, key=lambda point: -point.excess)[:most]
    rows = [
        [
            point.what,
            f"{point.deviations:.4g}",
            f"{point.log_p:.5g}",
            point.method,
            f"{point.reference.log_p:.5g} ± {point.reference.error:.2g}",
            point.reference.source,
            f"{point.excess:.2g}",
        ]
        for point in bad
        if point.excess > 0
    ]
    lines = f"{sum(point.excess > 1 for point in known)} of {len(known)} points exceed what is "
    lines += f"tolerated; {len(points) - len(known)} more have no reference.\n\n"
    header = ["ranking", "z", "log p", "method", "reference", "source", "excess"]
    return lines + table(header, rows)


def labels(points: Sequence[Point]) -> str:
    """Return how often each method occurs, and its largest excess."""
    rows = []
    for method, count in Counter(point.method for point in points).most_common():
        inside = [
            point for point in points if point.method == method and isfinite(point.reference.error)
        ]
        largest = max((point.excess for point in inside), default=0.0)
        over = sum(point.excess > 1 for point in inside)
        rows.append([method, str(count), str(len(inside)), f"{largest:.2g}", str(over)])
    return table(["method", "points", "with a reference", "largest excess", "above 1"], rows)
