"""Names of metrics: what they stand for, and what is said of those that cannot be read."""

import copy
import pickle
import re

import pytest

import prframe
from prframe.metrics import Metric, parse_metric
from prframe.metrics.aliases import INSTEAD

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

FORMS = "write it as in 'P@10', 'RBP(p=0.8)' or 'nDCG(gain=\"exp\")@10'."
UNREADABLE = {
    **{
        text: f"cannot read the metric {text!r}; {FORMS}"
        for text in (
            *("", "@5", "P(rel=2@5", "P(rel=2", "P(rel=)@5", "P(=2)@5", "P@5@6", "P%5"),
            *("nDCG(gain '=' exp)", "RBP(p=.5,2)"),
        )
    },
    "P@": "cannot read the metric 'P@'; it has no number after '@'; write 'P@10'.",
    "F(beta=2)": "F needs a cut-off, for instance 'F(beta=2)@10'. F of all retrieved items is "
    "'SetF'. Of a classifier say 'F(threshold=0.5)'.",
    "F1": "F1 needs a cut-off, for instance 'F1@10'. F1 of all retrieved items is 'SetF', and the "
    "largest F1 of all thresholds 'MaxF1'. Of a classifier say 'F1(threshold=0.5)'.",
    "PR-AUC": "'PR-AUC' is no name of a metric here; use 'AP' for the area of steps, or "
    "'AUPRC' for the area of trapezoids.",
    "roc_curve": "'roc_curve' is no name of a metric here; use roc(), whose columns fpr and tpr "
    "have each at every value of the other.",
    "ndcg_at_0": "the cut-off in 'ndcg_at_0' must be a whole number from 1 to 2^53; got '0'.",
    "P": "P needs a cut-off, for instance 'P@10'.",
    "IPrec(levels=v9)": "IPrec needs a level, for instance 'IPrec(levels=\"v9\")@0.5'.",
    "IPrec@2": "what follows @ must be a recall from 0 to 1, as in IPrec@0.3; got IPrec@2.",
    "IPrec@half": "the recall level in 'IPrec@half' must be a number; got 'half'.",
    "Prec": "Prec needs a level, for instance 'Prec@0.5'.",
    "P@0": "the cut-off in 'P@0' must be a whole number from 1 to 2^53; got '0'.",
    "P@1.5": "the cut-off in 'P@1.5' must be a whole number from 1 to 2^53; got '1.5'. "
    "For a threshold on the score use 'P(threshold=1.5)'.",
    "MCC@0.5": "MCC takes no cut-off; got 'MCC@0.5'. "
    "For a threshold on the score use 'MCC(threshold=0.5)'.",
    "AUC@5": "AUC takes no cut-off; got 'AUC@5'.",
    "P(rle=2)@5": "P has no parameter 'rle'; it takes 'rel', 'threshold'. Did you mean 'rel'?",
    "NumRet(rel=2)": "NumRet has no parameter 'rel'; it takes none.",
    "NumRet(2)": "NumRet takes no parameters; got 'NumRet(2)'.",
    "P(rel=0)@5": "`rel of P` must be a number > 0; got 0.",
    "RBP(p=1)": "`p of RBP` must be a number >= 0 and < 1; got 1.",
    "nDCG(gain=log)": "`gain of nDCG` must be one of 'exp', 'linear'; got 'log'.",
    "P@1_0": "the cut-off in 'P@1_0' must be a whole number from 1 to 2^53; got '1_0'.",
    "P@\u0663": "the cut-off in 'P@\u0663' must be a whole number from 1 to 2^53; got '\u0663'.",
    "P@99999999999999999": "the cut-off in 'P@99999999999999999' must be a whole number from 1 to "
    "2^53; got '99999999999999999'.",
    "rbp": "'rbp' is no name of a metric here; use 'RBP(p=0.9)' for trec_eval's rbp, whose "
    "persistence is not that of RBP here.",
    "map_cut": "map_cut needs a cut-off, for instance 'map_cut_10'.",
    "hits@10": "NumRelRet takes no cut-off; got 'hits@10'. For any hit use 'Success@10', for the "
    "share of hits 'P@10'.",
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
        ("ndgc@10", "nDCG@10"),
        ("Map", "map"),
        ("ap", "AP"),
        ("P5", "P@5"),
        ("p(rel=2)@5", "P(rel=2)@5"),
        ("AAP@10", "AP@10"),
        ("nDCGG@10", "nDCG@10"),
        ("nDCG@10@", None),
        ("xr@5", None),
        ("logloss", None),
        ("n" * 1_000_000, None),
    ],
)
def test_did_you_mean(text: str, hint: str | None) -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        parse_metric(text)
    if hint is None:
        assert "Did you mean" not in str(caught.value)
        return
    start = f"unknown metric {text!r}. Did you mean {hint!r}? prframe.CATALOGUE has all "
    assert str(caught.value).lower().startswith(start.lower())


def test_what_is_to_be_used_instead_works() -> None:
    names = {
        name
        for text in INSTEAD.values()
        for name in re.findall(r"'((?:[^'(]|\([^)]*\))+)'", text)
        if name != "MaxF1 threshold"
    }
    assert {"R(threshold=0.5)", "Success@10", "AUPRC"} <= names
    for name in names:
        assert isinstance(parse_metric(name), Metric)
    for name in INSTEAD:
        with pytest.raises(prframe.PrframeError, match="is no name of a metric here; use "):
            parse_metric(name)


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
