"""Laws that hold for the whole catalogue."""

import warnings
from itertools import permutations
from statistics import fmean

import polars as pl
import pytest
from hypothesis import given, strategies as st
from polars.testing import assert_frame_equal

import prframe
from prframe.metrics import CATALOGUE, Metric, parse_metric, with_cells
from prframe.tie_policies import ALL_TIES
from tests.metrics.test_oracle import NAMES, TIES, evaluate, settings, taking
from tests.oracle import Group, Item, value
from tests.strategies import FINITE, frame, items

pytestmark = pytest.mark.filterwarnings(
    "ignore::prframe.NoNegativesWarning", "ignore::prframe.NoPositivesWarning"
)

BOUNDED = [name for name in NAMES if parse_metric(name).range == (0.0, 1.0)]
GROUP = items(FINITE, max_size=30)
NAMES_OF_ALL = [name for name in NAMES if parse_metric(name).ties == set(TIES)]


@pytest.mark.parametrize("metric", CATALOGUE.values(), ids=CATALOGUE)
def test_every_metric_says_what_it_is(metric: Metric) -> None:
    assert metric.summary.endswith(".")
    assert metric.source
    # Which metrics are attributes of the package is frozen with the public names.
    assert getattr(prframe, metric.name, metric) is metric


def listed(names: str) -> set[str]:
    """Return the metrics of a list as messages have it."""
    return set(names.replace(" and ", ", ").split(", "))


@pytest.mark.parametrize("metric", CATALOGUE.values(), ids=CATALOGUE)
def test_every_metric_has_cells_or_says_why_not(metric: Metric) -> None:
    one = metric.example()
    if reason := one.without_cells:
        with pytest.raises(prframe.PrframeError) as caught:
            one.cell_statistic()
        assert str(caught.value) == f"{one} is no function of the counts in cells: {reason}."
        assert metric.form not in listed(with_cells())
    else:
        assert parse_metric(one.cell_statistic().name) == one
        cut = "[@k]" * (metric.cutoff == "optional")
        assert f"{metric.form}{cut}" in listed(with_cells())
        places = {place.form for _, place in metric.instead}
        assert places <= listed(with_cells())
        assert one.takes("rel") or one.graded
        if one.takes("rel"):
            assert one(rel=2).without_cells == "it is for the positives of a grade"


def test_cells_know_the_parameters() -> None:
    for name in (
        "BEDROC(alpha=5)",
        "EF(fraction=0.2)",
        "SetF(beta=2)",
        "F(beta=2)@7",
        "F1@7",
        "Prec@0.3",
    ):
        one = parse_metric(name)
        assert parse_metric(one.cell_statistic().name) == one
    assert parse_metric((prframe.AP @ 5).cell_statistic().name) == prframe.AP @ 5
    for lacking in (prframe.P, prframe.Prec):
        with pytest.raises(prframe.PrframeError, match="needs a"):
            lacking.cell_statistic()
    assert with_cells("delong") == "AUC"


@given(GROUP)
def test_range(group: list[Item]) -> None:
    row = evaluate(frame({"a": group}), BOUNDED).row(0)
    assert all(value is None or -1e-12 <= value <= 1 + 1e-12 for value in row)


@given(st.integers(1, 12), st.integers(0, 20), st.integers(1, 15))
def test_a_perfect_ranking_reaches_the_best_value(n_pos: int, n_neg: int, k: int) -> None:
    n = n_pos + n_neg
    data = pl.DataFrame({"score": range(n, 0, -1), "label": [1] * n_pos + [0] * n_neg})
    ones = ["AP", "AP11", "AUPRC", "RR", "Rprec", "Success@1", "nDCG", f"nDCG@{k}"]
    ones += ["Prec@0.3", "Prec@1"]
    assert evaluate(data, ones).row(0) == pytest.approx([1.0] * len(ones))
    cut = evaluate(data, [f"P@{k}", f"R@{k}", f"AP@{k}"]).row(0)
    top = min(k, n_pos)
    assert cut == pytest.approx([top / k, top / n_pos, top / n_pos])
    if n_neg:
        worst = data.with_columns(-pl.col("score"))
        assert evaluate(worst, "AUC").item() == 0.0
        assert evaluate(data, "AUC").item() == 1.0


