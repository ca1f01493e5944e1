"""The verb that compares models, over queries or on the same items."""

from collections.abc import Collection, Sequence
from typing import Unpack

import numpy as np

from prframe import checks
from prframe._engine.frames import named as names_of
from prframe.draws import TEST_DRAWS
from prframe.errors import MissingColumnError
from prframe.metrics import Metric
from prframe.stats._arrays import random_generator
from prframe.typing import Alternative, Columns, FrameT, Shared
from prframe.verbs._evaluation import Evaluation, prior_of
from prframe.verbs._mean_samples import Resampling
from prframe.verbs._precomputed_values import (
    PrecomputedValues,
    metrics_or_none,
    of_queries,
    refuse_prior,
)
from prframe.verbs._verb import Plan, run, verb
from prframe.verbs.comparison.on_items import OnItems
from prframe.verbs.comparison.over_queries import check_predicted, over_queries
from prframe.verbs.comparison.query_values import (
    ComparedValues,
    precomputed,
)
from prframe.verbs.comparison.rows import (
    ON_ITEMS,
    OVER_QUERIES,
    Comparison,
    Incomplete,
    IntervalKind,
    JointCorrection,
    Test,
    Within,
    check_of_items,
    check_options,
    check_resampled,
    model_arguments,
    require_items,
)

# The column of queries, unless the caller names others.
_QUERIES = "query_id"


