"""The verb that draws confidence bands around each group's precision-recall curve."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import Any, Literal, NamedTuple, TypeAlias, Unpack

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.pieces import Piece, Ranking
from prframe._engine.ranks import class_scores, clustered, hits
from prframe._engine.rows import key_names
from prframe.draws import INTERVAL_DRAWS
from prframe.errors import ArgumentError
from prframe.stats._arrays import random_generator
from prframe.stats.curves import (
    Weights,
    band_levels,
    clusters_of_either_class,
    drawn_weights,
    empirical_precision,
    posterior_of,
    posterior_of_clusters,
    pr_asymptotic_band,
    pr_asymptotic_interval,
    pr_bootstrap,
    precision_at_prior,
)
from prframe.stats.rankings import RankedCells
from prframe.tie_policies import BLOCKS, WITHOUT_LABELS
from prframe.typing import Columns, Flags, Floats, FrameT, Integers, Shared
from prframe.verbs._evaluation import prior_of
from prframe.verbs._groups import each_shape, group_cells, resamples, shape_of
from prframe.verbs._mean_samples import warn_of_folds
from prframe.verbs._verb import (
    Accepts,
    Plan,
    grouped_over,
    positives_of,
    run,
    verb,
    warn_null,
    warn_undefined,
    why_bandless,
)
from prframe.verbs.curves.drawing import (
    BAND_COLUMNS,
    MeanBands,
    Method as MeanMethod,
    PrecisionAtLevels,
    mean_band_levels,
    refuse_curve_options,
)

Method: TypeAlias = Literal["auto", "bayesian-bootstrap", "smoothed-bootstrap", "asymptotic"]

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
    method : {"auto", "bayesian-bootstrap", "smoothed-bootstrap", "asymptotic"}
        ``"auto"``: the Bayesian bootstrap, which depends on ranks alone. The others replicate
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
        ``"asymptotic"``), fewer than 3 clusters of a class, or no negatives have no band, nor have
        fewer than two curves of a mean. Groups without positives have no curve.

    Notes
    -----
    At recall j / n_pos, precision is that of `curve`; within a tie block false positives grow in
    proportion (Davis & Goadrich 2006). Beyond the recall of the retrieved items precision is 0.
    Rows, or clusters, are taken as independent of each other, and the number of positives as
    random. All groups are drawn with the same random numbers, which makes their bands comparable.

    With `over` whole curves, or clusters of them, are resampled. The simultaneous band is
    symmetric on the logit scale, and a multiple of the standard error at each level; the multiple
    is a quantile of the largest studentized deviation of a bootstrap mean. At single levels the
    intervals are those of `interval` for Prec@r (IPrec@r with ``interpolate=True``).

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
    >>> found.select(pl.col("recall", "precision", "conf_low", "conf_high").round(3)).row(1)
    (0.5, 0.641, 0.409, 0.874)
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


# A band needs so many positives in a group, and more where densities are estimated.
_LEAST = {"bayesian-bootstrap": 3, "smoothed-bootstrap": 5, "asymptotic": 10}


class _Group(NamedTuple):
    """The cells of a group, and what else a method asks of its items."""

    cells: RankedCells
    # Of both classes, if the method smooths them.
    scores: tuple[Floats, Floats] | None
    # The level of each item, whether it is positive, and its cluster.
    clustered: tuple[Floats, Flags, Integers] | None

    def shape(self) -> Hashable:
        """Return what groups of the same band have in common; with scores or clusters none."""
        is_alone = self.scores is not None or self.clustered is not None
        return object() if is_alone else shape_of(self.cells)

    @property
    def n_clusters(self) -> float:
        """The number of clusters that hold positives, or negatives if these are fewer, or inf."""
        if self.clustered is None:
            return np.inf
        return clusters_of_either_class(*self.clustered[1:])


@dataclass(frozen=True)
class ItemBands(Plan):
    """The plan of the bands of all groups."""

    name: str
    levels: Floats
    simultaneous: bool
    confidence_level: float
    n_resamples: int
    seed: int
    prior: float | None = None

    def accepts(self) -> Accepts:
        """Return the arguments under which rows are a sample; smoothing needs whole blocks."""
        # Clusters share the draws of tied rows, which their order would tell apart.
        by_rank = self.name == "bayesian-bootstrap" and self.args.cluster is None
        return Accepts(
            "band",
            whole_items="draws",
            ties=WITHOUT_LABELS if by_rank else BLOCKS,
            taker=f"the {self.name} band",
            clusters_of_items=True,
        )

    def check(self) -> None:
        """Refuse options that do not go together."""
        checks.flag("simultaneous", self.simultaneous)
        if self.name == "smoothed-bootstrap" and not self.simultaneous:
            raise ArgumentError(
                "method='smoothed-bootstrap' is a band for all levels at once; for single ones "
                "leave it out."
            )
        if self.name == "bayesian-bootstrap":
            return
        for option, given in (("cluster", self.args.cluster), ("prior", self.prior)):
            if given is not None:
                raise ArgumentError(
                    f"`{option}` is for method='auto'; the {self.name} band knows none; leave one "
                    "of them out."
                )

    def results(self, source: Source) -> pl.DataFrame:
        """Return the rows of all groups."""
        extra = () if self.name == "bayesian-bootstrap" else ("score",)
        rows = Ranking(source, self.args, extra=extra).over_groups(self._piece)
        self._warn(rows)
        return rows.drop("n_pos", "lacking")

    def _piece(self, piece: Piece) -> pl.DataFrame:
        """Return the rows of the groups of a piece."""
        group_hits = hits(piece)
        scores = class_scores(piece) if self.name != "bayesian-bootstrap" else repeat(None)
        clusters = repeat(None) if self.args.cluster is None else clustered(piece)
        parts = zip(group_cells(group_hits), scores, clusters, strict=False)
        groups = [_Group(*part) for part in parts]
        curves = each_shape(self._curve, groups, _Group.shape, "band")
        few = pl.col("n_pos") < _LEAST[self.name]
        few |= pl.Series([group.n_clusters < _LEAST[self.name] for group in groups])
        totals = group_hits.totals.select(
            *key_names(self.args),
            "n_pos",
            (few | (pl.col("n_neg") == 0)).alias("lacking"),
        )
        values = np.array(curves).reshape(-1, 3, self.levels.size)
        names = ("precision", "conf_low", "conf_high")
        columns = {"recall": np.broadcast_to(self.levels, values[:, 0].shape)}
        columns |= zip(names, np.moveaxis(values, 1, 0), strict=True)
        repeated = totals[np.repeat(np.arange(totals.height), self.levels.size)]
        return repeated.with_columns(
            *(pl.Series(name, v.ravel()).fill_nan(None) for name, v in columns.items()),
            method=pl.lit(self.name),
            confidence_level=pl.lit(self.confidence_level),
            simultaneous=pl.lit(self.simultaneous),
        )

    @cached_property
    def _weights(self) -> list[Weights]:
        """The weights of the Bayesian bootstrap, which all groups share."""
        return drawn_weights(self.n_resamples, np.random.default_rng(self.seed))

    def _curve(self, group: _Group) -> tuple[Floats, Floats, Floats]:
        """Return precision and the ends of its band at the levels."""
        cells, nothing = group.cells, np.full(self.levels.size, np.nan)
        if not cells.n_pos:
            return nothing, nothing, nothing
        precision = empirical_precision(cells, self.levels)
        precision = precision_at_prior(precision, cells.n_pos, cells.n_neg, self.prior)
        if min(cells.n_pos, group.n_clusters) < _LEAST[self.name] or not cells.n_neg:
            return precision, nothing, nothing
        if group.scores is not None:
            return (precision, *self._of_scores(cells, group.scores))
        if group.clustered is None:
            drawn = posterior_of(cells, self.levels, self._weights, self.prior)
        else:
            rng = np.random.default_rng(self.seed)
            drawn = posterior_of_clusters(
                *group.clustered, self.levels, self.n_resamples, rng, self.prior
            )
        ends = drawn.band(self.confidence_level, simultaneous=self.simultaneous)
        return precision, ends.low, ends.high

    def _of_scores(
        self, cells: RankedCells, scores: tuple[Floats, Floats]
    ) -> tuple[Floats, Floats]:
        """Return the ends of a band by a method that smooths the scores of both classes."""
        rng, level = np.random.default_rng(self.seed), self.confidence_level
        options: dict[str, Any] = {"n_pos": cells.n_pos, "n_neg": cells.n_neg}
        draws: dict[str, Any] = {"n_resamples": self.n_resamples, "rng": rng, **options}
        if self.name == "smoothed-bootstrap":
            return pr_bootstrap(*scores, self.levels, **draws).band(level)
        if self.simultaneous:
            found = pr_asymptotic_band(*scores, self.levels, confidence_level=level, **draws)
        else:
            found = pr_asymptotic_interval(*scores, self.levels, confidence_level=level, **options)
        return found.low, found.high

    def _warn(self, rows: pl.DataFrame) -> None:
        """Warn of groups without a band."""
        positives, ends = positives_of(self.args), ["conf_low", "conf_high"]
        # Each group is named in one warning, with everything that it lacks.
        no_curve, lacking = pl.col("n_pos") == 0, pl.col("lacking")
        warn_undefined(["precision", *ends], rows, self.args, no_curve, [positives])
        clusters = self.args.cluster is not None
        why = why_bandless(_LEAST[self.name], positives, clusters=clusters)
        warn_null(ends, rows, self.args, lacking & ~no_curve, why)
        gaps = pl.col("conf_low").is_null() & ~lacking
        why = "where precision is 0 or 1 or the next positives are far"
        warn_null(ends, rows, self.args, gaps, why)


def item_method(method: str) -> str:
    """Return the name in the result of a method of the caller."""
    checks.one_of("method", method, ("auto", *_LEAST))
    return "bayesian-bootstrap" if method == "auto" else method
