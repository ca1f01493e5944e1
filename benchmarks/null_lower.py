"""The lower tails of the study of the null of AP: rankings, values, and references.

Far below the mean the positives crowd at the end of the ranking. Rankings are drawn from laws that
are tilted by negative slopes, in steps that are as fine at the end as at the top.
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.null_path import slopes_below
from benchmarks.null_plane import SHARES, Place, levels
from benchmarks.null_reference import (
    SMOOTH,
    Reference,
    best_of,
    better_slope,
    location,
    smoothed,
    weighed_below,
)
from benchmarks.null_steps import Shape, steps_of
from benchmarks.null_tilt import Sample, Tilt, Tilted
from prframe.stats import APNull

_SIZES, _QUICK_SIZES = (100, 1000, 10**4, 10**5, 10**6, 10**7), (100, 10**4)
# Values lie at these shares of the way from the least value of AP to its mean.
_WAY = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
_FEWEST = 4
_PILOT, _PILOTS = 800, 8


def places(*, quick: bool) -> Iterator[Place]:
    """Return rankings with values below the mean: without ties, with ties, and cut off."""
    for n in _QUICK_SIZES if quick else _SIZES:
        numbers = {round(n * share) for share in SHARES}
        for n_pos in sorted(numbers | {5} if n > 100 else numbers):
            if min(n_pos, n - n_pos) >= _FEWEST:
                yield _place(Shape(n, n_pos, n), "no ties")
    some = (1000, 10), (1000, 50), (10**4, 100), (10**4, 1000)
    for n, n_pos in some[:1] if quick else some:
        yield _place(Shape(n, n_pos, n, (2,) * (n // 2)), "pairs")
        yield _place(Shape(n, n_pos, n, (5,) * (n // 5)), "fives")
        yield _place(Shape(n, n_pos, n, levels(n, np.linspace(0, 1, 101)[1:-1])), "100 levels")
        yield _place(Shape(n, n_pos, n - n // 50), "depth .98 n")


def references(place: Place, draws: int, rng: np.random.Generator) -> list[Reference]:
    """Return the logarithms of P(AP <= ap)."""
    shape, values = place.shape, place.shape.n_pos * place.ap
    steps = steps_of(shape, is_fine_below=True)
    slopes = slopes_below(steps, shape, values, location(shape).deviation)
    found = []
    for value, slope in zip(values.tolist(), slopes.tolist(), strict=True):
        tilt = Tilt(_better(Tilted(steps, shape, Tilt(slope)), value, rng))
        sample = Tilted(steps, shape, tilt).draw(draws, rng)
        known = [weighed_below(sample, value)]
        if shape.n_pos >= SMOOTH and not shape.ties:
            # The lower tail of T is the upper one of -T.
            turned = Sample(-sample.total, sample.log_weight)
            known.append(smoothed(turned, -tilt.slope, -value))
        found.append(best_of(known))
    return found


def _better(law: Tilted, value: float, rng: np.random.Generator) -> float:
    """Return the slope that pilots like best for a value."""
    for _ in range(_PILOTS):
        slope = law.slope
        better = better_slope(law.draw(_PILOT, rng), slope, value)
        if abs(better - slope) < 0.02 * abs(slope):
            break
        law = Tilted(law.steps, law.shape, Tilt(better))
    return law.slope


def _place(shape: Shape, kind: str) -> Place:
    """Return a ranking with the values that are asked for."""
    where = location(shape)
    mean = where.mean / shape.n_pos
    depth = shape.depth if shape.depth < shape.n else None
    least = APNull(shape.n, shape.n_pos, shape.ties, depth=depth).support()[0]
    ap = least + np.array(_WAY) * (mean - least)
    deviations = (shape.n_pos * ap - where.mean) / where.deviation
    return Place(shape, f"{kind}, below", shape.n_pos / shape.n, deviations, ap)
