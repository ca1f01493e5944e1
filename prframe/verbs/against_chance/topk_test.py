"""The verb of tests and intervals of the hits among the first k of each group."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, Unpack, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.hits import Hits
from prframe._engine.measure import measure as measure_hits
from prframe._engine.pieces import Piece, Ranking
from prframe._engine.ranks import hits
from prframe._engine.rows import key_names
from prframe._engine.runs import Counting
from prframe.metrics.positions import P, R
from prframe.stats import hypergeometric_topk, proportion_interval
from prframe.stats._p_values import check_alternative
from prframe.typing import Alternative, Floats, FrameT, IntervalMethod, Schema, Shared
from prframe.verbs._verb import Accepts, positives_of, run, verb, warn_null, warn_undefined
from prframe.verbs.against_chance.plans import CorrectedTests, Correction, columns_with_p

Measure: TypeAlias = Literal["precision", "recall"]


_SHARES = ("precision", "recall", "null_mean", "null_std", "p_value", "conf_low", "conf_high")


@verb
def topk_test(
    frame: FrameT,
    score: str = "score",
    label: str = "label",
    *,
    k: int | Sequence[int] = 10,
    measure: Measure = "precision",
    alternative: Alternative = "greater",
    correction: Correction | None = None,
    confidence_level: float = 0.95,
    method: IntervalMethod = "clopper-pearson",
    **shared: Unpack[Shared],
) -> FrameT:
    """Test whether the first k of each group contain more positives than expected by chance.

    If n_pos of n items are positive, k random items contain x positives with probability
    ``C(n_pos, x) C(n - n_pos, k - x) / C(n, k)``.

    Parameters
    ----------
    frame : {frames}
        One row per item, with all items of a group: those never retrieved as well, at a score of
        -inf or counted in `n_pos` and `n_neg`.
    {shared}
    k : int or list of int
        Cut-offs.
    measure : {"precision", "recall"}
        The quantity of ``null_mean``, ``null_std``, ``conf_low`` and ``conf_high``: ``hits / k``
        or ``hits / n_pos``. The p-value is the same.
    alternative : {"greater", "less", "two-sided"}
        More hits than at random, fewer, or either: the sum over all outcomes that are no more
        likely than the observed one.
    correction : {"bonferroni", "holm", "bh", "by"}, optional
        Adjust the p-values for the number of all rows that have one, groups times cut-offs.
    confidence_level : float in (0, 1)
        Coverage of the interval.
    method : {"clopper-pearson", "jeffreys", "posterior"}
        The interval: "clopper-pearson" is never too short, "jeffreys" about right on average,
        "posterior" has the quantiles under a uniform prior. See
        `prframe.stats.proportion_interval`.

    Returns
    -------
    frame of the caller's kind
        A row per group and cut-off: the `by` columns, ``k``, ``hits`` (Int64), ``precision``,
        ``recall`` (P@k and R@k of `evaluate`), ``null_mean``, ``null_std``, ``p_value``,
        ``conf_low``, ``conf_high`` (Float64), ``method`` (String), the interval's, and with
        `correction` ``p_adjusted`` (Float64).

    Raises
    ------
    PrframeError
        An unknown option, `weight` or ``ties="expected"``, or rows that cannot be ranked.

    Warns
    -----
    UndefinedMetricWarning
        Groups without positives have no recall and no test. With ``ties="group"``, where tied
        items with different labels stand on both sides of a cut-off: hits, p-value and interval
        are null.
    UnlistedItemsWarning
        A column ``judged`` is not all true, and there is no `n_neg`.

    Notes
    -----
    A group that retrieves fewer than k items is compared with a random selection of that many; in
    precision and its interval an empty position is a miss. The test conditions on n_pos. The
    intervals treat the k positions, or the positives, as independent trials. ``ties="best"`` and
    ``"worst"`` give the range over the orders of ties.

    References
    ----------
    Zhang & Su 2012, eq. (4); Clopper & Pearson 1934; Brown, Cai & DasGupta 2001; Goutte &
    Gaussier 2005.

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": range(20, 0, -1), "label": [1, 1, 1, 0, 1] + [0] * 15})
    >>> found = prframe.topk_test(frame, k=[3, 5])
    >>> found.select("k", "hits", pl.col("precision", "null_mean", "p_value").round(6)).rows()
    [(3, 3, 1.0, 0.2, 0.003509), (5, 4, 0.8, 0.2, 0.001032)]
    """
    args = Arguments(score, label, **shared)
    checks.one_of("measure", measure, get_args(Measure))
    check_alternative(alternative)
    checks.one_of("method", method, get_args(IntervalMethod))
    level = float(checks.number("confidence_level", confidence_level, above=0, below=1))
    test = _Test(args, correction, checks.cutoffs(k), measure, alternative, level, method)
    result: FrameT = run(frame, test, _columns(corrected=correction is not None))
    return result


def _columns(*, corrected: bool) -> Schema:
    """Return the columns of tests at cut-offs."""
    counts = {"k": pl.Int64(), "hits": pl.Int64()}
    return counts | columns_with_p(_SHARES, corrected=corrected)


@dataclass(frozen=True)
class _Test(CorrectedTests):
    """The plan of the tests at the cut-offs."""

    cutoffs: list[int]
    measure: Measure
    alternative: Alternative
    confidence_level: float
    method: IntervalMethod

    def accepts(self) -> Accepts:
        """Return the arguments under which the number of hits is whole."""
        return Accepts(
            "topk_test",
            whole_items="counts",
            one_ranking="and the test needs the hits of one; use",
            has_mean=False,
            at_random=True,
            # The test needs nothing but the ranks of the positives.
            counting=Counting(),
        )

    def of_groups(self, source: Source) -> pl.DataFrame:
        """Return one row per group and cut-off, before p-values are adjusted."""
        rows = Ranking(source, self.args).over_groups(self._counted)
        rows = rows.with_columns(pl.Series(name, v) for name, v in self._statistics(rows).items())
        without, tied = pl.col("n_pos") == 0, pl.col("tied")
        ends = without if self.measure == "recall" else pl.lit(value=False)
        self._warn(rows)
        return rows.with_columns(
            pl.when(~without).then(pl.col("recall", "null_mean", "null_std")),
            pl.when(~tied).then("hits"),
            pl.when(~(without | tied)).then("p_value"),
            pl.when(~(ends | tied)).then(pl.col("conf_low", "conf_high")),
            method=pl.lit(self.method),
        )

    def _counted(self, piece: Piece) -> pl.DataFrame:
        """Return the hits of each group at every cut-off."""
        group_hits = hits(piece)
        metrics = [*(P @ k for k in self.cutoffs), *(R @ k for k in self.cutoffs)]
        values = measure_hits(group_hits, metrics, ties=self.args.ties).to_numpy()
        precision, recall = np.split(values, 2, axis=1)
        columns = {
            "k": np.broadcast_to(np.array(self.cutoffs), precision.shape),
            "hits": np.rint(precision * self.cutoffs).astype(np.int64),
            "precision": precision,
            "recall": recall,
            "tied": _tied(group_hits, self.cutoffs),
        }
        totals = group_hits.totals.select(*key_names(self.args), "n", "n_pos", "n_neg")
        repeated = totals[np.repeat(np.arange(totals.height), len(self.cutoffs))]
        return repeated.with_columns(pl.Series(name, v.ravel()) for name, v in columns.items())

    def _statistics(self, rows: pl.DataFrame) -> dict[str, Floats]:
        """Return tests against the selection of as many items as are retrieved, and intervals."""
        names = ("hits", "k", "n", "n_pos", "n_neg")
        n_hits, k, n, n_pos, n_neg = (rows[name].to_numpy() for name in names)
        selected = np.minimum(k, n)
        test = hypergeometric_topk(n_hits, n_pos + n_neg, n_pos, selected, self.alternative)
        trials = k if self.measure == "precision" else n_pos
        scale = selected / np.maximum(trials, 1)
        interval = proportion_interval(n_hits, trials, self.confidence_level, self.method)
        return {
            "null_mean": test.null_mean * scale,
            "null_std": test.null_std * scale,
            "p_value": test.p_value,
            "conf_low": interval.low,
            "conf_high": interval.high,
        }

    def _warn(self, rows: pl.DataFrame) -> None:
        """Warn of groups without positives and of those whose hits depend on ties."""
        ends = ["conf_low", "conf_high"]
        of_positives = ["recall", "null_mean", "null_std", "p_value"]
        if self.measure == "recall":
            of_positives += ends
        without, lack = pl.col("n_pos") == 0, [positives_of(self.args)]
        warn_undefined(of_positives, rows, self.args, without, lack)
        why = "where tied items decide how many hits there are"
        remedy = (
            "; order them with ties='order' or 'trec', or see the range from 'worst' to 'best'"
        )
        warn_null(["hits", "p_value", *ends], rows, self.args, pl.col("tied"), why, remedy=remedy)


def _tied(group_hits: Hits, cutoffs: list[int]) -> NDArray[np.bool_]:
    """Return for each group and cut-off whether a tie block with both labels straddles it."""
    group, start, end, hit, last = (
        group_hits.table[name].to_numpy()
        for name in ("group", "start", "end", "tp_start", "tp_end")
    )
    mixed = last - hit < end - start
    tied = np.zeros((group_hits.totals.height, len(cutoffs)), dtype=np.bool_)
    for i, k in enumerate(cutoffs):
        tied[group[mixed & (start < k) & (k < end)], i] = True
    return tied
