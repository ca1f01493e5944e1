"""The verb that compares the precision-recall curves of models on the same items."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack, cast, get_args

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.frames import Source
from prframe._engine.rows import key_names
from prframe.draws import INTERVAL_DRAWS
from prframe.stats._arrays import random_generator
from prframe.stats.curves import (
    LEAST_POSITIVES,
    BandPlan,
    band_levels,
    curve_difference,
    has_band,
)
from prframe.typing import Columns, FrameT, Shared
from prframe.verbs._evaluation import prior_of
from prframe.verbs._groups import each_group, resamples
from prframe.verbs._plan import Accepts, Plan
from prframe.verbs._verb import positives_of, run, verb, warn_null, warn_undefined, why_bandless
from prframe.verbs.comparison.matched_items import Incomplete, PairedRows, paired_rows
from prframe.verbs.comparison.mean_curves import (
    DIFFERENCES,
    MEAN_DIFFERENCES,
    MeanDifferences,
    pair_rows,
)
from prframe.verbs.comparison.query_values import ComparedValues, Incomplete as IncompleteQueries
from prframe.verbs.comparison.rows import (
    model_arguments,
    model_pairs,
    on_same_items,
    require_items,
    with_models,
)
from prframe.verbs.curves.mean_curves import (
    PrecisionAtLevels,
    mean_band_levels,
    refuse_curve_options,
)

_METHOD = "bayesian-bootstrap"


@verb
def compare_curves(
    frame: FrameT,
    score: Columns = "score",
    label: str = "label",
    *,
    model: str | None = None,
    baseline: object = None,
    recall: float | Sequence[float] | None = None,
    recall_range: tuple[float, float] | None = None,
    simultaneous: bool = True,
    confidence_level: float = 0.95,
    cluster: str | None = None,
    over: Columns | None = None,
    prior: float | None = None,
    interpolate: bool = False,
    anchor: bool | None = None,
    incomplete: Incomplete | IncompleteQueries = "raise",
    n_resamples: int = INTERVAL_DRAWS,
    rng: int | np.random.Generator | None = None,
    **shared: Unpack[Shared],
) -> FrameT:
    """Compare the precision-recall curves of models on the same items, in each group.

    The items are a sample, and the band is for the difference of the two curves in the population.
    With `over`, for instance queries, the queries are the sample, and the band is for the
    difference of mean curves.

    Parameters
    ----------
    frame : {frames}
        One row per item, with a column of scores for each model, or one row per item and model.
    {shared}
        Without `over` the only tie policy is "group", and there is no `weight`.
    model : str, optional
        Column of models, by default ``"model"``. Leave it out if `score` lists one column per
        model. Without `over`, models in rows are matched by `item`.
    baseline : model or list of models, optional
        Compare each other model with these. Default: every pair, sorted by name.
    recall : float or list of float in (0, 1), or int >= 3, optional
        As in `band`: levels, in rising order, or a number of evenly spaced levels between 0 and 1.
        Default: 181 levels, evenly over `recall_range`. With `over` levels are as in `curve`, and
        may be 0 and 1.
    recall_range : (float, float), optional
        First and last level without `recall`, by default (0.05, 0.95). With `over` 101 levels, by
        default 81 from 0.1 to 0.9, as in `band`.
    simultaneous : bool
        Whether the band covers the difference at all levels at once with the probability
        `confidence_level`, or at each level separately.
    confidence_level : float in (0, 1)
        Probability of covering.
    cluster : str, optional
        Column of clusters of items, or with `over` of queries, each in one. Whole clusters are
        resampled.
    over : str or list of str, optional
        Compare the models' mean curves over these columns, for instance over queries.
    prior : float in (0, 1), optional
        The curves in a population with this share of positives, as in `curve`.
    interpolate, anchor : bool, optional
        With `over`, as in `curve`.
    incomplete : {"raise", "last", "common", "pairwise", "zero"}
        How to treat an item (with `over` a query) that a model lacks, as in `compare`.
    n_resamples : int >= 2 / (1 - confidence_level)
        Draws of each group and pair.
    rng : int or numpy.random.Generator, optional
        Seed. The draws of a pair depend on the seed and the two rankings alone.

    Returns
    -------
    frame of the caller's kind
        A row per group, pair and level: the `by` columns, ``model_a``, ``model_b`` (dtype of the
        models, or String), ``recall``, ``precision_a``, ``precision_b``, ``difference`` (a minus
        b), ``conf_low``, ``conf_high``, ``p_value`` (Float64), ``method`` (String) and
        ``p_std_error`` (Float64), the Monte Carlo error of a sampled p-value; with `over` also
        ``n`` (Int64), the number of queries. A `baseline` is ``model_b``.

    Raises
    ------
    PrframeError
        An unknown option or baseline, options that do not go together, a model without some
        items, labels or clusters of an item that differ between models, or rows that cannot be
        ranked.

    Warns
    -----
    SkewedDifferencesWarning
        With `over`, single levels at which the differences are few and skewed, as in `compare`.
    UndefinedMetricWarning
        Groups with fewer than 3 positives, or clusters that hold either class, have no band;
        groups without positives have no curves. With `over` queries without positives do not
        enter, and pairs with fewer than two queries, or clusters, in common have no band.

    Notes
    -----
    With `simultaneous`, ``p_value`` tests that the curves are equal at all these levels. It is the
    smallest alpha at which the band of level 1 - alpha excludes 0 somewhere. It is two-sided, and
    not adjusted for the number of pairs. Without `over` see `prframe.stats.pr_curve_difference`
    for the draws.

    With `over`, whole curves of queries, or clusters, are resampled. The simultaneous band is a
    multiple of the standard error at each level, with sums S_j of the n_j curves of c clusters and
    ``m = sum S_j / n``: ``sqrt(c / (c - 1) sum (S_j - n_j m)^2) / n``. The multiple is a quantile
    of the largest studentized deviation of a bootstrap mean. The p-value is from random signs of
    whole curves of differences, ``P(max_b |t*(b)| >= max_b |t(b)|)``; near the threshold it and
    the band can disagree. At single levels, intervals and p-values are those of `compare` for
    Prec@r (IPrec@r with ``interpolate=True``).

    References
    ----------
    Rubin 1981; Gu, Ghosal & Roy 2008; Davis & Goadrich 2006; Westfall & Young 1993; Davison &
    Hinkley 1997, section 4.2.4; Cochran, *Sampling Techniques*, 3rd ed. 1977, chapter 9A.

    Examples
    --------
    >>> import numpy as np, polars as pl, prframe
    >>> rng = np.random.default_rng(1)
    >>> label = np.arange(400) < 100
    >>> old, new = label + rng.normal(size=400), 2 * label + rng.normal(size=400)
    >>> frame = pl.DataFrame({"old": old, "new": new, "label": label})
    >>> band = prframe.compare_curves(frame, ["new", "old"], recall=[0.2, 0.5, 0.8], rng=1)
    >>> band.select("recall", "difference", "conf_low", "conf_high", "p_value")
    shape: (3, 5)
    ┌────────┬────────────┬──────────┬───────────┬─────────┐
    │ recall ┆ difference ┆ conf_low ┆ conf_high ┆ p_value │
    │ ---    ┆ ---        ┆ ---      ┆ ---       ┆ ---     │
    │ f64    ┆ f64        ┆ f64      ┆ f64       ┆ f64     │
    ╞════════╪════════════╪══════════╪═══════════╪═════════╡
    │ 0.2    ┆ 0.354839   ┆ 0.136576 ┆ 0.546908  ┆ 0.0005  │
    │ 0.5    ┆ 0.276575   ┆ 0.134457 ┆ 0.462873  ┆ 0.0005  │
    │ 0.8    ┆ 0.324786   ┆ 0.17516  ┆ 0.486113  ┆ 0.0005  │
    └────────┴────────────┴──────────┴───────────┴─────────┘
    """
    args = model_arguments(score, label, shared, model=model, cluster=cluster)
    level = float(checks.number("confidence_level", confidence_level, above=0, below=1))
    checks.flag("simultaneous", simultaneous)
    size, share = resamples(n_resamples, level), prior_of(prior)
    if over is not None:
        levels = mean_band_levels(recall, recall_range)
        curves = PrecisionAtLevels.of(
            args, levels, interpolate=interpolate, anchor=anchor, prior=share
        )
        policy = cast("IncompleteQueries", incomplete)
        compared = ComparedValues.of(args, over, policy, curves, None, None)
        means = MeanDifferences(
            compared.arguments,
            compared,
            baseline,
            BandPlan(np.array(levels), level, simultaneous, size),
            int(random_generator(rng).integers(1 << 62)),
        )
        columns = with_models(args, MEAN_DIFFERENCES)
        of_means: FrameT = run(frame, means, columns, keys=args.keys)
        return of_means
    refuse_curve_options(interpolate=interpolate, anchor=anchor)
    require_items("compare_curves", args)
    checks.one_of("incomplete", incomplete, get_args(Incomplete))
    plan = _Differences(
        args=args,
        baseline=baseline,
        incomplete=cast("Incomplete", incomplete),
        band=BandPlan(band_levels(recall, recall_range), level, simultaneous, size, share),
        seed=int(random_generator(rng).integers(1 << 62)),
    )
    schema = with_models(args, DIFFERENCES)
    result: FrameT = run(frame, plan, schema)
    return result


@dataclass(frozen=True)
class _Differences(Plan):
    """The plan of the comparison of curves."""

    baseline: object
    incomplete: Incomplete
    band: BandPlan
    seed: int

    def accepts(self) -> Accepts:
        """Return the arguments under which each model ranks the same items."""
        return on_same_items("compare_curves")

    def results(self, source: Source) -> pl.DataFrame:
        """Return a row per group, pair and level."""
        paired = paired_rows(source, self.args, incomplete=self.incomplete)
        schema = with_models(self.args, DIFFERENCES)(source.schema)
        models = pl.Series(paired.models, dtype=schema["model_a"])
        pairs = model_pairs(paired.models, self.baseline)
        tasks = [(number, pair) for number in range(len(paired.groups)) for pair in pairs]
        parts = each_group(lambda task: self._rows(paired, models, *task), tasks, "compare_curves")
        self._warn(paired)
        if not parts:
            return pl.DataFrame(schema=[*key_names(self.args), *schema])
        return pl.concat(parts).with_columns(method=pl.lit(_METHOD))

    def _rows(
        self, paired: PairedRows, models: pl.Series, number: int, pair: tuple[int, int]
    ) -> pl.DataFrame:
        """Return the rows of a pair of models in a group."""
        group, size = paired.groups[number], self.band.n_resamples
        levels = [group.level[model] for model in pair]
        scores = [np.where(level > 0, level, -np.inf) for level in levels]
        # Models are compared in order of their names, so that their order changes signs alone.
        in_order = str(models[pair[0]]) <= str(models[pair[1]])
        first, second = scores if in_order else scores[::-1]
        rng = np.random.default_rng(self.seed)
        found = curve_difference((first, second), group.positive, group.cluster, self.band, rng)
        numbers = (found if in_order else found.reversed())._asdict()
        numbers["conf_low"], numbers["conf_high"] = numbers.pop("low"), numbers.pop("high")
        p_value = numbers["p_value"]
        numbers["p_std_error"] = np.sqrt(p_value * (1 - p_value) / size)
        return pair_rows(paired.keys[number : number + 1], models, pair, numbers)

    def _warn(self, paired: PairedRows) -> None:
        """Warn of groups without curves, and of groups without bands."""
        positives, ends = positives_of(self.args), ["conf_low", "conf_high", "p_value"]
        # Each group is named in one warning, with everything that it lacks.
        curveless = [not group.positive.any() for group in paired.groups]
        bandless = [not has_band(group.positive, group.cluster) for group in paired.groups]
        lacking = {"curveless": curveless, "bandless": bandless}
        columns = [pl.Series(name, flags, dtype=pl.Boolean) for name, flags in lacking.items()]
        groups, no_curve = pl.DataFrame([*paired.keys, *columns]), pl.col("curveless")
        curves = ["precision_a", "precision_b", "difference", *ends]
        warn_undefined(curves, groups, self.args, no_curve, [positives])
        clusters = self.args.cluster is not None
        why = why_bandless(LEAST_POSITIVES, positives, clusters=clusters)
        warn_null(ends, groups, self.args, pl.col("bandless") & ~no_curve, why)
