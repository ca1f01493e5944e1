"""The facts of a report are those of the verbs, and are all that the page shows."""

import numpy as np
import polars as pl
import pytest

import prframe
from prframe import PrframeError, trec
from prframe._preparation import wording
from prframe.reports import rankings, shown
from tests.refusals import refusals
from tests.verbs.names import NUMBERED

from .cases import classified, hostile_report, qrels, runs

# Twelve queries are few, and their differences may be skewed by chance.
pytestmark = pytest.mark.filterwarnings(
    "ignore::prframe.SkewedDifferencesWarning", "ignore::prframe.CoverageWarning"
)

SYSTEMS = ["best", "middle", "worst"]


@pytest.fixture(scope="module")
def run_report():
    return prframe.report(runs(12, SYSTEMS), qrels(12), seed=3)


@pytest.fixture(scope="module")
def model_report():
    return prframe.report(classified(), item="item", by="region", seed=3)


def section(report, name):
    return next(part for part in report.facts["sections"] if part["id"] == name)


def ids(report):
    return [part["id"] for part in report.facts["sections"]]


def test_sections_of_runs(run_report) -> None:
    assert ids(run_report) == [
        "results",
        "comparison",
        "curves",
        "queries",
        "checks",
        "provenance",
    ]


def test_the_checks_say_how_much_is_relevant_and_judged(run_report) -> None:
    examples = {row[1]: row[4] for row in section(run_report, "checks")["rows"]}
    relevant = qrels(12).filter(pl.col("label") > 0).group_by("query_id").len()["len"]
    ends = f"{relevant.min()} to {relevant.max()}, median {relevant.median():g}"
    assert examples["relevant_items"] == ends
    measures = trec.evaluate(runs(12, SYSTEMS), qrels(12), ["Judged@10"])
    for name, share in measures.select("system", "Judged@10").iter_rows():
        assert f"{name} {share:.1%}" in examples["judged_items"]


def test_means_are_those_of_trec_evaluate(run_report) -> None:
    measures = ["AP", "nDCG@10", "P@10"]
    expected = trec.evaluate(runs(12, SYSTEMS), qrels(12), measures)
    for row in section(run_report, "results")["rows"]:
        name = run_report.facts["systems"][row["system"]]
        values = expected.filter(system=name).select(measures).row(0)
        assert [cell["ends"][0] for cell in row["cells"]] == pytest.approx(values, abs=1e-5)


def test_values_of_queries_are_those_of_evaluate(run_report) -> None:
    part = section(run_report, "queries")
    expected = trec.evaluate(runs(12, SYSTEMS), qrels(12), part["metrics"], by_query=True)
    for place, number in enumerate(part["systems"]):
        rows = expected.filter(system=run_report.facts["systems"][number])
        values = dict(zip(rows["query_id"], rows["AP"], strict=True))
        wanted = [values[query] for query in part["ids"]]
        assert part["values"][0][place] == pytest.approx(wanted, abs=1e-4)


@pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")
def test_rankings_are_in_the_order_of_trec_eval_with_grades() -> None:
    run = {"one": {"q": {"a": 1.0, "b": 2.0, "c": 2.0, "d": 0.5}}}
    judgments = {"q": {"a": 2, "c": 0, "z": 1}}
    report = prframe.report(run, judgments, depth=3)
    part = section(report, "queries")
    items, grades, lists = part["rankings"][0]
    assert [items[place] for place in lists[0]] == ["c", "b", "a"]
    assert dict(zip(items, grades, strict=False)) == {"c": 0, "a": 2}
    assert part["relevant"] == [2]
    assert part["depth"] == 3


@pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")
def test_queries_of_no_run_are_left_out_and_those_of_some_count_as_0() -> None:
    run = {"one": {q: {"a": 1.0, "b": 0.5} for q in ("q1", "q2", "q4")}, "two": {"q1": {"a": 1.0}}}
    judgments = {query: {"a": 1, "b": 0} for query in ("q1", "q2", "q3")} | {"q4": {"a": 0}}
    with pytest.warns(
        prframe.MissingQueriesWarning, match=r"count as 0 in their means: 'two' lacks 2 of 3$"
    ):
        report = prframe.report(run, judgments, metrics="AP")
    assert section(report, "queries")["ids"] == ["q1", "q2"]
    assert section(report, "queries")["values"] == [[[1.0, 1.0], [1.0, 0.0]]]
    assert section(report, "provenance")["rows"][7:9] == [
        ["queries with relevant documents", "2 of 3 that are judged and in any run"],
        ["of these two has", "1; the others count as 0"],
    ]
    assert "Ties in the order of trec_eval." in section(report, "results")["note"]
    assert ["ties", "as in trec_eval: equal scores in descending order of ids"] in section(
        report, "provenance"
    )["rows"]


@pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")
def test_the_table_tells_how_far_ties_move_a_mean() -> None:
    judgments = {q: {"a": 1, "b": 0, "c": 0} for q in ("q1", "q2", "q3")}
    run = {q: {"a": 1.0, "b": 1.0, "c": 1.0} for q in judgments}
    row = prframe.report({"tied": run}, judgments, metrics="AP").facts["sections"][0]["rows"][0]
    assert row["cells"][0]["ties"] == "0.333 to 1.000"


@pytest.mark.slow
def test_sentences() -> None:
    report = prframe.report(runs(40, SYSTEMS), qrels(40))
    sentence = report.facts["sentence"]
    assert sentence.startswith("best has the highest mean AP, 0.")
    assert ", over 40 queries. It differs significantly from " in sentence
    alone = prframe.report(runs(3, ["only"]), qrels(3), metrics="AP").facts["sentence"]
    assert alone.startswith("only has mean AP 0.")
    assert alone.endswith("over 3 queries.")


@pytest.mark.slow
def test_a_frame_of_rankings_is_a_report_of_queries() -> None:
    digits = prframe.datasets.load_digits()
    report = prframe.report(digits, over="query_id", item="item_id", n_pos="n_relevant")
    assert report.facts["title"] == "6 runs, 200 queries"
    means = prframe.interval(digits, "AP", by="system", over="query_id", n_pos="n_relevant")
    best = section(report, "results")["rows"][0]
    assert report.facts["systems"][best["system"]] == "pixels"
    expected = means.filter(system="pixels")["estimate"].item()
    assert best["cells"][0]["ends"][0] == pytest.approx(expected, abs=1e-5)
    plain_report = prframe.report(digits, over="query_id", n_pos="n_relevant")
    assert section(plain_report, "queries")["rankings"] is None


def test_many_queries_have_fewer_and_shorter_rankings(monkeypatch) -> None:
    monkeypatch.setattr(shown, "MOST_ITEMS", 300)
    part = section(prframe.report(runs(40, SYSTEMS), qrels(40), metrics="AP"), "queries")
    assert part["depth"] == 5
    kept = [place for place, ranking in enumerate(part["rankings"]) if ranking]
    assert len(kept) == 20
    values = np.array(part["values"][0])
    spread = values.max(axis=0) - values.min(axis=0)
    assert min(spread[kept]) >= max(np.delete(spread, kept)) - 1e-4
    assert "Rankings are here for the 20 queries on which the systems differ most" in part["note"]
    assert "Of each ranking the first 5 items are here." in part["note"]


def test_many_systems_are_cut(monkeypatch) -> None:
    monkeypatch.setattr(rankings, "MOST_VALUES", 80)
    part = section(prframe.report(runs(40, SYSTEMS), qrels(40), metrics="AP"), "queries")
    assert len(part["systems"]) == 2
    assert part["note"].startswith("The 2 best of 3 systems are here, the others only above.")


@pytest.mark.slow
def test_classifiers_have_the_numbers_of_the_verbs(model_report) -> None:
    rows = classified().select("model", "score", "label")
    means = prframe.interval(rows, ["AP", "AUC"], by="model", rng=3)
    names = model_report.facts["systems"]
    for row in section(model_report, "results")["rows"]:
        for cell, metric in zip(row["cells"], ("AP", "AUC"), strict=True):
            expected = means.filter(model=names[row["system"]], metric=metric)
            ends = expected.select("estimate", "conf_low", "conf_high").row(0)
            assert cell["ends"] == pytest.approx(ends, abs=1e-5)
    items = classified().select("model", "item", "score", "label")
    pairs = prframe.compare(items, ["AP", "AUC"], model="model", over=None, item="item", rng=3)
    facts = section(model_report, "comparison")["metrics"]
    p_values = [pair[5] for part in facts for pair in part["pairs"]]
    assert p_values == pytest.approx(pairs["p_adjusted"].to_list(), abs=1e-5)


def test_thresholds_that_are_asked_for() -> None:
    frame = {"score": [0.9, 0.8, 0.4, 0.2], "label": [1, 0, 1, 0]}
    report = prframe.report(pl.DataFrame(frame), thresholds=[0.95, 0.5, 0.0], metrics="AUC")
    rows = section(report, "thresholds")["rows"]
    assert rows == [
        ["model", "0.95", "0", "0.0%", wording.NONE, "0.000", "0.000", wording.NONE],
        ["model", "0.5", "2", "50.0%", "0.500", "0.500", "0.500", "0.500"],
        ["model", "0", "4", "100.0%", "0.500", "1.000", "1.000", "0.667"],
    ]


@pytest.mark.slow
def test_pooled_rankings_are_among_the_checks() -> None:
    digits = prframe.datasets.load_digits().filter(system="pixels")
    with pytest.warns(prframe.PooledRankingWarning, match="in over= if queries or folds"):
        report = prframe.report(digits, metrics="AUC")
    assert section(report, "checks")["rows"][0][:2] == ["error", "pooled_rankings"]


