"""Every kind of refusal, once, with its full message."""

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd
import polars as pl
import pytest

import prframe
from prframe import stats, tie_policies
from prframe._engine.frame_kinds import KINDS
from tests.oracle import ORACLE

GOOD = pl.DataFrame(
    {
        "query": ["q1", "q1", "q2", "q2"],
        "doc": ["a", "b", "a", "a"],
        "score": [1.0, 2.0, 3.0, 4.0],
        "label": [1, 0, 0, 1],
        "weight": [1.0, -1.0, 2.0, float("inf")],
        "total": [1, 2, 1, 1],
        "text": ["yes", "no", "no", "yes"],
        "list": [[1]] * 4,
    }
)
NO_SCORE = GOOD.with_columns(score=pl.Series([1.0, 2.0, None, float("nan")]))
NO_LABEL = GOOD.with_columns(label=pl.Series([1, 0, None, 1]))
COLUMNS = ", ".join(map(repr, GOOD.columns))


def quoted(names: Iterable[str]) -> str:
    return ", ".join(map(repr, sorted(names)))


METRICS = quoted(ORACLE)
PLAIN, NO_MEAN = quoted(tie_policies.WITHOUT_LABELS), quoted(tie_policies.NO_MEAN)
*_FIRST, _LAST = map(repr, tie_policies.WITHOUT_LABELS)
PLAIN_OR = f"{', '.join(_FIRST)} or {_LAST}"
OF_ANY_PRIOR = (
    "AP[@k], AP11, AUC, AUPRC, AUPRG, BalancedAccuracy(threshold=t), F(threshold=t), "
    "F1(threshold=t), IPrec@r, MaxF1, MCC(threshold=t), P(threshold=t), pAP, pAUC, Prec@r, "
    "R(threshold=t), R(at_precision=t), SetAP, SetF, SetP, SetR and Specificity(threshold=t)"
)
FRAMES = ", a ".join(kind.description for kind in KINDS)
ARRAYS = "Arrays are given as a dict of columns, such as {'score': scores, 'label': labels}."
# Some calls take the rows of all queries as one ranking on purpose.
pytestmark = pytest.mark.filterwarnings(
    "ignore::prframe.NoNegativesWarning", "ignore::prframe.PooledRankingWarning"
)
evaluate, curve, interval = prframe.evaluate, prframe.curve, prframe.interval
rank_test = prframe.rank_test


def infinite_beyond_half(u: np.ndarray) -> np.ndarray:
    return np.where(u > 0.5, np.inf, u)


