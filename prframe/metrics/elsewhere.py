"""Names of other libraries that stand for no metric here, and what to write instead."""

import re

from prframe.metrics.resembling import letters

_GEOMETRIC = "evaluate('AP', over=..., geometric_mean=True)"
_TWO_AREAS = (
    "'AP' for the area of steps, which is scikit-learn's average precision, or 'AUPRC' for the "
    "area of trapezoids"
)
_F1 = "'F1(threshold=0.5)' at a score, 'F1@10' at a rank, or 'MaxF1', the largest of all scores"
_F = "'F(beta=2,threshold=0.5)' at a score, 'F(beta=2)@10' at a rank, or 'SetF(beta=2)'"
_TPR = (
    "'R(threshold=0.5)' at a score, 'R@10' at a rank, or roc(), whose columns fpr and tpr have "
    "each at every value of the other"
)
_FPR = (
    "one minus 'Specificity(threshold=0.5)' at a score, or roc(), whose columns fpr and tpr have "
    "each at every value of the other"
)
_SPECIFICITY = "'Specificity(threshold=0.5)'"
_BALANCED = "'BalancedAccuracy(threshold=0.5)'"
_ACCURACY = f"{_BALANCED} or 'MCC(threshold=0.5)', which a rare class does not make large"
_GAIN = "'AUPRG', the area under precision gain by recall gain"
_THRESHOLD = "interval('MaxF1'), whose row 'MaxF1 threshold' has it"
_HITS = "'Success@10', which is 1 if a positive is among the first 10, or 'R@10', their share"
_COUNTS = "the columns tp and fp of curve() or roc(), a row per threshold; fn is n_pos - tp"
_JACCARD = "F / (2 - F), where F is 'F1(threshold=0.5)'"
_EER = "roc(), and of its rows the one where fpr is nearest to 1 - tpr"
_MISSED = "one minus 'R(threshold=0.5)'"
_RATE_AT_RATE = "roc(), whose columns fpr and tpr have each at every value of the other"
_GAINS = "curve(), whose columns k and recall are the curve of cumulative gains"
# What to write for names of other programs that stand for no metric of the catalogue.
_INSTEAD = {
    **dict.fromkeys(("AUC-PR", "PR-AUC"), _TWO_AREAS),
    **dict.fromkeys(("AveragePrecision", "average_precision_score", "RetrievalMAP"), "'AP'"),
    **dict.fromkeys(("reciprocal_rank", "mean_reciprocal_rank", "RetrievalMRR"), "'RR'"),
    **dict.fromkeys(("roc_auc_score", "RetrievalAUROC"), "'AUC'"),
    **dict.fromkeys(("ndcg_score", "RetrievalNormalizedDCG"), "'nDCG' or 'nDCG@10'"),
    **dict.fromkeys(("precision_recall_curve", "PR_curve"), "curve()"),
    **dict.fromkeys(("roc_curve", "ROC"), "roc()"),
    **dict.fromkeys(("accuracy", "accuracy_score", "acc"), _ACCURACY),
    **dict.fromkeys(("balanced_accuracy", "balanced_accuracy_score"), _BALANCED),
    **dict.fromkeys(("f1_score", "f_score", "f_measure"), _F1),
    **dict.fromkeys(("F2", "F0.5", "f_beta", "fbeta_score"), _F),
    **dict.fromkeys(("TPR", "sensitivity", "recall_score", "tpr_at_fpr"), _TPR),
    **dict.fromkeys(("FPR", "fallout", "fpr_at_tpr", "false_positive_rate"), _FPR),
    **dict.fromkeys(("TNR", "specificity", "specificity_score"), _SPECIFICITY),
    **dict.fromkeys(("PPV", "precision_score"), "'P(threshold=0.5)' at a score, 'P@10' at a rank"),
    **dict.fromkeys(
        ("kappa", "cohen_kappa", "cohens_kappa", "cohen_kappa_score", "mcc_score"),
        "'MCC(threshold=0.5)'",
    ),
    **dict.fromkeys(("mcc", "matthews", "matthews_corrcoef"), "'MCC(threshold=0.5)'"),
    **dict.fromkeys(("youden", "youden_index", "informedness"), f"2 * {_BALANCED} - 1"),
    **dict.fromkeys(("confusion_matrix", "conf_mat", "stat_scores", "counts"), _COUNTS),
    **dict.fromkeys(("tp", "fp", "tn", "fn", "true_positives", "false_positives"), _COUNTS),
    **dict.fromkeys(("NPV", "FOR", "negative_predictive_value", "false_omission_rate"), _COUNTS),
    **dict.fromkeys(("markedness", "likelihood_ratio", "class_likelihood_ratios"), _COUNTS),
    **dict.fromkeys(("odds_ratio", "diagnostic_odds_ratio", "detection_prevalence"), _COUNTS),
    **dict.fromkeys(("classification_report", "precision_recall_fscore_support"), _COUNTS),
    **dict.fromkeys(("jaccard", "jaccard_score", "jaccard_index", "IoU"), _JACCARD),
    **dict.fromkeys(("dice", "dice_score"), "'F1(threshold=0.5)', which is the same"),
    **dict.fromkeys(("EER", "equal_error_rate"), _EER),
    **dict.fromkeys(("FNR", "miss_rate", "false_negative_rate"), _MISSED),
    **dict.fromkeys(("FDR", "false_discovery_rate"), "one minus 'P(threshold=0.5)'"),
    **dict.fromkeys(("zero_one_loss", "error_rate"), _ACCURACY),
    **dict.fromkeys(
        ("g_mean", "gmean", "geometric_mean_score"),
        "the root of 'R(threshold=0.5)' times 'Specificity(threshold=0.5)'",
    ),
    **dict.fromkeys(
        ("fowlkes_mallows", "fowlkes_mallows_index"),
        "the root of 'P(threshold=0.5)' times 'R(threshold=0.5)'",
    ),
    **dict.fromkeys(
        ("top_k_accuracy", "top_k_accuracy_score"),
        "'Success@5' with a row per item and class, and over= the item",
    ),
    **dict.fromkeys(
        ("label_ranking_average_precision", "label_ranking_average_precision_score"),
        "'AP' with a row per item and label, and over= the item",
    ),
    "label_ranking_loss": "one minus 'AUC' with a row per item and label, and over= the item",
    **dict.fromkeys(("det_curve", "DET"), _RATE_AT_RATE),
    **dict.fromkeys(("sensitivity_at_specificity", "specificity_at_sensitivity"), _RATE_AT_RATE),
    **dict.fromkeys(("gain_curve", "cumulative_gain", "gain_capture"), _GAINS),
    **dict.fromkeys(
        ("lift", "lift_score", "lift_curve"),
        "'Lift@10', that of the first ten; curve() has the precision at every rank",
    ),
    # The names of yardstick.
    "bal_accuracy": _BALANCED,
    "f_meas": _F1,
    "j_index": f"2 * {_BALANCED} - 1",
    "ndcg_exp": "'nDCG(gain=\"exp\")'",
    "kap": "'MCC(threshold=0.5)'",
    "sens": _TPR,
    "spec": _SPECIFICITY,
    "RetrievalFallOut": _FPR,
    "RetrievalPrecisionRecallCurve": "curve()",
    "RetrievalRecallAtFixedPrecision": "'R(at_precision=0.9)'",
    **dict.fromkeys(("gini", "somers_d"), "2 * 'AUC' - 1"),
    **dict.fromkeys(("c_index", "c_statistic", "concordance", "concordance_index"), "'AUC'"),
    **dict.fromkeys(
        ("KS", "ks_statistic"), "the largest difference of the columns tpr and fpr of roc()"
    ),
    **dict.fromkeys(("PRG", "pr_gain", "precision_gain", "recall_gain"), _GAIN),
    **dict.fromkeys(("AUPRGain", "AUC-PRG", "AUC-PRGain", "PRG-AUC", "auprg_score"), _GAIN),
    **dict.fromkeys(("MaxF1_threshold", "f1_threshold", "best_threshold"), _THRESHOLD),
    **dict.fromkeys(("optimal_threshold", "threshold"), _THRESHOLD),
    **dict.fromkeys(("hits", "hits_at", "hits_at_k"), _HITS),
    "PrecisionAtFixedRecall": "'Prec@0.9'",
    "RecallAtFixedPrecision": "'R(at_precision=0.9)'",
    "RetrievalHitRate": "'Success@10'",
    "RetrievalPrecision": "'P@10'",
    "RetrievalRecall": "'R@10'",
    "RetrievalRPrecision": "'Rprec'",
    "dcg_score": "'DCG' or 'DCG@10'",
    "enrichment_factor": "'EF(0.01)', that of the first hundredth",
    "gm_bpref": "evaluate('Bpref', over=..., geometric_mean=True)",
    "gm_map": _GEOMETRIC,
    "gmap": _GEOMETRIC,
    "num_nonrel_judged_ret": "NumRet * Judged - NumRelRet",
    "num_q": "the column n of evaluate(..., over=...)",
    "rbp": "'RBP(p=0.9)' for trec_eval's rbp, whose persistence is not that of RBP here",
    "unj": "one minus 'Judged@10'",
}
# These are measures of `prframe.trec.evaluate` alone.
_INSTEAD |= {
    name: f"prframe.trec.evaluate(runs, qrels, {name!r}), which has the measures of trec_eval"
    for name in ("Rprec_mult", "binG", "set_relative_P", "utility")
}
_BY_LETTERS = {letters(name): instead for name, instead in _INSTEAD.items()}
_OF_TREC_EVAL = "is a measure of trec_eval that is not offered here."
_OF_IR_MEASURES = "is a measure of ir_measures that is not offered here."
_CALIBRATION = (
    "measures the calibration of probabilities, which a ranking does not have, and is not offered "
    "here; scikit-learn has brier_score_loss, log_loss and calibration_curve."
)
_CORRELATION = (
    "compares two rankings with each other, and metrics here compare a ranking with labels; SciPy "
    "has kendalltau and spearmanr."
)
_REGRESSION = (
    "measures how far numbers are from numbers, and metrics here compare a ranking with labels; "
    "scikit-learn has it."
)
_LABEL_SETS = (
    "compares predicted labels, and metrics here compare scores with labels; scikit-learn has it."
)
_SUBTOPICS = "counts subtopics, which labels here do not have; ir_measures has it."
# What is said of measures that are no subject of this library.
_NOT_OFFERED = {
    **dict.fromkeys(("G", "Rndcg", "ndcg_p", "ndcg_rel", "rbp_resid"), _OF_TREC_EVAL),
    **dict.fromkeys(("relstring", "runid", "yaap"), _OF_TREC_EVAL),
    **dict.fromkeys(("NERR10", "NERR11"), _OF_IR_MEASURES),
    **dict.fromkeys(("BPM", "Compat", "INSQ", "INST", "SDCG", "NERR8", "NERR9"), _OF_IR_MEASURES),
}
_OUT_OF_SCOPE = {
    **dict.fromkeys(("brier", "brierscore", "brierscoreloss", "logloss", "nll"), _CALIBRATION),
    **dict.fromkeys(("crossentropy", "ece", "mce", "calibration"), _CALIBRATION),
    **dict.fromkeys(("calibrationerror", "expectedcalibrationerror"), _CALIBRATION),
    **dict.fromkeys(("rbo", "kendall", "kendalltau", "spearman", "spearmanr"), _CORRELATION),
    **dict.fromkeys(("alphandcg", "alphadcg", "errira", "erria", "ndcgia", "strec"), _SUBTOPICS),
    **dict.fromkeys(("hingeloss", "mnlogloss", "d2logloss", "d2loglossscore"), _CALIBRATION),
    **dict.fromkeys(("mse", "rmse", "mae", "r2", "r2score", "meansquarederror"), _REGRESSION),
    **dict.fromkeys(("meanabsoluteerror", "rootmeansquarederror"), _REGRESSION),
    **dict.fromkeys(
        ("hammingloss", "hammingdistance", "exactmatch", "coverageerror"), _LABEL_SETS
    ),
    **dict.fromkeys(("mutualinformation", "multilabelconfusionmatrix"), _LABEL_SETS),
    **dict.fromkeys(("strecall", "subtopicrecall"), _SUBTOPICS),
    **dict.fromkeys(("nerria", "nrbp", "nnrbp", "apia", "pia"), _SUBTOPICS),
}
# What is said of parameters that a metric does not have.
PARAMETERS = {
    "at_fpr": " The columns fpr and tpr of roc() have each at every value of the other.",
    "at_recall": " The precision at a level of recall is 'Prec@0.8', for example.",
    "cutoff": " A cut-off stands behind an @.",
    "dcg": " For dcg='exp-log2' say gain='exp'.",
    "judged_only": " Leave out what was not judged with prframe.trec.join(unjudged='drop').",
    "max_fpr": " The area up to a false positive rate is 'pAUC(max_fpr=0.1)', for example.",
    "max_rel": " The highest grade is `top` of ERR.",
    "threshold": " At a threshold on the score use P, R, F1 or MCC, as in 'P(threshold=0.5)'.",
}
_PERCENT = re.compile(r"@\s*(?P<number>[0-9]+(?:\.[0-9]+)?)\s*%")
_AT_LEVEL = re.compile(r"\s*(?P<name>R|Recall|P|Precision)@(?P<of>[A-Za-z]+)=", re.IGNORECASE)


