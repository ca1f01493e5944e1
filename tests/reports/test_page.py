"""The page: one file, the same bytes every time, and nothing in it but text that strangers wrote."""

import re

import pytest

import prframe

from .cases import classified, qrels, runs


@pytest.mark.slow
def test_the_same_bytes_twice(pages) -> None:
    assert pages["runs"].html == prframe.report(runs(6, ["a", "b"]), qrels(6)).html
    again = prframe.report(classified(150), item="item", by="region")
    assert pages["classifiers"].html == again.html


@pytest.mark.slow
def test_another_seed_is_said(pages) -> None:
    other = prframe.report(runs(6, ["a", "b"]), qrels(6), seed=7)
    assert ["seed", "7"] in other.facts["sections"][-1]["rows"]
    assert other.html != pages["runs"].html


@pytest.mark.slow
def test_the_order_of_rows_does_not_matter_for_numbers() -> None:
    frame = runs(6, ["a", "b"])
    mixed = frame.sample(fraction=1, shuffle=True, seed=1)
    first, second = (
        prframe.report(rows, qrels(6)).facts["sections"][0] for rows in (frame, mixed)
    )
    assert first["rows"][0]["cells"] == second["rows"][0]["cells"]


@pytest.mark.parametrize("kind", ["runs", "classifiers", "hostile"])
def test_nothing_is_loaded_from_elsewhere(pages, kind) -> None:
    html = pages[kind].html
    outside = re.sub(r'<script type="application/json".*?</script>', "", html, flags=re.DOTALL)
    outside = outside.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(|\bsrc\s*=|<link|<img|<iframe", outside)


def test_in_a_notebook_the_page_stands_in_a_frame_of_its_own(pages) -> None:
    shown = pages["hostile"]._repr_html_()
    assert shown.startswith("<iframe title=")
    assert 'sandbox="allow-scripts"' in shown
    assert shown.count("<") == 2
    assert repr(pages["runs"]) == f"Report({pages['runs'].facts['title']!r})"
