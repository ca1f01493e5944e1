"""Agreement with scikit-learn to 1e-12 on data with forced ties and weights."""

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings, strategies as st

import prframe
from prframe.errors import UndefinedMetricWarning
from tests.oracle import Item
from tests.strategies import FINITE, frame, items, weighted

pytestmark = pytest.mark.filterwarnings(
    "ignore::prframe.NoNegativesWarning", "ignore::prframe.NoPositivesWarning"
)

sklearn_metrics = pytest.importorskip("sklearn.metrics")

WEIGHTED = weighted(max_size=40)

GRADED = items(FINITE, st.sampled_from([0.0, 1.0, 2.0, 5.0]), max_size=40)


def columns(group: list[Item]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    data = frame({"a": group})
    return tuple(data[name].to_numpy() for name in ("label", "score", "weight"))


def both_classes(group: list[Item]) -> bool:
    listed = [item for item in group if item.weight > 0]
    return len({item.label for item in listed}) == 2


@given(WEIGHTED)
def test_average_precision_and_auc(group: list[Item]) -> None:
    assume(both_classes(group))
    label, score, weight = columns(group)
    ours = prframe.evaluate(frame({"a": group}), ["AP", "AUC"], weight="weight").row(0)
    theirs = [
        sklearn_metrics.average_precision_score(label, score, sample_weight=weight),
        sklearn_metrics.roc_auc_score(label, score, sample_weight=weight),
    ]
    assert ours == pytest.approx(theirs, abs=1e-12)


@settings(max_examples=25)
@given(WEIGHTED, st.sampled_from([0.0, -1.5]))
def test_weights_at_a_threshold(group: list[Item], threshold: float) -> None:
    assume(both_classes(group))
    label, score, weight = columns(group)
    data, above = frame({"a": group}), score >= threshold
    # Precision is undefined where nothing is above.
    assume(weight[above].sum() > 0)
    call = f"(threshold={threshold})"
    options = {"sample_weight": weight, "zero_division": 0.0}
    expected = {
        f"P{call}": sklearn_metrics.precision_score(label, above, **options),
        f"R{call}": sklearn_metrics.recall_score(label, above, **options),
        f"F1{call}": sklearn_metrics.f1_score(label, above, **options),
        f"F(beta=2,threshold={threshold})": sklearn_metrics.fbeta_score(
            label, above, beta=2, **options
        ),
        f"Specificity{call}": sklearn_metrics.recall_score(label, above, pos_label=0, **options),
        f"BalancedAccuracy{call}": sklearn_metrics.balanced_accuracy_score(
            label, above, sample_weight=weight
        ),
        f"MCC{call}": sklearn_metrics.matthews_corrcoef(label, above, sample_weight=weight),
        "MaxF1": max(sklearn_metrics.f1_score(label, score >= s, **options) for s in score),
    }
    ours = prframe.evaluate(data, list(expected), weight="weight").row(0)
    assert ours == pytest.approx(list(expected.values()), abs=1e-9)
    for name, value in zip(expected, ours, strict=True):
        of_expression = data.select(pl.col("score").pr.metric(name, weight="weight")).item()
        assert of_expression == pytest.approx(value, abs=1e-12)


@given(WEIGHTED)
def test_precision_recall_curve(group: list[Item]) -> None:
    assume(both_classes(group))
    label, score, weight = columns(group)
    precision, recall, threshold = sklearn_metrics.precision_recall_curve(
        label, score, sample_weight=weight
    )
    ours = prframe.curve(frame({"a": group}), weight="weight")
    # Theirs runs from the lowest threshold to the opening point.
    np.testing.assert_allclose(ours["precision"].to_numpy()[::-1], precision, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours["recall"].to_numpy()[::-1], recall, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(ours["threshold"].to_numpy()[:0:-1], threshold)


@given(WEIGHTED)
def test_roc_curve(group: list[Item]) -> None:
    assume(both_classes(group))
    label, score, weight = columns(group)
    fpr, tpr, threshold = sklearn_metrics.roc_curve(
        label, score, sample_weight=weight, drop_intermediate=False
    )
    ours = prframe.roc(frame({"a": group}), weight="weight")
    np.testing.assert_allclose(ours["fpr"].to_numpy(), fpr, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours["tpr"].to_numpy(), tpr, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(ours["threshold"].to_numpy(), threshold)


@given(GRADED, st.sampled_from([None, 1, 2, 5, 100]))
def test_ndcg(group: list[Item], k: int | None) -> None:
    assume(len(group) > 1 and any(item.label for item in group))
    label, score, _ = columns(group)
    name = "nDCG" if k is None else f"nDCG@{k}"
    ours = prframe.evaluate(frame({"a": group}), name).item()
    assert ours == pytest.approx(sklearn_metrics.ndcg_score([label], [score], k=k), abs=1e-12)


def test_larger_data() -> None:
    rng = np.random.default_rng(1)
    n = 20_000
    data = pl.DataFrame(
        {
            "score": np.round(rng.normal(size=n), 2),
            "label": rng.random(n) < 0.1,
            "weight": rng.random(n),
        }
    )
    label, score, weight = (data[name].to_numpy() for name in ("label", "score", "weight"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = prframe.evaluate(data, ["AP", "AUC", "nDCG", "nDCG@1000"]).row(0)
        weighted_ours = prframe.evaluate(data, ["AP", "AUC"], weight="weight").row(0)
    assert ours == pytest.approx(
        [
            sklearn_metrics.average_precision_score(label, score),
            sklearn_metrics.roc_auc_score(label, score),
            sklearn_metrics.ndcg_score([label], [score]),
            sklearn_metrics.ndcg_score([label], [score], k=1000),
        ],
        abs=1e-12,
    )
    assert weighted_ours == pytest.approx(
        [
            sklearn_metrics.average_precision_score(label, score, sample_weight=weight),
            sklearn_metrics.roc_auc_score(label, score, sample_weight=weight),
        ],
        abs=1e-12,
    )


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.7, 0.9])
def test_scores_of_32_bits_reach_thresholds_as_in_numpy(threshold: float) -> None:
    score = (np.arange(10) / 10).astype(np.float32)
    label = np.arange(10) % 2 == 1
    above = score >= threshold
    data = pl.DataFrame({"score": score, "label": label})
    names = {
        f"P(threshold={threshold})": sklearn_metrics.precision_score(label, above),
        f"R(threshold={threshold})": sklearn_metrics.recall_score(label, above),
    }
    assert prframe.evaluate(data, list(names)).row(0) == pytest.approx(list(names.values()))
    with warnings.catch_warnings():
        # A share of 1, or of no item, has no interval by resamples.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        intervals = prframe.interval(
            data, list(names), method="percentile", confidence_level=0.5, n_resamples=40, rng=1
        )
    assert intervals["estimate"].to_list() == pytest.approx(list(names.values()))


def test_partial_auc_equals_published_values_of_proc() -> None:
    """The five grades of the example of pROC's manual, with its areas at high specificity."""
    grade = np.repeat([1, 2, 3, 4, 5, 1, 2, 3, 4, 5], [2, 12, 1, 8, 18, 37, 20, 3, 8, 4])
    data = pl.DataFrame({"score": grade, "label": np.arange(grade.size) < 41})
    names = ["pAUC(max_fpr=0.1)", 'pAUC(max_fpr=0.1,scale="mcclish")', "pAUC(max_fpr=0.2)"]
    area, scaled, wider = prframe.evaluate(data, names).row(0)
    assert area == pytest.approx(0.0334417344173442, rel=1e-13)
    assert scaled == pytest.approx(0.649693339038653, rel=1e-13)
    assert wider - area == pytest.approx(0.0598373983739837, rel=1e-13)
