"""References of tails of AP under random ranking, with nothing of prframe's tails in them.

Each gives the logarithm of a probability with a standard error. Of prframe there are only the
exact moments, which are tested elsewhere: mean and variance to say where a value lies, and the
first four cumulants for the Edgeworth series. References take seconds to minutes and are `Kept`
in ``null_references.csv``, each with the value of AP at which it holds.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isclose, log
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from benchmarks.null_steps import Floats, Shape, Steps, log_choose, permuted, steps_of
from benchmarks.null_tilt import Sample, Tilt, Tilted, slopes_below, slopes_for
from prframe.stats import APNull, ap_null_moments
from prframe.stats.null.average_precision.moments import retrieved_moments

FILE = Path(__file__).parent / "null_references.csv"
_HEADER = ("what", "ap", "log_p", "error", "source")
# Values of AP that differ by less than this, relative to them, are equal.
EQUAL = 1e-12
# References with a larger error than this are none.
WORST = 0.05
# An Edgeworth series is taken up to this skewness, and this far from the mean.
_MOST_SKEW, _MOST_DEVIATIONS = 0.3, 4.001
_PILOT, _PILOTS = 400, 4
_ENUMERABLE = 20
# With fewer positives single values of AP carry too much to be smoothed.
SMOOTH = 80
# Below this square of positives per item a single lucky one can decide.
_SPARSE = 100
_FEWEST = 400
# Parts of a sample, for the error of what is not a mean.
_PARTS = 10
# References that are at least as good as this are not simulated.
_GOOD = 0.004


class Reference(NamedTuple):
    """The logarithm of a probability, its standard error, and where it comes from."""

    log_p: float
    error: float
    source: str


NONE = Reference(float("nan"), inf, "none")


class Kept:
    """The references of a file, which grows by what is computed."""

    def __init__(self, file: Path = FILE) -> None:
        self._file = file
        self._known: dict[str, list[tuple[float, Reference]]] = {}
        if file.exists():
            with file.open(newline="") as lines:
                for row in csv.DictReader(lines):
                    known = Reference(float(row["log_p"]), float(row["error"]), row["source"])
                    self._known.setdefault(row["what"], []).append((float(row["ap"]), known))

    def find(self, what: str, values: Sequence[float]) -> list[Reference] | None:
        """Return the references of all values of a ranking, the last of each; None if one is missing."""
        found = [
            [known for ap, known in self._known.get(what, []) if isclose(ap, value, rel_tol=1e-12)]
            for value in values
        ]
        return [some[-1] for some in found] if all(found) else None

    def keep(self, what: str, values: Sequence[float], known: Sequence[Reference]) -> None:
        """Write the references of values of a ranking at the end of the file."""
        is_new = not self._file.exists()
        with self._file.open("a", newline="") as lines:
            writer = csv.writer(lines, lineterminator="\n")
            if is_new:
                writer.writerow(_HEADER)
            for value, one in zip(values, known, strict=True):
                row = (what, repr(float(value)), f"{one.log_p:.10g}", f"{one.error:.3g}")
                writer.writerow((*row, one.source))


@dataclass(frozen=True)
class Location:
    """Mean and standard deviation of T = n_pos AP under random ranking."""

    mean: float
    deviation: float


def location(shape: Shape) -> Location:
    """Return where T lies."""
    if shape.depth < shape.n:
        found = retrieved_moments(shape.n, shape.n_pos, shape.depth, shape.ties)
    else:
        found = ap_null_moments(shape.n, shape.n_pos, shape.ties)
    mean, variance = float(found.mean), float(found.variance)
    return Location(shape.n_pos * mean, shape.n_pos * variance**0.5)


def counted(shape: Shape, ap: float) -> Reference:
    """Return the exact answer where it is known: one positive, or all of them at the top."""
    if shape.n_pos == 1:
        last = np.cumsum(shape.ties) if shape.ties else np.arange(1, shape.depth + 1)
        good = int(last[1 / last >= ap * (1 - EQUAL)].max(initial=0))
        return Reference(log(good / shape.n) if good else -inf, 0.0, "count")
    if ap >= 1 - EQUAL and shape.ties is None and shape.depth >= shape.n_pos:
        return Reference(-float(log_choose(shape.n, shape.n_pos)), 0.0, "count")
    return NONE


def enumerated(shape: Shape, ap: Floats) -> list[Reference]:
    """Return the exact answers for at most twenty items: all rankings, one by one."""
    if shape.n > _ENUMERABLE:
        return [NONE] * ap.size
    masks = np.arange(1 << shape.n, dtype=np.uint32)
    masks = masks[np.bitwise_count(masks) == shape.n_pos]
    hits, total = np.zeros(masks.size), np.zeros(masks.size)
    start = 0
    for size in shape.ties or (1,) * shape.depth:
        block = np.uint32(((1 << size) - 1) << start)
        inside = np.bitwise_count(masks & block).astype(np.float64)
        hits += inside
        start += size
        total += inside * hits / start
    good = [(total >= shape.n_pos * value * (1 - EQUAL)).mean() for value in ap]
    return [Reference(log(p) if p else -inf, 0.0, "enumeration") for p in good]


def sampled(shape: Shape, ap: Floats, draws: int, rng: np.random.Generator) -> list[Reference]:
    """Return how often random rankings are as good, where that is often enough to tell."""
    return tallied(permuted(shape, draws, rng), shape.n_pos * ap)


def tallied(drawn: Floats, values: Floats) -> list[Reference]:
    """Return how often draws reach values."""
    ordered = np.sort(drawn)
    good = drawn.size - np.searchsorted(ordered, values * (1 - EQUAL))
    return [_share(int(count), drawn.size) for count in good]


def _share(good: int, draws: int) -> Reference:
    if good < _FEWEST:
        return NONE
    # One ranking more on the other side, so that a share of 1 has an error too.
    error = ((draws - good + 1) / good / draws) ** 0.5
    return Reference(log(good / draws), error, "permutations")


def edgeworth(shape: Shape, ap: Floats) -> list[Reference]:
    """Return the Edgeworth series with the exact cumulants, where the law is close to normal.

    The error is the size of the last terms that are taken, those with the kurtosis and the square
    of the skewness, or that of the next ones if these are larger.
    """
    where = location(shape)
    if shape.depth < shape.n or not where.deviation:
        return [NONE] * ap.size
    skew, kurtosis = APNull(shape.n, shape.n_pos, shape.ties).stats("sk")
    return [
        series((shape.n_pos * value - where.mean) / where.deviation, skew, kurtosis)
        for value in ap
    ]


def series(z: float, skew: float, kurtosis: float) -> Reference:
    """Return the Edgeworth series of a tail at z standard deviations."""
    if abs(z) > _MOST_DEVIATIONS or not abs(skew) < _MOST_SKEW:
        return NONE
    density = np.exp(-z * z / 2) / (2 * np.pi) ** 0.5
    first = density * skew / 6 * (z * z - 1)
    second = density * (
        kurtosis / 24 * (z**3 - 3 * z) + skew * skew / 72 * (z**5 - 10 * z**3 + 15 * z)
    )
    p = float(ndtr(-z)) + first + second
    # Near a zero of the last terms their size elsewhere counts, and so do those that come next.
    grow = 1 + z * z
    scale = density * (abs(kurtosis) / 24 + skew * skew / 72) * (1 + abs(z))
    scale += density * (abs(skew) ** 3 / 1296 * grow**4 + abs(skew * kurtosis) / 144 * grow**3) / 4
    error = max(abs(second), scale) / p if p > 0 else inf
    return Reference(log(p), error, "Edgeworth") if error < WORST else NONE


class Tilting:
    """Importance sampling of rankings whose AP is about a value.

    Attributes
    ----------
    slopes : ndarray of float
        A slope for each value, with which the most likely ranking has that AP.
    """

    def __init__(self, shape: Shape, ap: Floats) -> None:
        self.shape, self.values = shape, shape.n_pos * ap
        self._steps = steps_of(shape)
        self.slopes = slopes_for(self._steps, shape, self.values, location(shape).deviation)

    @property
    def ease(self) -> float:
        """How many times more draws cost as much as those of a ranking of many steps."""
        return float(np.clip(500 / self._steps.size.size, 1, 6))

    def law(self, tilt: Tilt) -> Tilted:
        """Return the tilted law."""
        return Tilted(self._steps, self.shape, tilt)

    def tilt(self, number: int, rng: np.random.Generator) -> Tilt:
        """Return the tilt that a pilot likes best for a value."""
        slope, value = float(self.slopes[number]), float(self.values[number])
        for _ in range(_PILOTS):
            better = better_slope(self.law(Tilt(slope)).draw(_PILOT, rng), slope, value)
            if abs(better - slope) < 0.02 * slope:
                break
            slope = better
        if self.shape.n_pos**2 / self.shape.n > _SPARSE or self.shape.n < 1000:
            return Tilt(slope)
        far = 1 / (value - location(self.shape).mean)
        choices = [
            Tilt(slope),
            Tilt(0.85 * float(self.slopes[number])),
            Tilt(0.0, 1.3 * far),
            Tilt(0.0, 4 * far),
            Tilt(slope / 2, 4 * far),
        ]
        errors = [weighed(self.law(one).draw(_PILOT, rng), value, 10).error for one in choices]
        return choices[int(np.argmin(errors))]

    def reference(
        self, number: int, tilt: Tilt, draws: int, rng: np.random.Generator
    ) -> Reference:
        """Return P(AP >= value) from draws of a tilted law, by weights or smoothed."""
        sample, value = self.law(tilt).draw(draws, rng), float(self.values[number])
        plain = weighed(sample, value)
        if tilt.top or self.shape.n_pos < SMOOTH:
            return plain
        return best_of([plain, smoothed(sample, tilt.slope, value)])


def better_slope(pilot: Sample, slope: float, value: float) -> float:
    """Return the slope, not far away, at which the reweighted pilot has its mean at a value."""
    tilt = pilot.log_weight + slope * pilot.total
    tilt = np.where(np.isfinite(tilt), tilt, -1e9)
    off = pilot.total - value
    if abs(off.mean()) < 0.4 * off.std():
        return slope
    reach = 1.5 / max(float(off.std()), 1e-300)
    low, high = slope - min(reach, abs(slope) / 2), slope + min(reach, abs(slope))
    for _ in range(30):
        middle = (low + high) / 2
        logs = tilt + (middle - slope) * off
        weight = np.exp(logs - logs.max())
        low, high = (middle, high) if (weight @ off) < 0 else (low, middle)
    return (low + high) / 2


def weighed(sample: Sample, value: float, least: int = 50) -> Reference:
    """Return the weighted share of draws that reach a value."""
    return _weighed(sample, sample.total >= value * (1 - EQUAL), least)


def weighed_below(sample: Sample, value: float, least: int = 50) -> Reference:
    """Return the weighted share of draws that do not exceed a value."""
    return _weighed(sample, sample.total <= value * (1 + EQUAL), least)


def _weighed(sample: Sample, chosen: NDArray[np.bool_], least: int) -> Reference:
    """Return the weighted share of the draws that are chosen."""
    logs = np.where(chosen, sample.log_weight, -inf)
    top = logs.max()
    if not np.isfinite(top):
        return NONE
    weight = np.exp(logs - top)
    error = float(weight.std() / weight.mean() / weight.size**0.5)
    # A few draws that carry everything know their own error badly.
    if weight.sum() ** 2 / (weight**2).sum() < least:
        return NONE
    return Reference(float(top + np.log(weight.mean())), error, "tilted")


def smoothed(sample: Sample, slope: float, value: float) -> Reference:
    """Return what weighing the draws of a law tilted by a slope tends to, if T is near normal.

    The weights are exp(-slope T) times numbers that hardly differ, whose mean gives the moment
    generating function. The rest is the integral of exp(-slope (T - value)) above the value: over
    an Edgeworth density that has the mean, the variance and the shape of the draws. The error is
    that between ten parts of the draws, and the size of the last terms.
    """
    logs = sample.log_weight + slope * sample.total
    top = float(logs.max())
    if not np.isfinite(top):
        return NONE
    level = np.exp(logs - top)
    off = sample.total - value
    if level.std() > level.mean():
        return NONE
    whole, plainer, skew = _integral(slope, off)
    if abs(skew) > _MOST_SKEW or abs(off.mean()) > 0.5 * off.std() or whole <= 0:
        return NONE
    parts = [
        _integral(slope, part)[0] * some.mean()
        for part, some in zip(
            np.array_split(off, _PARTS), np.array_split(level, _PARTS), strict=True
        )
    ]
    spread = float(np.std(parts, ddof=1) / np.mean(parts)) / _PARTS**0.5
    error = float(np.hypot(spread, whole / plainer - 1))
    log_p = top + np.log(level.mean()) - slope * value + np.log(whole)
    return Reference(float(log_p), error, "tilted, smoothed")


def _integral(slope: float, off: Floats) -> tuple[float, float, float]:
    """Return the integral, that without the last terms, and the skewness of the draws."""
    deviation = float(off.std())
    unit = (off - off.mean()) / deviation
    skew, kurtosis = float((unit**3).mean()), float((unit**4).mean()) - 3
    y = np.linspace(0, min(40 / slope, 9 * deviation), 2001)
    u = (y - off.mean()) / deviation
    base = np.exp(-slope * y - u * u / 2) / (deviation * (2 * np.pi) ** 0.5)
    first = 1 + skew / 6 * (u**3 - 3 * u)
    second = kurtosis / 24 * (u**4 - 6 * u**2 + 3)
    second += skew**2 / 72 * (u**6 - 15 * u**4 + 45 * u**2 - 15)
    weight = np.full(y.size, y[1])
    weight[[0, -1]] /= 2
    return float(weight @ (base * (first + second))), float(weight @ (base * first)), skew


def best_of(found: Sequence[Reference]) -> Reference:
    """Return the reference with the least error."""
    return min(found, key=lambda one: one.error)


def best(found: Sequence[Reference]) -> Reference:
    """Return the reference with the least error, or none."""
    chosen = best_of(found)
    return chosen if chosen.error <= WORST else NONE


def references(
    shape: Shape, ap: Floats, deviations: Floats, rng: np.random.Generator
) -> list[Reference]:
    """Return the best reference of each value, which is so many standard deviations from the mean."""
    sure = zip(enumerated(shape, ap), edgeworth(shape, ap), ap.tolist(), strict=True)
    found = [[*some, counted(shape, value)] for *some, value in sure]
    open_ = [i for i, some in enumerate(found) if best(some).error > _GOOD]
    if open_:
        drawn = sampled(shape, ap, 400_000 if shape.n_pos <= 20 else 20_000, rng)
        found = [[*some, one] for some, one in zip(found, drawn, strict=True)]
    far = [i for i in open_ if deviations[i] >= 2 and best(found[i]).error > 3 * _GOOD]
    far = [i for i in far if ap[i] < 1]
    if far:
        tilting = Tilting(shape, ap[far])
        for number, i in enumerate(far):
            tilt = tilting.tilt(number, rng)
            found[i].append(tilting.reference(number, tilt, round(3000 * tilting.ease), rng))
    return [best(some) for some in found]


def references_below(
    shape: Shape, ap: Floats, draws: int, rng: np.random.Generator
) -> list[Reference]:
    """Return the logarithms of P(AP <= ap), from draws that are tilted by negative slopes.

    Far below the mean the positives crowd at the end of the ranking: steps are as fine there as at
    the top.
    """
    values = shape.n_pos * ap
    steps = steps_of(shape, is_fine_below=True)
    slopes = slopes_below(steps, shape, values, location(shape).deviation)
    found = []
    for value, slope in zip(values.tolist(), slopes.tolist(), strict=True):
        tilt = Tilt(_better_law(Tilted(steps, shape, Tilt(slope)), value, rng))
        sample = Tilted(steps, shape, tilt).draw(draws, rng)
        known = [weighed_below(sample, value)]
        if shape.n_pos >= SMOOTH and not shape.ties:
            # The lower tail of T is the upper one of -T.
            turned = Sample(-sample.total, sample.log_weight)
            known.append(smoothed(turned, -tilt.slope, -value))
        found.append(best_of(known))
    return found


def _better_law(law: Tilted, value: float, rng: np.random.Generator) -> float:
    """Return the slope that pilots like best for a value."""
    for _ in range(8):
        slope = law.slope
        better = better_slope(law.draw(800, rng), slope, value)
        if abs(better - slope) < 0.02 * abs(slope):
            break
        law = Tilted(law.steps, law.shape, Tilt(better))
    return law.slope


@dataclass(frozen=True)
class Queries:
    """Shapes of queries, and how many queries have each."""

    name: str
    shapes: tuple[Shape, ...]
    often: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many queries there are."""
        return sum(self.often)

    def moments(self) -> tuple[float, float]:
        """Return mean and standard deviation of the mean of AP."""
        where = [location(shape) for shape in self.shapes]
        parts = list(zip(where, self.shapes, self.often, strict=True))
        mean = sum(often * at.mean / shape.n_pos for at, shape, often in parts)
        variance = sum(often * (at.deviation / shape.n_pos) ** 2 for at, shape, often in parts)
        return mean / self.count, variance**0.5 / self.count