@given(GROUP, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(group: list[Item], random) -> None:
    shuffled = random.sample(group, len(group))
    assert_frame_equal(
        evaluate(frame({"a": group}), NAMES), evaluate(frame({"a": shuffled}), NAMES)
    )


def without_threshold(asked: dict[str, Metric]) -> dict[str, Metric]:
    """Return the metrics that are about the order alone."""
    return {text: metric for text, metric in asked.items() if metric.threshold is None}


WITHOUT_THRESHOLD = [name for name in NAMES if parse_metric(name).threshold is None]


@given(GROUP, st.sampled_from(["group", "order"]))
def test_increasing_transforms_of_the_score_do_not_matter(group: list[Item], ties: str) -> None:
    data = frame({"a": group})
    transformed = data.with_columns((pl.col("score") * 3 + 1).exp())
    assert_frame_equal(
        evaluate(data, WITHOUT_THRESHOLD, ties=ties),
        evaluate(transformed, WITHOUT_THRESHOLD, ties=ties),
    )


@given(GROUP)
def test_a_weight_of_two_is_a_row_that_stands_twice(group: list[Item]) -> None:
    taking = [
        name
        for name in NAMES
        if "weight" in parse_metric(name).options and not isinstance(parse_metric(name).k, int)
    ]
    doubled = [item._replace(weight=2.0 if i % 2 else 1.0) for i, item in enumerate(group)]
    twice = [item for item in doubled for _ in range(int(item.weight))]
    assert_frame_equal(
        evaluate(frame({"a": doubled}), taking, weight="weight"),
        evaluate(frame({"a": twice}), taking),
        abs_tol=1e-12,
    )


@given(GROUP, GROUP, st.sampled_from(["a", "b"]))
def test_a_group_is_the_filtered_frame(one: list[Item], two: list[Item], name: str) -> None:
    data = frame({"a": one, "b": two})
    whole = evaluate(data, NAMES, by="group")
    assert_frame_equal(
        whole.filter(group=name).drop("group"), evaluate(data.filter(group=name), NAMES)
    )


@given(GROUP)
def test_a_cutoff_beyond_the_end_changes_nothing(group: list[Item]) -> None:
    optional = [name for name, metric in CATALOGUE.items() if metric.cutoff == "optional"]
    row = evaluate(frame({"a": group}), optional).row(0)
    cut = evaluate(frame({"a": group}), [f"{name}@1000" for name in optional]).row(0)
    assert cut == pytest.approx(row)


@given(GROUP, st.sampled_from(NAMES))
def test_metrics_asked_together_are_metrics_asked_alone(group: list[Item], name: str) -> None:
    data = frame({"a": group})
    assert evaluate(data, NAMES)[name].to_list() == pytest.approx(
        evaluate(data, name)[name].to_list()
    )


CONSTANT = st.integers(2, 25).flatmap(
    lambda n: st.integers(1, n - 1).map(lambda n_pos: [1] * n_pos + [0] * (n - n_pos))
)


@pytest.mark.parametrize("ties", ["group", "expected"])
@given(CONSTANT, st.randoms(use_true_random=False))
def test_a_constant_scorer_earns_no_credit_for_the_order_of_rows(
    ties: str, labels: list[int], random
) -> None:
    asked = taking(ties)
    both = pl.concat(
        pl.DataFrame({"group": name, "score": 0.5, "label": some, "judged": True})
        for name, some in (("a", labels), ("b", random.sample(labels, len(labels))))
    )
    found = evaluate(both, asked, by="group", ties=ties).drop("group")
    assert_frame_equal(found[:1], found[1:])
    if ties == "expected":
        n, n_pos = len(labels), sum(labels)
        chance = {
            text: metric.at_random(n, n_pos) for text, metric in without_threshold(asked).items()
        }
        assert found.select(list(chance)).row(0) == pytest.approx(list(chance.values()), abs=1e-12)


def test_the_value_of_a_random_ranking_by_enumeration() -> None:
    asked = without_threshold(taking("expected"))
    rankings = sorted(set(permutations([1.0, 1.0, 0.0, 0.0, 0.0])))
    for text, metric in asked.items():
        groups = [
            Group([Item(-rank, label) for rank, label in enumerate(ranking)])
            for ranking in rankings
        ]
        mean = fmean(value(group, metric.name, metric.k, settings(metric)) for group in groups)
        assert metric.at_random(5, 2) == pytest.approx(mean, abs=1e-12), text
    assert prframe.MaxF1.at_random(5, 2) is None
    assert (prframe.Prec @ 0.5).at_random(5, 2) is None
    assert prframe.AUC.at_random(5, 5) is None


@given(GROUP, st.sampled_from(sorted(set(ALL_TIES) - {"best", "worst", "group"})))
def test_best_and_worst_bracket_every_policy(group: list[Item], policy: str) -> None:
    data = frame({"a": group})
    low, between, high = (
        evaluate(data, NAMES_OF_ALL, ties=ties).row(0) for ties in ("worst", policy, "best")
    )
    for least, value_, most in zip(low, between, high, strict=True):
        assert value_ is None or least - 1e-12 <= value_ <= most + 1e-12


def test_names_and_values_are_the_same_metric() -> None:
    assert parse_metric("nDCG@10") == prframe.nDCG @ 10
    assert hash(parse_metric("nDCG@10")) == hash(prframe.nDCG @ 10)
    assert str(prframe.AP @ 5) == "AP@5"
    assert parse_metric("AUPRC(trapezoid)") == prframe.AUPRC


def test_columns_are_named_as_asked() -> None:
    data = pl.DataFrame({"score": [2.0, 1.0], "label": [1, 0]})
    asked = ["AUPRC(trapezoid)", prframe.P @ 1, "P@2"]
    assert prframe.evaluate(data, asked).columns == ["AUPRC(trapezoid)", "P@1", "P@2"]


def test_long_layout() -> None:
    data = pl.DataFrame({"q": [1, 1, 2], "score": [2.0, 1.0, 1.0], "label": [1, 0, 1]})
    rows = prframe.evaluate(data, ["AP", "P@2"], by="q", layout="long").rows()
    assert rows == [(1, "AP", 1.0), (1, "P@2", 0.5), (2, "AP", 1.0), (2, "P@2", 0.5)]


def test_one_warning_for_all_undefined_values() -> None:
    data = pl.DataFrame({"q": [*"aab", *"ccd"], "score": [1.0] * 6, "label": [1, 0, 0, 0, 0, 1]})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        prframe.evaluate(data, ["AP", "P@1", "RR"], by="q")
    assert [str(warning.message) for warning in caught] == [
        "AP, RR: undefined, so null or NaN, for 2 of 4 groups, which have no positives, "
        "in groups 'b', 'c'"
    ]
    assert caught[0].filename == __file__


def test_the_warning_names_a_label_that_does_not_occur() -> None:
    data = pl.DataFrame({"score": [2.0, 1.0], "label": ["spam", "ham"]})
    told = "for the rows, which have no label 'Spam'; check lists the labels$"
    with pytest.warns(prframe.UndefinedMetricWarning, match=told):
        prframe.evaluate(data, "AP", positive="Spam")
    with pytest.warns(prframe.UndefinedMetricWarning, match="no positives or no negatives"):
        prframe.roc(data.with_columns(label=pl.lit(1)))
