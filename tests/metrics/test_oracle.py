"""Every metric of the catalogue equals its naive definition, under every tie policy."""

import math
import warnings

import polars as pl
import pytest
from hypothesis import given, strategies as st

import prframe
from prframe.metrics import CATALOGUE, Metric, parse_metric
from prframe.tie_policies import NO_MEAN, POLICIES, WITHOUT_LABELS
from tests.oracle import ORACLE, SCORES, Group, Item, above, value
from tests.strategies import frame, items, weighted

pytestmark = pytest.mark.filterwarnings(
    "ignore::prframe.NoNegativesWarning", "ignore::prframe.NoPositivesWarning"
)

CUTOFFS = {
    "none": [""],
    "optional": ["", "@1", "@3", "@20"],
    "required": ["@1", "@3", "@20"],
    "recall": ["@0", "@0.3", "@0.5", "@1"],
    "threshold": ["(threshold=0.25)", "(threshold=0)"],
}
PLAIN = [name + cut for name, metric in CATALOGUE.items() for cut in CUTOFFS[metric.cutoff]]
WITH_SETTINGS = [
    'AP11(levels="v9")',
    'AP11(levels="v10")',
    "BEDROC(alpha=3)",
    'DCG(gain="exp")@3',
    *(f"{name}(threshold=0.5)" for name in ("P", "R", "F1", "MCC")),
    "F(beta=2,threshold=-1)",
    "P(threshold=99)",
    "EF(fraction=0.4)",
    "EF(fraction=1)",
    "ERR(top=3)",
    "ERR(top=10)@2",
    "F(beta=2)@3",
    "F(beta=0.5)@3",
    'IPrec(levels="v9")@0.3',
    'IPrec(levels="v10")@0.3',
    "R(at_precision=0.5)",
    "R(at_precision=0.9)",
    "RBP(p=0)@2",
    "RBP(p=0.95)",
    "SetF(beta=2)",
    *(f'W("{phi}")' for phi in SCORES if phi != "mww"),
    'nDCG(gain="exp")',
    'nDCG(gain="exp")@2',
    "pAP(max_recall=0.3)",
    "pAUC(max_fpr=0.4)",
    'pAUC(max_fpr=0.7,scale="mcclish")',
]
ASKED = {text: parse_metric(text) for text in PLAIN + WITH_SETTINGS}
# The second least label counts: at most one grade below is relevant to graded metrics alone.
AT_GRADE = {
    text: parse_metric(text)
    for text in (
        *(
            f"{name}(rel=2)"
            for name in ("AP", "AUC", "AP11", "MaxF1", "Bpref", "NumRel", "Rprec", "W")
        ),
        *("P(rel=2)@3", "R(rel=2)@3", "RR(rel=2)", "infAP(rel=2)", "IPrec(rel=2)@0.5"),
        *("Prec(rel=2)@0.3", "Prec(rel=2)@1"),
        *("Success(rel=2)@2", "BEDROC(rel=2)", "SetP(rel=2)", "AP(rel=9)"),
    )
}
AT_LEVELS = {text: metric for text, metric in ASKED.items() if metric.name == "Prec"}
PRIORS = st.sampled_from([0.0, 0.2, 0.5, 1.0])
NAMES = PLAIN
TIES = sorted(CATALOGUE["P"].ties)


def settings(metric: Metric) -> dict[str, object]:
    """Return all parameters of a metric."""
    return {parameter.name: metric[parameter.name] for parameter in metric.parameters}


def expected(group: Group, metric: Metric) -> float | None:
    """Return the naive value, None where the metric is undefined."""
    given = settings(metric)
    graded = group if given.get("rel") is None else group._replace(positive=given["rel"])
    if any(graded.total(positive=need == "n_pos") <= 0 for need in metric.needs):
        return None
    if metric.name == "nDCG" and not (group.n_pos or any(item.label > 0 for item in group.items)):
        return None
    if metric.needs_items_above and not above(graded, given["threshold"]).hits():
        return None
    return value(group, metric.name, metric.k, given)


def evaluate(frame_: pl.DataFrame, metrics: object, **options: object) -> pl.DataFrame:
    """Evaluate without being told of undefined groups."""
    asked = [metrics] if isinstance(metrics, str) else list(metrics)
    if any(parse_metric(metric).judged for metric in asked):
        options = {"judged": "judged"} | options
    if POLICIES[options.get("ties", "group")].by_item:
        options = {"item": "item"} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", prframe.UndefinedMetricWarning)
        return prframe.evaluate(frame_, asked, **options)


