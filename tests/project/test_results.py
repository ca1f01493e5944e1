"""A section of the recorded results is renewed without the others."""

import pytest

results = pytest.importorskip("benchmarks.results", reason="a wheel has no benchmarks")

TARGETS = """## Targets

| case | what | first call | later calls | target | verdict |
| --- | --- | --- | --- | --- | --- |
"""
KEPT = f"""# Benchmarks

## Commands

    an old command

{TARGETS}| one | seconds of one | 2.0 | 2.0 | under 1 s | missed |
| two | seconds of two | 3.0 | 3.0 | under 4 s | met |

## one

It took two seconds.

*Measured long ago.*

## two

It took three seconds.

*Measured long ago.*
"""
NEW = f"""## one

It takes a second.

{TARGETS}| one | seconds of one | 0.9 | 0.8 | under 1 s | met |

## three

It is new.
"""


def test_a_section_and_its_targets_take_the_place_of_the_old_ones():
    text = results.renewed(KEPT, NEW, "*Measured today.*")
    assert "It took two seconds" not in text
    assert "## one\n\nIt takes a second.\n\n*Measured today.*\n" in text
    assert "## two\n\nIt took three seconds.\n\n*Measured long ago.*\n" in text
    assert text.endswith("## three\n\nIt is new.\n\n*Measured today.*\n")
    assert "| one | seconds of one | 0.9 | 0.8 | under 1 s | met |\n| two | seconds" in text
    assert "| missed |" not in text
    assert "    an old command" in text


def test_what_is_renewed_twice_stays():
    once = results.renewed(KEPT, NEW, "*Measured today.*")
    assert results.renewed(once, NEW, "*Measured today.*") == once


def test_a_file_is_begun(tmp_path):
    path = tmp_path / "RESULTS.md"
    results.keep(NEW, path)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# Benchmarks")
    assert "numpy" in text.partition("## three")[2]
