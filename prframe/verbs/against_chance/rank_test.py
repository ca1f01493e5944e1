"""The verb of two-sample linear rank tests of each group, with the performance they estimate."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Unpack, get_args

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.pieces import Piece, Ranking
from prframe._engine.ranks import hits, tie_sizes
from prframe._engine.rows import key_names
from prframe._engine.runs import Counting
from prframe.errors import ArgumentError
from prframe.stats._p_values import LEAST, check_alternative
from prframe.stats.intervals import Confidence
from prframe.stats.null import LinearRankNull, RankNullMethod
from prframe.stats.rank_statistics import RankStatistic, rank_null
from prframe.stats.rankings import RankedCells
from prframe.stats.score_functions import Phi, ScoreGeneratingFunction, parse_phi
from prframe.tie_policies import WITHOUT_LABELS
from prframe.typing import Alternative, FrameT, Integers, Shared
from prframe.verbs._groups import each_shape, group_cells, shape_of
from prframe.verbs._verb import (
    Accepts,
    positives_of,
    run,
    verb,
    warn_null,
    warn_of_coverage,
    warn_undefined,
)
from prframe.verbs.against_chance.plans import CorrectedTests, Correction, columns_with_p


@verb
def rank_test(
    frame: FrameT,
    score: str = "score",
    label: str = "label",
    *,
    phi: Phi | list[Phi] = "mww",
    alternative: Alternative = "two-sided",
    method: RankNullMethod = "auto",
    correction: Correction | None = None,
    confidence_level: float = 0.95,
    **shared: Unpack[Shared],
) -> FrameT:
    """Test whether positives rank higher than negatives, by a linear rank statistic.

    The statistic is ``W = sum over positives of phi(rank / (N + 1))``, with ranks that rise with
    the score among all N items. Its p-value is for random labels. The result also estimates the
    performance W_phi, with an interval.

    Parameters
    ----------
    frame : {frames}
        One row per item, with all items of a group: those never retrieved as well, at a score of
        -inf or counted in `n_pos` and `n_neg`; they are tied, last.
    {shared}
    phi : str, ScoreGeneratingFunction, callable, or list of these
        The score-generating function, which says how much each rank counts:

        - "mww", u: the rank sum of Mann, Whitney and Wilcoxon, AUC.
        - "logistic", the same on a scale with variance 1; "van-der-waerden", normal quantiles;
          "logrank", -log(1 - u); "median", the sign of u - 1/2.
        - "local-auc(u0=0.9)", u from u0 on, and "rtb(u0=0.9, beta=20, lam=20)", the same smoothed;
          "p-norm-push(q=3)", u^q; "dcg" or "dcg(k=10)", the discount of DCG.
        - any nondecreasing function of arrays of numbers in (0, 1).

    alternative : {"two-sided", "less", "greater"}
        Twice the smaller of both tails (as in `scipy.stats.mannwhitneyu`); positives rank lower
        than at random, or higher.
    method : {"auto", "exact", "saddlepoint", "normal"}
        "auto" counts rankings if that is fast, and otherwise uses the double saddlepoint
        approximation. "normal" has a continuity correction if W has steps. See
        `prframe.stats.LinearRankNull`.
    correction : {"bonferroni", "holm", "bh", "by"}, optional
        Adjust the p-values for the number of tests; groups without a p-value do not count.
    confidence_level : float in (0, 1)
        Level of the interval, which is two-sided.

    Returns
    -------
    frame of the caller's kind
        A row per group and phi: the `by` columns, ``phi`` (String), ``n_pos``, ``n_neg`` (Int64),
        ``statistic`` = W, ``null_mean``, ``null_std``, ``z``, ``p_value``, ``estimate``,
        ``std_error``, ``conf_low``, ``conf_high`` (Float64), ``method`` (String), how the p-value
        was computed, and with `correction` ``p_adjusted`` (Float64).

    Raises
    ------
    PrframeError
        An unknown phi or option, a function that is not nondecreasing, `weight`, a tie policy
        that looks at labels or is a mean over orders, "exact" with too many rankings, or rows
        that cannot be ranked.

    Warns
    -----
    UndefinedMetricWarning
        Groups without positives have no test; those with a single item of a class, or with one
        score for all items, no interval; nor has "dcg".
    CoverageWarning
        Tied scores at the jump of "local-auc" or "median" may move the estimate by more than a
        standard error, so the interval covers too seldom.
    UnlistedItemsWarning
        A column ``judged`` is not all true, and there is no `n_neg`.

    Notes
    -----
    Mean and standard deviation under random labels are exact, given the ties:
    ``n_pos mean(a)`` and ``n_pos n_neg / (N (N - 1)) sum (a_i - mean(a))^2`` for the numbers
    ``a_i = phi(rank_i / (N + 1))`` of all items, mid-ranks where they tie.

    ``estimate`` is about ``W_phi = E phi(F(X))``, X being the score of a positive and F the
    distribution of all scores; for "mww" it is ``p / 2 + (1 - p) AUC``, p being the share of
    positives. See `prframe.stats.rank_statistic`.

    References
    ----------
    Clemencon, Limnios & Vayatis 2021, eqs. (2.10), (3.3) and (3.7); Hajek, Sidak & Sen 1999;
    DeLong et al. 1988.

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": range(12, 0, -1), "label": [1, 1, 0, 1] * 2 + [0] * 4})
    >>> found = prframe.rank_test(frame, phi=["mww", "p-norm-push"], alternative="greater")
    >>> found.select("phi", pl.col("statistic", "p_value", "estimate").round(6)).rows()
    [('mww', 4.0, 0.020563, 0.680556), ('p-norm-push(q=3)', 2.170232, 0.044372, 0.395161)]
    """
    args = Arguments(score, label, **shared)
    check_alternative(alternative)
    checks.one_of("method", method, get_args(RankNullMethod))
    functions = [
        parse_phi(function) for function in (phi if isinstance(phi, (list, tuple)) else [phi])
    ]
    test = _Test(args, correction, functions, alternative, method, Confidence(confidence_level))
    result: FrameT = run(frame, test, _columns(corrected=correction is not None))
    return result


def _columns(*, corrected: bool) -> dict[str, pl.DataType]:
    """Return the columns of tests by linear rank statistics."""
    numbers = ("statistic", "null_mean", "null_std", "z", "p_value")
    ends = ("estimate", "std_error", "conf_low", "conf_high")
    heads = {"phi": pl.String(), "n_pos": pl.Int64(), "n_neg": pl.Int64()}
    return heads | columns_with_p((*numbers, *ends), corrected=corrected)


# The working column of how many standard errors ties at a jump may move an estimate. From one on
# intervals do not cover.
_MOVED = "__moved"
_TIES_AT_JUMPS = (
    "{names}: a block of equal scores lies at the jump of phi{where}, and all of it counts as "
    "above, or all as below; the estimate and its interval are off: 95 % intervals covered in 0 "
    "to 96 % of samples of scores with five levels. Take a phi without jumps, for example 'rtb', "
    "or scores that tell more items apart; if the p-value alone is wanted"
)


class _Group(NamedTuple):
    """A ranking in cells, and its tie blocks; None if no retrieved items are tied."""

    cells: RankedCells
    depth: int
    sizes: Integers | None

    def shape(self) -> Hashable:
        """Return what groups of the same test have in common."""
        sizes = None if self.sizes is None else self.sizes.tobytes()
        return shape_of(self.cells), self.depth, sizes


@dataclass(frozen=True)
class _Test(CorrectedTests):
    """The plan of the tests of each group."""

    functions: list[ScoreGeneratingFunction]
    alternative: Alternative
    method: RankNullMethod
    confidence: Confidence

    def accepts(self) -> Accepts:
        """Return the arguments under which labels can be exchanged."""
        return Accepts(
            "rank_test",
            whole_items="ranks",
            ties=WITHOUT_LABELS,
            otherwise=", under which ranks depend on labels or are no ranks of one ranking",
            has_mean=False,
            at_random=True,
            # All tie blocks matter, unless the policy parts them.
            counting=Counting(blocks=self.args.policy.blocks),
        )

    def check(self) -> None:
        """Refuse corrections that are not known, and functions that cannot be distinguished."""
        super().check()
        if not self.functions:
            raise ArgumentError("`phi` must name a function; got an empty list.")
        names = [function.name for function in self.functions]
        if min(len(set(names)), len(set(self.functions))) < len(names):
            raise ArgumentError(
                f"`phi` has a function, or the name of one, twice: {checks.brief(names)}; rows "
                "are told apart by these names."
            )

    def of_groups(self, source: Source) -> pl.DataFrame:
        """Return one row per group and function, before p-values are adjusted."""
        rows = Ranking(source, self.args).over_groups(self._piece)
        # Items of score -inf are ranked, as one tie block.
        source.seen.lost = False
        self._warn(rows)
        return rows.drop(_MOVED)

    def _piece(self, piece: Piece) -> pl.DataFrame:
        """Return the rows of the groups of a piece."""
        group_hits = hits(piece)
        sizes = tie_sizes(piece, group_hits).to_list()
        depths = group_hits.totals["n"].to_list()
        groups = [
            _Group(cells, depth, _blocks(size, depth))
            for cells, depth, size in zip(group_cells(group_hits), depths, sizes, strict=True)
        ]
        tests = each_shape(self._group, groups, _Group.shape, "rank_test")
        values = [row for rows in tests for row in rows]
        heads = group_hits.totals.select(*key_names(self.args))
        schema = _columns(corrected=False) | {_MOVED: pl.Float64()}
        table = pl.DataFrame(values, schema=schema, orient="row")
        numbers = [
            name for name, kind in _columns(corrected=False).items() if kind == pl.Float64()
        ]
        table = table.with_columns(pl.col(numbers).fill_nan(None))
        if not heads.width:
            return table
        repeated = heads[np.repeat(np.arange(len(groups)), len(self.functions))]
        return pl.concat([repeated, table], how="horizontal")

    def _group(self, group: _Group) -> list[tuple[object, ...]]:
        """Return the row of each function of a group."""
        return [self._row(group, function) for function in self.functions]

    def _row(self, group: _Group, function: ScoreGeneratingFunction) -> tuple[object, ...]:
        """Return the values of the columns for a function."""
        cells = group.cells
        if not cells.n_pos:
            return (function.name, 0, cells.n_neg, *[None] * (len(_columns(corrected=False)) - 2))
        phi = function.of_size(cells.n)
        null = _null_of(phi, group)
        statistic = RankStatistic(phi, cells, null)
        p_value, how = statistic.test(self.alternative, self.method)
        interval = statistic.interval(self.confidence)
        moments = (statistic.statistic, null.mean(), null.std(), statistic.z, max(p_value, LEAST))
        ends = (interval.estimate, interval.std_error, interval.low, interval.high)
        moved = statistic.moved_by_ties
        return (function.name, cells.n_pos, cells.n_neg, *moments, *ends, how, moved)

    def _warn(self, rows: pl.DataFrame) -> None:
        """Warn of groups without positives, without an interval, and with ties at jumps."""
        undefined = pl.col("statistic").is_null()
        warn_undefined(["rank_test"], rows, self.args, undefined, [positives_of(self.args)])
        narrow = pl.col("conf_low").is_null() & ~undefined
        why = "which hold too little for an interval, or nothing that varies"
        if any(not function.projected for function in self.functions):
            why += ", or are tested by DCG, which has none"
        warn_null(["std_error", "conf_low", "conf_high"], rows, self.args, narrow, why)
        moved = rows.filter(pl.col(_MOVED) > 1)
        warn_of_coverage(moved, key_names(self.args), "phi", _TIES_AT_JUMPS)


def _blocks(sizes: list[int] | None, depth: int) -> Integers | None:
    """Return the sizes of tie blocks; None if all items are apart."""
    return None if sizes is None or len(sizes) == depth else np.array(sizes, dtype=np.int64)


def _null_of(phi: ScoreGeneratingFunction, group: _Group) -> LinearRankNull:
    """Return the distribution under random labels; items not retrieved are one more block."""
    cells, depth = group.cells, group.depth
    if group.sizes is None:
        return _untied(phi, cells.n, depth, cells.n_pos)
    missed = [cells.n - depth] if cells.n > depth else []
    return rank_null(phi, np.append(group.sizes, missed).astype(np.int64), cells.n_pos)


@lru_cache(maxsize=64)
def _untied(phi: ScoreGeneratingFunction, n: int, depth: int, n_pos: int) -> LinearRankNull:
    """Return the distribution for a ranking without ties; groups with equal counts share it."""
    sizes = np.ones(depth + (n > depth), dtype=np.int64)
    if n > depth:
        sizes[-1] = n - depth
    return rank_null(phi, sizes, n_pos)