def test_hostile_names_are_shown_without_signs_that_turn_text() -> None:
    shown = hostile_report().facts["systems"]
    assert not any(sign in name for name in shown for sign in "\u202e\u2066\u2028\u0000")
    assert max(map(len, shown)) <= 120


test_messages_of_runs = refusals(
    {
        "`metrics` must name at least one metric; got none.": {"metrics": []},
        "`depth` must be a whole number >= 1; got 0.": {"depth": 0},
        "`seed` must be a whole number >= 0; got -1.": {"seed": -1},
        "`texts` must be a dict of texts by id; got ['a'].": {"texts": ["a"]},
        "`queries` must be a dict of texts by id; got 3.": {"queries": 3},
    },
    lambda options: prframe.report(runs(2, ["a"]), qrels(2), **options),
)


test_messages_of_frames = refusals(
    {
        "`n_pos` is for rankings, with `over` or `qrels`; leave it out.": {"n_pos": 3},
        "`texts` is for rankings, with `over` or `qrels`; leave it out.": {"texts": {}},
        "`thresholds` must be a finite number; got 'a'.": {"thresholds": ["a"]},
        "`by` must name one column with `over`, that of the systems; got 'model', 'item'.": {
            "over": "region",
            "by": ["model", "item"],
        },
        "`model` names a column of models; with several scores leave it out.": {
            "score": ["score", "item"],
            "model": "model",
        },
        f"`score` must be a column name or a list of them; got 0.{NUMBERED}": {"score": 0},
        "`score` must be a column name or a list of them; got [].": {"score": []},
        f"`score[1]` must be the name of a column, a string; got 1.{NUMBERED}": {
            "score": ["score", 1]
        },
        "`over` must be a column name or a list of them; got [].": {"over": []},
        "`over` names a column twice: ['region', 'region'].": {"over": ["region", "region"]},
        "`by` names the column 'where', which the frame does not have; its columns are "
        "'model', 'item', 'score', 'label', 'region'.": {"by": "where"},
    },
    lambda options: prframe.report(classified(50), **options),
)


def scored(n: int = 120) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    label = rng.random(n) < 0.3
    return pl.DataFrame({"score": rng.normal(size=n) + label, "label": label})


@pytest.mark.filterwarnings("ignore::prframe.errors.UndefinedMetricWarning")
def test_the_sentence_tells_that_nothing_is_defined() -> None:
    frame = scored().with_columns(label=pl.lit(value=False))
    assert prframe.report(frame).facts["sentence"] == "The AP over 120 items is undefined."
    both = pl.concat([frame.with_columns(model=pl.lit(name)) for name in "ab"])
    assert prframe.report(both).facts["sentence"] == "The AP over 120 items is undefined."


@pytest.mark.filterwarnings("ignore::prframe.PooledRankingWarning")
@pytest.mark.filterwarnings("ignore:.*curves that all agree:prframe.UndefinedMetricWarning")
@pytest.mark.parametrize(
    ("first", "second"), [(["a", "a b"], ["b c", "c"]), (["a", "null"], [None, "a"])]
)
def test_queries_of_several_columns_are_told_apart(first, second) -> None:
    frame = scored().with_columns(p=pl.Series(first * 60), q=pl.Series(second * 60))
    page = prframe.report(frame, over=["p", "q"], metrics="AP")
    assert page.facts["title"] == "1 run, 2 queries"
    mean = prframe.evaluate(frame, "AP", over=["p", "q"])["mean"].item()
    ends = page.facts["sections"][0]["rows"][0]["cells"][0]["ends"]
    assert ends[0] == pytest.approx(mean, abs=1e-5)


def grades(page) -> list:
    explorer = next(part for part in page.facts["sections"] if part["id"] == "queries")
    return [dict(zip(items, labels, strict=True)) for items, labels, _ in explorer["rankings"]]


@pytest.mark.filterwarnings("ignore::prframe.errors.UndefinedMetricWarning")
def test_rankings_with_labels_of_text() -> None:
    frame = pl.DataFrame(
        {"query": [1, 1], "item": ["x", "y"], "score": [2.0, 1.0], "label": ["yes", "no"]}
    )
    page = prframe.report(frame, over="query", item="item", positive="yes", metrics="AP")
    assert grades(page) == [{"x": ["yes", True], "y": ["no", False]}]


def test_scores_that_floats_hardly_tell_apart() -> None:
    frame = scored().with_columns(score=1e16 + 2 * pl.col("label").cast(pl.Float64))
    charts = prframe.report(frame, metrics="AP").facts["sections"]
    chart = next(part for part in charts if part["id"] == "scores")["charts"][0]
    assert chart["domain"][:2] == [1e16, 1e16 + 2]


def test_thresholds_are_a_list() -> None:
    with pytest.raises(PrframeError, match="`thresholds` must be a list of numbers; got"):
        prframe.report(scored(), thresholds=0.5)
