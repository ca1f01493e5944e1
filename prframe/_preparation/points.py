"""The points of a curve, the area below it, and means and medians of many curves."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from prframe.errors import PrframeError
from prframe.typing import Floats, Integers

# The number of levels of recall at which means of curves are taken.
LEVELS = 201
# The columns of a precision-recall-gain curve.
GAINS = "recall_gain", "precision_gain"
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Points:
    """A curve that runs to the right, and the rows of its points."""

    x: Floats
    y: Floats
    # Whether there is a point per threshold of a PR curve, and not at chosen levels.
    has_steps: bool
    # Below the steps of a PR curve, which is AP, or the line of another; None if not known.
    area: float | None
    # Whether no threshold can have been left out.
    is_whole: bool
    rows: pl.DataFrame

    def drawn(self, columns: int) -> tuple[Floats, Floats, Integers]:
        """Return the points that a picture of so many columns needs, and which ones they are."""
        kept = kept_points(self.x, self.y, np.linspace(0, 1, columns + 1))
        return self.x[kept], self.y[kept], kept


def pr_points(rows: pl.DataFrame) -> Points:
    """Return the points of a PR curve."""
    rows, recall, precision = _sorted(rows, "recall", "precision")
    if not {"k", "tp"} <= set(rows.columns) or rows["k"].null_count():
        return Points(recall, precision, has_steps=False, area=None, is_whole=False, rows=rows)
    k, tp = (rows[name].cast(pl.Float64).to_numpy() for name in ("k", "tp"))
    has_steps = _are_thresholds(recall, tp)
    # Interpolated precisions, and those under another prior, are no shares of the retrieved.
    are_shares = bool(np.abs((precision * k - tp)[k > 0]).max(initial=0) <= _ROUNDING * k[-1])
    area = float(np.dot(np.diff(recall, prepend=0.0), precision))
    if has_steps and k[0] == 0 and len(k) > 1:
        # The opening point is a convention, and has no step that would be seen.
        precision = np.concatenate((precision[1:2], precision[1:]))
    known = area if has_steps and are_shares else None
    return Points(recall, precision, has_steps, known, has_steps and _is_whole(k, tp), rows)


def have_areas(curves: Sequence[Points]) -> bool:
    """Return whether curves of one result have all their thresholds, so that areas are AP."""
    return all(points.has_steps for points in curves) and any(points.is_whole for points in curves)


def roc_points(rows: pl.DataFrame) -> Points:
    """Return the points of a ROC curve."""
    rows, fpr, tpr = _sorted(rows, "fpr", "tpr")
    is_whole = bool(fpr[0] == 0 and fpr[-1] == 1)
    area = float(np.trapezoid(tpr, fpr)) if is_whole else None
    return Points(fpr, tpr, has_steps=False, area=area, is_whole=is_whole, rows=rows)


def gain_points(rows: pl.DataFrame) -> Points:
    """Return the points of a precision-recall-gain curve, from a recall gain of 0 on.

    The curve is straight between thresholds, and before the first positive, where the odds of a
    negative and the loss of recall both fall as 1 / tp does.
    """
    rows, across, up = _sorted(rows.sort("k"), *GAINS)
    k, tp, fp, recall, precision = (
        rows[name].cast(pl.Float64).to_numpy() for name in ("k", "tp", "fp", "recall", "precision")
    )
    if not tp[-1]:
        raise PrframeError(
            "a curve without a retrieved positive has no gains; leave its group out."
        )
    if not _are_thresholds(recall, tp):
        raise PrframeError("gains are drawn from all thresholds; leave out recall= of the curve.")
    first = int((tp > 0).argmax())
    x, y, kept = across[first:], up[first:], rows[first:]
    if x[0] > 0:
        odds = (1 - precision[first]) / precision[first]
        # The part of these odds that is due to negatives above all positives.
        part = fp[first - 1] / fp[first] if first and fp[first] else 0.0
        start = y[0] - x[0] * odds * part * recall[first]
    else:
        start = float(np.interp(0.0, x, y))
    inside = x > 0
    x, y = np.append(0.0, x[inside]), np.append(start, y[inside])
    kept = pl.concat([kept.clear(1), kept.filter(pl.Series(inside))])
    area = float(np.trapezoid(y, x)) if x[-1] == 1 else None
    return Points(x, y, has_steps=False, area=area, is_whole=_is_whole(k, tp), rows=kept)


def _are_thresholds(recall: Floats, tp: Floats) -> bool:
    """Return whether the recall of points follows from their counts, as it does at thresholds."""
    return bool(np.abs(recall * tp[-1] - tp * recall[-1]).max() <= _ROUNDING * tp[-1])


def _is_whole(k: Floats, tp: Floats) -> bool:
    """Return whether no threshold can have been left out."""
    return bool((np.diff(tp) == 0).any() or (np.diff(k) == 1).all())


def _sorted(rows: pl.DataFrame, x: str, y: str) -> tuple[pl.DataFrame, Floats, Floats]:
    """Return rows in the order of the curve, with its coordinates."""
    across = rows[x].cast(pl.Float64).to_numpy()
    if (across[1:] < across[:-1]).any():
        rows = rows.sort("k" if "k" in rows.columns else x, nulls_last=True, maintain_order=True)
        across = rows[x].cast(pl.Float64).to_numpy()
    return rows, across, rows[y].cast(pl.Float64).to_numpy()


def precision_at(recall: Floats, precision: Floats, levels: Floats) -> Floats:
    """Return the precision of a curve in steps at recall levels, 0 where the curve ends before."""
    places = np.searchsorted(recall, levels)
    reached = places < len(recall)
    return np.where(reached, precision[np.minimum(places, len(recall) - 1)], 0.0)


def middles(curves: Sequence[tuple[Floats, Floats]], levels: Floats) -> tuple[Floats, Floats]:
    """Return the mean and the median precision of curves at recall levels."""
    values = np.array([precision_at(recall, precision, levels) for recall, precision in curves])
    return values.mean(axis=0), np.median(values, axis=0)


def kept_points(x: Floats, y: Floats, edges: Floats) -> Integers:
    """Return which points of a curve to draw, so that no pixel is more than one pixel off.

    Those are the first, last, lowest and highest point of each pixel column; `x` ascends.
    """
    if len(x) <= 4 * len(edges):
        return np.arange(len(x))
    inner = np.searchsorted(x, edges[1:-1])
    bounds = np.unique(np.concatenate(([0], inner, [len(x)])))
    kept: set[int] = set()
    for start, stop in pairwise(bounds.tolist()):
        part = y[start:stop]
        kept.update((start, start + int(part.argmin()), start + int(part.argmax()), stop - 1))
    return np.array(sorted(kept), dtype=np.int64)
