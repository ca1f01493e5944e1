"""Names that other programs and papers have for metrics, and what stands for them here.

Whole metrics and those with a cut-off are apart: without one "recall" is that of all retrieved
items.
"""

import re

# Names of trec_eval for whole metrics, and for those with a cut-off: "P_5", "P.5".
_OF_TREC_EVAL: dict[str, str] = {
    "11pt_avg": 'AP11(levels="v9")',
    "bpref": "Bpref",
    "infap": "infAP",
    "map": "AP",
    "ndcg": "nDCG",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "num_ret": "NumRet",
    "recip_rank": "RR",
    "set_F": "SetF",
    "set_map": "SetAP",
    "set_P": "SetP",
    "set_recall": "SetR",
}
_CUT_BY_TREC_EVAL: dict[str, str] = {
    "P": "P",
    "iprec_at_recall": 'IPrec(levels="v9")',
    "map_cut": "AP",
    "ndcg_cut": "nDCG",
    "recall": "R",
    "relative_P": "RelP",
    "success": "Success",
}
# Names that papers have for numbers that trec_eval computes, and the names of these there.
_OF_PAPERS: dict[str, str] = {"MAP": "map", "MRR": "recip_rank", "NDCG": "ndcg", "mAP": "map"}
_WHOLE_METRICS = _OF_TREC_EVAL | {paper: _OF_TREC_EVAL[own] for paper, own in _OF_PAPERS.items()}
# Names of other programs for whole metrics.
ALIASES: dict[str, str] = _WHOLE_METRICS | {
    # ranx
    "dcg": "DCG",
    "dcg_burges": 'DCG(gain="exp")',
    "hits": "NumRelRet",
    "mrr": "RR",
    "ndcg_burges": 'nDCG(gain="exp")',
    "precision": "SetP",
    "r_precision": "Rprec",
    "recall": "SetR",
    # ir_measures, scikit-learn, MTEB, papers
    "AUC-ROC": "AUC",
    "AUROC": "AUC",
    "BPref": "Bpref",
    "InfAP": "infAP",
    "R-Precision": "Rprec",
    "R-precision": "Rprec",
    "ROC-AUC": "AUC",
    "RPrec": "Rprec",
    "auroc": "AUC",
    "average_precision": "AP",
    "roc_auc": "AUC",
}
# Names of other programs for metrics with a cut-off: "P_5", "P.5", "precision@5", "recall_at_5".
CUT_ALIASES: dict[str, str] = _CUT_BY_TREC_EVAL | {
    # ranx, ir_measures, recommenders
    "HR": "Success",
    "Hit": "Success",
    "HitRate": "Success",
    "Precision": "P",
    "Recall": "R",
    "f1": "F1",
    "hit": "Success",
    "hit_rate": "Success",
    "hr": "Success",
    "precision": "P",
}
# What to write for names of other programs that stand for no metric of the catalogue, by their
# letters.
_AT_THRESHOLD = "'{0}(threshold=0.5)' at a score, '{0}@10' at a rank"
_COUNTS = "the columns tp and fp of curve() or roc(), a row per threshold"
_RATES = "roc(), whose columns fpr and tpr have each at every value of the other"
_ACCURACY = "'BalancedAccuracy(threshold=0.5)' or 'MCC(threshold=0.5)'"
_TWO_AREAS = "'AP' for the area of steps, or 'AUPRC' for the area of trapezoids"
_CALIBRATION = "scikit-learn, as this measures the calibration of probabilities"
_THRESHOLD = "interval('MaxF1'), whose row 'MaxF1 threshold' has it"
_GEOMETRIC = "evaluate('AP', over=..., geometric_mean=True)"
INSTEAD: dict[str, str] = {
    **dict.fromkeys(("averageprecisionscore", "retrievalmap"), "'AP'"),
    **dict.fromkeys(("aucpr", "prauc"), _TWO_AREAS),
    **dict.fromkeys(("rocaucscore", "cindex", "concordance"), "'AUC'"),
    **dict.fromkeys(("ndcgscore", "retrievalnormalizeddcg"), "'nDCG' or 'nDCG@10'"),
    **dict.fromkeys(("reciprocalrank", "meanreciprocalrank", "retrievalmrr"), "'RR'"),
    **dict.fromkeys(
        ("acc", "accuracy", "accuracyscore", "balancedaccuracy", "balancedaccuracyscore"),
        _ACCURACY,
    ),
    **dict.fromkeys(("precisionscore", "ppv"), _AT_THRESHOLD.format("P")),
    **dict.fromkeys(("recallscore", "sensitivity", "tpr"), _AT_THRESHOLD.format("R")),
    **dict.fromkeys(("f1score", "fscore", "fmeasure"), _AT_THRESHOLD.format("F1")),
    **dict.fromkeys(("f2", "f05", "fbetascore"), "'F(beta=2,threshold=0.5)' at a score"),
    **dict.fromkeys(("tnr", "specificityscore"), "'Specificity(threshold=0.5)'"),
    **dict.fromkeys(("matthewscorrcoef", "cohenkappascore", "kappa"), "'MCC(threshold=0.5)'"),
    **dict.fromkeys(("fpr", "falsepositiverate", "roccurve", "detcurve", "eer"), _RATES),
    **dict.fromkeys(("confusionmatrix", "classificationreport"), _COUNTS),
    **dict.fromkeys(("jaccardscore", "iou"), "F / (2 - F), where F is 'F1(threshold=0.5)'"),
    **dict.fromkeys(("hitrate", "hitsatk"), "'Success@10' or 'R@10'"),
    **dict.fromkeys(("brier", "brierscoreloss", "logloss"), _CALIBRATION),
    **dict.fromkeys(("gmmap", "gmap"), _GEOMETRIC),
    **dict.fromkeys(("gini", "somersd"), "2 * 'AUC' - 1"),
    **dict.fromkeys(("bestthreshold", "maxf1threshold"), _THRESHOLD),
    "enrichmentfactor": "'EF(0.01)', that of the first hundredth",
    **dict.fromkeys(("ks", "ksstatistic"), "the largest tpr - fpr of the rows of roc()"),
    "precisionrecallcurve": "curve()",
    "rbp": "'RBP(p=0.9)' for trec_eval's rbp, whose persistence is not that of RBP here",
    "unj": "one minus 'Judged@10'",
}
# The name of a metric and its cut-off, as trec_eval writes them.
CUT_OFF = re.compile(r"(?P<name>\w+?)[._](?P<k>\d+(?:\.\d+)?)", re.ASCII)


def letters(name: str) -> str:
    """Return the letters and digits of a name in lower case."""
    return re.sub(r"[\W_]", "", name).lower()


def in_trec_eval(name: str) -> str | None:
    """Return what trec_eval calls a metric, if a name is its own, or one that papers have for it.

    A name that stands in the catalogue is neither.
    """
    cut = CUT_OFF.fullmatch(name)
    is_own = name in _OF_TREC_EVAL or (cut is not None and cut["name"] in _CUT_BY_TREC_EVAL)
    return name if is_own else _OF_PAPERS.get(name)
