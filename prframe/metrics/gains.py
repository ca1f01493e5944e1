"""Metrics of graded relevance: the gain is the label where labels are numbers, else 1."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from prframe.metrics.metric import Metric, Parameter, Term, number, word
from prframe.metrics.quantities import LARGEST_EXPONENT, Quantities, gain_of
from prframe.stats import rankings
from prframe.stats.tie_expectations import expected_cascade


def _dcg_credit(q: Quantities, m: Metric) -> pl.Expr:
    return gain_of(q.gain, str(m["gain"])) * q.mean_discount(_rank(m))


def _rank(m: Metric) -> int | None:
    """Return the cut-off, if there is one."""
    return None if m.k is None else m.rank()


def _ndcg_finish(q: Quantities, m: Metric, terms: Sequence[pl.Expr]) -> pl.Expr:
    ideal = q.ideal_dcg(_rank(m), str(m["gain"]))
    return pl.when(ideal > 0).then(terms[0] / ideal)


def _err_credit(q: Quantities, m: Metric) -> pl.Expr:
    """Return each hit's equal share of the ERR that its tie block contributes."""
    stop = gain_of(q.gain, "exp") / 2.0 ** m.number("top")
    return pl.map_batches(
        [q.group, q.start, q.end, stop],
        lambda columns: _cascade(columns, _rank(m)),
        return_dtype=pl.Float64,
    )


def _cascade(columns: Sequence[pl.Series], k: int | None) -> pl.Series:
    """Return each hit's credit, from the columns group, start, end and stopping probability."""
    group, start, end = (column.to_numpy().astype(np.int64) for column in columns[:3])
    stop = columns[3].to_numpy()
    firsts = np.flatnonzero((np.diff(group, prepend=-1) != 0) | (np.diff(start, prepend=-1) != 0))
    count = np.diff(firsts, append=group.size)
    size = (end - start)[firsts]
    depth = size if k is None else np.clip(k - start[firsts], 0, size)
    block = np.repeat(np.arange(firsts.size), count)
    value = expected_cascade(start[firsts], size, depth, block, stop)
    passed = pl.DataFrame(
        {"group": group[firsts], "passed": np.multiply.reduceat(1 - stop, firsts)}
        if firsts.size
        else {"group": group, "passed": stop}
    ).select(pl.col("passed").cum_prod().shift(1, fill_value=1.0).over("group"))
    return pl.Series(np.repeat(passed.to_series().to_numpy() * value / count, count))


GAIN = Parameter(
    "gain",
    "linear",
    'The gain of label g: g ("linear") or 2^g - 1 ("exp").',
    word("exp", "linear"),
)

DCG = Metric(
    "DCG",
    "Discounted cumulative gain: the sum of gain / log2(rank + 1).",
    "Järvelin & Kekäläinen 2002",
    (Term(_dcg_credit),),
    cutoff="optional",
    parameters=(GAIN,),
    needs=(),
    graded=True,
    range=(0.0, float("inf")),
    cells=lambda m: rankings.DiscountedGain(_rank(m)),
)
nDCG = Metric(
    "nDCG",
    "Normalised discounted cumulative gain: the sum of gain / log2(rank + 1), over that of the "
    "best ranking. The gain is the label where labels and `positive` are numbers, else 1.",
    "Järvelin & Kekäläinen 2002; TREC",
    (Term(_dcg_credit),),
    _ndcg_finish,
    cutoff="optional",
    parameters=(GAIN,),
    needs=(),
    also_undefined="no gain > 0",
    graded=True,
    cells=lambda m: rankings.DiscountedGain(_rank(m), normalised=True),
)
ERR = Metric(
    "ERR",
    "Expected reciprocal rank of the item at which a reader stops: the sum over ranks r of "
    "R(g_r) / r times the product of 1 - R(g) over the items above, R(g) = (2^g - 1) / 2^top.",
    "Chapelle et al. 2009, eq. (4)",
    (Term(_err_credit, per_hit=False),),
    cutoff="optional",
    parameters=(
        Parameter(
            "top",
            4,
            "The highest grade of the judgments.",
            number(above=0, at_most=LARGEST_EXPONENT),
        ),
    ),
    needs=(),
    graded=True,
)