def sampled_mean(
    queries: Queries, values: Floats, draws: int, rng: np.random.Generator
) -> list[Reference]:
    """Return how often means of random rankings reach values."""
    total = np.zeros(draws)
    for shape, often in zip(queries.shapes, queries.often, strict=True):
        drawn = permuted(shape, often * draws, rng) / shape.n_pos
        total += drawn.reshape(often, draws).sum(axis=0)
    return tallied(total / queries.count, values)


def edgeworth_mean(queries: Queries, values: Floats) -> list[Reference]:
    """Return the Edgeworth series with the cumulants of the sum."""
    if any(shape.depth < shape.n for shape in queries.shapes):
        return [NONE] * values.size
    third = fourth = 0.0
    for shape, often in zip(queries.shapes, queries.often, strict=True):
        skew, kurtosis = APNull(shape.n, shape.n_pos, shape.ties).stats("sk")
        deviation = location(shape).deviation / shape.n_pos
        third += often * skew * deviation**3
        fourth += often * kurtosis * deviation**4
    mean, deviation = queries.moments()
    total = deviation * queries.count
    shape_of_sum = third / total**3, fourth / total**4
    return [series((value - mean) / deviation, *shape_of_sum) for value in values]


def tilted_mean(queries: Queries, value: float, draws: int, rng: np.random.Generator) -> Reference:
    """Return P(mean >= value) with one slope for all queries, their mean being near the value."""
    mean, deviation = queries.moments()
    slope = (value - mean) / deviation**2
    steps = [steps_of(shape) for shape in queries.shapes]
    # The normal slope is too large where the law is skew: it is approached from below.
    slope /= 1 + (value - mean) / deviation / 3
    for _ in range(6):
        pilot = _draw_mean(queries, steps, slope, 200, rng)
        better = better_slope(pilot, slope, value)
        if abs(better - slope) < 0.02 * slope:
            break
        slope = better
    sample = _draw_mean(queries, steps, slope, draws, rng)
    return best_of([weighed(sample, value), smoothed(sample, slope, value)])


