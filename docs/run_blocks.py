"""Run the Python blocks of Markdown files and compare what they print with the text shown.

The ``python`` blocks of a file run in order in one namespace, with warnings as errors. A ``text``
block that directly follows a ``python`` block must be exactly what that block prints; a
``python`` block without one must print nothing.

    python docs/run_blocks.py README.md docs/quickstart.md
    python docs/run_blocks.py --write README.md    # fill in the text blocks instead
"""

import argparse
import contextlib
import difflib
import io
import re
import sys
import warnings
from pathlib import Path

import polars as pl

_BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?P<shown>\n?```text\n(?P<text>.*?)^```\n)?",
    re.DOTALL | re.MULTILINE,
)


def run(path: Path, *, write: bool = False) -> list[str]:
    """Run a file's blocks and return the differences; with `write`, bring the file up to date."""
    source = path.read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": "__main__"}
    faults: list[str] = []
    parts: list[str] = []
    end = 0
    for block in _BLOCK.finditer(source):
        line = source.count("\n", 0, block.start("code"))
        printed = _printed(block["code"], f"{path}", line, namespace)
        shown = block["text"] or ""
        if printed != shown:
            faults.append(_difference(f"{path}:{line + 1}", shown, printed))
        parts += [source[end : block.end("code")], "```\n"]
        if printed:
            parts.append(f"\n```text\n{printed}```\n")
        end = block.end()
    if write:
        path.write_text("".join([*parts, source[end:]]), encoding="utf-8")
        return []
    return faults


def _printed(code: str, name: str, line: int, namespace: dict[str, object]) -> str:
    """Run a block as if it stood at its place in the file, and return its output."""
    compiled = compile("\n" * line + code, name, "exec")
    out = io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        warnings.catch_warnings(),
        pl.Config(tbl_width_chars=100),
    ):
        warnings.simplefilter("error")
        exec(compiled, namespace)  # noqa: S102 - the files are our own
    return out.getvalue()


def _difference(place: str, shown: str, printed: str) -> str:
    """Describe how the text shown differs from what was printed."""
    lines = difflib.unified_diff(
        shown.splitlines(), printed.splitlines(), "shown", "printed", lineterm=""
    )
    return "\n".join([f"{place}: the text shown is not what the block prints", *lines])


def main() -> int:
    """Run the blocks of every file given and print the differences."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="fill in the text blocks")
    given = parser.parse_args()
    faults = [fault for path in given.files for fault in run(path, write=given.write)]
    print(
        "\n\n".join(faults)
        or f"{len(given.files)} files: every block runs and prints what is shown"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
