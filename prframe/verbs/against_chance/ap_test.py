"""Tests of each group's average precision against random ranking."""

from typing import Unpack, get_args

import numpy as np

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe.draws import RANDOM_RANKINGS
from prframe.errors import ArgumentError, MissingColumnError
from prframe.stats._arrays import random_generator
from prframe.stats._p_values import check_alternative
from prframe.typing import Alternative, Columns, FrameT, Shared
from prframe.verbs._verb import grouped_over, run, verb
from prframe.verbs.against_chance.plans import (
    Correction,
    Dependence,
    GroupTest,
    KnownAP,
    MeanTest,
    Method,
    columns_of_tests,
)


@verb
def ap_test(
    frame: FrameT,
    score: str = "score",
    label: str = "label",
    *,
    method: Method = "auto",
    alternative: Alternative = "greater",
    correction: Correction | None = None,
    over: Columns | None = None,
    dependence: Dependence = "independent",
    ap: str | None = None,
    n: int | str | None = None,
    n_resamples: int = RANDOM_RANKINGS,
    rng: int | np.random.Generator | None = None,
    **shared: Unpack[Shared],
) -> FrameT:
    """Test whether average precision is higher than for random rankings.

    The p-value is ``P(AP >= ap)`` over all ways to place the positives among the ranks, each as
    likely as any other.

    Parameters
    ----------
    frame : {frames}
        One row per item, with all items of a group: those never retrieved as well, at a score of
        -inf or counted in `n_pos` and `n_neg`. Random ranking retrieves as many as the group does.
    {shared}
    method : str
        How the p-value is computed.

        - "auto": the first of the following whose error bound is small enough: "exact" (counts up
          to 4,194,304 rankings), "lattice", "saddlepoint", "transform" (inverts the characteristic
          function). See `prframe.stats.APNull` for their accuracy.
        - "monte-carlo": ``(b + 1) / (n_resamples + 1)``, where b of `n_resamples` random rankings
          are at least as good.
        - "normal": with the exact mean and standard deviation.
        - "beta" (pranker's fit) and "normal-delta" (Zhang & Su's), for comparison: they ignore
          ties and depth, and their tails are wrong.
    alternative : {"greater", "less", "two-sided"}
        AP higher than at random, lower, or either: twice the smaller of both.
    correction : {"bonferroni", "holm", "bh", "by"}, optional
        Adjust the p-values for the number of tests; groups without a p-value do not count.
    over : str or list of str, optional
        Test the mean of AP over these columns, for instance MAP over queries for each group of
        `by`, with "auto", "transform", "normal" or "monte-carlo". If draws contradict an estimate,
        they replace it.
    dependence : {"independent", "comonotone"}
        How random rankings of `over` depend on each other. Queries that share relevant items are
        not independent, nor are replicates that are each other's positives; treating them as
        independent rejects too often. "comonotone" is valid whatever the dependence: it assumes
        that all AP rise and fall together. Rankings of one shape are then tested like a single one
        whose AP is the mean. For several shapes the values of AP are counted; if there are too
        many, p is an upper bound ("bound").
    ap : str, optional
        Column of precomputed average precisions, one row per ranking, instead of `score` and
        `label`; `n_pos` and `n` count positives and items of each.
    n : int or str, optional
        With `ap`: the number of items, or its column; alternatively give `n_neg`.
    n_resamples : int >= 1
        Random rankings of each group.
    rng : int or numpy.random.Generator, optional
        Seed. A group's draws depend on the seed, its numbers of items and its ties alone.

    Returns
    -------
    frame of the caller's kind
        The `by` columns, then ``n``, ``n_pos`` (Int64), ``ap``, ``normalized_ap`` =
        ``(ap - null_mean) / (1 - null_mean)``, ``null_mean``, ``null_std``, ``z``, ``p_value``,
        ``log10_p_value`` (Float64), ``method`` (String), how it was computed ("estimate": no
        method is sure; "bound": p is at most that), and with `correction` ``p_adjusted``
        (Float64). With `over`: ``n_groups`` (Int64), ``map``, ``null_mean``, ``null_std``, ``z``,
        ``p_value``, ``log10_p_value``, ``method``.

    Raises
    ------
    PrframeError
        An unknown option, `weight`, a tie policy that looks at labels or is a mean over orders,
        "exact" with too many rankings, more than 100 million retrieved items (except with one
        positive or with draws), "lattice" with too many positives, rows that cannot be
        ranked, or precomputed AP that is outside [0, 1] or has no totals.

    Warns
    -----
    UndefinedMetricWarning
        Groups without positives have no AP and no test.
    UnlistedItemsWarning
        A column ``judged`` is not all true, or `n_pos` counts positives that are not listed, and
        there is no `n_neg`; or no ranking has a precomputed AP.
    SharedItemsWarning
        With `over`, items are in several rankings, which are treated as independent.

    Notes
    -----
    With ``ties="group"`` random rankings keep the tie blocks. Give both totals, or list every
    item: with `n_pos` alone, prframe assumes that all negatives are listed. P-values are never
    below 2.2e-308; ``log10_p_value`` is.

    References
    ----------
    Zhang & Su 2012 (moments, corrected); pranker, Lopes 2015 (the question, and the beta).

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": range(20, 0, -1), "label": [1, 1, 1, 0, 1] + [0] * 15})
    >>> found = prframe.ap_test(frame)
    >>> found.select(pl.col("ap", "null_mean", "p_value").round(6), "method").row(0)
    (0.95, 0.309379, 0.000413, 'exact')

    Of rankings whose AP is known, without scores and labels:

    >>> known = pl.DataFrame({"ap": [1.0, 5 / 6], "n_pos": [2, 2], "n": [10, 10]})
    >>> prframe.ap_test(known, ap="ap", n_pos="n_pos", n="n")["p_value"].round(4).to_list()
    [0.0222, 0.0444]
    """
    args = Arguments(score, label, **shared)
    checks.one_of("method", method, get_args(Method), in_order=True)
    check_alternative(alternative)
    checks.one_of("dependence", dependence, get_args(Dependence), in_order=True)
    if over is None and dependence != "independent":
        raise ArgumentError(
            "`dependence` is one between the rankings of a mean; name these with over=."
        )
    known = None if ap is None else KnownAP(ap, n)
    if known is not None:
        args = known.arguments(args)
    elif n is not None:
        raise ArgumentError(
            "`n` counts the items of rankings with precomputed AP; name the column of AP with "
            "ap=. Totals of rankings that are cut off are given by n_pos= and n_neg=."
        )
    resamples = checks.number_of_draws(n_resamples)
    grouped = args if over is None else grouped_over(args, over)
    seed = int(random_generator(rng).integers(1 << 62))
    options = (method, alternative, resamples, seed, dependence, known)
    kind = GroupTest if over is None else MeanTest
    test = kind(grouped, correction, len(args.keys), *options)
    schema = columns_of_tests(corrected=correction is not None, of_means=over is not None)
    try:
        result: FrameT = run(frame, test, schema, keys=args.keys, guarded=known is None)
    except MissingColumnError as error:
        if known is not None or "`score`" not in str(error):
            raise
        raise MissingColumnError(
            f"{error} Name precomputed average precisions with ap=."
        ) from None
    return result
