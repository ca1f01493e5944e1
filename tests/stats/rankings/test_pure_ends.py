"""How far the population may have no negative above or below a level, against known limits."""

import numpy as np
import pytest
from scipy import stats

from prframe.stats.rankings.cells import RankedCells, cells_from_scores, pure_bottom, pure_top

LEVELS = np.linspace(0.01, 0.99, 99)


def ranked(after: int, n_pos: int, n_neg: int = 50) -> RankedCells:
    """A ranking of positives above all negatives, and of some that are below all of them."""
    pos = [3.0] * (n_pos - after) + [-1.0 - i for i in range(after)]
    scores = [*pos, *np.linspace(1, 2, n_neg)]
    return cells_from_scores(scores, [1] * n_pos + [0] * n_neg)[0]


@pytest.mark.parametrize(("after", "n_pos"), [(1, 10), (3, 20), (19, 20)])
@pytest.mark.parametrize("tail", [0.1, 0.025, 0.005])
def test_the_bottom_begins_at_the_clopper_pearson_limit(
    after: int, n_pos: int, tail: float
) -> None:
    chance = pure_bottom(ranked(after, n_pos), LEVELS)
    limit = 1 - stats.beta.ppf(1 - tail, after + 1, n_pos - after)
    assert ((chance >= tail) == (limit <= LEVELS)).all()


def test_positives_tied_with_the_first_negative_leave_the_limit_as_it_is() -> None:
    """What stands above a block of both classes is as pure as what stands above a negative."""
    of_block = pure_top(RankedCells(np.array([5, 5, 0]), np.array([0, 1, 0])), LEVELS)
    untied = pure_top(RankedCells(np.array([5, 0, 5, 0]), np.array([0, 1, 0, 0])), LEVELS)
    assert of_block.tolist() == untied.tolist()
    bottom = pure_bottom(RankedCells(np.array([5, 5, 0]), np.array([1, 0, 0])), 1 - LEVELS)
    np.testing.assert_allclose(bottom, of_block, rtol=1e-12)