REFUSALS = {
    "`item` 'doc' must name each item once: 1 repeated row, in groups 'q2'; "
    "drop the duplicates, or name the columns that keep rankings apart with by=.": lambda: (
        evaluate(GOOD, "AP", by="query", item="doc")
    ),
    "`n_pos` 'total' must be constant within a group: 2 different values, in groups 'q1'; "
    "if a group holds several queries, name their column in over= or by=.": lambda: evaluate(
        GOOD, "AP", by="query", n_pos="total"
    ),
    "the frame has more than one column named 'score'.": lambda: evaluate(
        pd.DataFrame([[1, 1, 2]], columns=["score", "label", "score"]), "AP"
    ),
    "`ignore` must hold values like the Int64 labels of 'label'; got 'no'.": lambda: evaluate(
        GOOD, "AP", ignore="no"
    ),
    "`weight` 'weight' must be finite numbers >= 0: 2 of 4 rows, in groups 'q1', 'q2'; "
    "mend or drop these rows.": lambda: evaluate(GOOD, "AP", by="query", weight="weight"),
    "`n_neg` must be at least what is present: 1 given, 2 present; "
    "count what is listed as well.": lambda: curve(GOOD, n_neg=1),
    "nDCG with graded labels needs the label of every positive, but `n_pos` counts unlisted "
    "ones in 1 groups; list them with a score of -inf.": lambda: evaluate(
        GOOD.with_columns(label=pl.Series([1, 2, 3, 0])), "nDCG", n_pos=9
    ),
    "integer scores must lie between -9218868437227405312 and 9223372036854775806; got "
    "9223372036854775807 to 9223372036854775807; scale them or cast them to a float.": lambda: (
        evaluate(GOOD.with_columns(score=pl.lit(2**63 - 1)), "AP")
    ),
    "unknown metric 'BLEU'. prframe.CATALOGUE has all metrics, such as 'AP', 'AUC', 'P@10' and "
    "'nDCG@10'.": lambda: evaluate(GOOD, "BLEU"),
    "unknown metric 'auc'. Did you mean 'AUC'? prframe.CATALOGUE has all metrics, such as 'AP', "
    "'AUC', 'P@10' and 'nDCG@10'.": lambda: evaluate(GOOD, "auc"),
    "a metric must be a name or a catalogue object; got 3.": lambda: evaluate(GOOD, [3]),
    "'MCC(threshold=0.5)' needs both classes; got prior=0, where one is absent.": lambda: evaluate(
        GOOD, ["AP", "MCC(threshold=0.5)"], prior=0
    ),
    "`recall` must name at least one level; got none.": lambda: curve(GOOD, recall=[]),
    "`recall` gives a row per level; leave out order='input'.": lambda: curve(
        GOOD, recall=[0.5], order="input"
    ),
    "`metrics` must be a metric or a list of them; got 5.": lambda: evaluate(GOOD, 5),
    "`positive` must be True, a number (labels at least as large), or values to be equal to; "
    "got False. For labels equal to False say positive=[False].": lambda: evaluate(
        GOOD, "AP", positive=False
    ),
    "`score` must not look like a pattern, as polars would read it as one; got '^s.*$'; "
    "rename the column.": lambda: curve(GOOD, score="^s.*$"),
    "`by` names 'recall', which is also a column of the result; rename it.": lambda: curve(
        GOOD.rename({"query": "recall"}), by="recall"
    ),
    f"ties='best' orders whole items and takes no `weight`; use {PLAIN_OR}, or repeat rows.": lambda: (
        evaluate(GOOD.with_columns(weight=1.0), "AP", ties="best", weight="weight")
    ),
    "ties='expected' is a mean over rankings, which have different curves; "
    "draw 'group', or the range from 'worst' to 'best'.": lambda: curve(GOOD, ties="expected"),
    "ties='expected' has no closed form with `interpolate`; use 'group'.": lambda: evaluate(
        GOOD, "AP", ties="expected", interpolate=True
    ),
    "with `over`, `method` must be one of 'auto', 'transform', 'normal', 'monte-carlo'; "
    "got 'beta'.": lambda: prframe.ap_test(GOOD, method="beta", over="label"),
    "method 'exact' cannot follow 10^59 rankings of 100 positives among 200 items; use method "
    "'auto'.": lambda: prframe.ap_test(
        pl.DataFrame({"score": range(200), "label": [1, 0] * 100}), method="exact"
    ),
    "`k` must name at least one cut-off; got none.": lambda: prframe.topk_test(GOOD, k=[]),
    "`phi` must name a function; got an empty list.": lambda: rank_test(GOOD, phi=[]),
    "`phi` has a function, or the name of one, twice: ['mww', 'mww']; rows are told apart by "
    "these names.": lambda: rank_test(GOOD, phi=["mww", stats.MannWhitneyWilcoxon()]),
    "`phi` must be a name or a function; got 3.": lambda: rank_test(GOOD, phi=3),
    "`phi` must be a function, not a class; write Median().": lambda: rank_test(
        GOOD, phi=stats.Median
    ),
    "phi must be nondecreasing; negative falls before 0.000488281.": lambda: rank_test(
        GOOD, phi=np.negative
    ),
    "phi must return numbers; <lambda> returned array('high', dtype='<U4').": lambda: rank_test(
        GOOD, phi=lambda _: "high"
    ),
    "too many subsets of 200 among 400 items to count them; take method='auto' or "
    "'saddlepoint'.": lambda: rank_test(
        pl.DataFrame({"score": range(400), "label": [1, 0] * 200}), method="exact"
    ),
    "a rank statistic needs a positive; `label` has none.": lambda: stats.rank_statistic(
        [1, 2], [0, 0]
    ),
    "`method` must be one of 'auto', 'exact', 'normal', 'saddlepoint'; got 't'.": lambda: (
        stats.rank_statistic([1, 2], [0, 1]).p_value(method="t")
    ),
    "`confidence` must be a Confidence; got a float.": lambda: stats.rank_statistic(
        [1, 2], [0, 1]
    ).interval(0.9),
    "`moments` must be a mean and a variance; got 0.5.": lambda: stats.beta_parameters(
        50, 5, moments=0.5
    ),
    "`n` must be numbers in lists of one length; got [[3], [4, 5]].": lambda: (
        stats.ap_null_moments([[3], [4, 5]], 1)
    ),
    "`scores` must have a row per ranking and a column per label; got shapes (1, 3) and (2,).": lambda: (
        stats.rank_covariance([[1, 2, 3]], [1, 0])
    ),
    "`scores` must not be NaN: 1 of 4.": lambda: stats.rank_covariance(
        [[1, 2, float("nan"), 4]], [1, 0, 1, 0]
    ),
    "a covariance needs two items of each class; got 2 positives and 1 negatives.": lambda: (
        stats.rank_covariance([[1, 2, 3]], [1, 0, 1])
    ),
    "`score_a`, `score_b` and `label` must be of one length >= 1; got shapes (2,), (3,) and (2,).": lambda: (
        stats.paired_rank_test([1, 2], [1, 2, 3], [1, 0])
    ),
    "`n_pos` must be at most N = 2; got 3.": lambda: stats.LinearRankNull([1, 2], 3),
    "`sizes` must be one per score; got 1 for 2.": lambda: stats.LinearRankNull(
        [1, 2], 1, sizes=[1]
    ),
    "band does not support `weight`, because it draws whole items; leave it out, or resample "
    "rows yourself and take quantiles of evaluate with weight=.": lambda: prframe.band(
        GOOD.with_columns(weight=1.0), weight="weight"
    ),
    f"the bayesian-bootstrap band takes ties={PLAIN}; got 'expected'.": lambda: prframe.band(
        GOOD, ties="expected"
    ),
    "the smoothed-bootstrap band takes ties='group'; got 'order'.": lambda: prframe.band(
        GOOD, method="smoothed-bootstrap", ties="order"
    ),
    "method='smoothed-bootstrap' is a band for all levels at once; for single ones leave it "
    "out.": lambda: prframe.band(GOOD, method="smoothed-bootstrap", simultaneous=False),
    "`simultaneous` must be True or False; got 'no'.": lambda: prframe.band(
        GOOD, simultaneous="no"
    ),
    "`recall` and `recall_range` both name levels; give one of them.": lambda: prframe.band(
        GOOD, recall=0.5, recall_range=(0.1, 0.2)
    ),
    "`recall_range` must be the first and the last level; got 0.5.": lambda: prframe.band(
        GOOD, recall_range=0.5
    ),
    "`recall_range` must rise; got (0.5, 0.2).": lambda: prframe.band(
        GOOD, recall_range=(0.5, 0.2)
    ),
    "`n_resamples` must be a whole number >= 1; got 1.5.": lambda: prframe.band(
        GOOD, n_resamples=1.5
    ),
    "`rng` must be a whole number >= 0 or a numpy.random.Generator; got '1'.": lambda: (
        prframe.band(GOOD, rng="1")
    ),
    "`geometric_mean` is a column beside the mean, for which layout='wide' has no place; "
    "leave one of them out.": lambda: evaluate(
        GOOD, "AP", over="label", layout="wide", geometric_mean=True
    ),
    "`judged` must be boolean; 'judged' is Int32.": lambda: evaluate(
        GOOD.with_columns(judged=1), "Bpref", judged="judged"
    ),
    "`n_pos` counts the positives of `positive`, not those of 'P(rel=2)@1'; "
    "list the items with a score of -inf instead.": lambda: evaluate(GOOD, "P(rel=2)@1", n_pos=3),
    "`weight` does not work with rel=, as in 'AP(rel=2)'; pass positive= for all metrics "
    "instead.": lambda: evaluate(GOOD.with_columns(weight=1.0), "AP(rel=2)", weight="weight"),
    "'AP(rel=2)' compare labels with a number; got positive='a'.": lambda: evaluate(
        GOOD.with_columns(label=pl.lit("a")), "AP(rel=2)", positive="a"
    ),
    "'AP(rel=2)' compare labels with a number; `label` 'label' is Boolean.": lambda: evaluate(
        GOOD.with_columns(label=True), "AP(rel=2)"
    ),
    "ERR takes labels up to 4; got 5; name the highest grade of the judgments: 'ERR(top=5)'.": lambda: (
        evaluate(GOOD.with_columns(label=pl.Series([5, 0, 1, 0])), "ERR")
    ),
    "`geometric_mean` is one over groups; name them with over=.": lambda: evaluate(
        GOOD, "AP", geometric_mean=True
    ),
    "ERR@10 of one ranking has no interval here: it is not written as a function of counts; "
    "take its mean over groups, named with over=, or one of AP[@k], AUC, AUPRC, AUPRG, BalancedAccuracy(threshold=t), BEDROC, DCG[@k], EF, F@k, "
    "F(threshold=t), F1@k, F1(threshold=t), Lift@k, MaxF1, MCC(threshold=t), nDCG[@k], P@k, "
    "P(threshold=t), pAP, pAUC, Prec@r, R@k, R(threshold=t), R(at_precision=t), RBP[@k], RelP@k, "
    "Rprec, RR[@k], SetAP, SetF, SetP, SetR, Specificity(threshold=t), Success@k and W.": lambda: (
        interval(GOOD, ["AP", "ERR@10"])
    ),
    "nDCG@10 of one ranking has an interval only where labels are 0 and 1, and not where they "
    "are grades; got 3; name the labels that count as relevant with positive=[...], or take the "
    "mean over queries, which may have grades, with over=.": lambda: interval(
        GOOD.with_columns(label=pl.Series([0, 3, 1, 0])), "nDCG@10"
    ),
    "RR has no standard error, because the first positive alone decides it; take "
    "'bayesian-bootstrap' or 'percentile'.": lambda: interval(GOOD, "RR", method="logit-t"),
    "`method` of one ranking must be one of 'auto', 'bayesian-bootstrap', 'logit-t', "
    "'percentile'; got 'logit'.": lambda: interval(GOOD, "AUPRG", method="logit"),
    "`prior` does not work with metrics that count ranks, such as AP@5; take a metric at a "
    "threshold, such as 'P(threshold=0.5)', or leave `prior` out.": lambda: interval(
        GOOD, ["AP", "AP@5"], prior=0.5
    ),
    f"`prior` is not taken by 'nDCG'; it is for {OF_ANY_PRIOR}; evaluate these in a call of their own, without prior.": lambda: (
        interval(GOOD, ["AP", "AUC", "nDCG"], over="label", prior=0.5)
    ),
    "`prior` is for metrics of rankings; leave it out with values=.": lambda: interval(
        GOOD, values="score", over="label", prior=0.5
    ),
    "`cluster` 'c' must not contain nulls or NaN, which would be one cluster: 2 of 4 rows; "
    "name these clusters, or drop the rows.": lambda: interval(
        GOOD.with_columns(c=pl.Series([1, None, 2, None])), "AP", cluster="c"
    ),
    "interval without `over` does not support `weight`, because it draws whole items; leave "
    "it out, or resample rows yourself and take quantiles of evaluate with weight=.": lambda: (
        interval(GOOD, "AP", weight="weight")
    ),
    f"interval takes ties={PLAIN} without `over`; got 'expected'.": lambda: interval(
        GOOD, "AP", ties="expected"
    ),
    "`method` of a mean over groups must be one of 'auto', 'bca', 'hall', 'logit', "
    "'percentile', 't'; "
    "got 'logit-t'.": lambda: interval(GOOD, "AP", method="logit-t", over="query"),
    "`method` of clusters must be one of 'auto', 'logit-t', 'percentile'; got "
    "'bayesian-bootstrap'.": lambda: interval(
        GOOD, "AP", method="bayesian-bootstrap", cluster="query"
    ),
    "method='logit' is for metrics within [0, 1], which 'DCG', 'Lift@2' may exceed; take 't', "
    "'percentile' or 'bca'.": lambda: interval(
        GOOD, ["AP", "DCG", "Lift@2"], method="logit", over="query"
    ),
    "`cluster` draws rows again, which are tied then; it takes ties='group'; got 'order'.": lambda: (
        interval(GOOD, "AP", cluster="query", ties="order")
    ),
    "`n_neg` counts items that are not listed, and so in no cluster; list them with a score "
    "of -inf.": lambda: interval(GOOD, "AP", cluster="query", n_neg=9),
    "`cluster` 'doc' must be one value, and no null, for each group of `over`, in groups "
    "'q1'; mend these rows, "
    "or, if numbers begin anew in each 'doc', name it in `over` too.": lambda: interval(
        GOOD, "AP", cluster="doc", over="query"
    ),
    "`resampling` and `cluster` each say how groups depend on each other; give one of them.": lambda: (
        interval(GOOD, "AP", cluster="doc", over="query", resampling="cv")
    ),
    "`score` names the column 'nope', which the frame does not have; "
    f"its columns are {COLUMNS}, 'np_'. Did you mean 'score'?": lambda: evaluate(
        GOOD.with_columns(np_=1), "AP", score="nope"
    ),
    "`judged` names the column 'judged', which the frame does not have; "
    f"its columns are {COLUMNS}. Bpref, infAP and Judged need to know which items are judged; "
    "trec.join makes this column. Name the column with judged=.": lambda: interval(
        GOOD, "Bpref", over="query"
    ),
    "`test` over groups of `over` must be one of 'bootstrap', 'hall', 'randomization', 'sign', "
    "'t', 'wilcoxon'; got 'student'. Did you mean 't'?": lambda: prframe.compare(
        GOOD, "AP", model="query", over="list", test="student"
    ),
    "`label` must be boolean, numeric or string; 'label' is Null.": lambda: evaluate(
        pd.DataFrame({"label": [None] * 2, "score": [1.0, 2.0]}), "AP"
    ),
    f"infAP takes ties={PLAIN}; got 'expected'; evaluate it in a call of its own.": lambda: (
        interval(GOOD, "infAP", over="query", ties="expected")
    ),
    "`n_pos` must be at most n = 3; got 4.": lambda: prframe.AP.at_random(3, 4),
    "`positive` must be a number; got 'yes'. For string labels pass a condition: "
    "pl.col('score').pr.ap(pl.col('label') == 'yes').": lambda: pl.col("score").pr.ap(
        "label", positive="yes"
    ),
}


