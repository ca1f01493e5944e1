"""What a report on many systems leaves out."""

import pytest

import prframe
from prframe.reports import rankings, sections

from .cases import qrels, runs

# Ten queries are few, and their differences may be skewed by chance.
pytestmark = pytest.mark.filterwarnings(
    "ignore::prframe.SkewedDifferencesWarning", "ignore::prframe.CoverageWarning"
)

SYSTEMS = ["best", "middle", "worst"]


def made(metrics=("AP", "P@10"), n_queries=10):
    return prframe.report(runs(n_queries, SYSTEMS), qrels(n_queries), metrics=metrics)


def section(report, name):
    return next(part for part in report.facts["sections"] if part["id"] == name)


@pytest.fixture(scope="module")
def whole():
    return made()


@pytest.mark.slow
def test_of_many_systems_the_first_metric_is_compared(whole, monkeypatch) -> None:
    monkeypatch.setattr(rankings, "MOST_COMPARISONS", 5)
    page = made()
    # The family of comparisons is that of the first metric alone.
    alone = made("AP")
    part = section(page, "comparison")
    assert part["metrics"] == section(alone, "comparison")["metrics"]
    assert part["note"].endswith(" Of so many systems only AP is compared.")
    rows = (section(each, "results")["rows"] for each in (page, whole, alone))
    for line, of_whole, of_first in zip(*rows, strict=True):
        assert line["cells"][0] == of_first["cells"][0]
        assert line["cells"][1] == of_whole["cells"][1] | {"marks": ""}
        assert line["key"] == of_first["key"]
    assert section(page, "results")["note"] == section(alone, "results")["note"]


def test_the_matrix_has_the_best_systems(whole, monkeypatch) -> None:
    monkeypatch.setattr(sections, "MOST_IN_MATRIX", 2)
    of_all, part = section(whole, "comparison"), section(made(), "comparison")
    assert part["note"] == of_all["note"] + " The 2 best of 3 systems are here."
    for facts, every in zip(part["metrics"], of_all["metrics"], strict=True):
        assert sorted(facts["order"]) == [0, 1]
        assert facts["means"] == {place: every["means"][place] for place in facts["means"]}
        # P-values are adjusted for all pairs.
        assert facts["pairs"] == [pair for pair in every["pairs"] if set(pair[:2]) == {0, 1}]


def test_of_too_many_systems_the_table_has_no_letters(whole, monkeypatch) -> None:
    monkeypatch.setattr(rankings, "MOST_WITH_LETTERS", 2)
    part = section(made(), "results")
    assert all(row["key"] == "" for row in part["rows"])
    assert not any(cell["marks"] for row in part["rows"] for cell in row["cells"])
    assert "Superscripts" in section(whole, "results")["note"]
    assert "Superscripts" not in part["note"]