@verb
def compare(
    frame: FrameT,
    metrics: str | Metric | Sequence[str | Metric] | None = None,
    score: Columns = "score",
    label: str = "label",
    *,
    values: Columns | None = None,
    model: str | None = None,
    over: Columns | None = _QUERIES,
    baseline: object = None,
    test: Test | None = None,
    alternative: Alternative = "two-sided",
    correction: JointCorrection | None = "holm",
    within: Within = "all",
    interval: IntervalKind = "auto",
    confidence_level: float = 0.95,
    equivalence: float | None = None,
    power: float | None = None,
    resampling: float | Resampling | None = None,
    cluster: str | None = None,
    incomplete: Incomplete = "raise",
    undefined: float | None = None,
    prior: float | None = None,
    n_resamples: int = TEST_DRAWS,
    rng: int | np.random.Generator | None = None,
    judged: str = "judged",
    predicted: Columns | None = None,
    **shared: Unpack[Shared],
) -> FrameT:
    """Compare models pair by pair: differences, intervals, tests, effect sizes.

    Over queries: do mean values differ? On the same items (``over=None``): do rankings differ?
    See "Comparing systems", "Comparing classifiers" and "Designs" in the guide.

    Parameters
    ----------
    frame : {frames}
        One row per item and model, or one row per item with a column of scores for each model.
    metrics : str, Metric or list of these, optional
        Any metric; on the same items, those that `interval` supports for one ranking.
    {shared}
        On the same items there is no `weight`.
    values : str or list of str, optional
        Columns of precomputed values of queries, one per metric, or one besides a column
        ``"metric"``; without a column of models, one per model.
    model : str, optional
        Column of models, by default ``"model"``, unless `score` lists a column for each.
    over : str, list of str or None
        Columns of queries. None: the same items, matched by `item`, or by row if `score` is a
        list.
    baseline : model or list of models, optional
        Compare every other model a with each of these as b. Default: every pair, sorted by name.
    test : str, optional
        "randomization" (default) or "bootstrap"; over queries also "t" (default with `predicted`),
        "hall", "wilcoxon" or "sign"; on the same items "delong".
    alternative : {"two-sided", "less", "greater"}
        The difference a - b is not 0, below 0, or above 0.
    correction : {"holm", "bonferroni", "bh", "by", "max-t"} or None
        How p-values are adjusted; "max-t" is for "randomization" over queries.
    within : {"all", "by"}
        Adjust for all rows, or for those of each group of `by` ("max-t").
    interval : {"auto", "t", "hall", "percentile"}
        Over queries "t" or "hall"; on the same items "percentile", of the paired bootstrap, which
        "auto" widens.
    confidence_level : float in (0, 1)
        Level of the interval.
    equivalence : float > 0, optional
        Test whether the means differ by less than this margin.
    power : float in (1 - confidence_level, 1), optional
        Add the detectable difference, and the number of queries needed for the observed one.
    resampling : "cv" or float > 0, optional
        Correct "t" for overlapping training sets: test size / training size, or "cv" if `over`
        names folds last.
    cluster : str, optional
        Column of clusters of queries or items, which are permuted or resampled whole.
    incomplete : {"raise", "pairwise", "common", "zero", "last"}
        A query that a model lacks is an error, left out for its pairs or for all models, or
        counts 0; an item is an error, left out ("common") or not retrieved ("last").
    undefined : float, optional
        Value of undefined metrics. Default: the query is left out.
    prior : float in (0, 1), optional
        Share of positives, as in `interval`; not with "delong".
    n_resamples : int
        Draws of sampled tests and intervals.
    rng : int or numpy.random.Generator, optional
        Seed; all pairs, metrics and groups share the draws.
    judged : str
        As in `evaluate`.
    predicted : str or list of str, optional
        Over queries: columns of a machine's labels or values, as in `interval`.

    Returns
    -------
    frame of the caller's kind
        A row per group, metric and pair: the `by` columns, ``metric`` (String), ``model_a``,
        ``model_b`` (as `model`), ``difference``, ``conf_low``, ``conf_high``, ``p_adjusted``,
        ``p_value``, ``effect_size`` (Cohen's d_z), ``mean_a``, ``mean_b``, ``statistic``
        (Float64), ``wins``, ``ties``, ``losses`` of a, ``n`` queries or items (Int64), ``method``,
        ``test``, ``correction`` (String), ``n_family`` (Int64; how many p-values),
        ``confidence_level``, and ``p_std_error`` of a sampled p-value (Float64). Options add
        ``p_adjusted_std_error``, ``alternative``, ``p_equivalence``, ``detectable_difference``,
        ``n_needed`` and the columns of `predicted`.

    Raises
    ------
    PrframeError
        Options that do not go together, a model that lacks a query or an item, or rows that cannot
        be ranked.

    Warns
    -----
    CoverageWarning
        Few clusters of items, or few items of a class for "delong".
    DependentFoldsWarning
        `over` seems to name folds.
    SkewedDifferencesWarning
        Few, skewed differences, which "hall" allows for.
    UndefinedMetricWarning
        A metric or a test is undefined.

    Notes
    -----
    A pair is compared over the queries for which both models have a value. Differences due to
    rounding are ties.

    References
    ----------
    Smucker, Allan & Carterette 2007; Westfall & Young 1993; Hall 1992; Nadeau & Bengio 2003;
    DeLong et al. 1988; Venkatraman & Begg 1996; Zou & Donner 2008.

    Examples
    --------
    >>> import prframe
    >>> frame = {"query_id": ["q1", "q2", "q3"], "old": [0.2, 0.4, 0.5], "new": [0.3, 0.6, 0.9]}
    >>> found = prframe.compare(frame, values=["new", "old"], test="t")
    >>> found.select("model_a", "difference", "p_value").row(0)
    ('new', 0.2333333333333333, 0.1180828963118032)
    """
    wanted = metrics_or_none(metrics, values)
    frame, over = _queries(frame, over, named=values is None and shared.get("item") is not None)
    level = float(checks.number("confidence_level", confidence_level, above=0, below=1))
    asked = Comparison(
        wanted=wanted,
        test=test or ("randomization" if predicted is None else "t"),
        alternative=alternative,
        correction=correction,
        within=within,
        interval=interval,
        confidence_level=level,
        n_resamples=checks.number_of_draws(n_resamples),
        seed=int(random_generator(rng).integers(1 << 62)),
        baseline=baseline,
        equivalence=None
        if equivalence is None
        else float(checks.number("equivalence", equivalence, above=0)),
        power=None if power is None else float(checks.number("power", power, above=0, below=1)),
        predicted=predicted is not None,
    )
    args = model_arguments(
        score,
        label,
        shared,
        model=model,
        cluster=cluster,
        judged=judged if any(metric.judged for metric in wanted.values()) else None,
    )
    kept = args
    options: dict[str, object] = {"equivalence": equivalence, "power": power}
    options |= {"resampling": resampling, "undefined": None if values is None else undefined}
    check_predicted(asked, options, over)
    plan: Plan
    if over is None:
        if values is not None:
            raise of_queries("over=None compares rankings of the same items")
        require_items("compare", args)
        check_options(asked, args, incomplete, ON_ITEMS)
        check_of_items(asked, undefined, resampling)
        plan = OnItems(args, asked, incomplete, prior_of(prior))
    else:
        measure: Evaluation | PrecomputedValues = Evaluation(args, wanted, prior=prior_of(prior))
        if values is not None:
            refuse_prior(prior)
            frame, names = names_of(frame)
            args, measure = precomputed(values, names, args, over)
        check_options(asked, args, incomplete, OVER_QUERIES)
        number = None if undefined is None else checks.number("undefined", undefined)
        if resampling is not None:
            check_resampled(asked, args)
        compared = ComparedValues.of(args, over, incomplete, measure, number, resampling)
        plan = over_queries(compared, asked, predicted)
    schema = asked.schema(args)
    try:
        result: FrameT = run(frame, plan, schema, keys=kept.keys, guarded=values is None)
    except MissingColumnError as error:
        otherwise = "" if values is not None else f"; {OVER_QUERIES.remedy}"
        if hint := _hint(str(error), frame, wanted, otherwise, is_precomputed=values is not None):
            raise MissingColumnError(f"{error} {hint}") from None
        raise
    return result


def _queries(frame: FrameT, over: Columns | None, *, named: bool) -> tuple[FrameT, Columns | None]:
    """Return the frame and the queries, None where items are `named` and nobody named queries."""
    if not named or over != _QUERIES:
        return frame, over
    frame, names = names_of(frame)
    return frame, over if _QUERIES in names else None


def _hint(
    message: str, frame: object, wanted: Collection[str], otherwise: str, *, is_precomputed: bool
) -> str:
    """Return what may be meant where a column is missing; nothing if the message says so."""
    if "`score`" in message and not is_precomputed:
        known = [name for name in wanted if name in names_of(frame)[1]]
        return f"Name precomputed values of metrics with values={known[0]!r}." if known else ""
    if "`over`" not in message or (is_precomputed and message.endswith("?")):
        return ""
    number = (
        ", or number the rows, for example by with_row_index('query_id')" if is_precomputed else ""
    )
    return f"Name the column of queries, folds or seeds with over={number}{otherwise}."
