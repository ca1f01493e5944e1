"""Confidence bands around each group's precision-recall curve."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, Unpack

import numpy as np

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe.draws import INTERVAL_DRAWS
from prframe.errors import ArgumentError
from prframe.stats._arrays import random_generator
from prframe.stats.curves import band_levels
from prframe.typing import Columns, FrameT, Shared
from prframe.verbs._evaluation import prior_of
from prframe.verbs._groups import resamples
from prframe.verbs._mean_samples import warn_of_folds
from prframe.verbs._verb import grouped_over, run, verb
from prframe.verbs.curves.item_bands import ItemBands, item_method
from prframe.verbs.curves.mean_curves import (
    BAND_COLUMNS,
    MeanBands,
    Method as MeanMethod,
    PrecisionAtLevels,
    mean_band_levels,
    refuse_curve_options,
)

Method: TypeAlias = Literal["auto", "smoothed-bootstrap", "asymptotic"]

# Rounding of draws is of the size of a smaller recall.
_LEAST_RECALL = 1e-12


@verb
def band(
    frame: FrameT,
    score: str = "score",
    label: str = "label",
    *,
    method: Method | MeanMethod = "auto",
    recall: float | Sequence[float] | None = None,
    recall_range: tuple[float, float] | None = None,
    simultaneous: bool = True,
    confidence_level: float = 0.95,
    over: Columns | None = None,
    cluster: str | None = None,
    prior: float | None = None,
    interpolate: bool = False,
    anchor: bool | None = None,
    n_resamples: int = INTERVAL_DRAWS,
    rng: int | np.random.Generator | None = None,
    **shared: Unpack[Shared],
) -> FrameT:
    """Draw a confidence band around the precision-recall curve of each group.

    The rows are a sample, and the band is for the curve of its population, ``PR(b) = p b / (p b +
    (1 - p) alpha(b))`` with p the share of positives and alpha(b) the false positive rate at
    recall b. With `over` the groups of these columns, for instance queries, are the sample, and
    the band is for the mean of their curves, ``m(b) = E precision_q(b)``.

    Parameters
    ----------
    frame : {frames}
        One row per item.
    {shared}
    method : {"auto", "smoothed-bootstrap", "asymptotic"}
        ``"auto"``: a Bayesian bootstrap, which depends on ranks alone. The others replicate
        Clemencon & Vayatis: ``"smoothed-bootstrap"`` is the ball of their Algorithm 1, equally
        wide at all levels, and ``"asymptotic"`` is the normal limit of their Theorem 1, which
        covers too seldom with few positives. Both smooth scores by Scott's rule; `prframe.stats`
        has functions with more options. With `over` and ``simultaneous=False`` also ``"t"``,
        ``"logit"``, ``"hall"``, ``"percentile"`` and ``"bca"``, as in `interval`.
    recall : float or list of float in (0, 1), or int >= 3, optional
        Levels, in rising order, or a number of evenly spaced levels between 0 and 1. Default: 181
        levels, evenly over `recall_range`. With `over` levels are as in `curve`, and may be 0 and
        1.
    recall_range : (float, float), optional
        First and last level without `recall`, by default (0.05, 0.95). With `over` 101 levels, by
        default 81 from 0.1 to 0.9, because few queries decide the mean at the ends and would widen
        the whole band.
    simultaneous : bool
        Whether the band covers the curve at all levels at once with the probability
        `confidence_level`, or at each level separately.
    confidence_level : float in (0, 1)
        Probability of covering.
    over : str or list of str, optional
        Compute the band for the mean curve over these columns, for instance queries.
    cluster : str, optional
        Column of clusters of rows that depend on each other, for instance the query or the user:
        clusters, not rows, are resampled. For ``"auto"``. With `over`, clusters of queries, such
        as a user's: each query belongs to one.
    prior : float in (0, 1), optional
        The curve for this share of positives p, as in `curve`; p then counts as known. For
        ``"auto"``, and for `over`.
    interpolate, anchor : bool, optional
        With `over`, as in `curve`.
    n_resamples : int >= 2 / (1 - confidence_level)
        Draws, or resamples, of each group.
    rng : int or numpy.random.Generator, optional
        Seed. A group's draws depend on the seed and the group alone.

    Returns
    -------
    frame of the caller's kind
        A row per level: the `by` columns, then ``recall``, ``precision`` (eq. (3): the curve of
        the sample), ``conf_low``, ``conf_high`` (Float64), ``method`` (String):
        "bayesian-bootstrap", "smoothed-bootstrap" or "asymptotic", ``confidence_level`` (Float64)
        and ``simultaneous`` (Boolean). With `over` also ``n`` (Int64), the number of curves, and
        ``method`` is "studentized-bootstrap" or that of `interval`.

    Raises
    ------
    PrframeError
        An unknown option, options that do not go together, `weight` (except with `over`), a tie
        policy that looks at labels or is a mean over orders, a query of several clusters or of
        none, or rows that cannot be ranked.

    Warns
    -----
    CoverageWarning
        With `over`, single levels at which few and skewed values carry the mean, as in `interval`.
    UndefinedMetricWarning
        Groups with fewer than 3 positives (5 for ``"smoothed-bootstrap"``, 10 for
        ``"asymptotic"``), without negatives, or with fewer than 3 clusters that hold positives, or
        negatives, have no band. Groups without positives have no curve. ``"asymptotic"`` has no
        interval where precision is 0 or 1 or the next positives are far away. With `over` fewer
        than two curves, or clusters, have no band.

    Notes
    -----
    At recall j / n_pos, precision is that of `curve`. Within a tie block false positives grow in
    proportion (Davis & Goadrich 2006). Beyond the recall of the retrieved items precision is 0.
    The upper end of ``"auto"`` is 1 at levels above which there is no negative, and up to the
    Clopper-Pearson limit of the recall at which the first one comes. Where positives are below all
    negatives, the lower end is the least possible precision from the limit at that end on.

    Rows, or clusters, are taken as independent of each other, and the number of positives as
    random. All groups are drawn with the same random numbers, which makes their bands comparable.

    With `over` whole curves are resampled. The simultaneous band is symmetric on the logit scale
    and as wide as a multiple of the standard error at each level; the multiple is a quantile of
    the largest studentized deviation of a bootstrap mean over the levels. At single levels the
    intervals are those of `interval` for Prec@r (IPrec@r with ``interpolate=True``). The
    simultaneous band holds these intervals; with an `anchor` level 0 is certain.

    With `over` and `cluster` whole clusters are drawn. The mean curve of n queries is a ratio of
    sums over c clusters, ``m = sum S_j / sum n_j``, where S_j is the sum of the n_j curves of a
    cluster. Its standard error at each level is ``sqrt(c / (c - 1) sum (S_j - n_j m)^2) / n``.

    References
    ----------
    Clemencon & Vayatis 2009, eq. (3), Remark 3 (corrected), Algorithm 1 and section 4.2; Rubin
    1981; Gu, Ghosal & Roy 2008; Davison & Hinkley 1997, section 4.2.4; Cochran, *Sampling
    Techniques*, 3rd ed. 1977, chapter 9A, for clusters of queries.

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": range(40, 0, -1), "label": [1, 1, 0, 1, 1, 0, 0, 1] * 5})
    >>> found = prframe.band(frame, recall=[0.25, 0.5, 0.75], rng=1)
    >>> found.select("recall", "precision", "conf_low", "conf_high")
    shape: (3, 4)
    ┌────────┬───────────┬──────────┬───────────┐
    │ recall ┆ precision ┆ conf_low ┆ conf_high │
    │ ---    ┆ ---       ┆ ---      ┆ ---       │
    │ f64    ┆ f64       ┆ f64      ┆ f64       │
    ╞════════╪═══════════╪══════════╪═══════════╡
    │ 0.25   ┆ 0.675676  ┆ 0.371696 ┆ 1.0       │
    │ 0.5    ┆ 0.641026  ┆ 0.409168 ┆ 0.873631  │
    │ 0.75   ┆ 0.652174  ┆ 0.354352 ┆ 0.827527  │
    └────────┴───────────┴──────────┴───────────┘
    """
    args = Arguments(score, label, **shared)
    level = float(checks.number("confidence_level", confidence_level, above=0, below=1))
    share = prior_of(prior)
    if cluster is not None:
        args = replace(args, cluster=cluster)
    if over is not None:
        grouped = grouped_over(args, over)
        warn_of_folds(grouped.keys[len(args.keys) :])
        levels = mean_band_levels(recall, recall_range)
        means = MeanBands(
            grouped,
            "band",
            len(args.keys),
            PrecisionAtLevels.of(
                grouped, levels, interpolate=interpolate, anchor=anchor, prior=share
            ),
            method=method,
            simultaneous=simultaneous,
            confidence_level=level,
            n_resamples=resamples(n_resamples, level),
            seed=int(random_generator(rng).integers(1 << 62)),
        )
        of_means: FrameT = run(frame, means, means.columns(), keys=args.keys)
        return of_means
    refuse_curve_options(interpolate=interpolate, anchor=anchor)
    levels_of_items = band_levels(recall, recall_range)
    if levels_of_items.min() < _LEAST_RECALL:
        raise ArgumentError(
            f"drawn curves have no levels of recall below {_LEAST_RECALL:g}; got "
            f"{levels_of_items.min():g}. Give a smaller n_pos, such as that of a sample."
        )
    plan = ItemBands(
        args=args,
        name=item_method(method),
        levels=levels_of_items,
        simultaneous=simultaneous,
        confidence_level=level,
        n_resamples=resamples(n_resamples, level),
        seed=int(random_generator(rng).integers(1 << 62)),
        prior=share,
    )
    result: FrameT = run(frame, plan, BAND_COLUMNS)
    return result
