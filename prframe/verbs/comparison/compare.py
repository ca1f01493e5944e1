"""The verb that compares models, over queries or on the same items."""

from collections.abc import Collection, Sequence
from typing import Unpack, cast

import numpy as np

from prframe import checks
from prframe._engine.frames import named as names_of
from prframe.draws import TEST_DRAWS
from prframe.errors import MissingColumnError
from prframe.metrics import Metric
from prframe.stats._arrays import random_generator
from prframe.stats.paired_values import described_tests
from prframe.typing import Alternative, Columns, FrameT, Shared
from prframe.verbs._evaluation import Evaluation, prior_of
from prframe.verbs._mean_samples import Resampling
from prframe.verbs._plan import Plan
from prframe.verbs._precomputed_values import (
    PrecomputedValues,
    metrics_or_none,
    of_queries,
    refuse_prior,
)
from prframe.verbs._verb import run, verb
from prframe.verbs.comparison.matched_items import Incomplete as IncompleteItems
from prframe.verbs.comparison.on_items import OnItems
from prframe.verbs.comparison.predicted import check_predicted, over_queries
from prframe.verbs.comparison.query_values import (
    ComparedValues,
    Incomplete as IncompleteQueries,
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

    With `over` the sample is one of queries, for example: each has one value per model, and the
    question is whether the means differ. With ``over=None`` it is one of items that all models
    have scored, and the question is whether their rankings differ.

    Parameters
    ----------
    frame : {frames}
        One row per item and model, or per item, with a column of scores for each model. With
        `values`, one per query and model, or per query, with a column for each model.
    metrics : str, Metric or list of these, optional
        Any of the catalogue; see `evaluate`.
    {shared}
        On the same items there is no `weight`.
    values : str or list of str, optional
        In place of metrics: the columns of precomputed values, of up to 1e100 in size, a metric
        each, or one next to a column ``"metric"``; without a column of models, a model each.
    model : str, optional
        Column of models; ``"model"`` unless given. Not with a list in `score`, a model each.
    over : str, list of str or None
        Columns of queries. None: compare on the same items, which are matched by `item`, or are
        rows where `score` is a list; so too if `item` is given and there is no ``"query_id"``.
    baseline : model or list of models, optional
        Compare every other model with each of these: a is the model, b the baseline. Absent:
        every pair, in order of the models' names, categories in their own order.
    test : str, optional
        "randomization" unless given, or "t" with `predicted`, which takes no other. Over queries:

        {tests}

        On the same items (`prframe.stats.compare_rankings`):

        - "randomization": either model might have given an item either rank.
        - "bootstrap": items are drawn with replacement.
        - "delong": of AUC, by the normal distribution; for 15 or more items of either class.
    alternative : {"two-sided", "less", "greater"}
        That the difference a - b is not 0, below 0, or above 0; intervals have the same sides.
    correction : str or None
        How p-values are adjusted for their number: "bonferroni", "holm", "bh", "by"
        (`prframe.stats.adjust_p_values`), or, with "randomization" over queries, "max-t": each
        pair is compared with the largest t of all under random signs (step-down).
    within : {"all", "by"}
        Adjust for all rows of the result, or for those of each group of `by`, as "max-t" does.
    interval : {"auto", "t", "hall", "percentile", "bca"}
        Over queries "auto" is Student's, or Hall's with ``test="hall"``. On the same items
        "percentile" and "bca" are from the paired bootstrap; "auto" is that of the test or
        "percentile", extended to what the intervals of both models leave room for (see the notes).
    confidence_level : float in (0, 1)
        Level of the interval.
    equivalence : float > 0, optional
        Add ``p_equivalence``, not adjusted, of two one-sided t tests that the means differ by
        less than this margin (`prframe.stats.paired_equivalence_test`).
    power : float in (1 - confidence_level, 1), optional
        Add the smallest difference that so many queries detect with this probability by a t test,
        and how many queries the observed difference needs.
    resampling : "cv" or float > 0, optional
        Correct the variance of ``test="t"`` for overlapping training sets (Nadeau & Bengio 2003).
        "cv": the last column of `over` names the folds of a cross-validation, columns before it
        its repetitions, in each of which folds are numbered anew. A number: the size of a test
        set divided by that of its training set.
    cluster : str, optional
        Column of clusters: of queries, each in one, or of items. Whole clusters are exchanged or
        drawn; `power` and some tests over queries do not support it.
    incomplete : {"raise", "pairwise", "common", "zero", "last"}
        Where a model has no rows for a query: refuse, compare two models over what both have,
        all over what all have, or count as 0. On the same items: refuse, take the item as not
        retrieved ("last"), or leave out what not all have ("common").
    undefined : float, optional
        The value of a metric that is undefined for a query. Absent: the query does not enter.
    prior : float in (0, 1), optional
        Compare metrics in a population with this share of positives; see `interval`. Not with
        "delong".
    n_resamples : int
        Draws of sampled tests and intervals; at least 2 / (1 - confidence_level).
    rng : int or numpy.random.Generator, optional
        Seed. All pairs, metrics and groups have the same draws.
    judged : str
        As in `evaluate`, for metrics that need it.
    predicted : str or list of str, optional
        Over queries: the column of a machine's labels, or those of values by them, as in
        `interval`. The difference combines both judges.

    Returns
    -------
    frame of the caller's kind
        A row per group, metric and pair: the `by` columns, ``metric`` (String), ``model_a``,
        ``model_b`` (as the column `model`), ``difference``, ``conf_low``, ``conf_high``,
        ``p_adjusted`` (with `correction`), ``p_value``, ``effect_size`` (Cohen's d_z),
        ``mean_a``, ``mean_b``, ``statistic`` (Float64), ``wins``, ``ties``, ``losses`` of a, ``n``
        queries or items (Int64), ``method``, ``test``, ``correction`` (String), ``n_family``
        (Int64), the number of p-values adjusted for, ``confidence_level``, ``p_std_error``, the
        Monte Carlo error of a sampled p-value, ``p_adjusted_std_error`` (Float64, with "max-t");
        one-sided ``alternative`` (String) behind ``confidence_level``; with `equivalence`
        ``p_equivalence`` (Float64); with `power` ``detectable_difference`` (Float64) and
        ``n_needed`` (Int64); with `predicted` the columns that `interval` adds.
        `prframe.tables.sentences` writes each row as a sentence.

    Raises
    ------
    PrframeError
        An unknown metric, model or option, options that do not go together, a model without rows
        for a query or an item, a query of two clusters, rows that cannot be ranked, or values
        that are infinite or repeated.

    Warns
    -----
    CoverageWarning
        On the same items: ``test="delong"`` with fewer than 15 positives or negatives, and any
        test with fewer than 40 clusters that hold positives, or negatives.
    DependentFoldsWarning
        `over` seems to name folds, or repeated folds, and `resampling` does not say so.
    SkewedDifferencesWarning
        10 to 100 queries, but at most ``25 G^2``, whose differences have the skewness G, not due
        to chance by Lin & Mudholkar's test at .05, with another test or interval than "hall".
    UndefinedMetricWarning
        Queries for which a metric is undefined, and pairs with too little in common for a test,
        an interval or an effect size, or that differ by the same in all.

    Notes
    -----
    Means and tests of a pair are over the queries for which both models have a value. Differences
    due to rounding alone are ties. A larger value counts as the better one.

    On the same items resamples lack the few items that good models misplace. "auto" therefore
    reaches at least as far as the intervals of both models (`interval`) and the correlation of
    their metrics say, and may hold 0 where the p-value is below .05. ``mean_a`` and ``mean_b`` are
    the metrics themselves; there are no wins, and no effect size.

    References
    ----------
    Smucker, Allan & Carterette 2007; Carterette 2012; Westfall & Young 1993; Sakai 2016;
    DeLong et al. 1988; Venkatraman & Begg 1996.

    Examples
    --------
    >>> import prframe
    >>> digits = prframe.datasets.load_digits()
    >>> pairs = prframe.compare(
    ...     digits, "AP", model="system", baseline="pixels", n_pos="n_relevant"
    ... )
    >>> pairs.select("model_a", "difference", "conf_low", "conf_high", "p_adjusted").head(3)
    shape: (3, 5)
    ┌─────────┬────────────┬───────────┬───────────┬────────────┐
    │ model_a ┆ difference ┆ conf_low  ┆ conf_high ┆ p_adjusted │
    │ ---     ┆ ---        ┆ ---       ┆ ---       ┆ ---        │
    │ str     ┆ f64        ┆ f64       ┆ f64       ┆ f64        │
    ╞═════════╪════════════╪═══════════╪═══════════╪════════════╡
    │ binary  ┆ -0.186258  ┆ -0.199118 ┆ -0.173397 ┆ 1.4873e-59 │
    │ ink     ┆ -0.387888  ┆ -0.407765 ┆ -0.368011 ┆ 6.2230e-60 │
    │ pca     ┆ -0.018854  ┆ -0.026784 ┆ -0.010924 ┆ 0.000004   │
    └─────────┴────────────┴───────────┴───────────┴────────────┘

    Of precomputed values, a column for each model:

    >>> frame = {"query_id": ["q1", "q2", "q3"], "old": [0.2, 0.4, 0.5], "new": [0.3, 0.6, 0.9]}
    >>> found = prframe.compare(frame, values=["new", "old"], test="t")
    >>> found["difference"].round(3).item(), found["p_value"].round(3).item()
    (0.233, 0.118)

    Two classifiers of the same items, a column of scores for each:

    >>> rng = np.random.default_rng(1)
    >>> label = np.arange(200) < 50
    >>> first, second = label + rng.normal(size=200), 2 * label + rng.normal(size=200)
    >>> frame = {"label": label, "old": first, "new": second}
    >>> found = prframe.compare(frame, ["AP", "AUC"], score=["new", "old"], over=None, rng=1)
    >>> found.select("metric", "difference", "conf_low", "conf_high").to_pandas().round(3)
      metric  difference  conf_low  conf_high
    0     AP       0.244     0.046      0.423
    1    AUC       0.129     0.047      0.216
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
        items = cast("IncompleteItems", incomplete)
        plan = OnItems(args, asked, items, prior_of(prior))
    else:
        measure: Evaluation | PrecomputedValues = Evaluation(args, wanted, prior=prior_of(prior))
        if values is not None:
            refuse_prior(prior)
            frame, names = names_of(frame)
            args, measure = precomputed(values, names, args, over)
        check_options(asked, args, incomplete, OVER_QUERIES)
        number = None if undefined is None else checks.number("undefined", undefined)
        policy = cast("IncompleteQueries", incomplete)
        if resampling is not None:
            check_resampled(asked, args)
        compared = ComparedValues.of(args, over, policy, measure, number, resampling)
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


compare.__doc__ = (compare.__doc__ or "").replace("{tests}", described_tests(" " * 8).strip())
