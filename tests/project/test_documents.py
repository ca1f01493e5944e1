"""What the documents of the project say of its files holds."""

import re
import sys
import tomllib
from importlib import import_module
from itertools import chain
from pathlib import Path
from urllib.parse import unquote

import pytest

import prframe

ROOT = Path(__file__).parents[2]
WRITTEN = sorted(
    chain(ROOT.glob("*.md"), (ROOT / "docs").glob("*.md"), (ROOT / "docs" / "guide").glob("*.md"))
)
CITE = (ROOT / "docs" / "cite.md").read_text(encoding="utf-8")
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)")


def anchors(path):
    """Return the anchors of a Markdown file, made from its headings as GitHub and MyST do."""
    headings = re.findall(r"^#+ +(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    text = re.sub(
        r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    for target, anchor in LINK.findall(text):
        linked = (path.parent / unquote(target)).resolve() if target else path
        assert linked.exists(), (path.name, target)
        if anchor and linked.suffix == ".md":
            assert anchor in anchors(linked), (path.name, target, anchor)


def test_the_readme_fits():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 100
    for mark in ("command: run", "output: run", "command: test"):
        assert text.count(f"<!-- {mark} -->\n```") == 1


def test_the_version_stands_in_one_place():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" in project["dynamic"]
    cited = re.search(r"(?m)^version: (.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited[1] == prframe.__version__
    assert f"version = {{{prframe.__version__}}}" in CITE


def test_what_is_to_be_cited_has_an_entry():
    keys = re.findall(r"(?m)^@\w+\{(\w+),$", CITE)
    assert len(keys) == len(set(keys))
    advice = " ".join(re.findall(r"(?m)^\|.*\| (.*) \|$", CITE))
    assert set(keys) - {"prframe"} == set(re.findall(r"`([a-z]+\d{4}|pranker|vlfeat)`", advice))


def test_the_citation_file_and_the_entries_agree():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for number in re.findall(r"doi: (\S+)", text):
        assert f"{{{number}}}" in CITE
    for first, last in re.findall(r"start: (\d+)\n +end: (\d+)", text):
        assert f"{{{first}--{last}}}" in CITE


def test_links_to_examples_lead_to_the_gallery_when_pages_are_built(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    built = import_module("gallery_links").built
    del sys.modules["gallery_links"]
    written = (
        "[one](../../examples/plot_a.py), [two\nlines](../../examples/plot_b.py#picture-12), "
        "[data](../../examples/data.py), [page](trec.md)"
    )
    assert built(written, "../") == (
        "[one](../gallery/plot_a), ![two\nlines](../gallery/images/sphx_glr_plot_b_012.png), "
        "[data](../../examples/data.py), [page](trec.md)"
    )
    assert built("[one](../examples/plot_a.py)", "") == "[one](gallery/plot_a)"


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "reference").glob("*.rst")), ids=lambda page: page.stem
)
def test_the_reference_lists_what_there_is(page):
    module, listed = "", False
    for line in page.read_text(encoding="utf-8").splitlines():
        if found := re.match(r"\.\. (?:currentmodule|automodule):: (\S+)", line):
            module = found[1]
        listed = line.startswith(".. autosummary") or (listed and (not line or line[0] == " "))
        if listed and module and (name := re.match(r" +([A-Za-z_]\S*)$", line)):
            thing = import_module(module)
            for part in name[1].removeprefix(f"{module}.").split("."):
                thing = getattr(thing, part)
