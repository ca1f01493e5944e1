"""The verbs that draw the precision-recall curve and the ROC curve of each group."""

from collections.abc import Sequence
from functools import partial
from typing import Unpack, get_args

import polars as pl

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe.errors import ArgumentError
from prframe.typing import Columns, FrameT, RowOrder, Schema, Shared
from prframe.verbs._verb import grouped_over, run, verb
from prframe.verbs.curves.drawing import (
    Drawing,
    MeanCurves,
    PrecisionAtLevels,
    begins_at_one,
    levels_of,
    mean_levels,
    precision_recall,
    true_false_rates,
    with_gains,
)

_GAINS = ("recall_gain", "precision_gain")


@verb
def curve(
    frame: FrameT,
    score: str = "score",
    label: str = "label",
    *,
    interpolate: bool = False,
    prior: float | None = None,
    include_unretrieved: bool = False,
    anchor: bool | None = None,
    recall: float | Sequence[float] | None = None,
    order: RowOrder = "rank",
    over: Columns | None = None,
    gain: bool = False,
    **shared: Unpack[Shared],
) -> FrameT:
    """Draw the precision-recall curve of each group.

    Of the items at or above a threshold ``tp`` are positive and ``fp`` are not; recall is
    ``tp / n_pos``, and precision ``tp / (tp + fp)``.

    Parameters
    ----------
    frame : {frames}
        One row per item.
    {shared}
    interpolate : bool
        Replace precision by the largest precision at that recall or beyond.
    prior : float in [0, 1], optional
        Share of positives to which precision is normalised, as in `evaluate`.
    include_unretrieved : bool
        Put items of score -inf at the end of the curve instead of cutting them off.
    anchor : bool, optional
        Begin with the row k = 0: threshold +inf, recall 0, precision 1. Absent: only single curves
        that are not interpolated do; at recall 0 interpolated ones have ``IPrec@0``, and mean
        curves the precision of the first items.
    recall : float or list of float in [0, 1], or int >= 2, optional
        Only these levels of recall, one row each; a whole number gives that many evenly spaced
        levels, 11 for 0, 0.1, ..., 1. The row of a level is where recall first reaches it; beyond
        the largest recall, precision is 0 and counts are null. The opening row has precision 1 at
        level 0; see `anchor`. The metric ``Prec@r`` of `evaluate` is this precision.
    order : {"rank", "input"}
        ``"rank"``: a row per threshold, best first. ``"input"``: a row per row of the frame, in
        its order, null where an item is not retrieved (or left out).
    over : str or list of str, optional
        Compute the mean curve over these columns, for instance queries, at the levels of `recall`,
        by default 101.
    gain : bool
        Add the precision-recall-gain curve: the gain of a recall or a precision x is
        ``(x - pi) / ((1 - pi) x)``, with pi the share of positives, or `prior`: 1 at best, 0 where
        x is pi, and -inf where x is 0. Not with `over`.

    Returns
    -------
    frame of the caller's kind
        The `by` columns, then ``threshold`` (Float64), ``k`` (Int64: rows at or above it),
        ``tp``, ``fp`` (Int64; Float64 with weights), ``recall``, ``precision`` (Float64), with
        `gain` also ``recall_gain`` and ``precision_gain`` (Float64). With `over`: ``recall``,
        ``precision`` (the mean) and ``n`` (Int64), the number of groups that have a curve.

    Raises
    ------
    PrframeError
        An unknown option, a level outside [0, 1], a column that `by` and `over` both name, or rows
        that cannot be ranked.

    Warns
    -----
    UndefinedMetricWarning
        Groups without positives have no recall and do not enter the mean. Those without negatives
        have no gains, unless there is a `prior`.

    Notes
    -----
    With ``ties="group"`` tied rows share one threshold; with ``ties="order"`` every row has its
    own, as in vl_pr.

    The mean curve is ``mean_q precision_q(r)``, the mean of Prec@r, and with ``interpolate=True``
    that of IPrec@r, trec_eval's ``iprec_at_recall``. Between two points the gain curve is a
    straight line; the area under it from recall gain 0 to 1 is the metric AUPRG.

    References
    ----------
    vl_pr (VLFeat); Clemencon & Vayatis 2009, eq. (3); Flach & Kull, *Precision-recall-gain curves:
    PR analysis done right*, NIPS 2015.

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": [0.9, 0.8, 0.8, 0.1], "label": [1, 1, 0, 0]})
    >>> prframe.curve(frame)
    shape: (4, 6)
    ┌───────────┬─────┬─────┬─────┬────────┬───────────┐
    │ threshold ┆ k   ┆ tp  ┆ fp  ┆ recall ┆ precision │
    │ ---       ┆ --- ┆ --- ┆ --- ┆ ---    ┆ ---       │
    │ f64       ┆ i64 ┆ i64 ┆ i64 ┆ f64    ┆ f64       │
    ╞═══════════╪═════╪═════╪═════╪════════╪═══════════╡
    │ inf       ┆ 0   ┆ 0   ┆ 0   ┆ 0.0    ┆ 1.0       │
    │ 0.9       ┆ 1   ┆ 1   ┆ 0   ┆ 0.5    ┆ 1.0       │
    │ 0.8       ┆ 3   ┆ 2   ┆ 1   ┆ 1.0    ┆ 0.666667  │
    │ 0.1       ┆ 4   ┆ 2   ┆ 2   ┆ 1.0    ┆ 0.5       │
    └───────────┴─────┴─────┴─────┴────────┴───────────┘
    """
    args = Arguments(score, label, **shared)
    flags = {"interpolate": interpolate, "include_unretrieved": include_unretrieved, "gain": gain}
    for name, value in flags.items():
        checks.flag(name, value)
    begins = begins_at_one(anchor=anchor, unless=interpolate)
    checks.one_of("order", order, get_args(RowOrder))
    prior = None if prior is None else checks.fraction("prior", prior)
    levels = None if recall is None or over is not None else levels_of(recall)
    if order == "input" and (recall is not None or over is not None):
        option = "over" if over is not None else "recall"
        raise ArgumentError(f"`{option}` gives a row per level; leave out order='input'.")
    if gain and over is not None:
        raise ArgumentError(
            "`gain` is of single curves, as a mean of gains is no gain of a mean; leave out "
            "`over`, or name its columns in `by`."
        )
    if gain and prior in {0, 1}:
        raise ArgumentError(
            f"`gain` needs both classes; got prior={prior:g}, where one is absent."
        )
    if over is not None:
        grouped = grouped_over(args, over)
        precision = PrecisionAtLevels.of(
            grouped,
            mean_levels(recall),
            interpolate=interpolate,
            anchor=anchor,
            include_unretrieved=include_unretrieved,
            prior=prior,
        )
        means = MeanCurves(grouped, "curve", len(args.keys), precision)
        of_means: FrameT = run(frame, means, means.columns(), keys=args.keys)
        return of_means
    drawing = Drawing(
        args,
        precision_recall(prior, interpolate=interpolate),
        ("recall", "precision", *(_GAINS if gain else ())),
        needs=("n_pos", "n_neg") if gain and prior is None else ("n_pos",),
        include_unretrieved=include_unretrieved,
        anchor=begins,
        levels=levels,
        order=order,
        then=partial(with_gains, prior=prior) if gain else None,
        undefined="recall or its gain" if gain else "recall",
    )
    result: FrameT = run(frame, drawing, _columns(drawing))
    return result


