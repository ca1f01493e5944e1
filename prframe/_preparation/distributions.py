"""Distributions before they are drawn: AP of random rankings, and scores of two classes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from prframe import checks
from prframe._preparation import wording
from prframe._preparation.panels import MOST_PANELS
from prframe._preparation.results import whole
from prframe.errors import ArgumentError, PrframeError, each_once
from prframe.stats import APNull
from prframe.typing import Floats, Shared
from prframe.verbs._guards import advising
from prframe.verbs.against_chance.ap_test import ap_test
from prframe.verbs.curves.curve import curve

_DRAWS, _BARS = 20_000, 60


@dataclass(frozen=True)
class NullPicture:
    """AP of random rankings.

    Attributes
    ----------
    shares, edges : ndarray of float
        The histogram.
    mean : float
    observed : float or None
    note : str
        What is shown, in words and numbers.
    """

    shares: Floats
    edges: Floats
    mean: float
    observed: float | None
    note: str


def null_picture(
    frame: object, observed: float | None, score: str, label: str, shared: Shared
) -> NullPicture:
    """Prepare the distribution of AP over random rankings."""
    if isinstance(frame, APNull):
        null = frame
    else:
        # Two verbs look at the same rows.
        with each_once(), advising("The distribution is of one ranking: choose its rows"):
            null, of_frame = _null_of(frame, score, label, shared)
        observed = of_frame if observed is None else observed
    draws = null.rvs(_DRAWS, rng=0)
    top = max(float(draws.max()), observed or 0.0)
    heights, edges = np.histogram(draws, _BARS, (0.0, min(1.0, top * 1.05)))
    note = (
        f"random rankings of {null.n} items, {null.n_pos} of them positive: mean "
        f"{wording.number(null.mean())} (dashed), standard deviation {wording.number(null.std())}"
    )
    if observed is not None:
        checks.fraction("observed", observed)
        p_value = float(null.p_value(observed, alternative="greater"))
        note += f"; observed {wording.number(observed)}, p = {p_value:.3g}"
    return NullPicture(heights / _DRAWS, edges, float(null.mean()), observed, note)


def _null_of(frame: object, score: str, label: str, shared: Shared) -> tuple[APNull, float]:
    """Return the distribution under random ranking of a frame's items, and the frame's AP."""
    if shared.get("by") is not None:
        raise PrframeError(
            "`by` must be None: the distribution is of one ranking. Choose its rows."
        )
    data, _ = whole(frame, "frame")
    tested = ap_test(data, score, label, **shared)
    if tested.is_empty():
        raise PrframeError("a null of AP needs the rows of one ranking; got a frame without any.")
    if tested["ap"][0] is None:
        raise PrframeError("the frame must have positives; it has none.")
    n, n_pos, ap = tested.select("n", "n_pos", "ap").row(0)
    ends = curve(data, score, label, anchor=False, **shared)["k"].cast(pl.Int64)
    ties = ends.diff().fill_null(ends[0]).to_list()
    return APNull(n, n_pos, ties, depth=ends[-1] if ends[-1] < n else None), ap


@dataclass(frozen=True)
class ScorePanel:
    """The scores of the positives and of the negatives of a ranking.

    Attributes
    ----------
    value : object
        The value of the column that panels tell apart, None without one.
    edges : ndarray of float
    heights : tuple
        The densities of positives and of negatives, None where there are none.
    threshold : float or None
    at_threshold : str
        Precision and recall there.
    text : str
        What is shown, in words and numbers.
    """

    value: Any
    edges: Floats
    heights: tuple[Floats | None, Floats | None]
    threshold: float | None
    at_threshold: str
    text: str


def score_panels(  # noqa: PLR0913, PLR0917
    frame: object, score: str, label: str, threshold: float | None, bins: int, shared: Shared
) -> list[ScorePanel]:
    """Prepare the distributions of scores, a panel per group."""
    checks.whole_number("bins", bins, 1)
    limit = None if threshold is None else float(checks.number("threshold", threshold))
    by = shared.get("by")
    if by is not None and not isinstance(by, str):
        raise ArgumentError(f"`by` must be the name of one column; got {checks.brief(by)}.")
    data, _ = whole(frame, "frame")
    with advising("For a panel each say by={column}"):
        points = curve(data, score, label, anchor=False, **shared).drop_nulls("threshold")
    parts = [points] if by is None else points.partition_by(by, maintain_order=True)
    if points.is_empty() or len(parts) > MOST_PANELS:
        raise PrframeError(
            f"there must be scores in 1 to {MOST_PANELS} groups; got {len(parts)} groups and "
            f"{points.height} scores."
        )
    return [_panel(part, None if by is None else part[by][0], bins, limit) for part in parts]


def _panel(rows: pl.DataFrame, value: object, bins: int, limit: float | None) -> ScorePanel:
    """Prepare the scores of a ranking."""
    at = rows["threshold"].to_numpy()
    counts = [np.diff(rows[name].to_numpy(), prepend=0) for name in ("tp", "fp")]
    low, high = float(at.min()), float(at.max())
    edges = np.linspace(low, high if high > low else low + 1, bins + 1)
    positives, negatives = (
        np.histogram(at, edges, weights=weights, density=True)[0] if weights.sum() > 0 else None
        for weights in counts
    )
    names = [
        f"{wording.count(weights.sum())} {name} (median {wording.number(_median(at, weights))})"
        for weights, name in zip(counts, ("positives", "negatives"), strict=True)
    ]
    text, words = f"Scores of {names[0]} and {names[1]}.", ""
    if limit is not None:
        retrieved = rows.filter(pl.col("threshold") >= limit)
        recall, precision = (
            (retrieved[name][-1] if retrieved.height else None) for name in ("recall", "precision")
        )
        words = f"precision {wording.number(precision, 2)}, recall {wording.number(recall, 2)}"
        text = f"{text[:-1]}; from {limit:g} on {words}."
    text = text if value is None else f"{value}: {text}"
    return ScorePanel(value, edges, (positives, negatives), limit, words, text)


def _median(values: Floats, weights: Floats) -> float | None:
    """Return the median of values that each stand for several items, the largest value first."""
    total = weights.sum()
    if total <= 0:
        return None
    return float(values[np.searchsorted(np.cumsum(weights), total / 2)])
