"""The verb that compares the precision-recall curves of models, on items or over queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.frames import Source
from prframe._engine.rows import key_names
from prframe.draws import INTERVAL_DRAWS
from prframe.errors import ArgumentError
from prframe.stats import PairedFamily
from prframe.stats._arrays import random_generator
from prframe.stats._units import units_of
from prframe.stats.curves import (
    LEAST_POSITIVES,
    BandPlan,
    band_levels,
    curve_difference,
    has_band,
)
from prframe.stats.intervals import Confidence, mean_band
from prframe.stats.paired_values import rounded_differences
from prframe.typing import Columns, Floats, FrameT, Integers, Schema, Shared
from prframe.verbs._evaluation import prior_of
from prframe.verbs._groups import each_group, resamples
from prframe.verbs._precomputed_values import MetricValues
from prframe.verbs._verb import (
    Accepts,
    Plan,
    positives_of,
    run,
    verb,
    warn_null,
    warn_undefined,
    why_bandless,
)
from prframe.verbs.comparison.on_items import PairedRows, paired_rows
from prframe.verbs.comparison.over_queries import student_intervals
from prframe.verbs.comparison.query_values import (
    ComparedValues,
    Stratum,
    ValuesPlan,
)
from prframe.verbs.comparison.rows import (
    ON_ITEMS,
    Incomplete,
    model_arguments,
    model_pairs,
    on_same_items,
    require_items,
    with_models,
)
from prframe.verbs.curves.drawing import (
    PrecisionAtLevels,
    mean_band_levels,
    mean_of,
    of_one_ranking,
    refuse_curve_options,
    series,
    with_key,
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
    incomplete: Incomplete = "raise",
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
        `confidence_level`, or (without `over`) at each level separately.
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
    UndefinedMetricWarning
        Groups with fewer than 3 positives, or clusters that hold either class, have no band;
        groups without positives have no curves. With `over` queries without positives do not
        enter, and pairs with fewer than two queries, or clusters, in common have no band.

    Notes
    -----
    With `simultaneous`, ``p_value`` tests that the curves are equal at all these levels. It is the
    smallest alpha at which the band of level 1 - alpha excludes 0 somewhere. It is two-sided, and
    not adjusted for the number of pairs.

    With `over`, whole curves of queries, or clusters, are resampled, and the band is that of
    `band`. The p-value is from random signs of whole curves of differences, ``P(max_b |t*(b)| >=
    max_b |t(b)|)``; near the threshold it and the band can disagree. For single levels compare
    ``Prec@r`` (``IPrec@r`` with ``interpolate=True``).

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
    >>> band.select(pl.col("difference", "conf_low", "conf_high", "p_value").round(4)).row(1)
    (0.2766, 0.1345, 0.4629, 0.0005)
    """
    args = model_arguments(score, label, shared, model=model, cluster=cluster)
    level = float(checks.number("confidence_level", confidence_level, above=0, below=1))
    checks.flag("simultaneous", simultaneous)
    size, share = resamples(n_resamples, level), prior_of(prior)
    if over is not None:
        if not simultaneous:
            raise ArgumentError(
                "`simultaneous=False` is for curves on the same items; with `over`, compare "
                "'Prec@0.5' and the like, a metric for each level."
            )
        levels = mean_band_levels(recall, recall_range)
        curves = PrecisionAtLevels.of(
            args, levels, interpolate=interpolate, anchor=anchor, prior=share
        )
        compared = ComparedValues.of(args, over, incomplete, curves, None, None)
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
    checks.one_of("incomplete", incomplete, ON_ITEMS.incomplete)
    plan = _Differences(
        args=args,
        baseline=baseline,
        incomplete=incomplete,
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


_ENDS = ["conf_low", "conf_high", "p_value"]
_NUMBERS = ("recall", "precision_a", "precision_b", "difference", *_ENDS)
DIFFERENCES: Schema = {
    **dict.fromkeys(_NUMBERS, pl.Float64()),
    "method": pl.String(),
    "p_std_error": pl.Float64(),
}
MEAN_DIFFERENCES: Schema = {**DIFFERENCES, "n": pl.Int64()}
_NUMBERS_OF_BAND = (*_ENDS, "p_std_error")


def pair_rows(
    key: pl.DataFrame, models: pl.Series, pair: tuple[int, int], numbers: Mapping[str, Floats]
) -> pl.DataFrame:
    """Return the rows of a pair of models in a group, with columns of numbers at each level."""
    sides = zip(("model_a", "model_b"), pair, strict=True)
    names = {side: models[np.full(numbers["recall"].size, model)] for side, model in sides}
    return with_key(key, pl.DataFrame(names | series(numbers)))


@dataclass(frozen=True)
class MeanDifferences(ValuesPlan):
    """The plan of the comparison of mean curves."""

    baseline: object
    band: BandPlan
    seed: int

    def accepts(self) -> Accepts:
        """Return the arguments under which each group has one ranking."""
        return of_one_ranking("compare_curves")

    def of_values(self, values: MetricValues) -> pl.DataFrame:
        """Return a row per group, pair of models and level, and warn of pairs without a band."""
        models, strata = self.compared.strata(values)
        pairs = model_pairs(models.to_list(), self.baseline)
        tasks = [(stratum, models, pair) for stratum in strata for pair in pairs]
        parts = each_group(lambda task: self._rows(*task), tasks, "compare_curves")
        kept = self.compared.args
        if not parts:
            return pl.DataFrame(schema=[*key_names(kept), "model_a", "model_b", *MEAN_DIFFERENCES])
        rows = pl.concat(parts)
        self.warn_lacking(rows, _ENDS, "curves")
        return rows

    def _rows(self, stratum: Stratum, models: pl.Series, pair: tuple[int, int]) -> pl.DataFrame:
        """Return the rows of a pair of models in a group."""
        first, second = (
            np.stack([values[model] for values in stratum.values.values()], axis=1)
            for model in pair
        )
        paired = ~np.isnan(first - second).any(axis=1)
        first, second = first[paired], second[paired]
        differences = rounded_differences(first, second)
        cluster = None if stratum.cluster is None else stratum.cluster[paired]
        units = units_of(cluster, len(differences))
        # The differences at each level are those of a pair, all over the same units.
        sizes = units.sums_of_rows(np.ones_like(differences))
        family = PairedFamily(units.sums_of_rows(differences), sizes)
        numbers = {
            "recall": self.band.recall,
            "precision_a": mean_of(first),
            "precision_b": mean_of(second),
            "difference": mean_of(differences),
        }
        ends, method = self._band(differences, cluster, family)
        return pair_rows(stratum.key, models, pair, numbers | ends).with_columns(
            method=pl.lit(method), n=pl.lit(len(first), dtype=pl.Int64)
        )

    def _band(
        self, differences: Floats, cluster: Integers | None, family: PairedFamily
    ) -> tuple[dict[str, Floats], str]:
        """Return the band of all levels at once, its p-value by the largest t, and the method.

        The band holds the interval of each level, as drawn means of two or three queries are too
        close to each other.
        """
        draws, n_levels = self.band.n_resamples, self.band.recall.size
        rng = np.random.default_rng(self.seed)
        band = mean_band(differences, self._confidence, draws, rng, cluster)
        low, high = student_intervals(family, self._confidence).T
        tests = family.max_t(draws, np.random.default_rng(self.seed), "two-sided")
        least = int(tests.p_values.argmin())
        ends = np.fmin(band.low, low), np.fmax(band.high, high)
        p_values = (np.full(n_levels, of_all[least]) for of_all in tests[:2])
        columns = dict(zip(_NUMBERS_OF_BAND, (*ends, *p_values), strict=True))
        return columns, f"max-t-{tests.method}"

    @property
    def _confidence(self) -> Confidence:
        """The coverage of a band, and the range of differences."""
        return Confidence(self.band.confidence_level, limits=(-1.0, 1.0))
