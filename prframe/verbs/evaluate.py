"""The verb that computes metrics of each group."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, Unpack, get_args

import polars as pl

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.measure import thresholds_of
from prframe._engine.rows import key_names
from prframe._engine.runs import Counting
from prframe.errors import ArgumentError
from prframe.metrics import Metric
from prframe.typing import Columns, FrameT, Layout, Schema, Shared
from prframe.verbs._evaluation import Evaluation, named
from prframe.verbs._verb import Accepts, TwoStepPlan, grouped_over, run, score_columns, verb

Shape: TypeAlias = Literal["wide", "long", "summary"]

# Values have the floor of trec_eval, so that one query without success does not make a geometric
# mean 0.
_LEAST = 1e-5


@verb
def evaluate(
    frame: FrameT,
    metrics: str | Metric | Sequence[str | Metric],
    score: Columns = "score",
    label: str = "label",
    *,
    judged: str = "judged",
    undefined: float | None = None,
    over: Columns | None = None,
    geometric_mean: bool = False,
    include_unretrieved: bool = False,
    prior: float | None = None,
    interpolate: bool = False,
    layout: Layout | None = None,
    **shared: Unpack[Shared],
) -> FrameT:
    """Compute metrics of each group's ranking.

    Parameters
    ----------
    frame : {frames}
        One row per item.
    metrics : str, Metric or list of these
        Names such as ``"AP"``, ``"nDCG@10"``, with parameters ``"P(rel=2)@5"``, or catalogue
        objects such as ``prframe.nDCG(gain="exp") @ 10`` (`prframe.CATALOGUE`). You may use names
        of trec_eval, ranx and ir_measures (``"map_cut_10"``, ``"ndcg@10"``, ``"recip_rank"``).
    {shared}
    judged : str
        Boolean column of judged items, for Bpref, infAP and Judged; `prframe.trec.join` adds it. A
        negative label that is not judged means pooled but not assessed.
    undefined : float, optional
        Value of undefined metrics; trec_eval writes 0. Default: null and a warning.
    over : str or list of str, optional
        Summarise over these columns, for instance queries: evaluate each group of `by` and `over`,
        and return one row per group of `by` and metric.
    geometric_mean : bool
        With `over`, add the geometric mean; values below 1e-5 count as 1e-5 (trec_eval's gm_map).
    include_unretrieved : bool
        Rank items of score -inf below all others, instead of counting them as not retrieved.
    prior : float in [0, 1], optional
        Share of positives to which precision is normalised (Hoiem et al. 2012):
        ``tp' = tp prior / n_pos``, ``fp' = fp (1 - prior) / n_neg``. For AP, AP@k, AUPRC, AUPRG,
        AP11, IPrec, MaxF1, Prec, pAP, R at a precision, SetP, SetF, SetAP, and P, F1, F and MCC at
        a threshold. AUC, pAUC, SetR, and recall, specificity and balanced accuracy at a threshold
        do not change.
    interpolate : bool
        Replace precision by the largest precision at that recall or beyond. For AP, AUPRC.
    layout : {"wide", "long"}, optional
        One column per metric (the default), or one row per group and metric. With `over` "wide"
        gives the means alone.

    Returns
    -------
    frame of the caller's kind
        The `by` columns, then one Float64 column per metric, named as in `metrics`; or ``metric``
        (String) and ``value`` (Float64). With `over`: ``metric`` (String), ``mean``, ``std`` (with
        n - 1; Float64), ``n`` values and ``n_undefined``, which do not enter the mean (Int64), and
        with `geometric_mean` ``geometric_mean`` (Float64). If `score` is a list, ``model``
        (String), the column of scores, comes before these. Groups in order of first appearance.

    Raises
    ------
    PrframeError
        An unknown metric or option, a metric that does not support `weight`, `prior`,
        `interpolate` or the tie policy, or rows that cannot be ranked.

    Warns
    -----
    UndefinedMetricWarning
        Some groups lack the positives (or negatives) that a metric needs; their value is null.

    Notes
    -----
    `score` may be a list of columns, one per model, for the same items.

    These metrics support `weight`, without `rel`: AP, AP@k, AP11, AUC, AUPRC, AUPRG,
    BalancedAccuracy, MaxF1, MCC, pAP, pAUC, Prec, Specificity, W, R at a precision, and P, R, F
    and F1 at a threshold.

    With ``ties="group"``, metrics on thresholds (AP, AUPRC, AP11, IPrec, Prec, MaxF1, AUC, infAP)
    count at the ends of tie blocks; metrics on positions are the mean over all orders within the
    blocks, in closed form. With ``"expected"`` AP and AUPRC are that mean as well, AP11, IPrec,
    Prec and MaxF1 refuse it; infAP takes ``"group"``, ``"order"`` and ``"trec"``.

    References
    ----------
    The attribute `source` of each metric, as in ``prframe.CATALOGUE["nDCG"].source``.

    Examples
    --------
    >>> import polars as pl, prframe
    >>> ranked = pl.DataFrame({"score": [3, 2, 1, 2, 1, 1], "label": [1, 0, 1, 0, 1, 0]})
    >>> frame = ranked.with_columns(query=pl.Series(list("aaabbb")))
    >>> prframe.evaluate(frame, ["AP", "P@1", "RR"], by="query")
    shape: (2, 4)
    ┌───────┬──────────┬─────┬──────────┐
    │ query ┆ AP       ┆ P@1 ┆ RR       │
    │ ---   ┆ ---      ┆ --- ┆ ---      │
    │ str   ┆ f64      ┆ f64 ┆ f64      │
    ╞═══════╪══════════╪═════╪══════════╡
    │ a     ┆ 0.833333 ┆ 1.0 ┆ 1.0      │
    │ b     ┆ 0.333333 ┆ 0.0 ┆ 0.416667 │
    └───────┴──────────┴─────┴──────────┘
    """
    wanted = named(metrics)
    needs_judgments = any(metric.judged for metric in wanted.values())
    scores = score_columns(score)
    args = Arguments(scores[0], label, judged=judged if needs_judgments else None, **shared)
    args = replace(args, further_scores=tuple(scores[1:]))
    checks.flag("include_unretrieved", include_unretrieved)
    if layout is not None:
        checks.one_of("layout", layout, get_args(Layout))
    checks.flag("geometric_mean", geometric_mean)
    if geometric_mean and layout == "wide":
        raise ArgumentError(
            "`geometric_mean` is a column beside the mean, for which layout='wide' has no place; "
            "leave one of them out."
        )
    if geometric_mean and over is None:
        raise ArgumentError("`geometric_mean` is one over groups; name them with over=.")
    grouped = args if over is None else grouped_over(args, over)
    evaluation = Evaluation(
        args=grouped,
        wanted=wanted,
        include_unretrieved=include_unretrieved,
        prior=None if prior is None else checks.fraction("prior", prior),
        interpolate=interpolate,
        undefined=None if undefined is None else checks.number("undefined", undefined),
        n_over=len(grouped.keys) - len(args.keys),
    )
    shape: Shape = layout or "wide"
    if over is not None and layout != "wide":
        shape = "summary"
    plan = _Values(evaluation.args, evaluation, key_names(args), shape, geometric_mean)
    result: FrameT = run(frame, plan, plan.columns(), keys=args.keys)
    return result


@dataclass(frozen=True)
class _Values(TwoStepPlan):
    """The plan of an evaluation, and the shape of its result."""

    evaluation: Evaluation
    keys: list[str]
    shape: Shape
    geometric_mean: bool

    def columns(self) -> Schema:
        """Return the columns of the result, which depend on its shape."""
        model = {"model": pl.String()} if self.args.further_scores else {}
        if self.shape == "wide":
            return model | {metric: pl.Float64() for metric in self.evaluation.wanted}
        if self.shape == "long":
            return model | {"metric": pl.String(), "value": pl.Float64()}
        columns = {"metric": pl.String(), "mean": pl.Float64(), "std": pl.Float64()}
        columns |= {"n": pl.Int64(), "n_undefined": pl.Int64()}
        columns |= {"geometric_mean": pl.Float64()} if self.geometric_mean else {}
        return model | columns

    def accepts(self) -> Accepts:
        """Return that every argument is accepted that the metrics take."""
        evaluation = self.evaluation
        return Accepts(
            "evaluate",
            uses_grades=evaluation.uses_grades,
            counts_hits=evaluation.counts_hits,
            counting=Counting(
                evaluation.needed_columns, thresholds_of(evaluation.wanted.values())
            ),
        )

    def check(self) -> None:
        """Refuse options that have no meaning for a metric."""
        self.evaluation.check()

    def looks_at_all(self) -> bool:
        """Return whether values are summarised over groups."""
        return len(self.args.keys) > len(self.keys)

    def of_all(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return a row per group, or per group and metric."""
        names = list(self.evaluation.wanted)
        keys = [*self.keys, *(["model"] if self.args.further_scores else [])]
        if self.shape == "summary":
            return _summary(rows, names, keys, geometric_mean=self.geometric_mean)
        if self.shape == "long":
            return _long(rows, names, keys)
        if not self.looks_at_all():
            return rows
        means = pl.col(names).sort().mean()
        groups = rows.group_by(keys, maintain_order=True) if keys else None
        return rows.select(means) if groups is None else groups.agg(means)

    def of_groups(self, source: Source) -> pl.DataFrame:
        """Return one row per group and model, the models of a group after one another."""
        if not self.args.further_scores:
            values = self.evaluation.measured(source)
            self.evaluation.warn(values)
            return values
        scores = [self.args.score, *self.args.further_scores]
        parts = self.evaluation.of_scores(source, scores)
        named = zip(parts, scores, strict=True)
        rows = pl.concat(part.with_columns(model=pl.lit(score)) for part, score in named)
        keys = key_names(self.args)
        if not keys:
            return rows
        order = rows.select(keys).unique(maintain_order=True).with_row_index("group")
        numbered = rows.join(order, on=keys, nulls_equal=True, how="left", maintain_order="left")
        return numbered.sort("group", maintain_order=True).drop("group")


def _long(values: pl.DataFrame, names: list[str], keys: list[str]) -> pl.DataFrame:
    """Return the columns of metrics as rows, group after group."""
    rows = values.select(
        *keys,
        pl.lit(pl.Series([names], dtype=pl.List(pl.String))).first().alias("metric"),
        pl.concat_list(names).alias("value"),
    )
    return rows.explode("metric", "value")


def _summary(
    values: pl.DataFrame, names: list[str], keys: list[str], *, geometric_mean: bool
) -> pl.DataFrame:
    """Return a summary of the values of each group of `by`."""
    # Sums of sorted values do not depend on the order of the rows.
    value = pl.col("value").sort()
    columns = {
        "mean": value.mean(),
        "std": value.std(),
        "n": value.count(),
        "n_undefined": value.null_count(),
    }
    if geometric_mean:
        columns["geometric_mean"] = value.clip(_LEAST).log().mean().exp()
    return (
        _long(values, names, keys).group_by([*keys, "metric"], maintain_order=True).agg(**columns)
    )
