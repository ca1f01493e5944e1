"""The page: one file, the same bytes every time, and nothing in it but text that strangers wrote."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from importlib import resources

import pytest

import prframe
from prframe._preparation.colours import PALETTE, PALETTE_DARK

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


@pytest.mark.parametrize("kind", ["runs", "classifiers", "hostile"])
def test_data_can_end_no_element(pages, kind) -> None:
    html = pages[kind].html
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert "<" not in data[1]
    assert json.loads(data[1]) == pages[kind].facts
    assert html.count("<script") == 2
    assert "<script" not in re.search(r"<title>(.*?)</title>", html, re.DOTALL)[1]


def test_the_policy_has_the_hashes_of_script_and_style(pages) -> None:
    html = pages["runs"].html
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    assert policy.startswith("default-src 'none'; ")
    for name, ending in (("script", "js"), ("style", "css")):
        text = resources.files("prframe.reports").joinpath(f"page.{ending}").read_bytes()
        digest = b64encode(sha256(text).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
        assert text.decode() in html


def test_the_script_writes_no_html() -> None:
    script = resources.files("prframe.reports").joinpath("page.js").read_text("utf-8")
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert word not in script


def test_colours_are_those_of_the_pictures() -> None:
    style = resources.files("prframe.reports").joinpath("page.css").read_text("utf-8")
    colours = re.findall(r"--c\d: (#[0-9A-F]{6});", style)
    assert colours == [*PALETTE, *PALETTE_DARK]


def test_saved_and_written_pages_are_the_same(pages, tmp_path) -> None:
    pages["runs"].save(tmp_path / "saved.html")
    prframe.report(runs(6, ["a", "b"]), qrels(6), output=tmp_path / "written.html")
    saved = (tmp_path / "saved.html").read_bytes()
    assert saved == (tmp_path / "written.html").read_bytes()
    assert saved.decode("utf-8") == pages["runs"].html


def test_notes_and_titles_are_shown() -> None:
    page = prframe.report(
        runs(3, ["a"]), qrels(3), title="A & B", notes={"date": "2020-01-01"}, metrics="AP"
    )
    assert page.facts["title"] == "A & B"
    assert "<title>A &amp; B</title>" in page.html
    assert page.facts["sections"][-1]["rows"][0] == ["date", "2020-01-01"]


def test_in_a_notebook_the_page_stands_in_a_frame_of_its_own(pages) -> None:
    shown = pages["hostile"]._repr_html_()
    assert shown.startswith("<iframe title=")
    assert 'sandbox="allow-scripts"' in shown
    assert shown.count("<") == 2
    assert repr(pages["runs"]) == f"Report({pages['runs'].facts['title']!r})"
