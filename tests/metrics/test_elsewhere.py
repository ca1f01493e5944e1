"""Names of other libraries, each of which leads to a metric or a verb, or to where it is."""

import polars as pl
import pytest

import prframe

# Of scikit-learn, ranx, ir_measures, torchmetrics and yardstick.
NAMES = [
    "confusion_matrix",
    "jaccard_score",
    "EER",
    "zero_one_loss",
    "hamming_loss",
    "hinge_loss",
    "d2_log_loss_score",
    "r2_score",
    "class_likelihood_ratios",
    "precision_recall_fscore_support",
    "classification_report",
    "det_curve",
    "top_k_accuracy_score",
    "coverage_error",
    "label_ranking_average_precision_score",
    "label_ranking_loss",
    "mean_squared_error",
    "NERR8",
    "NERR11",
    "StRecall",
    "StatScores",
    "BinaryStatScores",
    "BinaryEER",
    "HammingDistance",
    "JaccardIndex",
    "BinaryJaccardIndex",
    "ConfusionMatrix",
    "HingeLoss",
    "NegativePredictiveValue",
    "npv",
    "ExactMatch",
    "SpecificityAtSensitivity",
    "SensitivityAtSpecificity",
    "RetrievalFallOut",
    "RetrievalPrecisionRecallCurve",
    "RetrievalRecallAtFixedPrecision",
    "Dice",
    "bal_accuracy",
    "detection_prevalence",
    "f_meas",
    "j_index",
    "kap",
    "mcc",
    "sens",
    "spec",
    "gain_capture",
    "mn_log_loss",
    "gain_curve",
    "lift_curve",
    "conf_mat",
    "miss_rate",
    "FNR",
    "FDR",
    "false_omission_rate",
    "g_mean",
    "fowlkes_mallows",
    "diagnostic_odds_ratio",
    "rmse",
    "ndcg_exp",
]
FRAME = pl.DataFrame({"score": [0.9, 0.7, 0.3, 0.1], "label": [1, 0, 1, 0]})


def test_names_of_other_libraries_are_known() -> None:
    for name in NAMES:
        with pytest.raises(prframe.PrframeError) as error:
            prframe.evaluate(FRAME, name)
        text = str(error.value)
        assert "The metrics are" not in text
        assert text.startswith(f"{name!r} ")
        assert "use " in text or "has it" in text or "not offered here" in text


def test_the_formulas_are_those_of_the_counts() -> None:
    values = prframe.evaluate(FRAME, [f"{name}(threshold=0.5)" for name in ("F1", "P", "R")])
    f1, precision, recall = values.row(0)
    tp, fp, fn = 1, 1, 1
    assert f1 / (2 - f1) == pytest.approx(tp / (tp + fp + fn))
    assert 1 - recall == fn / (tp + fn)
    assert 1 - precision == fp / (tp + fp)
    counts = prframe.curve(FRAME).filter(threshold=0.7).select("tp", "fp").row(0)
    assert counts == (tp, fp)
