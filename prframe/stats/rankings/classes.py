"""The scores of positives and negatives, checked and sorted, and levels of recall among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prframe import checks
from prframe.errors import ArgumentError, PrframeError
from prframe.stats._arrays import fractions, known
from prframe.stats._tolerances import EQUAL
from prframe.typing import Floats


@dataclass(frozen=True)
class ClassScores:
    """One class: the ascending scores of its retrieved items, and the number of all its items.

    Items that were not retrieved (score -inf) or never listed rank below every score.
    """

    ascending: Floats
    total: int

    @property
    def finite(self) -> Floats:
        """The scores below +inf."""
        return self.ascending[: np.searchsorted(self.ascending, np.inf)]

    def above(self, threshold: Floats) -> NDArray[np.intp]:
        """Count the scores above each threshold."""
        return self.ascending.size - np.searchsorted(self.ascending, threshold, side="right")

    def at_least(self, threshold: Floats) -> NDArray[np.intp]:
        """Count the scores that reach each threshold."""
        return self.ascending.size - np.searchsorted(self.ascending, threshold, side="left")


def two_classes(
    positives: ArrayLike, negatives: ArrayLike, n_pos: int | None, n_neg: int | None
) -> tuple[ClassScores, ClassScores]:
    """Check and sort the scores of both classes; there must be a positive."""
    positive_scores = _class("positives", positives, "n_pos", n_pos)
    if not positive_scores.total:
        raise PrframeError(
            "`positives` must hold at least one score, or `n_pos` exceed 0; got none."
        )
    return positive_scores, _class("negatives", negatives, "n_neg", n_neg)


def both_classes(
    positives: ArrayLike, negatives: ArrayLike, n_pos: int | None, n_neg: int | None
) -> tuple[ClassScores, ClassScores]:
    """Check and sort the scores of both classes; there must be a positive and a negative."""
    positive_scores, negative_scores = two_classes(positives, negatives, n_pos, n_neg)
    if not negative_scores.total:
        raise PrframeError(
            "`negatives` must hold at least one score, or `n_neg` exceed 0; got none."
        )
    return positive_scores, negative_scores


def _class(name: str, scores: ArrayLike, total_name: str, total: int | None) -> ClassScores:
    """Check and sort the scores of one class."""
    numbers = known(name, scores)
    if numbers.ndim != 1:
        raise PrframeError(f"`{name}` must be one-dimensional; got shape {numbers.shape}.")
    ascending = np.sort(numbers)
    if total is None:
        total = numbers.size
    elif checks.whole_number(total_name, total, at_least=0) < numbers.size:
        raise PrframeError(
            f"`{total_name}` must be at least the number of {name}; "
            f"got {total_name} = {total} with {numbers.size} {name}."
        )
    retrieved = ascending[np.searchsorted(ascending, -np.inf, side="right") :]
    return ClassScores(retrieved, int(total))


def recall_levels(recall: ArrayLike, *, below_one: bool = False) -> Floats:
    """Require levels in (0, 1], or in (0, 1)."""
    levels = fractions("recall", recall)
    if (wrong := ~(levels > 0) | (below_one & (levels == 1))).any():
        limits = "> 0 and < 1" if below_one else "> 0 and <= 1"
        raise ArgumentError(f"`recall` must be {limits}; got {levels[wrong].ravel()[0]}.")
    return levels


def positives_at(recall: Floats, n_pos: ArrayLike) -> Floats:
    """Return how many positives a level of recall is, whole where it is so but for rounding.

    .3 of 10 are 3.
    """
    count = recall * np.asarray(n_pos)
    whole = np.rint(count)
    return np.asarray(np.where(np.abs(count - whole) <= EQUAL * whole, whole, count))
