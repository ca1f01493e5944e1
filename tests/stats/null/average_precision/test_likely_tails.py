"""Rough tails from the likeliest rankings, and the quantiles that are searched for from there."""

import numpy as np
import pytest

from prframe.stats import APNull
from prframe.stats.null.average_precision.generating_function.inversion import Inversion
from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.stats.null.average_precision.generating_function.walk import Course, Group
from prframe.stats.null.average_precision.likely_tails import (
    LikelyTails,
    first_hits,
    likely_log_tails,
)
from prframe.stats.null.average_precision.tails import planned, routes

LOG_LEVELS = np.log([1e-10, 1e-20, 1e-60])


def likely(null: APNull) -> LikelyTails:
    mean, std, largest = (null.n_pos * x for x in (null.mean(), null.std(), null.support()[1]))
    return LikelyTails.of(Items(null.n, null.depth, null._ends), null.n_pos, mean, std, largest)


@pytest.mark.parametrize(
    "null",
    [
        APNull(1000, 100),
        APNull(1000, 500),
        APNull(3000, 60, depth=300),
        APNull(600, 90, [3] * 200),
    ],
    ids=repr,
)
def test_likely_tails_are_within_a_few_powers_of_e(null: APNull) -> None:
    total, slope = likely(null).at(LOG_LEVELS)
    log_tail = np.array(null.logsf(total / null.n_pos))
    assert log_tail == pytest.approx(LOG_LEVELS, abs=2.5)
    further = np.array(null.logsf((total + 0.01 / slope) / null.n_pos))
    assert (log_tail - further) / 0.01 == pytest.approx(np.ones(3), rel=0.2)


def test_a_likely_tail_does_not_depend_on_the_others() -> None:
    items, total = Items(5000, 5000), np.array([20.0, 90.0, 40.0])
    together = likely_log_tails([items] * 3, [50, 300, 50], total)
    alone = [
        likely_log_tails([items], [n_pos], np.array([x]))[0]
        for n_pos, x in zip((50, 300, 50), total, strict=True)
    ]
    assert together.tolist() == alone


def test_the_first_hit_of_rare_positives() -> None:
    # Of 10 positives among a million one is at the first rank with a chance of 1e-5.
    assert first_hits(10**6, 10, np.log([1e-5, 1e-11])) == pytest.approx([1.0, 2.0], rel=0.1)


def test_functions_from_the_last_ranks_up_are_those_from_the_first_down() -> None:
    null, group = APNull(3000, 40), Group(3000, 40)
    moments = np.array([40 * null.mean()]), np.array([40 * null.std()])
    x = np.array([4.0, 10.0, 20.0])
    both = [
        Inversion(Course.shared([group], is_upward=is_upward), *moments).log_tails(
            np.zeros(3, np.int64), x
        )
        for is_upward in (False, True)
    ]
    assert both[1].reached == pytest.approx(both[0].reached, abs=2e-6)
    assert (both[1].converged == both[0].converged).all()


LAW: list[tuple[APNull, float]] = [
    (APNull(100, 5), 1e-4),
    (APNull(100, 20), 1e-20),
    (APNull(1000, 10), 1e-20),
    (APNull(1000, 20), 1e-4),
    (APNull(1000, 250), 1e-100),
    (APNull(1000, 500), 1e-250),
    (APNull(1000, 950), 1e-20),
    (APNull(10_000, 10), 1e-20),
    (APNull(10_000, 50), 1e-100),
    (APNull(10_000, 100), 1e-100),
    (APNull(10_000, 250), 1e-300),
    (APNull(10_000, 5000), 1e-300),
    (APNull(10_000, 9950), 1e-20),
    (APNull(10_000, 9950), 1e-100),
    (APNull(100_000, 5), 1e-20),
    (APNull(1_000_000, 500_000), 1e-100),
    (APNull(1000, 100, [20] * 50), 1e-20),
    (APNull(1_000_000, 1000, depth=1000), 1e-4),
]


@pytest.mark.slow
@pytest.mark.parametrize(("null", "q"), LAW, ids=repr)
def test_quantiles_are_the_least_values_as_rare_as_the_level(null: APNull, q: float) -> None:
    x = float(null.isf(q))
    # A fresh distribution has nothing that the search may have left.
    fresh = APNull(null.n, null.n_pos, null.ties, depth=null.depth)
    assert fresh.logsf(x) <= np.log(q) + 5e-6
    just_below = x - 1e-5 * min(x, 1 - x)
    assert fresh.logsf(just_below) > np.log(q)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "n_pos", "q"), [(10_000, 100, 1e-100), (10_000, 500, 1e-100), (10_000, 250, 1e-300)]
)
def test_far_quantiles_take_few_looks(
    n: int, n_pos: int, q: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, whole = [], routes.planned_tails

    def counted(problems: "list[planned.Problem]", **options: bool) -> object:
        looks.extend(problems)
        return whole(problems, **options)

    monkeypatch.setattr(routes, "planned_tails", counted)
    APNull(n, n_pos).isf(q)
    assert len(looks) <= 8
