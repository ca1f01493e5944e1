"""Characteristic functions from the last ranks up, against walks at all frequencies."""

import numpy as np
import pytest

from prframe.stats.null.average_precision.generating_function.lanes import Lanes
from prframe.stats.null.average_precision.generating_function.path_search import along_paths
from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.stats.null.average_precision.generating_function.upward_waves import UpwardWaves
from prframe.stats.null.average_precision.generating_function.walk import (
    DENSE,
    GROWTH,
    Course,
    Group,
    Tilt,
)
from prframe.typing import Floats


def planned(items: Items, n_pos: int, tilt: Tilt) -> Course:
    """Return the walk along the path of the tilted mean of T."""
    lanes = Lanes.of([items.table(DENSE, GROWTH)], [n_pos])
    path = along_paths(lanes, tilt.mean)[1]
    return Course.planned(lanes, path._replace(slope=np.array([tilt.slope])))


def spacing(tilt: Tilt) -> float:
    """Return how far the frequencies of an inversion are apart."""
    return float(2 * np.pi / (11 * tilt.variance[0] ** 0.5 + 2 / abs(tilt.slope)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "n_pos", "ends"),
    [
        (400, 60, None),
        (3_000, 100, None),
        (20_000, 200, None),
        (400, 60, np.cumsum([2] * 200)),
        (5_000, 80, np.cumsum([1] * 10 + [10] * 499)),
    ],
)
@pytest.mark.parametrize("slope", [-1.0, 0.5, 3.0])
def test_walks_through_all_hits_give_the_same(
    n: int, n_pos: int, ends: Floats | None, slope: float
) -> None:
    shared = Course.shared([Group(n, n_pos)], None, ends)
    tilt = shared.tilt(slope)
    course = planned(Items(n, n, ends), n_pos, tilt)
    for first, end in ((0, 48), (0, 432), (432, 816)):
        frequencies = spacing(tilt) * np.arange(first, end)
        every = shared.waves(tilt, [0], frequencies)[0]
        few = course.waves(course.tilt(slope), [0], frequencies)[0]
        assert few == pytest.approx(every, abs=3e-6)


@pytest.mark.parametrize("first", [0, 8, 40])
def test_frequencies_in_between_are_interpolated(first: int) -> None:
    tilt = Course.shared([Group(900, 30)]).tilt(1.0)
    course = planned(Items(900, 900), 30, tilt)
    frequencies = spacing(tilt) * np.arange(first, first + 96)
    own = course.tilt(1.0)
    tables, shares = [*course.tables, course.exits[0].table], [*own.shares, own.exits[0]]
    waves = UpwardWaves(tables, shares, course.needs(own, np.ones(1, np.bool_)), 1.0)
    # A few frequencies at a time are too few to be halved.
    each = [waves.at(part) for part in np.split(frequencies, 12)]
    assert waves.at(frequencies) == pytest.approx(np.concatenate(each), abs=1e-6)
    # One has no neighbour that says how far apart they are.
    for place in (0, 5):
        alone = waves.at(frequencies[place : place + 1])
        assert alone == pytest.approx(each[0][place : place + 1], abs=1e-6)


def test_terms_that_are_left_out_take_no_chance_with_them() -> None:
    # A thousandth of a thousandth would be a thousandth in a product of the functions of 1,000
    # groups.
    tilt = Course.shared([Group(5_000, 1_000)]).tilt(0.5)
    course = planned(Items(5_000, 5_000), 1_000, tilt)
    wave = course.waves(course.tilt(0.5), [0], spacing(tilt) * np.arange(48))[0]
    assert wave[0] == pytest.approx(1.0, abs=1e-6)