def of_name(name: str, base: str, shown: str) -> str | None:
    """Return what is said of a name that other libraries have; None if it is not known.

    `base` is the name without a cut-off at its end, and `shown` the text of the caller.
    """
    # The measures of torchmetrics for two classes begin so.
    for known in (name, base, base.removeprefix("Binary")):
        if (instead := _BY_LETTERS.get(letters(known))) is not None:
            return f"{shown} is no name of a metric here; use {instead}."
        if (reason := _NOT_OFFERED.get(known) or _OUT_OF_SCOPE.get(letters(known))) is not None:
            return f"{shown} {reason}"
    return None


def of_sign(text: str) -> str:
    """Return a sentence on a text that the grammar does not read; nothing if none is known."""
    if share := _PERCENT.search(text):
        part = float(share["number"]) / 100
        return (
            f" Metrics at k take a number of ranks; 'EF({part:g})' is the lift in the first "
            f"{share['number']} % of all items."
        )
    if _AT_LEVEL.match(text):
        return (
            " The recall at a precision is 'R(at_precision=0.9)', and the precision at a recall "
            "'Prec@0.9'."
        )
    if "threshold" in text and text.split(maxsplit=1)[0] == "MaxF1":
        return f" Use {_THRESHOLD}."
    if "," in text.partition("(")[0]:
        return " Several metrics are separate words, such as 'AP', 'nDCG@10'."
    return ""
