"""Metrics at another share of positives are those of samples in which items stand several times."""

import pytest
from hypothesis import assume, given, strategies as st

from prframe.metrics import CATALOGUE, Metric, parse_metric
from tests.metrics.test_oracle import evaluate
from tests.oracle import Item
from tests.strategies import frame, items, weighted

pytestmark = pytest.mark.filterwarnings(
    "ignore::prframe.NoNegativesWarning", "ignore::prframe.NoPositivesWarning"
)

# An item that stands several times makes ties, whose mean over all orders is another.
ASKED = [
    *("AP", "AUPRC", "AUPRG", "AP11", "IPrec@0.3", "MaxF1", "Prec@0.4", "pAP(max_recall=0.3)"),
    *("P(threshold=0)", "F1(threshold=0)", "F(beta=2, threshold=0)", "MCC(threshold=0)"),
    *("R(at_precision=0.6)", "R(threshold=0)", "Specificity(threshold=0)"),
    *("BalancedAccuracy(threshold=0)", "AUC", "pAUC", "SetP", "SetR", "SetF(beta=2)", "SetAP"),
]
COUNTED = ["AP@2"]
TIMES = st.sampled_from([(1, 2), (2, 1), (3, 2), (1, 7)])


def places(metric: Metric) -> list[Metric]:
    """Return a metric and what it is at a threshold or a precision."""
    return [metric, *(other for _, other in metric.instead)]


def test_these_are_all_metrics_that_take_a_prior() -> None:
    taking = {
        place.form
        for metric in CATALOGUE.values()
        for place in places(metric)
        if "prior" in place.options
    }
    assert taking == {parse_metric(name).form for name in ASKED + COUNTED} | {"AP"}


@given(items(), TIMES)
def test_a_prior_counts_items_several_times(group: list[Item], times: tuple[int, int]) -> None:
    numbers = [times[0] if item.label > 0 else times[1] for item in group]
    n_pos = sum(item.label > 0 for item in group)
    n_neg = len(group) - n_pos
    assume(n_pos and n_neg)
    prior = n_pos * times[0] / (n_pos * times[0] + n_neg * times[1])
    many = [item for item, number in zip(group, numbers, strict=True) for _ in range(number)]
    got, want = (
        evaluate(frame({"a": group}), ASKED, prior=prior),
        evaluate(frame({"a": many}), ASKED),
    )
    assert got.row(0) == pytest.approx(want.row(0), abs=1e-12)


@given(weighted(), st.sampled_from([0.2, 0.5, 0.9]))
def test_a_prior_weighs_negatives(group: list[Item], prior: float) -> None:
    total = {
        positive: sum(item.weight for item in group if (item.label > 0) == positive)
        for positive in (True, False)
    }
    assume(total[True] and total[False])
    factor = total[True] * (1 - prior) / (total[False] * prior)
    weighed = [
        item if item.label > 0 else item._replace(weight=item.weight * factor) for item in group
    ]
    asked = ["AP", "AUPRC", "AUPRG", "AP11", "R(at_precision=0.6)", "Prec@0.4", "pAP", "AUC"]
    got = evaluate(frame({"a": group}), asked, weight="weight", prior=prior)
    want = evaluate(frame({"a": weighed}), asked, weight="weight")
    assert got.row(0) == pytest.approx(want.row(0), abs=1e-9)


@given(items())
def test_without_one_class_metrics_have_their_limits(group: list[Item]) -> None:
    """Values differ by rounding alone from those of a prior that is nearly 0 or 1."""
    assume(len({item.label for item in group}) == 2)
    asked = [name for name in ASKED if name not in {"AUPRG", "MCC(threshold=0)"}]
    for end, near in ((0.0, 1e-200), (1.0, 1 - 2**-53)):
        got = evaluate(frame({"a": group}), asked, prior=end)
        limit = evaluate(frame({"a": group}), asked, prior=near)
        assert got.row(0) == pytest.approx(limit.row(0), abs=1e-7)
