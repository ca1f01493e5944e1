"""Names of metrics: what they stand for, and what is said of those that cannot be read."""

import copy
import pickle

import pytest

import prframe
from prframe.metrics import Metric, parse_metric

SAME = {
    "map": prframe.AP,
    "map_cut_10": prframe.AP @ 10,
    "map_cut.10": prframe.AP @ 10,
    "ndcg_cut_5": prframe.nDCG @ 5,
    "recip_rank": prframe.RR,
    "P_5": prframe.P @ 5,
    "recall_100": prframe.R @ 100,
    "success_1": prframe.Success @ 1,
    "iprec_at_recall_0.30": prframe.IPrec(levels="v9") @ 0.3,
    "11pt_avg": prframe.AP11(levels="v9"),
    "bpref": prframe.Bpref,
    "set_F": prframe.SetF,
    "map@10": prframe.AP @ 10,
    "mrr": prframe.RR,
    "mrr@10": prframe.RR @ 10,
    "precision@5": prframe.P @ 5,
    "precision": prframe.SetP,
    "recall@5": prframe.R @ 5,
    "recall": prframe.SetR,
    "f1@5": prframe.F1 @ 5,
    "hit_rate@5": prframe.Success @ 5,
    "ndcg_burges@10": prframe.nDCG(gain="exp") @ 10,
    "map-l2": prframe.AP(rel=2),
    "precision@5-l3": prframe.P(rel=3) @ 5,
    "rbp.95": prframe.RBP(p=0.95),
    "AUROC": prframe.AUC,
    "ROC-AUC": prframe.AUC,
    "mAP": prframe.AP,
    "mAP@10": prframe.AP @ 10,
    "MAP@10": prframe.AP @ 10,
    "MRR@10": prframe.RR @ 10,
    "HR@5": prframe.Success @ 5,
    "Hit@5": prframe.Success @ 5,
    "hit@5": prframe.Success @ 5,
    "R-precision": prframe.Rprec,
    "R-Precision": prframe.Rprec,
    "ndcg_at_10": prframe.nDCG @ 10,
    "recall_at_100": prframe.R @ 100,
    "map_at_10": prframe.AP @ 10,
    "mrr_at_10": prframe.RR @ 10,
    "P(rel=2)@5": prframe.P(rel=2) @ 5,
    "P(2)@5": prframe.P(rel=2) @ 5,
    " P ( rel = 2 ) @ 5 ": prframe.P(rel=2) @ 5,
    'nDCG(gain="exp")@10': prframe.nDCG(gain="exp") @ 10,
    "nDCG(gain='exp')@10": prframe.nDCG(gain="exp") @ 10,
    "nDCG(gain=exp)@10": prframe.nDCG(gain="exp") @ 10,
    "nDCG(gain=linear)": prframe.nDCG,
    "RBP(p=0.8,rel=2)": prframe.RBP(rel=2),
    "RBP(0.5)": prframe.RBP(p=0.5),
    "RBP()": prframe.RBP,
    "AUPRC(trapezoid)": prframe.AUPRC,
    "ERR(top=1)@20": prframe.ERR(top=1) @ 20,
    "IPrec@0.5": prframe.IPrec @ 0.5,
    "IPrec@1": prframe.IPrec @ 1.0,
    "Prec@0.25": prframe.Prec @ 0.25,
    "Prec(rel=2)@0": prframe.Prec(rel=2) @ 0,
}

