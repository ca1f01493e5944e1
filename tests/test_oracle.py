"""Every metric of the catalogue equals its naive definition."""

import math
import warnings

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prframe
from prframe.metrics import CATALOGUE
from tests.oracle import ORACLE, Group, Item
from tests.strategies import frame, items, weighted

CUTOFFS = {"none": [None], "optional": [None, 1, 3, 20], "required": [1, 3, 20]}
ASKED = [
    (name, k, name if k is None else f"{name}@{k}")
    for name, metric in CATALOGUE.items()
    for k in CUTOFFS[metric.cutoff]
]
NAMES = [text for _, _, text in ASKED]


def expected(group: Group, name: str, k: int | None) -> float | None:
    """Return the naive value, None where the metric is undefined."""
    metric = CATALOGUE[name]
    if any(group.total(positive=need == "n_pos") <= 0 for need in metric.needs):
        return None
    if name == "nDCG" and not (group.n_pos or any(item.label > 0 for item in group.items)):
        return None
    return ORACLE[name](group, k)


def evaluate(frame_: pl.DataFrame, metrics: list[str], **options: object) -> pl.DataFrame:
    """Evaluate without being told of undefined groups."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", prframe.UndefinedMetricWarning)
        return prframe.evaluate(frame_, metrics, **options)


def agree(row: dict[str, object], group: Group, asked: list[tuple[str, int | None, str]]) -> None:
    """Compare a row of results with the oracle."""
    for name, k, text in asked:
        want, got = expected(group, name, k), row[text]
        if want is None:
            assert got is None, text
        else:
            assert got == pytest.approx(want, abs=1e-12), text


def test_the_oracle_covers_the_catalogue() -> None:
    assert set(ORACLE) == set(CATALOGUE)


@given(items(), items(), st.sampled_from(["group", "order"]), st.booleans())
def test_binary_labels(one: list[Item], two: list[Item], ties: str, include: bool) -> None:
    values = evaluate(
        frame({"a": one, "b": two}), NAMES, by="group", ties=ties, include_unretrieved=include
    )
    for row, group in zip(values.to_dicts(), (one, two), strict=True):
        agree(row, Group(group, ties, include_unretrieved=include), ASKED)


@given(items(), st.sampled_from(["group", "order"]), st.integers(0, 4), st.integers(0, 4))
def test_totals_beyond_the_list(group: list[Item], ties: str, pos: int, neg: int) -> None:
    plain = Group(group)
    n_pos, n_neg = (int(plain.total(positive=p)) + more for p, more in ((True, pos), (False, neg)))
    values = evaluate(frame({"a": group}), NAMES, ties=ties, n_pos=n_pos, n_neg=n_neg)
    agree(values.to_dicts()[0], Group(group, ties, n_pos=n_pos, n_neg=n_neg), ASKED)


@given(
    items(labels=st.sampled_from([-1.0, 0.0, 1.0, 2.0, 3.0])),
    st.sampled_from(["group", "order"]),
    st.sampled_from([None, 1, 2]),
)
def test_graded_labels(group: list[Item], ties: str, positive: int | None) -> None:
    options = {} if positive is None else {"positive": positive}
    values = evaluate(frame({"a": group}), NAMES, ties=ties, **options)
    agree(values.to_dicts()[0], Group(group, ties, positive=positive), ASKED)


@given(
    items(),
    st.sampled_from(["group", "order"]),
    st.sampled_from([0.0, 0.2, 0.5, 1.0]),
    st.booleans(),
)
def test_prior_and_interpolation(
    group: list[Item], ties: str, prior: float, interpolate: bool
) -> None:
    asked = [one for one in ASKED if one[2] in ("AP", "AUPRC", "AP11")]
    values = evaluate(
        frame({"a": group}),
        [text for _, _, text in asked],
        ties=ties,
        prior=prior,
        interpolate=interpolate,
    )
    agree(values.to_dicts()[0], Group(group, ties, prior=prior, interpolate=interpolate), asked)


@given(items(), st.sampled_from(["group", "order"]), st.sampled_from([0.2, 0.5]))
def test_prior_with_a_cutoff(group: list[Item], ties: str, prior: float) -> None:
    values = evaluate(frame({"a": group}), ["AP@2"], ties=ties, prior=prior)
    agree(values.to_dicts()[0], Group(group, ties, prior=prior), [("AP", 2, "AP@2")])


@given(weighted(), st.sampled_from(["group", "order"]))
def test_weights(group: list[Item], ties: str) -> None:
    asked = [one for one in ASKED if one[2] in ("AP", "AUPRC", "AP11", "AUC")]
    values = evaluate(
        frame({"a": group}), [text for _, _, text in asked], ties=ties, weight="weight"
    )
    listed = [item for item in group if item.weight > 0]
    if listed:
        agree(values.to_dicts()[0], Group(listed, ties), asked)
    else:
        assert values.is_empty()


def test_a_long_tie_block_is_exact() -> None:
    n, n_pos = 10_000, 7
    frame_ = pl.DataFrame({"score": [1.0] * n, "label": [1] * n_pos + [0] * (n - n_pos)})
    row = prframe.evaluate(frame_, ["P@10", "Success@10", "RR", "AUC", "AP"]).to_dicts()[0]
    none = math.comb(n - n_pos, 10) / math.comb(n, 10)
    first = [
        math.comb(n - j, n_pos - 1) / math.comb(n, n_pos) / j for j in range(1, n - n_pos + 2)
    ]
    assert row["P@10"] == pytest.approx(n_pos / n, rel=1e-12)
    assert row["Success@10"] == pytest.approx(1 - none, rel=1e-9)
    assert row["RR"] == pytest.approx(math.fsum(first), rel=1e-9)
    assert row["AUC"] == 0.5
    assert row["AP"] == pytest.approx(n_pos / n, rel=1e-12)
