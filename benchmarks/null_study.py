"""``python -m benchmarks.null_study``: the tails of the null of AP beside recorded references.

The references share nothing with prframe's tails (`null_reference`). They took hours and are kept
in ``null_references.csv``. ``--share .3`` takes a random part of the rankings, ``--quick`` a tenth.
``--record`` computes references that are missing.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import inf, isfinite, log

import numpy as np

from benchmarks import null_places
from benchmarks.data import SEED
from benchmarks.null_places import Place
from benchmarks.null_reference import (
    Kept,
    Queries,
    Reference,
    references,
    references_below,
    references_of_mean,
)
from benchmarks.null_steps import Floats, Shape
from benchmarks.report import table
from prframe.stats.null.average_precision.groups import Case, Cases
from prframe.stats.null.average_precision.steps import Tail

TITLE = """## null-study

log P(AP >= ap) under random ranking, or log P(AP <= ap) of lower tails, beside references that \
share nothing with prframe: enumeration, permutations, rankings that are drawn near the value and \
reweighted, and series in the exact cumulants. 10 to 20 million items, one in 100,000 to nine in \
ten positive, with and without ties and depths, and means over queries. Errors are differences of \
the logarithms, beyond 1e-30 relative to the reference. References have standard errors of their \
own (*s. e.*, median): *beyond* is what is left of the largest error after three of them.
"""
# A region: its name, the logarithm down to which its probabilities go, and the error promised.
UPPER = (
    ("p >= 1e-12", log(1e-12), 0.01),
    ("1e-12 to 1e-30", log(1e-30), 0.03),
    ("beyond 1e-30", -inf, 0.05),
)
LOWER = ("lower, p >= 1e-6", log(1e-6), 0.02), ("lower, beyond", -inf, 0.05)
# P(AP <= ap) is 1 less P(AP >= x) of an x this much larger than ap.
_JUST_ABOVE = 3e-12
# Beyond this depth what counts is the relative error of the logarithm.
_FAR = log(1e-30)


@dataclass(frozen=True)
class Point:
    """A value of a ranking, with what the reference and prframe say of its tail."""

    what: str
    reference: Reference
    log_p: float
    method: str
    is_lower: bool = False
    is_mean: bool = False

    @property
    def region(self) -> tuple[str, float]:
        """The name of the region, and the error that is promised."""
        regions = LOWER if self.is_lower else UPPER
        name, _, promised = next(one for one in regions if self.reference.log_p >= one[1])
        return f"means, {name}" if self.is_mean else name, promised

    @property
    def scale(self) -> float:
        """What differences are divided by."""
        return abs(self.reference.log_p) if self.reference.log_p < _FAR else 1.0

    @property
    def error(self) -> float:
        """How far the logarithms are from each other."""
        return abs(self.log_p - self.reference.log_p) / self.scale

    @property
    def beyond(self) -> float:
        """What is left of the error after three standard errors of the reference."""
        return max(0.0, self.error - 3 * self.reference.error / self.scale)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.null_study", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rankings")
    parser.add_argument("--share", type=float, default=1.0, help="a random part of the rankings")
    parser.add_argument("--record", action="store_true", help="compute missing references")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(TITLE, flush=True)
    share = 0.1 if options.quick else options.share
    print(report(list(points(share, record=options.record))), flush=True)


def points(share: float, *, record: bool) -> Iterator[Point]:
    """Return the points of a random share of the rankings, as far as they have a reference."""
    kept, rng = Kept(), np.random.default_rng([SEED, 1])
    upper = chain(null_places.untied(), null_places.tied(), null_places.few_hits())
    for is_lower, places in ((False, upper), (True, null_places.below())):
        for place in places:
            if rng.random() < share:
                yield from _points_of(place, kept, is_lower=is_lower, record=record)
    for queries in null_places.mixed_queries():
        mean, deviation = queries.moments()
        z = np.array([0.0, 1, 2, 4] if queries.count > 100 else [0.0, 1, 2, 4, 8])
        values = mean + z * deviation
        name = f"{queries.count:,} queries, {queries.name}"
        known = kept.find(name, values.tolist())
        if known is None and record:
            known = references_of_mean(queries, z, values, np.random.default_rng([SEED, 3]))
            kept.keep(name, values.tolist(), known)
        if known is not None and rng.random() < share:
            for one, tail in zip(known, _cases(queries).mean_tails(values), strict=True):
                if isfinite(one.error):
                    yield Point(name, one, tail.log_reached, tail.method, is_mean=True)


def _points_of(place: Place, kept: Kept, *, is_lower: bool, record: bool) -> Iterator[Point]:
    """Return the points of a ranking."""
    shape, values = place.shape, place.ap.tolist()
    name = place.name
    known = kept.find(name, values)
    if known is None and record:
        rng = np.random.default_rng([SEED, 2, shape.n, shape.n_pos])
        known = (
            references_below(shape, place.ap, 6000, rng)
            if is_lower
            else references(shape, place.ap, place.deviations, rng)
        )
        kept.keep(name, values, known)
    begin = time.process_time()
    found = _tails(shape, place.ap * (1 + _JUST_ABOVE) if is_lower else place.ap)
    print(f"{name}: {time.process_time() - begin:.1f} s", file=sys.stderr, flush=True)
    for z, one, tail in zip(place.deviations, known or [], found, strict=known is not None):
        if isfinite(one.error):
            log_p = tail.log_missed if is_lower else tail.log_reached
            yield Point(f"{name}, z = {z:.3g}", one, log_p, tail.method, is_lower)


def _tails(shape: Shape, ap: Floats) -> list[Tail]:
    """Return what prframe says of values of the AP of a ranking."""
    return Cases([Case(shape.n, shape.n_pos, shape.depth, shape.ties)] * ap.size).tails(ap)


def _cases(queries: Queries) -> Cases:
    """Return the rankings of queries."""
    pairs = zip(queries.shapes, queries.often, strict=True)
    return Cases([Case(*one[:3], one.ties) for one, often in pairs for _ in range(often)])


def report(found: Sequence[Point]) -> str:
    """Return the errors by region and label, and the sure points that break the promise."""
    parts: dict[tuple[str, str], list[Point]] = {}
    for point in found:
        label = "estimate" if point.method == "estimate" else "sure"
        parts.setdefault((point.region[0], label), []).append(point)
    bases = [name for name, *_ in (*UPPER, *LOWER)]
    order = [*bases, *(f"means, {name}" for name in bases)]
    rows = []
    for region, label in sorted(parts, key=lambda part: (order.index(part[0]), part[1] != "sure")):
        inside = parts[region, label]
        errors = np.array([point.error for point in inside])
        noise = np.median([point.reference.error / point.scale for point in inside])
        middle, high = np.quantile(errors, [0.5, 0.99], method="higher")
        cells = [middle, high, errors.max(), max(point.beyond for point in inside), noise]
        cells = [len(inside), *(f"{cell:.2g}" for cell in cells), f"{inside[0].region[1]:g}"]
        rows.append([region, label, *map(str, cells)])
    header = [
        "region",
        "label",
        "points",
        "median",
        "99 %",
        "largest",
        "beyond",
        "s. e.",
        "promised",
    ]
    broken = [point for point in found if point.method != "estimate"]
    broken = [point for point in broken if point.beyond > point.region[1]]
    text = f"{len(broken)} of {len(found)} points are further off than promised and not labelled."
    worst = sorted(broken, key=lambda point: -point.beyond / point.region[1])[:10]
    names = [
        f"- {point.what}: log p {point.log_p:.5g} ({point.method}), reference "
        f"{point.reference.log_p:.5g} ± {point.reference.error:.1g} ({point.reference.source})"
        for point in worst
    ]
    return "\n".join([table(header, rows), text, "", *names])


if __name__ == "__main__":
    main()
