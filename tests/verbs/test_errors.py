"""Every refusal, once, with its full message."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
import polars as pl
import pytest

import prframe
from prframe import stats, tie_policies
from prframe._engine.frame_kinds import KINDS
from tests.oracle import ORACLE, PHI_WORDS
from tests.verbs.names import NUMBERED

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
    "missing column": (
        lambda: evaluate(GOOD, "AP", by="qery"),
        "`by` names the column 'qery', which the frame does not have; "
        f"its columns are {COLUMNS}. Did you mean 'query'?",
    ),
    "missing column, nothing like it": (
        lambda: evaluate(GOOD, "AP", "score", "label", item="xyz"),
        "`item` names the column 'xyz', which the frame does not have; "
        f"its columns are {COLUMNS}.",
    ),
    "column in the index": (
        lambda: evaluate(
            GOOD.to_pandas()[["query", "score", "label"]].set_index("query"), "AP", by="query"
        ),
        "`by` names the column 'query', which the frame does not have; "
        "its columns are 'score', 'label'. ['query'] is in the index: call .reset_index() first.",
    ),
    "two columns of one name": (
        lambda: evaluate(pd.DataFrame([[1, 1, 2]], columns=["score", "label", "score"]), "AP"),
        "the frame has more than one column named 'score'.",
    ),
    "not a frame": (
        lambda: evaluate([1, 2], "AP"),
        f"the frame must be a {FRAMES}; got list. {ARRAYS} Values of a metric at hand are such a "
        "column, too, as in interval({'query_id': queries, 'AP': values}, values='AP', "
        "over='query_id').",
    ),
    "a GroupBy": (
        lambda: GOOD.to_pandas().groupby("query").pipe(evaluate, "AP"),
        f"the frame must be a {FRAMES}; "
        "got pandas.DataFrameGroupBy. "
        "Pass the frame itself and name its keys in by=.",
    ),
    "dtype of the score": (
        lambda: evaluate(GOOD, "AP", score="text"),
        "`score` must be numeric; 'text' is String. Make numbers of it first, for example with "
        "cast(pl.Float64) or astype(float).",
    ),
    "flags as the score": (
        lambda: evaluate(GOOD.with_columns(score=pl.col("label") > 0), "AP"),
        "`score` must be numeric; 'score' is Boolean. Name the scores by which the items are ranked; if "
        "these are the flags, make numbers of them, for example with cast(pl.Int8) or astype(int).",
    ),
    "a frame without columns": (
        lambda: evaluate(pl.DataFrame(), "AP"),
        "`score` names the column 'score', which the frame does not have; it has no columns. Name the "
        "column with score=.",
    ),
    "string labels": (
        lambda: evaluate(GOOD, "AP", label="text"),
        "`label` 'text' holds strings: say which are positive, for instance positive='yes'.",
    ),
    "string labels and a number": (
        lambda: evaluate(GOOD, "AP", label="text", positive=1),
        "`label` 'text' holds strings: say which are positive, for instance positive='1'.",
    ),
    "dtype of the label": (
        lambda: evaluate(GOOD, "AP", label="list"),
        "`label` must be boolean, numeric or string; 'list' is List(Int64).",
    ),
    "positive unlike the label": (
        lambda: evaluate(GOOD, "AP", positive="yes"),
        "`positive` must hold values like the Int64 labels of 'label'; got 'yes'.",
    ),
    "ignore unlike the label": (
        lambda: evaluate(GOOD, "AP", ignore="no"),
        "`ignore` must hold values like the Int64 labels of 'label'; got 'no'.",
    ),
    "dtype of the weight": (
        lambda: evaluate(GOOD, "AP", weight="text"),
        "`weight` must be numeric; 'text' is String.",
    ),
    "dtype of a key": (
        lambda: evaluate(GOOD, "AP", by="list"),
        "`by` must name columns of plain values; 'list' is List(Int64).",
    ),
    "missing scores": (
        lambda: evaluate(NO_SCORE, "AP", by="query"),
        "`score` 'score' must not contain nulls or NaN: 2 of 4 rows, in groups ['q2']; leave them "
        "out with missing='drop', or take them as not retrieved with missing='last'.",
    ),
    "missing scores, no groups": (
        lambda: evaluate(NO_SCORE, "AP"),
        "`score` 'score' must not contain nulls or NaN: 2 of 4 rows; leave them "
        "out with missing='drop', or take them as not retrieved with missing='last'.",
    ),
    "missing labels": (
        lambda: evaluate(NO_LABEL, "AP", by=["query", "doc"]),
        "`label` 'label' must not contain nulls or NaN: 1 of 4 rows, in groups [('q2', 'a')]; "
        "drop these rows, leave them out with ignore=[None], or, if unlabelled means not relevant, "
        "fill them with 0 or the label of negatives.",
    ),
    "duplicate items": (
        lambda: evaluate(GOOD, "AP", by="query", item="doc"),
        "`item` 'doc' must name each item once: 1 rows too many, in groups ['q2']; "
        "drop the duplicates, or name the columns that keep rankings apart with by=.",
    ),
    "weights": (
        lambda: evaluate(GOOD, "AP", by="query", weight="weight"),
        "`weight` 'weight' must be finite numbers >= 0: 2 of 4 rows, in groups ['q1', 'q2']; "
        "mend or drop these rows.",
    ),
    "n_pos below what is present": (
        lambda: evaluate(GOOD, "AP", by="query", n_pos=0),
        "`n_pos` must be at least what is present: 0 given, 1 present, in groups ['q1', 'q2']; "
        "count what is listed as well.",
    ),
    "n_neg below what is present": (
        lambda: curve(GOOD, n_neg=1),
        "`n_neg` must be at least what is present: 1 given, 2 present; "
        "count what is listed as well.",
    ),
    "n_pos not constant": (
        lambda: evaluate(GOOD, "AP", by="query", n_pos="total"),
        "`n_pos` 'total' must be constant within a group: 2 different values, in groups ['q1']; "
        "give every row of a group the same total.",
    ),
    "n_pos not whole": (
        lambda: evaluate(GOOD.with_columns(total=pl.lit(1.5)), "AP", n_pos="total"),
        "`n_pos` 'total' must be whole numbers >= 0: 4 of 4 rows; "
        "give every row of a group the same total.",
    ),
    "n_pos negative": (
        lambda: evaluate(GOOD, "AP", n_pos=-1),
        "`n_pos` must be a whole number >= 0; got -1.",
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
    "k of 0": (
        lambda: evaluate(GOOD, "P@0"),
        "the cut-off in 'P@0' must be a whole number >= 1; got '0'.",
    ),
    "k not a number": (
        lambda: evaluate(GOOD, "P@ten"),
        "the cut-off in 'P@ten' must be a whole number >= 1; got 'ten'.",
    ),
    "k of a value": (lambda: prframe.P @ 0, "`k` must be a whole number >= 1; got 0."),
    "k missing": (lambda: evaluate(GOOD, "P"), "P needs a cut-off, for instance 'P@10'."),
    "k too many": (lambda: evaluate(GOOD, "AUC@3"), "AUC takes no cut-off; got 'AUC@3'."),
    "k of check": (lambda: prframe.check(GOOD, k=0), "`k` must be a whole number >= 1; got 0."),
    "unknown metric": (
        lambda: evaluate(GOOD, "BLEU"),
        f"unknown metric 'BLEU'. The metrics are {METRICS}.",
    ),
    "misspelt metric": (
        lambda: evaluate(GOOD, "auc"),
        f"unknown metric 'auc'. Did you mean 'AUC'? The metrics are {METRICS}.",
    ),
    "no metric": (
        lambda: evaluate(GOOD, []),
        "`metrics` must name at least one metric; got none.",
    ),
    "a metric twice": (
        lambda: evaluate(GOOD, ["AP", prframe.AP]),
        "`metrics` names a metric twice: ['AP', 'AP'].",
    ),
    "not a metric": (
        lambda: evaluate(GOOD, [3]),
        "a metric must be a name or a catalogue object; got 3.",
    ),
    "weights of positions": (
        lambda: evaluate(GOOD, ["AP", "P@2", "nDCG"], weight="total"),
        f"`weight` is not taken by 'P@2', 'nDCG'; it is for {OF_WEIGHTS}; evaluate these in a call of their own, without weight.",
    ),
    "prior of nDCG": (
        lambda: evaluate(GOOD, ["AP", "AUC", "nDCG"], prior=0.5),
        f"`prior` is not taken by 'nDCG'; it is for {OF_ANY_PRIOR}; evaluate these in a call of their own, without prior.",
    ),
    "MCC without positives": (
        lambda: evaluate(GOOD, ["AP", "MCC(threshold=0.5)"], prior=0),
        "'MCC(threshold=0.5)' needs both classes; got prior=0, where one is absent.",
    ),
    "interpolation cut off": (
        lambda: evaluate(GOOD, ["AP@2"], interpolate=True),
        "`interpolate` is not taken by 'AP@2'; it is for AP, AP11 and AUPRC; leave it out.",
    ),
    "prior": (lambda: curve(GOOD, prior=2), "`prior` must lie between 0 and 1; got 2."),
    "recall level": (
        lambda: curve(GOOD, recall=[0.5, 1.5]),
        "`recall` must lie between 0 and 1; got 1.5.",
    ),
    "recall levels in input order": (
        lambda: curve(GOOD, recall=[0.5], order="input"),
        "`recall` gives a row per level; leave out order='input'.",
    ),
    "order": (
        lambda: curve(GOOD, order="rnk"),
        "`order` must be one of 'input', 'rank'; got 'rnk'. Did you mean 'rank'?",
    ),
    "ties": (
        lambda: curve(GOOD, ties="groups"),
        f"`ties` must be one of {quoted(tie_policies.ALL_TIES)}; got 'groups'. Did you mean 'group'?",
    ),
    "missing": (
        lambda: curve(GOOD, missing="skip"),
        "`missing` must be one of 'drop', 'last', 'raise'; got 'skip'.",
    ),
    "layout": (
        lambda: evaluate(GOOD, "AP", layout="tall"),
        "`layout` must be one of 'long', 'wide'; got 'tall'.",
    ),
    "flag": (lambda: curve(GOOD, anchor=1), "`anchor` must be True or False; got 1."),
    "not a column name": (
        lambda: curve(GOOD, score=3),
        f"`score` must be the name of a column, a string; got 3.{NUMBERED}",
    ),
    "not a list of keys": (
        lambda: curve(GOOD, by=GOOD["query"]),
        "`by` must be a column name or a list of them; got shape: (4,) Series: 'query' [str] "
        '[ "q1" "q1" "q2" "q2" ]. Make it a column of the frame and give its name.',
    ),
    "not a list of metrics": (
        lambda: evaluate(GOOD, 5),
        "`metrics` must be a metric or a list of them; got 5.",
    ),
    "a Series": (
        lambda: evaluate(GOOD["score"], "AP"),
        f"the frame must be a {FRAMES}; got polars.Series. {ARRAYS}",
    ),
    "default column missing": (
        lambda: evaluate(GOOD.select("query", "doc"), "AP"),
        "`score` names the column 'score', which the frame does not have; "
        "its columns are 'query', 'doc'. Name the column with score=.",
    ),
    "positive False": (
        lambda: evaluate(GOOD, "AP", positive=False),
        "`positive` must be True, a number (labels at least as large), or values to be equal to; "
        "got False. For labels equal to False say positive=[False].",
    ),
    "recall level as text": (
        lambda: curve(GOOD, recall="0.5"),
        "`recall` must lie between 0 and 1; got '0.5'.",
    ),
    "a pattern for a name": (
        lambda: curve(GOOD, score="^s.*$"),
        "`score` must not look like a pattern, as polars would read it as one; got '^s.*$'; "
        "rename the column.",
    ),
    "positive None": (
        lambda: curve(GOOD, positive=None),
        "`positive` must be a label value or a list of them; got None.",
    ),
    "positive empty": (
        lambda: curve(GOOD, positive=[]),
        "`positive` must be a label value or a list of them; got [].",
    ),
    "ignore nested": (
        lambda: curve(GOOD, ignore=[[0]]),
        "`ignore` must be a label value or a list of them; got [[0]].",
    ),
    "totals beyond counting": (
        lambda: evaluate(GOOD, "AP", by="query", n_pos=2**53),
        "`n_pos` and `n_neg` must add up to 2^53 at most, beyond which floats round: "
        "9007199254740993, in groups ['q1', 'q2']; give smaller totals.",
    ),
    "n_pos beyond counting": (
        lambda: evaluate(GOOD, "AP", n_pos=10**30),
        "`n_pos` must be a whole number >= 0 and <= 2^53; got 1000000000000000000000000000000.",
    ),
    "a key twice": (
        lambda: curve(GOOD, by=["query", "query"]),
        "`by` names a column twice: ['query', 'query'].",
    ),
    "a key named as a result": (
        lambda: curve(GOOD.rename({"query": "recall"}), by="recall"),
        "`by` names 'recall', which is also a column of the result; rename it.",
    ),
    "k of an expression": (
        lambda: pl.col("score").pr.precision("label", 2.5),
        "`k` must be a whole number >= 1; got 2.5.",
    ),
    "trec without names": (
        lambda: curve(GOOD, ties="trec"),
        "ties='trec' orders tied items by their names; name their column with item=.",
    ),
    "trec with a missing name": (
        lambda: evaluate(
            GOOD.with_columns(doc=pl.Series(["a", None, "b", "c"])), "AP", ties="trec", item="doc"
        ),
        "`item` 'doc' must not contain nulls with ties='trec': 1 of 4 rows; "
        "name these items, or drop the rows.",
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
    "an expected maximum": (
        lambda: evaluate(GOOD, ["AP", "MaxF1"], ties="expected"),
        f"MaxF1 takes ties={NO_MEAN}; got 'expected'; evaluate it in a call of its own.",
    ),
    "an expected interpolation": (
        lambda: evaluate(GOOD, "AP", ties="expected", interpolate=True),
        "ties='expected' has no closed form with `interpolate`; use 'group'.",
    ),
    "a weighted null": (
        lambda: prframe.ap_test(GOOD.with_columns(weight=1.0), weight="weight"),
        "ap_test counts whole items and takes no `weight`; leave it out.",
    ),
    "an expected null": (
        lambda: prframe.ap_test(GOOD, ties="expected"),
        f"ap_test takes ties={PLAIN}; got 'expected', under which AP is no longer "
        "that of one ranking.",
    ),
    "a null's method": (
        lambda: prframe.ap_test(GOOD, method="gamma"),
        "`method` must be one of 'auto', 'exact', 'lattice', 'saddlepoint', 'transform', 'beta', "
        "'normal', 'normal-delta', 'monte-carlo'; got 'gamma'.",
    ),
    "a mean's method": (
        lambda: prframe.ap_test(GOOD, method="beta", over="label"),
        "with `over`, `method` must be one of 'auto', 'transform', 'normal', 'monte-carlo'; "
        "got 'beta'.",
    ),
    "a total that is a series": (
        lambda: prframe.ap_test(GOOD, n_pos=pl.Series("m", [1, 2])),
        "`n_pos` must be a whole number >= 0; got shape: (2,) Series: 'm' [i64] [ 1 2 ].",
    ),
    "a correction": (
        lambda: prframe.ap_test(GOOD, correction="fdr"),
        "`correction` must be one of 'bh', 'bonferroni', 'by', 'hochberg', 'holm'; got 'fdr'. "
        "Write correction='bh'.",
    ),
    "resamples": (
        lambda: prframe.ap_test(GOOD, n_resamples=0),
        "`n_resamples` must be a whole number >= 1; got 0.",
    ),
    "too many rankings": (
        lambda: prframe.ap_test(
            pl.DataFrame({"score": range(200), "label": [1, 0] * 100}), method="exact"
        ),
        "method 'exact' cannot follow 10^59 rankings of 100 positives among 200 items; use method "
        "'auto'.",
    ),
    "a weighted count": (
        lambda: prframe.topk_test(GOOD.with_columns(weight=1.0), weight="weight"),
        "topk_test counts whole items and takes no `weight`; leave it out.",
    ),
    "an expected count": (
        lambda: prframe.topk_test(GOOD, ties="expected"),
        "ties='expected' is a mean over rankings, and the test needs the hits of one; "
        "use 'group', or the range from 'worst' to 'best'.",
    ),
    "k of a test": (
        lambda: prframe.topk_test(GOOD, k=[5, 0]),
        "`k` must be a whole number >= 1; got 0.",
    ),
    "no k of a test": (
        lambda: prframe.topk_test(GOOD, k=[]),
        "`k` must name at least one cut-off; got none.",
    ),
    "k of a test as text": (
        lambda: prframe.topk_test(GOOD, k="10"),
        "`k` must be a whole number >= 1; got '10'.",
    ),
    "alternative": (
        lambda: prframe.topk_test(GOOD, alternative="bigger"),
        "`alternative` must be one of 'greater', 'less', 'two-sided'; got 'bigger'.",
    ),
    "method of an interval": (
        lambda: prframe.topk_test(GOOD, method="wilson"),
        "`method` must be one of 'clopper-pearson', 'jeffreys', 'posterior'; got 'wilson'.",
    ),
    "measure": (
        lambda: prframe.topk_test(GOOD, measure="f"),
        "`measure` must be one of 'precision', 'recall'; got 'f'.",
    ),
    "confidence level": (
        lambda: prframe.topk_test(GOOD, confidence_level=1),
        "`confidence_level` must be a number > 0 and < 1; got 1.",
    ),
    "a weighted rank": (
        lambda: rank_test(GOOD.with_columns(weight=1.0), weight="weight"),
        "rank_test ranks whole items and takes no `weight`; leave it out.",
    ),
    "an expected rank": (
        lambda: rank_test(GOOD, ties="expected"),
        f"rank_test takes ties={PLAIN}; got 'expected', under which ranks depend "
        "on labels or are no ranks of one ranking.",
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
    "misspelt phi": (
        lambda: rank_test(GOOD, phi="mw"),
        f"`phi` must be one of {PHI_WORDS}; got 'mw'. Did you mean 'mww'?",
    ),
    "phi that cannot be read": (
        lambda: rank_test(GOOD, phi="local-auc(u0=0.5"),
        f"cannot read phi='local-auc(u0=0.5'; write one of {PHI_WORDS}, with parameters as in "
        "'dcg(k=10)'.",
    ),
    "a parameter of phi": (
        lambda: rank_test(GOOD, phi="local-auc(u=0.5)"),
        "local-auc takes 'u0'; got 'u'.",
    ),
    "a parameter where phi has none": (
        lambda: rank_test(GOOD, phi="mww(u0=0.5)"),
        "mww takes no parameters; got 'u0'.",
    ),
    "a parameter without value": (
        lambda: rank_test(GOOD, phi="local-auc(u0)"),
        "'u0' in phi='local-auc(u0)' is no number.",
    ),
    "a parameter twice": (
        lambda: rank_test(GOOD, phi="local-auc(u0=0.5, u0=0.6)"),
        "cannot read 'u0=0.6' in phi='local-auc(u0=0.5, u0=0.6)'.",
    ),
    "a parameter that is no number": (
        lambda: rank_test(GOOD, phi="local-auc(u0=half)"),
        "'half' in phi='local-auc(u0=half)' is no number.",
    ),
    "u0 out of range": (
        lambda: rank_test(GOOD, phi="local-auc(u0=1.5)"),
        "`u0` must be a number > 0 and < 1; got 1.5.",
    ),
    "q out of range": (
        lambda: rank_test(GOOD, phi="p-norm-push(q=0.5)"),
        "`q` must be a number >= 1; got 0.5.",
    ),
    "beta out of range": (
        lambda: rank_test(GOOD, phi="rtb(beta=0)"),
        "`beta` must be a number >= 0.001 and <= 1000000.0; got 0.",
    ),
    "k of phi": (
        lambda: rank_test(GOOD, phi="dcg(k=0)"),
        "`k` must be a whole number >= 1; got 0.",
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
    "phi that is infinite": (
        lambda: rank_test(GOOD, phi=infinite_beyond_half),
        "phi must be finite between 0 and 1; infinite_beyond_half(0.500244) is not.",
    ),
    "phi that returns one number": (
        lambda: rank_test(GOOD, phi=np.max),
        "phi must return as many numbers as it is given; max returned shape () for (4095,).",
    ),
    "phi that returns no numbers": (
        lambda: rank_test(GOOD, phi=lambda _: "high"),
        "phi must return numbers; <lambda> returned array('high', dtype='<U4').",
    ),
    "a rank's alternative": (
        lambda: rank_test(GOOD, alternative="bigger"),
        "`alternative` must be one of 'greater', 'less', 'two-sided'; got 'bigger'.",
    ),
    "a rank's method": (
        lambda: rank_test(GOOD, method="monte-carlo"),
        "`method` must be one of 'auto', 'exact', 'normal', 'saddlepoint'; got 'monte-carlo'.",
    ),
    "a rank's correction": (
        lambda: rank_test(GOOD, correction="fdr"),
        "`correction` must be one of 'bh', 'bonferroni', 'by', 'hochberg', 'holm'; got 'fdr'. "
        "Write correction='bh'.",
    ),
    "a rank's confidence level": (
        lambda: rank_test(GOOD, confidence_level=95),
        "`confidence_level` must be a number > 0 and < 1; got 95.",
    ),
    "group named as a column of rank tests": (
        lambda: rank_test(GOOD.rename({"query": "phi"}), by="phi"),
        "`by` names 'phi', which is also a column of the result; rename it.",
    ),
    "too many subsets": (
        lambda: rank_test(
            pl.DataFrame({"score": range(400), "label": [1, 0] * 200}), method="exact"
        ),
        "too many subsets of 200 among 400 items to count them; take method='auto' or "
        "'saddlepoint'.",
    ),
    "lengths of a rank statistic": (
        lambda: stats.rank_statistic([1, 2], [1]),
        "`score` and `label` must be of one length; got shapes (2,) and (1,).",
    ),
    "missing scores of a rank statistic": (
        lambda: stats.rank_statistic([1, float("nan")], [1, 0]),
        "`score` must not be NaN: 1 of 2.",
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
    "interval of a rank statistic": (
        lambda: stats.rank_statistic([1, 2], [0, 1]).interval(method="normal"),
        "`method` must be one of 'beta', 'logit', 'wald'; got 'normal'.",
    ),
    "level of a rank statistic": (
        lambda: stats.rank_statistic([1, 2], [0, 1]).interval(0.9),
        "`confidence` must be a Confidence; got a float.",
    ),
    "shapes of a rank covariance": (
        lambda: stats.rank_covariance([[1, 2, 3]], [1, 0]),
        "`scores` must have a row per ranking and a column per label; got shapes (1, 3) and (2,).",
    ),
    "words in a rank covariance": (
        lambda: stats.rank_covariance([["a", "b"]], [1, 0]),
        "`scores` must be numbers; got [['a', 'b']].",
    ),
    "missing scores of a rank covariance": (
        lambda: stats.rank_covariance([[1, 2, float("nan"), 4]], [1, 0, 1, 0]),
        "`scores` must not be NaN: 1 of 4.",
    ),
    "too little for a rank covariance": (
        lambda: stats.rank_covariance([[1, 2, 3]], [1, 0, 1]),
        "a covariance needs two items of each class; got 2 positives and 1 negatives.",
    ),
    "a rank covariance of DCG": (
        lambda: stats.rank_covariance([[1, 2, 3, 4]], [1, 0, 1, 0], "dcg"),
        "dcg has no standard error, and so no covariance.",
    ),
    "rankings of two lengths": (
        lambda: stats.paired_rank_test([1, 2], [1, 2, 3], [1, 0]),
        "`score_a` and `score_b` must be of one length; got shapes (2,) and (3,).",
    ),
    "alternative of paired rankings": (
        lambda: stats.paired_rank_test([1, 2], [1, 2], [1, 0], alternative="more"),
        "`alternative` must be one of 'greater', 'less', 'two-sided'; got 'more'.",
    ),
    "level of paired rankings": (
        lambda: stats.paired_rank_test([1, 2], [1, 2], [1, 0], confidence_level=2),
        "`confidence_level` must be a number > 0 and < 1; got 2.",
    ),
    "words in paired rankings": (
        lambda: stats.paired_rank_test([1, 2], ["a", "b"], [1, 0]),
        "`score_b` must be numbers; got ['a', 'b'].",
    ),
    "a null of nothing": (
        lambda: stats.LinearRankNull([], 1),
        "`scores` must be finite numbers, at least one; got [].",
    ),
    "an infinite null": (
        lambda: stats.LinearRankNull([1, float("inf")], 1),
        "`scores` must be finite numbers, at least one; got [1, inf].",
    ),
    "positives of a null": (
        lambda: stats.LinearRankNull([1, 2], 3),
        "`n_pos` must be at most N = 2; got 3.",
    ),
    "no positives of a null": (
        lambda: stats.LinearRankNull([1, 2], 0),
        "`n_pos` must be a whole number >= 1; got 0.",
    ),
    "number of sizes": (
        lambda: stats.LinearRankNull([1, 2], 1, sizes=[1]),
        "`sizes` must be one per score; got 1 for 2.",
    ),
    "size of a block": (
        lambda: stats.LinearRankNull([1, 2], 1, sizes=[0, 1]),
        "`sizes` must be whole numbers >= 1; got 0.",
    ),
    "step of a null": (
        lambda: stats.LinearRankNull([1, 2], 1, step=-1),
        "`step` must be a number >= 0; got -1.",
    ),
    "method of a null": (
        lambda: stats.LinearRankNull([1, 2], 1, method="t"),
        "`method` must be one of 'auto', 'exact', 'normal', 'saddlepoint'; got 't'.",
    ),
    "draws of a null": (
        lambda: stats.LinearRankNull([1, 2], 1).rvs(0),
        "`size` must be a whole number >= 1; got 0.",
    ),
    "a weighted band": (
        lambda: prframe.band(GOOD.with_columns(weight=1.0), weight="weight"),
        "band draws whole items and takes no `weight`; leave it out, or take "
        "quantiles of what evaluate makes of resamples with weight=.",
    ),
    "an expected band": (
        lambda: prframe.band(GOOD, ties="expected"),
        f"the bayesian-bootstrap band takes ties={PLAIN}; got 'expected'.",
    ),
    "an ordered ball": (
        lambda: prframe.band(GOOD, method="smoothed-bootstrap", ties="order"),
        "the smoothed-bootstrap band takes ties='group'; got 'order'.",
    ),
    "a band's method": (
        lambda: prframe.band(GOOD, method="asymptotics"),
        "`method` must be one of 'asymptotic', 'auto', 'smoothed-bootstrap'; got 'asymptotics'. "
        "Did you mean 'asymptotic'?",
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
    "levels of a band": (
        lambda: prframe.band(GOOD, recall=[0.5, 0.2]),
        "`recall` must be a list of rising levels, each once; got [0.5, 0.2].",
    ),
    "no level of a band": (
        lambda: prframe.band(GOOD, recall=[]),
        "`recall` must be a list of rising levels, each once; got [].",
    ),
    "a level of a band": (
        lambda: prframe.band(GOOD, recall=1.0),
        "`recall` must be > 0 and < 1; got 1.0.",
    ),
    "a number of levels": (
        lambda: prframe.band(GOOD, recall=1),
        "`recall` as a whole number is that of evenly spaced levels from 0 to 1, at least 2; got "
        "1. A single level is a float, for example 1.0.",
    ),
    "a number of levels of a curve": (
        lambda: prframe.curve(GOOD, recall=0),
        "`recall` as a whole number is that of evenly spaced levels from 0 to 1, at least 2; got "
        "0. A single level is a float, for example 1.0.",
    ),
    "two levels, without a band": (
        lambda: prframe.band(GOOD, recall=2),
        "`recall` as a whole number is at least 3 for a band, which has no level at 0 and 1; got 2.",
    ),
    "a level that is a word": (
        lambda: prframe.band(GOOD, recall="half"),
        "`recall` must be numbers; got 'half'.",
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
    "the end of a range": (
        lambda: prframe.band(GOOD, recall_range=(0, 0.2)),
        "`recall_range` must be a number > 0 and < 1; got 0.",
    ),
    "confidence level of a band": (
        lambda: prframe.band(GOOD, confidence_level=95),
        "`confidence_level` must be a number > 0 and < 1; got 95.",
    ),
    "resamples of a band": (
        lambda: prframe.band(GOOD, n_resamples=1.5),
        "`n_resamples` must be a whole number >= 1; got 1.5.",
    ),
    "seed": (
        lambda: prframe.band(GOOD, rng="1"),
        "`rng` must be a whole number >= 0 or a numpy.random.Generator; got '1'.",
    ),
    "judgments not named": (
        lambda: evaluate(GOOD, ["Bpref", "Judged@10"]),
        "`judged` names the column 'judged', which the frame does not have; "
        f"its columns are {COLUMNS}. Name the column with judged=.",
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
    "a positive that was not judged": (
        lambda: evaluate(GOOD.with_columns(judged=False), "Bpref", judged="judged"),
        "`judged` 'judged' must be True or False, and True for relevant items: 2 of 4 rows; "
        "mend these rows.",
    ),
    "a total of other positives": (
        lambda: evaluate(GOOD, "P(rel=2)@1", n_pos=3),
        "`n_pos` counts the positives of `positive`, not those of 'P(rel=2)@1'; "
        "list the items with a score of -inf instead.",
    ),
    "a weighted grade": (
        lambda: evaluate(GOOD.with_columns(weight=1.0), "AP(rel=2)", weight="weight"),
        "'AP(rel=2)' take no `weight`; say positive= for all metrics instead.",
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
    "over what": (
        lambda: evaluate(GOOD, "AP", over=3),
        f"`over` must be a column name or a list of them; got 3.{NUMBERED}",
    ),
    "over and by": (
        lambda: evaluate(GOOD, "AP", over=["label"], by="label"),
        "`over` and `by` both name 'label'; a column is either kept apart or summarised over.",
    ),
    "a geometric mean over nothing": (
        lambda: evaluate(GOOD, "AP", geometric_mean=True),
        "`geometric_mean` is one over groups; name them with over=.",
    ),
    "a value for what is undefined": (
        lambda: evaluate(GOOD, "AP", undefined="zero"),
        "`undefined` must be a finite number; got 'zero'.",
    ),
    "interval of a metric": (
        lambda: interval(GOOD, ["AP", "ERR@10"]),
        "ERR@10 of one ranking has no interval here: it is not written as a function of counts; "
        "AP[@k], AUC, AUPRC, AUPRG, BalancedAccuracy(threshold=t), BEDROC, DCG[@k], EF, F@k, "
        "F(threshold=t), F1@k, F1(threshold=t), Lift@k, MaxF1, MCC(threshold=t), nDCG[@k], P@k, "
        "P(threshold=t), pAP, pAUC, Prec@r, R@k, R(threshold=t), R(at_precision=t), RBP[@k], RelP@k, "
        "Rprec, RR[@k], SetAP, SetF, SetP, SetR, Specificity(threshold=t), Success@k and W have; "
        "for a mean over groups name them with over=.",
    ),
    "interval of a metric of grades": (
        lambda: interval(GOOD.with_columns(label=pl.Series([0, 3, 1, 0])), "nDCG@10"),
        "nDCG@10 of one ranking has an interval only where labels are 0 and 1, and not where they "
        "are grades; got 3; name the labels that count as relevant with positive=[...], or take the "
        "mean over queries, which may have grades, with over=.",
    ),
    "a standard error of the first positive": (
        lambda: interval(GOOD, "RR", method="wald"),
        "RR has no standard error, because the first positive alone decides it; take "
        "'bayesian-bootstrap' or 'percentile'.",
    ),
    "a logit without bounds": (
        lambda: interval(GOOD, "AUPRG", method="logit"),
        "method='logit' is for metrics within bounds; got AUPRG; take 't', 'wald', 'percentile' "
        "or 'bca'.",
    ),
    "a prior of 1": (
        lambda: interval(GOOD, "AP", prior=1),
        "`prior` must be a number > 0 and < 1; got 1.",
    ),
    "a prior of the first k": (
        lambda: interval(GOOD, ["AP", "AP@5"], prior=0.5),
        "`prior` has no meaning for AP@5 of one ranking, as it counts ranks, at which the population "
        "has other items; it is for AP, AUC, AUPRC, AUPRG, BalancedAccuracy(threshold=t), "
        "F(threshold=t), F1(threshold=t), MaxF1, MCC(threshold=t), P(threshold=t), pAP, pAUC, "
        "Prec@r, R(threshold=t), R(at_precision=t), SetAP, SetF, SetP, SetR and "
        "Specificity(threshold=t); leave `prior` out.",
    ),
    "a prior of means": (
        lambda: interval(GOOD, ["AP", "AUC", "nDCG"], over="label", prior=0.5),
        f"`prior` is not taken by 'nDCG'; it is for {OF_ANY_PRIOR}; evaluate these in a call of their own, without prior.",
    ),
    "a prior of values at hand": (
        lambda: interval(GOOD, values="score", over="label", prior=0.5),
        "`prior` is for metrics of rankings; leave it out with values=.",
    ),
    "a threshold that is no number": (
        lambda: evaluate(GOOD, prframe.P(threshold="high")),
        "`threshold of P` must be a finite number; got 'high'.",
    ),
    "no threshold": (
        lambda: evaluate(GOOD, "MCC"),
        "MCC needs a threshold, for instance 'MCC(threshold=0.5)'.",
    ),
    "no threshold after all": (
        lambda: evaluate(GOOD, prframe.P(threshold=0.5)(threshold=None)),
        "P needs a threshold, for instance 'P(threshold=0.5)'.",
    ),
    "a threshold and a cut-off": (
        lambda: evaluate(GOOD, (prframe.P @ 5)(threshold=0.5)),
        "P is taken at one place; got a cut-off and threshold; give one of them.",
    ),
    "a cut-off after a threshold": (
        lambda: evaluate(GOOD, "P(threshold=0.5)@5"),
        "P takes no cut-off; got 'P(threshold=0.5)@5'.",
    ),
    "a threshold and a precision": (
        lambda: evaluate(GOOD, "R(threshold=0.5,at_precision=0.9)"),
        "R is taken at one place; got threshold and at_precision; give one of them.",
    ),
    "a precision of 0": (
        lambda: evaluate(GOOD, "R(at_precision=0)"),
        "`at_precision of R` must be a number > 0 and <= 1; got 0.",
    ),
    "a scale of partial areas": (
        lambda: evaluate(GOOD, 'pAUC(scale="share")'),
        "`scale of pAUC` must be one of 'area', 'mcclish'; got 'share'. Did you mean 'area'?",
    ),
    "a partial area of nothing": (
        lambda: evaluate(GOOD, "pAUC(max_fpr=0)"),
        "`max_fpr of pAUC` must be a number > 0 and <= 1; got 0.",
    ),
    "a partial area beyond the curve": (
        lambda: evaluate(GOOD, "pAP(max_recall=1.5)"),
        "`max_recall of pAP` must be a number > 0 and <= 1; got 1.5.",
    ),
    "interval of rows without a cluster": (
        lambda: interval(GOOD.with_columns(c=pl.Series([1, None, 2, None])), "AP", cluster="c"),
        "`cluster` 'c' must not contain nulls or NaN, which would be one cluster: 2 of 4 rows; "
        "name these clusters, or drop the rows.",
    ),
    "interval of weighted rows": (
        lambda: interval(GOOD, "AP", weight="weight"),
        "interval draws whole items and takes no `weight` without `over`; leave it out, or take "
        "quantiles of what evaluate makes of resamples with weight=.",
    ),
    "interval of expected values": (
        lambda: interval(GOOD, "AP", ties="expected"),
        f"interval takes ties={PLAIN} without `over`; got 'expected'.",
    ),
    "unknown method of an interval": (
        lambda: interval(GOOD, "AP", method="boot"),
        "`method` must be one of 'auto', 'bayesian-bootstrap', 'bca', 'hall', 'logit', 'logit-t', "
        "'percentile', 't', 'wald'; got 'boot'.",
    ),
    "method for a mean": (
        lambda: interval(GOOD, "AP", method="hall"),
        "`method` of one ranking must be one of 'auto', 'bayesian-bootstrap', 'bca', 'logit', "
        "'logit-t', 'percentile', 't', 'wald'; got 'hall'.",
    ),
    "method for a ranking": (
        lambda: interval(GOOD, "AP", method="wald", over="query"),
        "`method` of a mean over groups must be one of 'auto', 'bca', 'hall', 'logit', "
        "'percentile', 't'; "
        "got 'wald'.",
    ),
    "method without clusters": (
        lambda: interval(GOOD, "AP", method="bayesian-bootstrap", cluster="query"),
        "`method` of clusters must be one of 'auto', 'bca', 'logit', 'logit-t', 'percentile', "
        "'t', 'wald'; got 'bayesian-bootstrap'.",
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
        "['q1']; mend these rows, "
        "or, if numbers begin anew in each 'doc', name it in `over` too.",
    ),
    "clusters of folds": (
        lambda: interval(GOOD, "AP", cluster="doc", over="query", resampling="cv"),
        "`resampling` and `cluster` each say how groups depend on each other; give one of them.",
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
    "cluster that is no name": (
        lambda: interval(GOOD, "AP", cluster=["query"]),
        "`cluster` must be the name of a column, a string; got ['query'].",
    ),
    "level of an interval": (
        lambda: interval(GOOD, "AP", confidence_level=95),
        "`confidence_level` must be a number > 0 and < 1; got 95.",
    ),
    "alternative of an interval": (
        lambda: interval(GOOD, "AP", alternative="lower"),
        "`alternative` must be one of 'greater', 'less', 'two-sided'; got 'lower'.",
    ),
    "resamples of an interval": (
        lambda: interval(GOOD, "AP", n_resamples=0, over="query"),
        "`n_resamples` must be a whole number >= 1; got 0.",
    ),
    "seed of an interval": (
        lambda: interval(GOOD, "AP", rng="x"),
        "`rng` must be a whole number >= 0 or a numpy.random.Generator; got 'x'.",
    ),
    "interval of nothing": (
        lambda: interval(GOOD, []),
        "`metrics` must name at least one metric; got none.",
    ),
    "group named as a column of intervals": (
        lambda: interval(GOOD.rename({"query": "metric"}), "AP", by="metric"),
        "`by` names 'metric', which is also a column of the result; rename it.",
    ),
    "judgments of one ranking": (
        lambda: interval(GOOD, "Bpref", over="query"),
        "`judged` names the column 'judged', which the frame does not have; "
        f"its columns are {COLUMNS}. Name the column with judged=.",
    ),
    "ties of a mean": (
        lambda: interval(GOOD, "infAP", over="query", ties="expected"),
        f"infAP takes ties={PLAIN}; got 'expected'; evaluate it in a call of its own.",
    ),
    "positives at random": (
        lambda: prframe.AP.at_random(3, 4),
        "`n_pos` must be at most n = 3; got 4.",
    ),
    "ties of an expression": (
        lambda: pl.col("score").pr.ap("label", ties="x"),
        "`ties` must be one of 'best', 'expected', 'group', 'order', 'worst'; got 'x'.",
    ),
    "positive of an expression": (
        lambda: pl.col("score").pr.ap("label", positive="yes"),
        "`positive` must be a number; got 'yes'. For string labels pass a condition: "
        "pl.col('score').pr.ap(pl.col('label') == 'yes').",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSALS.values(), ids=REFUSALS)
def test_message(call, message: str) -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize(("call", "message"), REFUSALS.values(), ids=REFUSALS)
def test_errors_of_arguments_do_not_depend_on_the_data(call, message: str, monkeypatch) -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        call()
    if not isinstance(caught.value, prframe.ArgumentError):
        return
    other = GOOD.with_columns(score=pl.lit(1.0), label=1 - pl.col("label"))
    monkeypatch.setitem(globals(), "GOOD", other)
    with pytest.raises(prframe.ArgumentError) as caught:
        call()
    assert str(caught.value) == message


def test_a_misspelt_argument() -> None:
    with pytest.raises(TypeError) as caught:
        curve(GOOD, tie="group")
    assert str(caught.value) == (
        "curve() got an unexpected keyword argument 'tie'. Did you mean 'ties'?"
    )


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