def agree(row: dict[str, object], group: Group, asked: dict[str, Metric]) -> None:
    """Compare a row of results with the oracle."""
    for text, metric in asked.items():
        want, got = expected(group, metric), row[text]
        if want is None:
            assert got is None, text
        else:
            assert got == pytest.approx(want, abs=1e-12), text


def taking(ties: str, asked: dict[str, Metric] = ASKED) -> dict[str, Metric]:
    """Return the metrics that take a tie policy."""
    return {text: metric for text, metric in asked.items() if ties in metric.ties}


def test_the_oracle_covers_the_catalogue() -> None:
    assert set(ORACLE) == set(CATALOGUE)


@pytest.mark.parametrize("ties", TIES)
@given(items(), items(), st.booleans())
def test_binary_labels(ties: str, one: list[Item], two: list[Item], include: bool) -> None:
    asked = taking(ties)
    values = evaluate(
        frame({"a": one, "b": two}), asked, by="group", ties=ties, include_unretrieved=include
    )
    for row, group in zip(values.to_dicts(), (one, two), strict=True):
        agree(row, Group(group, ties, include_unretrieved=include), asked)


@given(items(), st.sampled_from(TIES), st.integers(0, 4), st.integers(0, 4))
def test_totals_beyond_the_list(group: list[Item], ties: str, pos: int, neg: int) -> None:
    asked = taking(ties)
    plain = Group(group)
    n_pos, n_neg = (int(plain.total(positive=p)) + more for p, more in ((True, pos), (False, neg)))
    values = evaluate(frame({"a": group}), asked, ties=ties, n_pos=n_pos, n_neg=n_neg)
    agree(values.to_dicts()[0], Group(group, ties, n_pos=n_pos, n_neg=n_neg), asked)


@pytest.mark.parametrize("ties", TIES)
@given(
    items(labels=st.sampled_from([-1.0, 0.0, 1.0, 2.0, 3.0]), max_size=5),
    st.sampled_from([None, 1, 2]),
)
def test_graded_labels(ties: str, group: list[Item], positive: int | None) -> None:
    asked = taking(ties, ASKED | AT_GRADE)
    options = {} if positive is None else {"positive": positive}
    values = evaluate(frame({"a": group}), asked, ties=ties, **options)
    agree(values.to_dicts()[0], Group(group, ties, positive=positive), asked)


@given(
    items(),
    st.sampled_from(NO_MEAN),
    PRIORS,
    st.booleans(),
)
def test_prior_and_interpolation(
    group: list[Item], ties: str, prior: float, interpolate: bool
) -> None:
    names = ("AP", "AUPRC", "AP11") if interpolate else ("AP", "AUPRC", "AP11", "pAP")
    asked = {text: ASKED[text] for text in names}
    values = evaluate(frame({"a": group}), asked, ties=ties, prior=prior, interpolate=interpolate)
    agree(values.to_dicts()[0], Group(group, ties, prior=prior, interpolate=interpolate), asked)


@given(items(), st.sampled_from(WITHOUT_LABELS), st.sampled_from([0.2, 0.5]))
def test_prior_with_a_cutoff(group: list[Item], ties: str, prior: float) -> None:
    values = evaluate(frame({"a": group}), ["AP@2"], ties=ties, prior=prior)
    agree(values.to_dicts()[0], Group(group, ties, prior=prior), {"AP@2": parse_metric("AP@2")})


@given(items(), st.sampled_from(NO_MEAN), PRIORS)
def test_prior_at_a_level_of_recall(group: list[Item], ties: str, prior: float) -> None:
    values = evaluate(frame({"a": group}), AT_LEVELS, ties=ties, prior=prior)
    agree(values.to_dicts()[0], Group(group, ties, prior=prior), AT_LEVELS)


@pytest.mark.filterwarnings("ignore::prframe.EmptyFrameWarning")
@given(weighted(), st.sampled_from(WITHOUT_LABELS))
def test_weights(group: list[Item], ties: str) -> None:
    asked = AT_LEVELS | {
        text: ASKED[text] for text in ("AP", "AUPRC", "AP11", "AUC", "AUPRG", "pAP", "pAUC")
    }
    asked |= {text: metric for text, metric in ASKED.items() if metric.name == "W"}
    values = evaluate(frame({"a": group}), asked, ties=ties, weight="weight")
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