@verb
def roc(
    frame: FrameT,
    score: str = "score",
    label: str = "label",
    *,
    include_unretrieved: bool = False,
    anchor: bool = True,
    **shared: Unpack[Shared],
) -> FrameT:
    """Draw the ROC curve of each group.

    Of the items at or above a threshold ``tp`` are positive and ``fp`` are not; the rates are
    ``tpr = tp / n_pos`` and ``fpr = fp / n_neg``.

    Parameters
    ----------
    frame : {frames}
        One row per item.
    {shared}
    include_unretrieved : bool
        Put items of score -inf at the end of the curve instead of cutting them off.
    anchor : bool
        Begin with the row k = 0: threshold +inf, both rates 0.

    Returns
    -------
    frame of the caller's kind
        The `by` columns, then ``threshold`` (Float64), ``k`` (Int64: rows at or above it),
        ``tp``, ``fp`` (Int64; Float64 with weights), ``fpr``, ``tpr`` (Float64), best score first.

    Raises
    ------
    PrframeError
        An unknown option, or rows that cannot be ranked.

    Warns
    -----
    UndefinedMetricWarning
        Groups without positives have no tpr, without negatives no fpr; theirs is null.

    References
    ----------
    Clemencon, Limnios & Vayatis 2021, section 2.

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": [0.9, 0.8, 0.8, 0.1], "label": [1, 1, 0, 0]})
    >>> prframe.roc(frame).select("fpr", "tpr").rows()
    [(0.0, 0.0), (0.0, 0.5), (0.5, 1.0), (1.0, 1.0)]
    """
    args = Arguments(score, label, **shared)
    checks.flag("include_unretrieved", include_unretrieved)
    checks.flag("anchor", anchor)
    drawing = Drawing(
        args,
        true_false_rates,
        ("fpr", "tpr"),
        needs=("n_pos", "n_neg"),
        include_unretrieved=include_unretrieved,
        anchor=anchor,
        verb="roc",
        undefined="fpr or tpr",
    )
    result: FrameT = run(frame, drawing, _columns(drawing))
    return result


def _columns(drawing: Drawing) -> Schema:
    """Return the columns of a curve; weighted counts are sums of weights."""
    count = pl.Int64() if drawing.args.weight is None else pl.Float64()
    counts = {"threshold": pl.Float64(), "k": pl.Int64(), "tp": count, "fp": count}
    return counts | dict.fromkeys(drawing.names, pl.Float64())
