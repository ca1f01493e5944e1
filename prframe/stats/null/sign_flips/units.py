"""Units of which numbers are multiples, but for rounding or noise: of some numbers, and by row."""

from math import remainder

import numpy as np

from prframe.typing import Flags, Floats, Integers

# Numbers have a common unit if it is not smaller than this share of the largest; remainders
# below the second share are rounding, and places are whole to within the third number.
_UNIT, _ROUNDING, _WHOLE = 1e-6, 1e-10, 1e-4
# So many of the least numbers tell whether there may be a unit; there is none if what they have in
# common is below this share of the least unit.
_FIRST, _CERTAINLY = 8, 0.99
# Clusters matter if their unit is at least this share of the standard deviation of the sum.
_NEAR_UNIT = 1e-3
# While a unit is looked for, remainders below this share of it are taken for noise.
_NOISE = 0.1
# Numbers that differ from multiples of a unit by less than this share of the largest are
# multiples that were stored in single precision; in double precision, by less than the other.
_SINGLE, _DOUBLE = 2.0**-21, 1e-10
_TINY = float(np.finfo(float).tiny)


def lattice(sizes: Floats) -> Integers | None:
    """Return positive, rising numbers in their common unit, if they have one."""
    if not sizes.size:
        return np.zeros(0, dtype=np.int64)
    largest, unit = float(sizes[-1]), 0.0
    for size in sizes.tolist():
        # This is Euclid's algorithm, up to rounding.
        rest = size
        while rest > _ROUNDING * largest:
            unit, rest = rest, abs(remainder(unit, rest))
        if unit < _UNIT * largest:
            return None
    places = sizes / unit
    whole = np.rint(places)
    return None if (np.abs(places - whole) > _WHOLE).any() else whole.astype(np.int64)


def multiples_of_units(rising: Floats) -> tuple[Floats, Flags]:
    """Return `lattice` of rows of rising numbers, and of which rows there is one."""
    largest, unit = rising[:, -1], np.zeros(len(rising))
    has_unit = np.ones(len(rising), np.bool_)
    for size in rising.T:
        rows = np.flatnonzero(has_unit)
        unit[rows] = _joined(unit[rows], size[rows], rounding=_ROUNDING * largest[rows])
        has_unit[rows] = unit[rows] >= _UNIT * largest[rows]
    places = rising / np.where(has_unit, unit, 1.0)[:, None]
    whole = np.rint(places)
    has_unit &= (np.abs(places - whole) <= _WHOLE).all(axis=1)
    return np.where(has_unit[:, None], whole, 1.0), has_unit


def lack_unit(rising: Floats) -> Flags:
    """Tell which rows of rising sizes certainly have no common unit, by the least few of each."""
    relative = rising / rising[:, -1:]
    first = np.count_nonzero(relative == 0, axis=1, keepdims=True)
    place = np.minimum(first + np.arange(_FIRST), relative.shape[1] - 1)
    unit = np.zeros(len(relative))
    for size in np.take_along_axis(relative, place, axis=1).T:
        unit = _joined(unit, size, rounding=np.full(len(relative), _ROUNDING))
    return np.asarray(unit < _UNIT * _CERTAINLY)


def place_of_sum(x: Floats | float, slack: Floats | float, unit: Floats | float) -> Floats:
    """Return the least place, in units, of the sums that are at least x but for rounding."""
    return np.asarray(np.ceil((x - slack) / unit - _WHOLE))


def common_unit(unit: float, size: float) -> float:
    """Return the unit of a unit and one more number, by Euclid's algorithm for noisy numbers."""
    rest = size
    while rest > _NOISE * unit:
        unit, rest = rest, abs(remainder(unit, rest))
    return unit