UNREADABLE = {
    "": "cannot read the metric '': the name of a metric is due, not its end.",
    "@5": "cannot read the metric '@5': the name of a metric is due, not '@' at character 1.",
    "P(rel=2@5": "cannot read the metric 'P(rel=2@5': ',' or ')' is due, not '@' at character 8.",
    "P(rel=2": "cannot read the metric 'P(rel=2': ',' or ')' is due, not its end.",
    "P(rel=)@5": "cannot read the metric 'P(rel=)@5': a value is due, not ')' at character 7.",
    "P(=2)@5": "cannot read the metric 'P(=2)@5': a value is due, not '=' at character 3.",
    "P@5@6": "cannot read the metric 'P@5@6': its end is due, not '@' at character 4.",
    "P@": "cannot read the metric 'P@': a cut-off is due, not its end.",
    "RBP(p=.5,2)": "cannot read the metric 'RBP(p=.5,2)': a parameter=value is due, not '2' at "
    "character 10.",
    "f1": "f1 needs a cut-off, for instance 'f1_10'. F1 of all retrieved items is 'SetF', and the "
    "largest F1 of all thresholds 'MaxF1'. Of a classifier say 'F1(threshold=0.5)'.",
    "P%5": "cannot read the metric 'P%5': '%' at character 2 has no meaning.",
    "IPrec@half": "the recall level in 'IPrec@half' must be a number; got 'half'.",
    "P@1.5": "the cut-off in 'P@1.5' must be a whole number >= 1; got '1.5'. "
    "For a threshold on the score use 'P(threshold=1.5)'.",
    "MCC@0.5": "MCC takes no cut-off; got 'MCC@0.5'. "
    "For a threshold on the score use 'MCC(threshold=0.5)'.",
    "NumRet(2)": "NumRet takes no parameters; got 'NumRet(2)'.",
    "nDCG(gain=log)": "`gain of nDCG` must be one of 'exp', 'linear'; got 'log'.",
    "nDCG(gain '=' exp)": "cannot read the metric \"nDCG(gain '=' exp)\": ',' or ')' is due, "
    "not '=' at character 12.",
    "ndcg_rel": "'ndcg_rel' is a measure of trec_eval that is not offered here.",
    "map_cut": "map_cut needs a cut-off, for instance 'map_cut_10'.",
    "P(rel=2,rel=3)@5": "a parameter stands twice in 'P(rel=2,rel=3)@5'.",
    "RBP(0.5,p=0.8)": "a parameter stands twice in 'RBP(0.5,p=0.8)'.",
}


@pytest.mark.parametrize(("text", "metric"), SAME.items(), ids=SAME)
def test_reading(text: str, metric: Metric) -> None:
    assert parse_metric(text) == metric
    assert parse_metric(metric) is metric


@pytest.mark.parametrize(("text", "message"), UNREADABLE.items(), ids=map(repr, UNREADABLE))
def test_unreadable(text: str, message: str) -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        parse_metric(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("Map", "map"),
        ("ap", "AP"),
        ("map_10", "map@10"),
        ("P5", "P@5"),
        ("nDCG_10", "nDCG@10"),
        ("APP", "AP"),
        ("PAP", "pAP"),
        ("AUCC", "AUC"),
        ("MAPP", "MAP"),
    ],
)
def test_did_you_mean(text: str, hint: str | None) -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        parse_metric(text)
    if hint is None:
        assert "Did you mean" not in str(caught.value)
        return
    start = f"unknown metric {text!r}. Did you mean {hint!r}? The metrics are 'AP', "
    assert str(caught.value).lower().startswith(start.lower())


@pytest.mark.parametrize("metric", list(SAME.values())[::6], ids=str)
def test_a_metric_is_its_name(metric: Metric) -> None:
    assert parse_metric(str(metric)) == metric
    assert hash(parse_metric(str(metric))) == hash(metric)
    for again in (pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric)):  # noqa: S301
        assert again == metric
    assert repr(metric) == f"<Metric {metric}>"


def test_settings_may_be_changed_and_taken_back() -> None:
    metric = prframe.nDCG(gain="exp") @ 5
    assert str(metric) == 'nDCG(gain="exp")@5'
    assert metric(gain="linear") == prframe.nDCG @ 5
    assert metric(gain=None) == prframe.nDCG @ 5
    assert prframe.RBP(0.5) == prframe.RBP(p=0.5)
    with pytest.raises(prframe.PrframeError, match="NumRet takes 0 parameter without a name"):
        prframe.NumRet(2)
    assert metric @ 7 == prframe.nDCG(gain="exp") @ 7
    with pytest.raises(
        prframe.PrframeError, match="RBP has no parameter 'q'; it takes 'p', 'rel'"
    ):
        prframe.RBP(q=0.5)


def test_what_a_metric_says_of_itself() -> None:
    assert prframe.AUC.undefined == "n_pos = 0 or n_neg = 0"
    assert prframe.P.undefined == "never"
    assert prframe.nDCG.undefined == "no gain > 0"
    assert prframe.nDCG.range == (0.0, 1.0)
    assert prframe.AP.greater_is_better
    assert not prframe.NumRet.greater_is_better


def test_a_score_generating_function_is_no_metric():
    with pytest.raises(prframe.PrframeError, match=r"use 'W\(\"p-norm-push\(q=3\)\"\)'"):
        prframe.parse_metric("p-norm-push(q=3)")
    assert str(prframe.parse_metric('W("p-norm-push(q=4)")')) == 'W(phi="p-norm-push(q=4)")'