@pytest.mark.parametrize(("message", "call"), REFUSALS.items(), ids=REFUSALS)
def test_message(call, message: str, monkeypatch) -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        call()
    assert str(caught.value) == message
    if isinstance(caught.value, prframe.ArgumentError):
        # An error of an argument does not depend on the data.
        other = GOOD.with_columns(score=pl.lit(1.0), label=1 - pl.col("label"))
        monkeypatch.setitem(globals(), "GOOD", other)
        with pytest.raises(prframe.ArgumentError, match=f"^{re.escape(message)}$"):
            call()


def test_a_misspelt_argument() -> None:
    with pytest.raises(TypeError) as caught:
        curve(GOOD, tie="group")
    assert str(caught.value) == (
        "curve() got an unexpected keyword argument 'tie'. Did you mean 'ties'?"
    )
    with pytest.raises(TypeError, match=r"undefined=: evaluate\(undefined=0\) gives values for"):
        interval(GOOD, "AP", undefined=0)


def test_missing_scores_dropped_or_last() -> None:
    dropped = evaluate(NO_SCORE, ["AP", "NumRel", "NumRet"], missing="drop")
    assert dropped.row(0) == (0.5, 1.0, 2.0)
    last = evaluate(NO_SCORE, ["AP", "NumRel", "NumRet"], missing="last")
    assert last.row(0) == (0.25, 2.0, 2.0)