def near_unit(sizes: Floats) -> float | None:
    """Return a number of which most of the rising numbers nearly are multiples, if there is one.

    Of all such numbers it is the one with the least sum of remainders.
    """
    if not sizes.size or not sizes[-1]:
        return None
    least = max(_NEAR_UNIT * root_of_squares(sizes), _TINY)
    unit = 0.0
    for size in np.unique(sizes)[::-1].tolist():
        unit = common_unit(unit, size)
        if unit < least:
            return None
    product, squares = 0.0, 0.0
    # The least squares of small multiples tell which multiples the next numbers are.
    for size in sizes.tolist():
        whole = round(size / unit)
        product, squares = product + whole * size, squares + whole**2
        unit = product / squares if squares else unit
    multiples = np.rint(sizes / unit)
    ratios = sizes[multiples > 0] / multiples[multiples > 0]
    rising = np.argsort(ratios)
    weight = np.cumsum(multiples[multiples > 0][rising])
    return float(ratios[rising][np.searchsorted(weight, weight[-1] / 2)])


def near_units(rising: Floats) -> Floats:
    """Return `near_unit` of rows of rising, positive numbers, 0 where there is none."""
    rows, near = np.arange(len(rising)), np.zeros(len(rising))
    largest = rising[:, -1]
    norm = largest * np.sqrt(((rising / largest[:, None]) ** 2).sum(axis=1))
    least = np.maximum(_NEAR_UNIT * norm, _TINY)
    unit = np.zeros(len(rising))
    is_last = np.diff(rising, axis=1, append=np.inf) > 0
    for sizes, counts in zip(rising.T[::-1], is_last.T[::-1], strict=True):
        size = np.where(counts, sizes, 0.0)[rows]
        unit = _joined(unit, size, noise=_NOISE)
        remain = unit >= least[rows]
        rows, unit = rows[remain], unit[remain]
    product, squares = np.zeros(rows.size), np.zeros(rows.size)
    for size in rising[rows].T:
        whole = np.rint(size / unit)
        product, squares = product + whole * size, squares + whole**2
        unit = np.where(squares > 0, product / np.where(squares > 0, squares, 1.0), unit)
    multiples = np.rint(rising[rows] / unit[:, None])
    ratios = rising[rows] / np.where(multiples > 0, multiples, 1.0)
    order = np.argsort(ratios, axis=1)
    weight = np.cumsum(np.take_along_axis(multiples, order, axis=1), axis=1)
    middle = (weight < weight[:, -1:] / 2).sum(axis=1, keepdims=True)
    chosen = np.take_along_axis(order, middle, axis=1)
    near[rows] = np.take_along_axis(ratios, chosen, axis=1)[:, 0]
    return near


def without_single_precision(rising: Floats) -> Floats:
    """Return rows of few rising, positive numbers, multiples without single precision's rounding.

    Each row is what `stored_in_single_precision` makes of it.
    """
    unit = near_units(rising)
    whole = np.rint(rising / np.where(unit > 0, unit, np.inf)[:, None])
    multiples = unit[:, None] * whole
    is_single = (unit > 0) & in_single_precision(rising, multiples)
    return np.where(is_single[:, None], multiples, rising)


def in_single_precision(numbers: Floats, multiples: Floats) -> Flags:
    """Tell of each row whether multiples of a unit were stored as these numbers, with 24 bits."""
    deviation = np.abs(numbers - multiples).max(axis=-1) / np.abs(numbers).max(axis=-1)
    return np.asarray((deviation > _DOUBLE) & (deviation <= _SINGLE))


def root_of_squares(sizes: Floats) -> float:
    """Return the root of the sum of squares of rising numbers, even if that sum overflows."""
    if not sizes.size or not sizes[-1]:
        return 0.0
    return float(sizes[-1] * np.sqrt(((sizes / sizes[-1]) ** 2).sum()))


def _joined(
    unit: Floats, size: Floats, noise: float = 0.0, rounding: Floats | float = 0.0
) -> Floats:
    """Return the units of units and one more number each, by Euclid's algorithm.

    It ends where what remains is not above a share of the unit that is noise, and rounding.
    """
    unit, rest = unit.copy(), size.copy()
    limit = np.broadcast_to(rounding, unit.shape)
    rows = np.flatnonzero(rest > noise * unit + limit)
    while rows.size:
        least = rest[rows]
        left = np.fmod(unit[rows], least)
        unit[rows], rest[rows] = least, np.minimum(left, least - left)
        rows = rows[rest[rows] > noise * least + limit[rows]]
    return unit
