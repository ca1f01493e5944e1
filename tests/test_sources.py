"""The tables of the sources: nothing is left out, every row is filled, every name exists."""

import inspect
import re
import runpy
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from prframe.vlfeat import PRInfo, vl_pr

ROOT = Path(__file__).parents[1]
SOURCES = tomllib.loads((ROOT / "docs" / "sources.toml").read_text(encoding="utf-8"))
ROWS = [(name, *row) for name, source in SOURCES.items() for row in source["rows"]]
MODULES = {
    "prframe": "prframe",
    **{name: f"prframe.{name}" for name in ("stats", "learn", "vlfeat")},
}
FOLDERS = {"guide": "docs/guide/{}.md", "gallery": "examples/{}.py", "examples": "examples/{}"}


def places(where: str) -> list[str]:
    return where.split(", ") if where else []


def test_five_sources() -> None:
    assert len(SOURCES) == 5
    assert all(source["title"] for source in SOURCES.values())


def test_rows_are_filled() -> None:
    for row in ROWS:
        _, item, what, where, remarks = row
        assert item, row
        assert what, row
        # What is nowhere has a reason.
        assert where or remarks, row
        assert not remarks or remarks.endswith("."), row


def test_names_exist_and_say_their_source() -> None:
    for name in {name for row in ROWS for name in places(row[3])}:
        folder, slash, page = name.partition("/")
        if slash:
            assert (ROOT / FOLDERS[folder].format(page)).is_file(), name
            continue
        module, *attributes = name.split(".")
        thing = import_module(MODULES[module])
        assert attributes[0] in thing.__all__, name
        for attribute in attributes:
            thing = getattr(thing, attribute)
        if len(attributes) == 1 and inspect.isfunction(thing):
            said = r"References\n---|[A-Z]\w+\s+(19|20)\d\d|pranker"
            assert re.search(said, inspect.getdoc(thing)), name


def numbers(source: str, word: str) -> set[str]:
    """Return the numbers that the items of a source name after a word, spans filled in."""
    named: set[str] = set()
    for item, *_ in SOURCES[source]["rows"]:
        for text in re.findall(rf"\b{word}s?\.? ((?:\(?[\d.]+\)?(?:, | to )?)+)", item):
            ends = re.findall(r"\d+(?:\.\d+)?", text)
            named |= set(ends)
            for first, last in re.findall(r"\(?([\d.]+)\)? to \(?([\d.]+)\)?", text):
                named |= {str(number) for number in range(int(first), int(last) + 1)}
    return named


def up_to(last: int) -> set[str]:
    return {str(number) for number in range(1, last + 1)}


@pytest.mark.parametrize(
    ("source", "word", "expected"),
    [
        ("Zhang & Su 2012", "eq", up_to(13)),
        ("Clemencon & Vayatis 2009", "eq", up_to(9)),
        ("Clemencon & Vayatis 2009", "Remark", up_to(5)),
        ("Clemencon & Vayatis 2009", "Theorem", up_to(2)),
        (
            "Clemencon, Limnios & Vayatis 2021",
            "eq",
            {f"{part}.{i}" for part, last in ((2, 11), (3, 10), (4, 12), (5, 2)) for i in range(1, last + 1)},
        ),
        ("Clemencon & Vayatis 2009", "Lemma", {"3"}),
        ("Clemencon & Vayatis 2009", "Algorithm", {"1"}),
        ("Zhang & Su 2012", "Fig", {"1"}),
        ("Clemencon, Limnios & Vayatis 2021", "Fig", up_to(16)),
        ("Clemencon, Limnios & Vayatis 2021", "Algorithm", {"1"}),
        ("Clemencon, Limnios & Vayatis 2021", "Proposition", {"4", "6", "8", "9", "21"}),
        ("Clemencon, Limnios & Vayatis 2021", "Theorem", {"5", "24"}),
        ("Clemencon, Limnios & Vayatis 2021", "Corollary", {"7"}),
        ("Clemencon, Limnios & Vayatis 2021", "Remark", up_to(4)),
        ("Clemencon, Limnios & Vayatis 2021", "Assumption", up_to(5)),
        ("Clemencon, Limnios & Vayatis 2021", "Definition", {"1", "2", "11", "12", "13"}),
        ("Clemencon, Limnios & Vayatis 2021", "Lemma", {"3", "10", *map(str, range(14, 29))}),
    ],
)  # fmt: skip
def test_nothing_is_left_out(source: str, word: str, expected: set[str]) -> None:
    assert numbers(source, word) == expected


def test_the_tables_of_zhang_and_su() -> None:
    items = {item for item, *_ in SOURCES["Zhang & Su 2012"]["rows"]}
    assert {"Table I", "Table II", "Table III"} <= items


def test_the_options_of_vl_pr_and_its_info() -> None:
    items = " ".join(item for item, *_ in SOURCES["vl_pr"]["rows"])
    words = set(re.findall(r"\w+", items.lower()))
    options = [name for name in inspect.signature(vl_pr).parameters if name not in PRInfo._fields]
    assert {option.replace("_", "") for option in options} <= words
    assert set(PRInfo._fields) <= words


def test_the_page_shows_them() -> None:
    tables = runpy.run_path(str(ROOT / "docs" / "source_tables.py"))
    page = tables["PAGE"].read_text(encoding="utf-8")
    # `python docs/source_tables.py` renews the page.
    assert page == tables["with_tables"](page, tables["plain"]())
    assert all(f"| {row[1]} |" in page for row in ROWS)
