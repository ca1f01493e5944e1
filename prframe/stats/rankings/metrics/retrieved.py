"""Metrics of all retrieved items, such as those above a threshold, as functions of cells."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.stats.rankings.cells import Numbers, RankedCells, as_arrays, ratio
from prframe.stats.rankings.drawn_curves import DrawnCurves
from prframe.stats.rankings.metrics.base import CellStatistic, Influence, draws_of_ends
from prframe.typing import Floats

# With an imaginary step so small, the imaginary part has all digits of the derivative.
_STEP = 1e-20


class _Kind(NamedTuple):
    """A function of four counts, and what `CellStatistic` says of it.

    It is given the retrieved positives and negatives, all positives and negatives, and beta, and
    does not change if all four counts are multiplied by one factor.
    """

    value: Callable[[Numbers, Numbers, Numbers, Numbers, float], Floats]
    name: str
    trials_are: Literal["positives", "negatives", "both", "items"] = "positives"
    of_classes: bool = False


def _matthews(tp: Numbers, fp: Numbers, n_pos: Numbers, n_neg: Numbers, _: float) -> Floats:
    k, n = tp + fp, n_pos + n_neg
    spread = np.sqrt(n_pos * 1.0 * n_neg) * np.sqrt(k * 1.0 * (n - k))
    # The root is rounded, and may be smaller than the product above it.
    value = np.clip(ratio(n * 1.0 * tp - k * 1.0 * n_pos, spread, 0.0), -1.0, 1.0)
    return np.where((n_pos > 0) & (n_neg > 0), value, np.nan)


KINDS: dict[str, _Kind] = {
    "precision": _Kind(lambda tp, fp, *_: ratio(tp, tp + fp, 0.0), "SetP", "items"),
    "recall": _Kind(lambda tp, _fp, n_pos, *_: ratio(tp, n_pos), "SetR", of_classes=True),
    "f": _Kind(
        lambda tp, fp, n_pos, _n, beta: ratio(
            (1 + beta**2) * tp, np.where(n_pos > 0, beta**2 * n_pos + tp + fp, 0.0)
        ),
        "SetF(beta={beta:g})",
    ),
    "ap": _Kind(
        lambda tp, fp, n_pos, *_: ratio(tp, tp + fp, 0.0) * ratio(tp, n_pos),
        "SetAP",
    ),
    "specificity": _Kind(
        lambda _tp, fp, _n, n_neg, _: ratio(n_neg - fp, n_neg),
        "Specificity(threshold=0.5)",
        "negatives",
        of_classes=True,
    ),
    "balanced accuracy": _Kind(
        lambda tp, fp, n_pos, n_neg, _: (ratio(tp, n_pos) + ratio(n_neg - fp, n_neg)) / 2,
        "BalancedAccuracy(threshold=0.5)",
        "both",
        of_classes=True,
    ),
    "matthews": _Kind(_matthews, "MCC(threshold=0.5)", "both"),
}


@dataclass(frozen=True)
class SetStatistic(CellStatistic):
    """A metric of all retrieved items, or of those above a threshold.

    With tp positives among k retrieved items, and n_pos among n: the precision tp / k, `empty` if
    there are none (0 in draws); the recall tp / n_pos; ``"f"``, ``(1 + beta^2) tp / (beta^2 n_pos
    + k)``; ``"ap"``, precision times recall; the specificity, the share of negatives that are not
    retrieved; the mean of recall and specificity; Matthews' correlation, ``(n tp - k n_pos) /
    sqrt(n_pos n_neg k (n - k))``, 0 if one is constant.
    """

    kind: str
    beta: float = 1.0
    empty: float = field(default=0.0, repr=False)
    of_table: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checks.number("beta", self.beta, above=0, at_most=1e6)
        kind = KINDS[self.kind]
        for name, value in (
            ("_name", kind.name),
            ("trials_are", kind.trials_are),
            ("of_classes", kind.of_classes),
            ("takes_prior", not kind.of_classes),
        ):
            object.__setattr__(self, name, value)

    def limits(self, cells: RankedCells) -> tuple[float, float]:
        return -1.0 if self.kind == "matthews" else 0.0, 1.0

    def value(self, cells: RankedCells) -> float:
        empty = self.kind == "precision" and not self.trials(cells)
        return self.empty if empty else super().value(cells)

    def trials(self, cells: RankedCells) -> int:
        """Return the number of retrieved items for a precision, else of items of the classes."""
        retrieved = int((cells.pos + cells.neg)[:-1].sum())
        return retrieved if self.kind == "precision" else super().trials(cells)

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return the metric of the items in all cells but the last."""
        pos, neg = as_arrays(pos, neg)
        tp, fp = pos[..., :-1].sum(axis=-1), neg[..., :-1].sum(axis=-1)
        return self._of_table(tp, fp, pos[..., -1], neg[..., -1])

    def influence(self, cells: RankedCells) -> Influence:
        """Differentiate by the four counts, by a complex step (Squire & Trapp 1998)."""
        # Counts of negatives that are weighed need not be whole.
        pos, neg = cells.pos, cells.neg
        table = np.array([pos[:-1].sum(), neg[:-1].sum(), pos[-1], neg[-1]], dtype=np.float64)
        slopes = np.zeros(table.size)
        if table[:2].any() and not np.isnan(self.value(cells)):
            moved = self._of_table(*(table[:, None] + _STEP * 1j * np.eye(table.size)))
            slopes = np.where(table > 0, moved.imag / _STEP, 0.0)
        of_tp, of_fp, of_fn, of_tn = slopes
        shown = np.arange(pos.size) < pos.size - 1
        return Influence(np.where(shown, of_tp, of_fn), np.where(shown, of_fp, of_tn))

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the metric of counts for the low end, where it is less, and for the high end."""
        return draws_of_ends(*(self._of_table(*table) for table in curves.tables))

    def _of_table(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
        """Return the metric of positives and negatives that are retrieved, and that are not."""
        return self.of_counts(tp, fp, tp + fn, fp + tn)

    def of_counts(self, tp: Numbers, fp: Numbers, n_pos: Numbers, n_neg: Numbers) -> Floats:
        """Return the metric of the retrieved and of all positives and negatives."""
        return KINDS[self.kind].value(tp, fp, n_pos, n_neg, self.beta)