def test_ignored_labels_are_left_out() -> None:
    assert evaluate(NO_LABEL, ["AP", "NumRet"], ignore=[None]).row(0) == evaluate(
        NO_LABEL.drop_nulls("label"), ["AP", "NumRet"]
    ).row(0)
    assert evaluate(GOOD, "NumRet", label="text", positive="yes", ignore="no").item() == 2.0
    assert evaluate(GOOD, ["NumRel", "NumRet"], positive=1, ignore=0).row(0) == (2.0, 2.0)


@pytest.mark.parametrize("missing", [None, np.nan, np.float32("nan"), pd.NA, pd.NaT])
def test_missing_labels_of_any_library_are_left_out(missing: object) -> None:
    rows = {"score": [3.0, 2.0, 1.0], "label": [1.0, None, 0.0]}
    nulls, nans = pl.DataFrame(rows), pl.DataFrame(rows).fill_null(np.nan)
    for frame in (nulls, nans, nans.to_pandas(), pd.DataFrame(rows).convert_dtypes()):
        assert pl.DataFrame(evaluate(frame, "NumRet", ignore=[missing])).item() == 2.0


def test_labels_equal_to_a_value() -> None:
    assert evaluate(GOOD, "NumRel", positive=[0]).item() == 2.0
    assert evaluate(GOOD, "NumRel", positive=[0, 1]).item() == 4.0
    falses = GOOD.with_columns(pl.col("label") == 0)
    assert evaluate(falses, "NumRel", positive=[False]).item() == 2.0


def test_numpy_scalars_are_numbers() -> None:
    plain = evaluate(GOOD, ["AP", "P@2"], n_pos=3, positive=1, ignore=5)
    numpy = evaluate(
        GOOD,
        ["AP", prframe.P @ np.int64(2)],
        n_pos=np.int64(3),
        positive=np.float32(1),
        ignore=np.int8(5),
    )
    assert numpy.equals(plain)
    assert curve(GOOD, recall=np.array([0.5])).equals(curve(GOOD, recall=0.5))


def test_string_labels() -> None:
    expected = evaluate(GOOD, "AP").item()
    for dtype in (pl.String, pl.Categorical, pl.Enum(["no", "yes"])):
        data = GOOD.with_columns(pl.col("text").cast(dtype))
        for positive in ("yes", ["yes", "maybe"]):
            assert evaluate(data, "AP", label="text", positive=positive).item() == expected
