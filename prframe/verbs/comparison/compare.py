"""The verb that compares models, over queries or on the same items."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, Unpack, cast, get_args

import numpy as np

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe.draws import TEST_DRAWS
from prframe.errors import MissingColumnError, PrframeError
from prframe.metrics import Metric
from prframe.stats._arrays import random_generator
from prframe.stats._p_values import check_alternative
from prframe.stats.paired_values import (
    LEAST_ALPHA,
    QUERY_TESTS,
    QueryTestName,
    RandomizationMethod,
    SignedRankMethod,
    described_tests,
)
from prframe.typing import Alternative, Columns, FrameT, Shared
from prframe.verbs._evaluation import named
from prframe.verbs._groups import resamples
from prframe.verbs._plan import Plan
from prframe.verbs._verb import run, verb
from prframe.verbs.comparison.matched_items import Incomplete as IncompleteItems
from prframe.verbs.comparison.on_items import OnItems
from prframe.verbs.comparison.options import model_arguments, require_items
from prframe.verbs.comparison.over_queries import EffectSize, OverQueries
from prframe.verbs.comparison.query_values import ComparedValues, Incomplete as IncompleteQueries
from prframe.verbs.comparison.rows import JOINT, Comparison, JointCorrection, Within

Test: TypeAlias = Literal[QueryTestName, "delong", "posterior"]
Method: TypeAlias = Literal[RandomizationMethod, SignedRankMethod]
IntervalKind: TypeAlias = Literal["auto", "t", "percentile", "bca"]
Incomplete: TypeAlias = IncompleteQueries | IncompleteItems

# Other libraries call tests by these names.
_ELSEWHERE: dict[str, str] = {
    **dict.fromkeys(("student", "ttest", "ttest_rel", "t-test"), "test='t'"),
    **dict.fromkeys(("fisher", "permutation"), "test='randomization'"),
    "tukey": "correction='tukey'",
    "max-t": "correction='max-t'",
}


@verb
def compare(
    frame: FrameT,
    metrics: str | Metric | Sequence[str | Metric],
    score: Columns = "score",
    label: str = "label",
    *,
    model: str | None = None,
    over: Columns | None = "query_id",
    baseline: object = None,
    test: Test = "randomization",
    method: Method = "auto",
    alternative: Alternative = "two-sided",
    correction: JointCorrection | None = "holm",
    within: Within = "all",
    interval: IntervalKind = "auto",
    confidence_level: float = 0.95,
    effect_size: EffectSize | None = None,
    rope: float | None = None,
    power: float | None = None,
    cluster: str | None = None,
    incomplete: Incomplete = "raise",
    undefined: float | None = None,
    n_resamples: int = TEST_DRAWS,
    rng: int | np.random.Generator | None = None,
    judged: str = "judged",
    **shared: Unpack[Shared],
) -> FrameT:
    """Compare models pair by pair: differences, intervals, tests, effect sizes.

    With `over` the sample is one of queries, for example: each has one value per model, and the
    question is whether the means differ. With ``over=None`` it is one of items that all models
    have scored, and the question is whether their rankings differ.

    Parameters
    ----------
    frame : {frames}
        One row per item and model, or per item, with a column of scores for each model.
    metrics : str, Metric or list of these
        Any of the catalogue; see `evaluate`. On the same items those that are functions of counts
        (see `interval`) are resampled without sorting anything again, and have BCa intervals.
    {shared}
        On the same items there is no `weight`.
    model : str, optional
        Column that names the model of each row; ``"model"`` unless given. None where `score` is a
        list of columns, a model each.
    over : str, list of str or None
        Columns that tell the queries apart. None: compare on the same items, which are matched
        by `item`, or stand in one row where `score` is a list.
    baseline : model or list of models, optional
        Compare every other model with each of these: a is the model, b the baseline. Absent:
        every pair, in order of first appearance.
    test : str
        Over queries:

        {tests}

        On the same items (`prframe.stats.compare_rankings`):

        - "randomization": either model might have given an item either rank.
        - "bootstrap": items are drawn with replacement.
        - "delong": of AUC, by the normal distribution.
        - "posterior": the probability that a model is better, for metrics that count the positives
          among the first k (P@k, R@k, F1@k, RelP@k, Lift@k, EF, Rprec).
    method : {"auto", "exact", "convolution", "sampled", "normal"}
        How the p-value of "randomization" or "wilcoxon" over queries is computed. "auto" counts
        all signs where that is quick, and elsewhere takes a saddlepoint where that is accurate, or
        their convolution on a fine grid: no draws, the same p-value in every call. "sampled": from
        `n_resamples` draws, the same for all pairs and metrics. "normal": the approximation of
        textbooks, for "wilcoxon".
    alternative : {"two-sided", "less", "greater"}
        That the difference a - b is not 0, below 0, or above 0; one-sided intervals bound one end.
    correction : str or None
        How p-values are adjusted for their number: "bonferroni", "holm", "hochberg", "bh", "by"
        (`prframe.stats.adjust_p_values`), or, with "randomization" over queries, by the joint
        distribution of all pairs: "max-t" compares each pair with the largest t of all under
        random signs (step-down), "tukey" with the largest difference of all models when the values
        of each query are dealt out at random (the randomized Tukey HSD).
    within : {"all", "by", "metric"}
        The rows whose number p-values are adjusted for: all rows of the result, those of a group
        of `by`, or those of one metric of a group. "tukey" is for one metric, "max-t" for the
        metrics of a group.
    interval : {"auto", "t", "percentile", "bca"}
        Interval of the difference. Over queries "auto" is Student's, on the same items that of the
        test or "percentile"; "percentile" and "bca" are from the paired bootstrap.
    confidence_level : float in (0, 1)
        Level of the interval; 1 - confidence_level is the level of the test to which `power`
        refers.
    effect_size : {"cohen", "cliff"}, optional
        Over queries, "cohen" unless given: d_z, the mean difference in standard deviations of the
        differences, or Cliff's delta, the share of pairs of values in which a is ahead minus that
        in which b is.
    rope : float >= 0, optional
        Region of practical equivalence: differences up to this do not matter. Adds the
        probabilities of the Bayesian signed-rank test (`prframe.stats.signed_rank_posterior`).
    power : float in (1 - confidence_level, 1), optional
        Adds the smallest difference that so many queries show with this probability by a t test,
        and how many queries the observed difference needs, null if it is not on the side of
        `alternative`.
    cluster : str, optional
        Column of clusters: of queries, which are constant in each, or of items. Whole clusters
        are exchanged or drawn; `rope`, `power` and some tests over queries know none.
    incomplete : {"raise", "pairwise", "common", "zero", "last"}
        Where a model has no rows for a query: refuse, compare two models over what both have,
        all over what all have, or count as 0. On the same items, where a model has no row for an
        item: refuse, take as not retrieved ("last"), or leave out what not all have ("common").
    undefined : float, optional
        The value of a metric that is undefined for a query. Absent: the query does not enter
        the comparisons in which a model has no value for it.
    n_resamples : int
        Draws of tests and intervals that are sampled.
    rng : int or numpy.random.Generator, optional
        Seed. All pairs, metrics and groups have the same draws.
    judged : str
        As in `evaluate`, for metrics that need it.

    Returns
    -------
    frame of the caller's kind
        The `by` columns, then ``metric`` (String), ``model_a``, ``model_b`` (as the column
        `model`), ``mean_a``, ``mean_b``, ``difference``, ``conf_low``, ``conf_high``,
        ``statistic``, ``p_value``, ``p_std_error``, the Monte Carlo error of a p-value that was
        sampled, ``p_adjusted`` (with `correction`), ``p_adjusted_std_error`` (with "max-t" and
        "tukey"), ``effect_size`` (Float64), ``wins``,
        ``ties``, ``losses`` of a, ``n`` queries or items (Int64), ``method`` (String); with
        `rope` ``prob_a``, ``prob_rope``, ``prob_b`` (Float64), that a, neither or b is better;
        with `power` ``detectable_difference`` (Float64) and ``n_needed`` (Int64). A row per
        group, metric and pair.

    Raises
    ------
    PrframeError
        An unknown metric, model or option, options that do not go together, a model without rows
        for a query or an item (unless `incomplete` allows it), a query of two clusters, or rows
        that cannot be ranked.

    Warns
    -----
    UndefinedMetricWarning
        Queries for which a metric is undefined; pairs with too little in common for a test, an
        interval or an effect size.

    Notes
    -----
    Means and tests of a pair are over the queries for which both models have a value. Values that
    differ by rounding alone are ties.

    On the same items ``mean_a`` and ``mean_b`` are the metrics themselves; there are no wins, and
    no effect size. ``statistic`` is the difference, z of "delong", or the probability that a is
    better of "posterior".

    References
    ----------
    Smucker, Allan & Carterette 2007; Carterette 2012; Westfall & Young 1993; Benavoli et al. 2017;
    Sakai 2016; DeLong et al. 1988; Venkatraman & Begg 1996; Goutte & Gaussier 2005.

    Examples
    --------
    >>> import prframe
    >>> digits = prframe.datasets.load_digits()
    >>> pairs = prframe.compare(
    ...     digits, "AP", model="system", baseline="pixels", n_pos="n_relevant"
    ... )
    >>> pairs.select("model_a", "difference", "conf_low", "conf_high", "p_adjusted").head(3)
    shape: (3, 5)
    ┌───────────┬────────────┬───────────┬───────────┬────────────┐
    │ model_a   ┆ difference ┆ conf_low  ┆ conf_high ┆ p_adjusted │
    │ ---       ┆ ---        ┆ ---       ┆ ---       ┆ ---        │
    │ str       ┆ f64        ┆ f64       ┆ f64       ┆ f64        │
    ╞═══════════╪════════════╪═══════════╪═══════════╪════════════╡
    │ pca       ┆ -0.018854  ┆ -0.026784 ┆ -0.010924 ┆ 0.000004   │
    │ thumbnail ┆ -0.062285  ┆ -0.077286 ┆ -0.047284 ┆ 1.9273e-15 │
    │ binary    ┆ -0.186258  ┆ -0.199118 ┆ -0.173397 ┆ 1.4935e-59 │
    └───────────┴────────────┴───────────┴───────────┴────────────┘
    """
    wanted = named(metrics)
    level = float(checks.number("confidence_level", confidence_level, above=0, below=1))
    asked = Comparison(
        wanted=wanted,
        test=test,
        method=method,
        alternative=alternative,
        correction=correction,
        within=within,
        interval=interval,
        confidence_level=level,
        n_resamples=checks.whole_number("n_resamples", n_resamples, at_least=1),
        seed=int(random_generator(rng).integers(1 << 62)),
        baseline=baseline,
        rope=None if rope is None else float(checks.number("rope", rope, at_least=0)),
        power=None if power is None else float(checks.number("power", power, above=0, below=1)),
    )
    args = model_arguments(
        score,
        label,
        shared,
        model=model,
        cluster=cluster,
        judged=judged if any(metric.judged for metric in wanted.values()) else None,
    )
    if effect_size is not None:
        checks.one_of("effect_size", effect_size, get_args(EffectSize))
    plan: Plan
    if over is None:
        require_items("compare", args)
        _check_options(asked, args, incomplete, _ITEMS)
        _check_of_items(asked, undefined, effect_size)
        plan = OnItems(args, asked, cast("IncompleteItems", incomplete))
    else:
        _check_options(asked, args, incomplete, _OVER)
        number = None if undefined is None else checks.number("undefined", undefined)
        policy = cast("IncompleteQueries", incomplete)
        compared = ComparedValues.of(args, over, policy, wanted, number)
        plan = OverQueries(compared.arguments, asked, compared, effect_size or "cohen")
    try:
        # Who says over=None means to compare on the same items, of whatever queries.
        result: FrameT = run(
            frame, plan, asked.schema(args), keys=args.keys, guarded=over is not None
        )
    except MissingColumnError as error:
        if "`over`" not in str(error):
            raise
        remedy = _OVER.remedy[0].upper() + _OVER.remedy[1:]
        raise MissingColumnError(f"{error} {remedy}.") from None
    return result


compare.__doc__ = (compare.__doc__ or "").replace("{tests}", described_tests(" " * 8).strip())


@dataclass(frozen=True)
class _Mode:
    """The options of comparisons over queries, or on the same items."""

    wording: str
    methods: dict[str, tuple[str, ...]]
    intervals: tuple[str, ...]
    incomplete: tuple[str, ...]
    remedy: str


_OVER = _Mode(
    wording="over groups of `over`",
    methods={name: test.methods for name, test in QUERY_TESTS.items()},
    intervals=("auto", "t", "percentile", "bca"),
    incomplete=get_args(IncompleteQueries),
    remedy="to compare on the same items say over=None",
)
_ITEMS = _Mode(
    wording="on the same items (over=None)",
    methods=dict.fromkeys(("randomization", "bootstrap", "delong", "posterior"), ("auto",)),
    intervals=("auto", "percentile", "bca"),
    incomplete=get_args(IncompleteItems),
    remedy="to compare over queries name them with over=",
)


def _check_options(asked: Comparison, args: Arguments, incomplete: object, mode: _Mode) -> None:
    """Refuse options that are not known, or have no meaning in this mode."""
    check_alternative(asked.alternative)
    checks.one_of("within", asked.within, get_args(Within))
    checks.one_of("method", asked.method, get_args(Method))
    if asked.correction is not None:
        checks.one_of("correction", asked.correction, get_args(JointCorrection))
    if isinstance(asked.test, str) and asked.test in _ELSEWHERE:
        raise PrframeError(
            f"`test` must be one of {checks.listed(get_args(Test))}; {asked.test!r} is "
            f"{_ELSEWHERE[asked.test]} here."
        )
    checks.one_of("test", asked.test, get_args(Test))
    if asked.test not in mode.methods:
        raise PrframeError(
            f"`test` {mode.wording} must be one of {checks.listed(mode.methods)}; "
            f"got {asked.test!r}; {mode.remedy}."
        )
    known = {
        f"`method` of test={asked.test!r}": (asked.method, mode.methods[asked.test]),
        "`interval`": (asked.interval, mode.intervals),
        "`incomplete`": (incomplete, mode.incomplete),
    }
    for name, (value, options) in known.items():
        if value not in options:
            raise PrframeError(
                f"{name} {mode.wording} must be one of {checks.listed(options)}; "
                f"got {checks.brief(value)}."
            )
    if args.cluster is not None and mode is _OVER:
        _check_clusters(asked)
    _check_power(asked)
    if asked.correction in JOINT:
        _check_joint(asked, args, mode)
    if asked.interval in {"percentile", "bca"} or mode is _ITEMS:
        resamples(asked.n_resamples, asked.confidence_level)


def _check_power(asked: Comparison) -> None:
    """Require a power above the level of the test, and a level that can be computed."""
    # The level is rounded, because 1 - 0.95 is slightly above 0.05 as a float.
    alpha = round(1 - asked.confidence_level, 12)
    if asked.power is not None and not asked.power > alpha >= LEAST_ALPHA:
        raise PrframeError(
            f"`power` must be above the level of the test, 1 - confidence_level = {alpha:.3g}, "
            f"and that at least {LEAST_ALPHA:g}; got power={asked.power:g}."
        )


def _check_clusters(asked: Comparison) -> None:
    """Refuse options that would ignore clusters."""
    chosen = {
        f"test={asked.test!r}": not QUERY_TESTS[asked.test].clusters,
        "`rope`": asked.rope is not None,
        "`power`": asked.power is not None,
    }
    given = [name for name, is_given in chosen.items() if is_given]
    if given:
        raise PrframeError(
            f"{given[0]} takes queries as independent and knows no clusters; leave out `cluster`."
        )


def _check_joint(asked: Comparison, args: Arguments, mode: _Mode) -> None:
    """Refuse joint corrections where the joint distribution is not known."""
    if mode is _ITEMS or asked.test != "randomization":
        raise PrframeError(
            f"correction={asked.correction!r} is the joint distribution of "
            "test='randomization' over queries; take 'holm' with other tests."
        )
    is_one_metric = len(asked.wanted) == 1 and not args.keys
    if asked.correction == "tukey" and asked.within != "metric" and not is_one_metric:
        raise PrframeError(
            "correction='tukey' deals out the values of one metric of one group of `by`: say "
            "within='metric'; 'max-t' knows several metrics."
        )
    if asked.correction == "max-t" and asked.within == "all" and args.keys:
        raise PrframeError(
            "correction='max-t' knows the joint distribution within a group of `by`: say "
            "within='by' or 'metric'; 'holm' is for all rows."
        )


def _check_of_items(
    asked: Comparison, undefined: float | None, effect_size: EffectSize | None
) -> None:
    """Refuse options that have a meaning over queries only."""
    given: dict[str, object] = {"rope": asked.rope, "power": asked.power}
    given |= {"undefined": undefined, "effect_size": effect_size}
    for name, value in given.items():
        if value is not None:
            raise PrframeError(f"`{name}` is for comparisons over queries; leave it out.")
