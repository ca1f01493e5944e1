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
OF_WEIGHTS = (
    "AP[@k], AP11, AUC, AUPRC, AUPRG, BalancedAccuracy(threshold=t), F(threshold=t), "
    "F1(threshold=t), MaxF1, MCC(threshold=t), P(threshold=t), pAP, pAUC, Prec@r, R(threshold=t), "
    "R(at_precision=t), Specificity(threshold=t) and W"
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
    "duplicate items": (
        lambda: evaluate(GOOD, "AP", by="query", item="doc"),
        "`item` 'doc' must name each item once: 1 rows too many, in groups 'q2'; "
        "drop the duplicates, or name the columns that keep rankings apart with by=.",
    ),
    "n_pos not constant": (
        lambda: evaluate(GOOD, "AP", by="query", n_pos="total"),
        "`n_pos` 'total' must be constant within a group: 2 different values, in groups 'q1'; "
        "name the column of queries in by= or over=, or give a ranking one total.",
    ),
    "two columns of one name": (
        lambda: evaluate(pd.DataFrame([[1, 1, 2]], columns=["score", "label", "score"]), "AP"),
        "the frame has more than one column named 'score'.",
    ),
    "ignore unlike the label": (
        lambda: evaluate(GOOD, "AP", ignore="no"),
        "`ignore` must hold values like the Int64 labels of 'label'; got 'no'.",
    ),
    "weights": (
        lambda: evaluate(GOOD, "AP", by="query", weight="weight"),
        "`weight` 'weight' must be finite numbers >= 0: 2 of 4 rows, in groups 'q1', 'q2'; "
        "mend or drop these rows.",
    ),
    "n_neg below what is present": (
        lambda: curve(GOOD, n_neg=1),
        "`n_neg` must be at least what is present: 1 given, 2 present; "
        "count what is listed as well.",
    ),
    "unlisted items and graded labels": (
        lambda: evaluate(GOOD.with_columns(label=pl.Series([1, 2, 3, 0])), "nDCG", n_pos=9),
        "nDCG with graded labels needs the label of every positive, but `n_pos` counts unlisted "
        "ones in 1 groups; list them with a score of -inf.",
    ),
    "integer scores too large": (
        lambda: evaluate(GOOD.with_columns(score=pl.lit(2**63 - 1)), "AP"),
        "integer scores must lie between -9218868437227405312 and 9223372036854775806; got "
        "9223372036854775807 to 9223372036854775807; scale them or cast them to a float.",
    ),
    "unknown metric": (
        lambda: evaluate(GOOD, "BLEU"),
        "unknown metric 'BLEU'. prframe.CATALOGUE has all metrics, such as 'AP', 'AUC', 'P@10' and "
        "'nDCG@10'.",
    ),
    "misspelt metric": (
        lambda: evaluate(GOOD, "auc"),
        "unknown metric 'auc'. Did you mean 'AUC'? prframe.CATALOGUE has all metrics, such as 'AP', "
        "'AUC', 'P@10' and 'nDCG@10'.",
    ),
    "not a metric": (
        lambda: evaluate(GOOD, [3]),
        "a metric must be a name or a catalogue object; got 3.",
    ),
    "MCC without positives": (
        lambda: evaluate(GOOD, ["AP", "MCC(threshold=0.5)"], prior=0),
        "'MCC(threshold=0.5)' needs both classes; got prior=0, where one is absent.",
    ),
    "no recall level": (
        lambda: curve(GOOD, recall=[]),
        "`recall` must name at least one level; got none.",
    ),
    "recall levels in input order": (
        lambda: curve(GOOD, recall=[0.5], order="input"),
        "`recall` gives a row per level; leave out order='input'.",
    ),
    "not a list of metrics": (
        lambda: evaluate(GOOD, 5),
        "`metrics` must be a metric or a list of them; got 5.",
    ),
    "positive False": (
        lambda: evaluate(GOOD, "AP", positive=False),
        "`positive` must be True, a number (labels at least as large), or values to be equal to; "
        "got False. For labels equal to False say positive=[False].",
    ),
    "a pattern for a name": (
        lambda: curve(GOOD, score="^s.*$"),
        "`score` must not look like a pattern, as polars would read it as one; got '^s.*$'; "
        "rename the column.",
    ),
    "a key named as a result": (
        lambda: curve(GOOD.rename({"query": "recall"}), by="recall"),
        "`by` names 'recall', which is also a column of the result; rename it.",
    ),
    "weights in every order": (
        lambda: evaluate(GOOD.with_columns(weight=1.0), "AP", ties="best", weight="weight"),
        f"ties='best' orders whole items and takes no `weight`; use {PLAIN_OR}, or repeat rows.",
    ),
    "an expected curve": (
        lambda: curve(GOOD, ties="expected"),
        "ties='expected' is a mean over rankings, which have different curves; "
        "draw 'group', or the range from 'worst' to 'best'.",
    ),
    "an expected interpolation": (
        lambda: evaluate(GOOD, "AP", ties="expected", interpolate=True),
        "ties='expected' has no closed form with `interpolate`; use 'group'.",
    ),
    "a mean's method": (
        lambda: prframe.ap_test(GOOD, method="beta", over="label"),
        "with `over`, `method` must be one of 'auto', 'transform', 'normal', 'monte-carlo'; "
        "got 'beta'.",
    ),
    "too many rankings": (
        lambda: prframe.ap_test(
            pl.DataFrame({"score": range(200), "label": [1, 0] * 100}), method="exact"
        ),
        "method 'exact' cannot follow 10^59 rankings of 100 positives among 200 items; use method "
        "'auto'.",
    ),
    "no k of a test": (
        lambda: prframe.topk_test(GOOD, k=[]),
        "`k` must name at least one cut-off; got none.",
    ),
    "no phi": (
        lambda: rank_test(GOOD, phi=[]),
        "`phi` must name a function; got an empty list.",
    ),
    "a phi twice": (
        lambda: rank_test(GOOD, phi=["mww", stats.MannWhitneyWilcoxon()]),
        "`phi` has a function, or the name of one, twice: ['mww', 'mww']; rows are told apart by "
        "these names.",
    ),
    "phi that is neither": (
        lambda: rank_test(GOOD, phi=3),
        "`phi` must be a name or a function; got 3.",
    ),
    "phi that is a class": (
        lambda: rank_test(GOOD, phi=stats.Median),
        "`phi` must be a function, not a class; write Median().",
    ),
    "phi that falls": (
        lambda: rank_test(GOOD, phi=np.negative),
        "phi must be nondecreasing; negative falls before 0.000488281.",
    ),
    "phi that returns no numbers": (
        lambda: rank_test(GOOD, phi=lambda _: "high"),
        "phi must return numbers; <lambda> returned array('high', dtype='<U4').",
    ),
    "too many subsets": (
        lambda: rank_test(
            pl.DataFrame({"score": range(400), "label": [1, 0] * 200}), method="exact"
        ),
        "too many subsets of 200 among 400 items to count them; take method='auto' or "
        "'saddlepoint'.",
    ),
    "a rank statistic without positives": (
        lambda: stats.rank_statistic([1, 2], [0, 0]),
        "a rank statistic needs a positive; `label` has none.",
    ),
    "alternative of a rank statistic": (
        lambda: stats.rank_statistic([1, 2], [0, 1]).p_value("bigger"),
        "`alternative` must be one of 'greater', 'less', 'two-sided'; got 'bigger'.",
    ),
    "method of a rank statistic": (
        lambda: stats.rank_statistic([1, 2], [0, 1]).p_value(method="t"),
        "`method` must be one of 'auto', 'exact', 'normal', 'saddlepoint'; got 't'.",
    ),
    "level of a rank statistic": (
        lambda: stats.rank_statistic([1, 2], [0, 1]).interval(0.9),
        "`confidence` must be a Confidence; got a float.",
    ),
    "confidence of a mean": (
        lambda: stats.mean_interval([1, 2, 3], confidence=0.5),
        "`confidence` must be a Confidence; got a float.",
    ),
    "confidence of a mean of two judges": (
        lambda: stats.predicted_mean([1, 2, 3], [1, 2, 3], confidence=0.5),
        "`confidence` must be a Confidence; got a float.",
    ),
    "moments of a beta distribution": (
        lambda: stats.beta_parameters(50, 5, moments=0.5),
        "`moments` must be a mean and a variance; got 0.5.",
    ),
    "lists of several lengths": (
        lambda: stats.ap_null_moments([[3], [4, 5]], 1),
        "`n` must be numbers in lists of one length; got [[3], [4, 5]].",
    ),
    "shapes of a rank covariance": (
        lambda: stats.rank_covariance([[1, 2, 3]], [1, 0]),
        "`scores` must have a row per ranking and a column per label; got shapes (1, 3) and (2,).",
    ),
    "missing scores of a rank covariance": (
        lambda: stats.rank_covariance([[1, 2, float("nan"), 4]], [1, 0, 1, 0]),
        "`scores` must not be NaN: 1 of 4.",
    ),
    "too little for a rank covariance": (
        lambda: stats.rank_covariance([[1, 2, 3]], [1, 0, 1]),
        "a covariance needs two items of each class; got 2 positives and 1 negatives.",
    ),
    "rankings of two lengths": (
        lambda: stats.paired_rank_test([1, 2], [1, 2, 3], [1, 0]),
        "`score_a`, `score_b` and `label` must be of one length >= 1; got shapes (2,), (3,) and (2,).",
    ),
    "positives of a null": (
        lambda: stats.LinearRankNull([1, 2], 3),
        "`n_pos` must be at most N = 2; got 3.",
    ),
    "number of sizes": (
        lambda: stats.LinearRankNull([1, 2], 1, sizes=[1]),
        "`sizes` must be one per score; got 1 for 2.",
    ),
    "a weighted band": (
        lambda: prframe.band(GOOD.with_columns(weight=1.0), weight="weight"),
        "band does not support `weight`, because it draws whole items; leave it out, or resample "
        "rows yourself and take quantiles of evaluate with weight=.",
    ),
    "an expected band": (
        lambda: prframe.band(GOOD, ties="expected"),
        f"the bayesian-bootstrap band takes ties={PLAIN}; got 'expected'.",
    ),
    "an ordered ball": (
        lambda: prframe.band(GOOD, method="smoothed-bootstrap", ties="order"),
        "the smoothed-bootstrap band takes ties='group'; got 'order'.",
    ),
    "single levels of the ball": (
        lambda: prframe.band(GOOD, method="smoothed-bootstrap", simultaneous=False),
        "method='smoothed-bootstrap' is a band for all levels at once; for single ones leave it "
        "out.",
    ),
    "simultaneous": (
        lambda: prframe.band(GOOD, simultaneous="no"),
        "`simultaneous` must be True or False; got 'no'.",
    ),
    "levels of lists": (
        lambda: prframe.band(GOOD, recall=[0.5, [0.6]]),
        "`recall` must be numbers in lists of one length; got [0.5, [0.6]].",
    ),
    "levels and their range": (
        lambda: prframe.band(GOOD, recall=0.5, recall_range=(0.1, 0.2)),
        "`recall` and `recall_range` both name levels; give one of them.",
    ),
    "one end of a range": (
        lambda: prframe.band(GOOD, recall_range=0.5),
        "`recall_range` must be the first and the last level; got 0.5.",
    ),
    "a range that falls": (
        lambda: prframe.band(GOOD, recall_range=(0.5, 0.2)),
        "`recall_range` must rise; got (0.5, 0.2).",
    ),
    "resamples of a band": (
        lambda: prframe.band(GOOD, n_resamples=1.5),
        "`n_resamples` must be a whole number >= 1; got 1.5.",
    ),
    "seed": (
        lambda: prframe.band(GOOD, rng="1"),
        "`rng` must be a whole number >= 0 or a numpy.random.Generator; got '1'.",
    ),
    "a summary in a layout": (
        lambda: evaluate(GOOD, "AP", over="label", layout="wide", geometric_mean=True),
        "`geometric_mean` is a column beside the mean, for which layout='wide' has no place; "
        "leave one of them out.",
    ),
    "judgments that are numbers": (
        lambda: evaluate(GOOD.with_columns(judged=1), "Bpref", judged="judged"),
        "`judged` must be boolean; 'judged' is Int32.",
    ),
    "a total of other positives": (
        lambda: evaluate(GOOD, "P(rel=2)@1", n_pos=3),
        "`n_pos` counts the positives of `positive`, not those of 'P(rel=2)@1'; "
        "list the items with a score of -inf instead.",
    ),
    "a weighted grade": (
        lambda: evaluate(GOOD.with_columns(weight=1.0), "AP(rel=2)", weight="weight"),
        "`weight` does not work with rel=, as in 'AP(rel=2)'; pass positive= for all metrics "
        "instead.",
    ),
    "a grade of strings": (
        lambda: evaluate(GOOD.with_columns(label=pl.lit("a")), "AP(rel=2)", positive="a"),
        "'AP(rel=2)' compare labels with a number; got positive='a'.",
    ),
    "a grade of booleans": (
        lambda: evaluate(GOOD.with_columns(label=True), "AP(rel=2)"),
        "'AP(rel=2)' compare labels with a number; `label` 'label' is Boolean.",
    ),
    "a grade above the highest": (
        lambda: evaluate(GOOD.with_columns(label=pl.Series([5, 0, 1, 0])), "ERR"),
        "ERR takes labels up to 4; got 5; name the highest grade of the judgments: 'ERR(top=5)'.",
    ),
    "a geometric mean over nothing": (
        lambda: evaluate(GOOD, "AP", geometric_mean=True),
        "`geometric_mean` is one over groups; name them with over=.",
    ),
    "interval of a metric": (
        lambda: interval(GOOD, ["AP", "ERR@10"]),
        "ERR@10 of one ranking has no interval here: it is not written as a function of counts; "
        "take its mean over groups, named with over=, or one of AP[@k], AUC, AUPRC, AUPRG, BalancedAccuracy(threshold=t), BEDROC, DCG[@k], EF, F@k, "
        "F(threshold=t), F1@k, F1(threshold=t), Lift@k, MaxF1, MCC(threshold=t), nDCG[@k], P@k, "
        "P(threshold=t), pAP, pAUC, Prec@r, R@k, R(threshold=t), R(at_precision=t), RBP[@k], RelP@k, "
        "Rprec, RR[@k], SetAP, SetF, SetP, SetR, Specificity(threshold=t), Success@k and W.",
    ),
    "interval of a metric of grades": (
        lambda: interval(GOOD.with_columns(label=pl.Series([0, 3, 1, 0])), "nDCG@10"),
        "nDCG@10 of one ranking has an interval only where labels are 0 and 1, and not where they "
        "are grades; got 3; name the labels that count as relevant with positive=[...], or take the "
        "mean over queries, which may have grades, with over=.",
    ),
    "a standard error of the first positive": (
        lambda: interval(GOOD, "RR", method="logit-t"),
        "RR has no standard error, because the first positive alone decides it; take "
        "'bayesian-bootstrap' or 'percentile'.",
    ),
    "a method of means": (
        lambda: interval(GOOD, "AUPRG", method="logit"),
        "`method` of one ranking must be one of 'auto', 'bayesian-bootstrap', 'logit-t', "
        "'percentile'; got 'logit'.",
    ),
    "a prior of the first k": (
        lambda: interval(GOOD, ["AP", "AP@5"], prior=0.5),
        "`prior` does not work with metrics that count ranks, such as AP@5; take a metric at a "
        "threshold, such as 'P(threshold=0.5)', or leave `prior` out.",
    ),
    "a prior of means": (
        lambda: interval(GOOD, ["AP", "AUC", "nDCG"], over="label", prior=0.5),
        f"`prior` is not taken by 'nDCG'; it is for {OF_ANY_PRIOR}; evaluate these in a call of their own, without prior.",
    ),
    "a prior of precomputed values": (
        lambda: interval(GOOD, values="score", over="label", prior=0.5),
        "`prior` is for metrics of rankings; leave it out with values=.",
    ),
    "interval of rows without a cluster": (
        lambda: interval(GOOD.with_columns(c=pl.Series([1, None, 2, None])), "AP", cluster="c"),
        "`cluster` 'c' must not contain nulls or NaN, which would be one cluster: 2 of 4 rows; "
        "name these clusters, or drop the rows.",
    ),
    "interval of weighted rows": (
        lambda: interval(GOOD, "AP", weight="weight"),
        "interval without `over` does not support `weight`, because it draws whole items; leave "
        "it out, or resample rows yourself and take quantiles of evaluate with weight=.",
    ),
    "interval of expected values": (
        lambda: interval(GOOD, "AP", ties="expected"),
        f"interval takes ties={PLAIN} without `over`; got 'expected'.",
    ),
    "method for a mean": (
        lambda: interval(GOOD, "AP", method="hall"),
        "`method` of one ranking must be one of 'auto', 'bayesian-bootstrap', 'logit-t', "
        "'percentile'; got 'hall'.",
    ),
    "method for a ranking": (
        lambda: interval(GOOD, "AP", method="logit-t", over="query"),
        "`method` of a mean over groups must be one of 'auto', 'bca', 'hall', 'logit', "
        "'percentile', 't'; "
        "got 'logit-t'.",
    ),
    "method without clusters": (
        lambda: interval(GOOD, "AP", method="bayesian-bootstrap", cluster="query"),
        "`method` of clusters must be one of 'auto', 'logit-t', 'percentile'; got "
        "'bayesian-bootstrap'.",
    ),
    "logit of a sum": (
        lambda: interval(GOOD, ["AP", "DCG", "Lift@2"], method="logit", over="query"),
        "method='logit' is for metrics within [0, 1], which 'DCG', 'Lift@2' may exceed; take 't', "
        "'percentile' or 'bca'.",
    ),
    "ties of clusters": (
        lambda: interval(GOOD, "AP", cluster="query", ties="order"),
        "`cluster` draws rows again, which are tied then; it takes ties='group'; got 'order'.",
    ),
    "totals of clusters": (
        lambda: interval(GOOD, "AP", cluster="query", n_neg=9),
        "`n_neg` counts items that are not listed, and so in no cluster; list them with a score "
        "of -inf.",
    ),
    "clusters of means": (
        lambda: interval(GOOD, "AP", cluster="doc", over="query"),
        "`cluster` 'doc' must be one value, and no null, for each group of `over`, in groups "
        "'q1'; mend these rows, "
        "or, if numbers begin anew in each 'doc', name it in `over` too.",
    ),
    "clusters of folds": (
        lambda: interval(GOOD, "AP", cluster="doc", over="query", resampling="cv"),
        "`resampling` and `cluster` each say how groups depend on each other; give one of them.",
    ),
    "a score that resembles nothing": (
        lambda: evaluate(GOOD.with_columns(np_=1), "AP", score="nope"),
        "`score` names the column 'nope', which the frame does not have; "
        f"its columns are {COLUMNS}, 'np_'. Did you mean 'score'?",
    ),
    "cluster that is missing": (
        lambda: interval(GOOD.lazy(), "AP", cluster="quer"),
        "`cluster` names the column 'quer', which the frame does not have; "
        f"its columns are {COLUMNS}. Did you mean 'query'?",
    ),
    "dtype of a cluster": (
        lambda: interval(GOOD, "AP", cluster="list"),
        "`cluster` must name columns of plain values; 'list' is List(Int64).",
    ),
    "group named as a column of intervals": (
        lambda: interval(GOOD.rename({"query": "metric"}), "AP", by="metric"),
        "`by` names 'metric', which is also a column of the result; rename it.",
    ),
    "judgments of one ranking": (
        lambda: interval(GOOD, "Bpref", over="query"),
        "`judged` names the column 'judged', which the frame does not have; "
        f"its columns are {COLUMNS}. Bpref, infAP and Judged need to know which items are judged; "
        "trec.join makes this column. Name the column with judged=.",
    ),
    "a test by another name": (
        lambda: prframe.compare(GOOD, "AP", model="query", over="list", test="student"),
        "`test` over groups of `over` must be one of 'bootstrap', 'hall', 'randomization', 'sign', "
        "'t', 'wilcoxon'; got 'student'. Did you mean 't'?",
    ),
    "nulls alone": (
        lambda: evaluate(pd.DataFrame({"label": [None] * 2, "score": [1.0, 2.0]}), "AP"),
        "`label` must be boolean, numeric or string; 'label' is Null.",
    ),
    "ties of a mean": (
        lambda: interval(GOOD, "infAP", over="query", ties="expected"),
        f"infAP takes ties={PLAIN}; got 'expected'; evaluate it in a call of its own.",
    ),
    "positives at random": (
        lambda: prframe.AP.at_random(3, 4),
        "`n_pos` must be at most n = 3; got 4.",
    ),
    "positive of an expression": (
        lambda: pl.col("score").pr.ap("label", positive="yes"),
        "`positive` must be a number; got 'yes'. For string labels pass a condition: "
        "pl.col('score').pr.ap(pl.col('label') == 'yes').",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSALS.values(), ids=REFUSALS)
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
