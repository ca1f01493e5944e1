"""The tables of the sources: as plain Markdown on the page, and with links where the pages are built.

python docs/source_tables.py    # renews docs/guide/sources.md from docs/sources.toml
"""

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE / "guide" / "sources.md"
START, END = "<!-- sources -->\n", "<!-- end of the sources -->\n"
HEADER = ["item", "what it says", "where", "remarks and errata"]


def sections() -> list[tuple[str, list[list[str]]]]:
    """Return the beginning of each source's section, and its rows."""
    sources = tomllib.loads((HERE / "sources.toml").read_text(encoding="utf-8"))
    return [
        (f"## {name}\n\n{source['title']}.\n\n", source["rows"])
        for name, source in sources.items()
    ]


def plain() -> str:
    """Return the tables as any reader of Markdown shows them."""
    lines = ["---"] * len(HEADER)
    return "\n\n".join(
        start
        + "\n".join(
            f"| {' | '.join(cells)} |"
            for cells in [HEADER, lines, *(cells_of(row, file_or_name) for row in rows)]
        )
        for start, rows in sections()
    )


def linked() -> str:
    """Return the tables with links to the reference, for the built pages."""
    parts = []
    for start, rows in sections():
        items = "\n".join(
            "* - " + "\n  - ".join(cells)
            for cells in [HEADER, *(cells_of(row, place) for row in rows)]
        )
        parts.append(
            f"{start}```{{list-table}}\n:header-rows: 1\n:widths: 16 32 26 26\n\n{items}\n```"
        )
    return "\n\n".join(parts)


def cells_of(row: list[str], shown: Callable[[str], str]) -> list[str]:
    """Return the cells of a row, each place shown by a function."""
    item, what, where, remarks = row
    return [item, what, ", ".join(map(shown, filter(None, where.split(", ")))), remarks]


def file_or_name(name: str) -> str:
    """Return a page as a link, and a file or a public name as code."""
    folder, _, page = name.partition("/")
    if folder == "guide":
        return f"[{page}]({page}.md)"
    if folder == "gallery":
        return f"[{page}](../../examples/{page}.py)"
    return f"`{name.removeprefix('prframe.')}`"


def place(name: str) -> str:
    """Return a page, an example or a public name as a link, and a file as code."""
    if name.startswith("gallery/"):
        page = name.removeprefix("gallery/")
        return f"[{page}](../gallery/{page})"
    if "/" in name:
        return file_or_name(name)
    shown = name.removeprefix("prframe.")
    return f"{{py:obj}}`{shown} <prframe.{shown}>`"


def with_tables(page: str, tables: str) -> str:
    """Return the page with other tables between its marks."""
    before, _, rest = page.partition(START)
    return f"{before}{START}\n{tables}\n\n{END}{rest.partition(END)[2]}"


def main() -> int:
    """Write the plain tables into the page."""
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_tables(page, plain()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
