"""Areas under drawn curves, beside the same integrals with many levels of recall."""

import numpy as np
import pytest

from prframe.stats.curves.drawn.paths import area_under_precision


def test_where_nothing_is_above() -> None:
    # Recall leaps, or rates do, or the first piece has no width.
    recall = np.array([[0.0, 0.0, 0.0], [1e-4, 0.3, 0.0], [1.0, 1.0, 1.0]])
    against = np.array([[1e-3, 1e-9, 0.5], [1e-3, 1e-9, 0.5], [2e-3, 1e-1, 0.5]])
    areas = area_under_precision(recall, against, np.zeros(2, dtype=bool))
    b = np.concatenate([[0.0], np.geomspace(1e-9, 1, 200_001)])
    for column, area in enumerate(areas):
        curve = np.exp(np.interp(b, recall[:, column], np.log(against[:, column])))
        assert area == pytest.approx(np.trapezoid(b / (b + curve), b), abs=5e-4)
