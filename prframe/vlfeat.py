"""VLFeat's function `vl_pr`, by its own names: two vectors in, recall, precision and areas out.

The numbers are those of the verbs `curve` and `evaluate`, which take frames and do more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from prframe import checks
from prframe.errors import PrframeError, PrframeWarning, warn
from prframe.typing import Flags, Floats
from prframe.verbs.curves.curve import curve
from prframe.verbs.evaluate import evaluate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PRCurve", "PRInfo", "plot_vl_pr", "vl_pr"]

_INFO = ["AUPRC", "AP", "AP11"]


class _Options(TypedDict, total=False):
    """The options of `vl_pr` that its picture takes."""

    interpolate: bool
    num_positives: int | None
    num_negatives: int | None
    include_inf: bool
    normalize_prior: float | None


class PRInfo(NamedTuple):
    """The areas under a curve, by the names of the fields of `info` in vl_pr.

    Attributes
    ----------
    auc : float
        Area by trapezoids; with ``interpolate`` it is ``ap``.
    ap : float
        Average precision.
    ap_interp_11, auc_pa08 : float
        Mean of the largest precision at recall >= 0, 0.1, ..., 1; the second name is deprecated.
    """

    auc: float
    ap: float
    ap_interp_11: float
    auc_pa08: float


class PRCurve(NamedTuple):
    """What vl_pr returns: ``recall, precision, info = vl_pr(labels, scores)``."""

    recall: Floats
    precision: Floats
    info: PRInfo


def vl_pr(  # noqa: PLR0913
    labels: ArrayLike,
    scores: ArrayLike,
    *,
    interpolate: bool = False,
    num_positives: int | None = None,
    num_negatives: int | None = None,
    include_inf: bool = False,
    stable: bool = False,
    normalize_prior: float | None = None,
) -> PRCurve:
    """Draw a precision-recall curve as VLFeat's `vl_pr` does.

    ``recall = tp / P`` and ``precision = tp / (tp + fp)`` among the items down to each rank.

    Parameters
    ----------
    labels : array_like of float, shape (n,)
        Above 0: positive; below 0: negative; 0: ignored.
    scores : array_like of float, shape (n,)
        Items are ranked by falling score, those of one score in the order given. -inf: not
        retrieved.
    interpolate : bool
        ``Interpolate``: precision is the largest at that recall or beyond.
    num_positives, num_negatives : int, optional
        ``NumPositives``, ``NumNegatives``: totals that include items that were never listed.
    include_inf : bool
        ``IncludeInf``: items of score -inf are at the end of the curve instead of cut off.
    stable : bool
        ``Stable``: a point per item, in the order given, NaN where an item is not retrieved.
    normalize_prior : float in [0, 1], optional
        ``NormalizePrior``: share of positives to which precision is normalised (Hoiem et al.
        2012).

    Returns
    -------
    PRCurve
        ``recall`` and ``precision``: 0 and 1, then a point for each retrieved item;
        ignored items repeat the point before them. ``info``: the areas.

    Raises
    ------
    PrframeError
        Boolean labels, NaN, vectors of different lengths or without items, or totals below what is
        present.

    Warns
    -----
    PrframeWarning
        Labels 0 and none below: they may have been meant as negatives, and are ignored.
    UndefinedMetricWarning
        Without positives recall and areas are NaN.

    Notes
    -----
    Unlike the original: precision is 0, not 1e-10/k, where a prior of 0 makes it vanish; NaN
    scores are refused; in stable mode all items that are not retrieved are NaN; the eleven levels
    of recall are exact.

    References
    ----------
    The documentation of vl_pr in VLFeat.

    Examples
    --------
    >>> recall, precision, info = vl_pr([1, -1, 0, 1], [0.9, 0.8, 0.6, 0.2], num_positives=3)
    >>> recall.round(3)
    array([0.   , 0.333, 0.333, 0.333, 0.667])
    >>> precision.round(3)
    array([1.   , 1.   , 0.5  , 0.5  , 0.667])
    >>> round(info.ap, 4), round(info.auc, 4), round(info.ap_interp_11, 4)
    (0.5556, 0.5278, 0.5455)
    """
    label, score = _vector("labels", labels), _vector("scores", scores)
    if label.size != score.size or not label.size:
        raise PrframeError(
            "`labels` and `scores` must have the same number of items, one or more; "
            f"got {label.size} and {score.size}."
        )
    flags = {"interpolate": interpolate, "include_inf": include_inf, "stable": stable}
    for name, value in flags.items():
        checks.flag(name, value)
    _check_total("num_positives", num_positives, int((label > 0).sum()))
    _check_total("num_negatives", num_negatives, int((label < 0).sum()))
    if normalize_prior is not None:
        checks.fraction("normalize_prior", normalize_prior)
    if (label == 0).any() and not (label < 0).any() and num_negatives is None:
        warn(
            "no label is below 0, and items of label 0 are ignored; if 0 stands for negatives, "
            "pass 2 * labels - 1.",
            PrframeWarning,
        )
    frame = pl.DataFrame({"label": label, "score": score})
    # A total of negatives that is named says that there may be none.
    n_neg = int((label < 0).sum()) if num_negatives is None else num_negatives
    options: dict[str, Any] = {"ignore": 0, "ties": "order", "n_neg": n_neg}
    options |= {"n_pos": num_positives, "interpolate": interpolate, "prior": normalize_prior}
    options["include_unretrieved"] = include_inf
    points = curve(frame, order="input", **options)
    table = evaluate(frame, _INFO, **options)
    # If every item is ignored there is no ranking.
    areas = table.row(0) if table.height else (None,) * len(_INFO)
    auc, ap, ap11 = (np.nan if area is None else float(area) for area in areas)
    order = np.argsort(-score, kind="stable")
    if not include_inf:
        order = order[score[order] > -np.inf]
    recall, precision = (
        _ranked(points[name].to_numpy()[order], label[order] == 0, start)
        for name, start in (("recall", 0.0), ("precision", 1.0))
    )
    if stable:
        in_order = np.full((2, label.size), np.nan)
        in_order[:, order] = recall[1:], precision[1:]
        recall, precision = in_order
    return PRCurve(recall, precision, PRInfo(auc, ap, ap11, ap11))


def plot_vl_pr(
    labels: ArrayLike, scores: ArrayLike, *, ax: Axes | None = None, **options: Unpack[_Options]
) -> Axes:
    """Draw what `vl_pr` draws when it is called without outputs: the curve in the current axes.

    A dotted line is the precision of random rankings; the title has the three areas in percent.

    Parameters
    ----------
    labels, scores : array_like of float, shape (n,)
        As in `vl_pr`.
    ax : matplotlib Axes, optional
        Where to draw; the current axes unless given, as in the original.
    **options
        The options of `vl_pr` but ``stable``.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    PrframeError
        As `vl_pr`, or if there are no positives.

    References
    ----------
    The documentation of vl_pr in VLFeat.

    Examples
    --------
    >>> from prframe.vlfeat import plot_vl_pr
    >>> plot_vl_pr([1, -1, 0, 1], [0.9, 0.8, 0.6, 0.2], num_positives=3).get_title()
    'PR (AUC: 52.78%, AP: 55.56%, AP11: 54.55%)'
    """
    # matplotlib is needed by nothing else here.
    from matplotlib.pyplot import gca  # noqa: PLC0415

    from prframe import plot  # noqa: PLC0415

    recall, precision, info = vl_pr(labels, scores, **options)
    label = _vector("labels", labels)
    totals = options.get("num_positives"), options.get("num_negatives")
    n_pos, n_neg = (
        int(present.sum()) if total is None else total
        for total, present in zip(totals, (label > 0, label < 0), strict=True)
    )
    prior = options.get("normalize_prior")
    chance = n_pos / max(1, n_pos + n_neg) if prior is None else prior
    points = pl.DataFrame({"recall": recall, "precision": precision}).fill_nan(None)
    drawn = gca() if ax is None else ax
    plot.curve(points, chance=chance, ax=drawn)
    areas = {"AUC": info.auc, "AP": info.ap, "AP11": info.ap_interp_11}
    told = ", ".join(f"{name}: {100 * area:.2f}%" for name, area in areas.items())
    drawn.set_title(f"PR ({told})")
    return drawn


def _check_total(name: str, total: int | None, present: int) -> None:
    """Require a total of a class that is at least what is present of it."""
    if total is not None and checks.whole_number(name, total, at_least=0) < present:
        raise PrframeError(f"`{name}` must be at least what is present, {present}; got {total}.")


def _vector(name: str, values: ArrayLike) -> Floats:
    """Return numbers in one dimension."""
    numbers = np.asarray(values)
    if numbers.dtype.kind not in "iuf" or numbers.ndim != 1:
        raise PrframeError(f"`{name}` must be a list of numbers; got {checks.brief(values)}.")
    return numbers.astype(np.float64)


def _ranked(values: Floats, ignored: Flags, start: float) -> Floats:
    """Return `start` and the values of ranked items; ignored ones repeat the one before."""
    ranked = np.append(start, values)
    own = np.append(0, np.where(ignored, 0, np.arange(1, ranked.size)))
    return np.asarray(ranked[np.maximum.accumulate(own)])