def _draw_mean(
    queries: Queries, steps: list[Steps], slope: float, draws: int, rng: np.random.Generator
) -> Sample:
    """Draw the mean under the slope."""
    total, log_weight = np.zeros(draws), np.zeros(draws)
    for shape, often, walk in zip(queries.shapes, queries.often, steps, strict=True):
        law = Tilted(walk, shape, Tilt(slope / queries.count / shape.n_pos))
        sample = law.draw(often * draws, rng)
        total += sample.total.reshape(often, draws).sum(axis=0) / shape.n_pos
        log_weight += sample.log_weight.reshape(often, draws).sum(axis=0)
    return Sample(total / queries.count, log_weight)


def references_of_mean(
    queries: Queries, z: Floats, values: Floats, rng: np.random.Generator
) -> list[Reference]:
    """Return the best reference of each value of a mean, z deviations above that of the mean."""
    found = edgeworth_mean(queries, values)
    if queries.count > 100:
        return [best([one]) for one in found]
    drawn = sampled_mean(queries, values, 20_000, rng)
    found = [best([one, some]) for one, some in zip(found, drawn, strict=True)]
    for i in np.flatnonzero(z > 1).tolist():
        if found[i].error > 0.015:
            draws = 6000 if queries.count < 100 else 1000
            found[i] = best([found[i], tilted_mean(queries, float(values[i]), draws, rng)])
    return found
