"""The pages of the guide as plain text: a list of them, and all of them in one file."""

import re
from pathlib import Path

HERE = Path(__file__).parent
PAGES = ["index", "quickstart", *(f"guide/{page.stem}" for page in (HERE / "guide").glob("*.md"))]


def write(folder: Path, pages: dict[str, str]) -> None:
    """Write ``llms.txt`` and ``llms-full.txt``, given the Markdown of each page as it is built."""
    lines = [
        "# prframe",
        "",
        "> Precision-recall evaluation with statistical inference on frames.",
        "",
    ]
    for name, text in pages.items():
        lines.append(f"- [{title(text)}]({name}.html)")
    (folder / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "llms-full.txt").write_text("\n\n".join(pages.values()), encoding="utf-8")


def title(text: str) -> str:
    """Return the title of a page."""
    found = re.search(r"(?m)^# (.*)$", text)
    return found[1] if found else ""
