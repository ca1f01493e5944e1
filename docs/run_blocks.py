"""Run the Python and shell blocks of Markdown files and compare what they print with the text shown.

The ``python`` blocks of a file run in order in one namespace, with warnings as errors. A ``text``
block that directly follows a ``python`` block must be exactly what that block prints, as must Markdown
between the comments ``<!-- printed -->`` and ``<!-- end -->``; a ``python`` block without either must
print nothing. In a ``console`` block whose first line begins with
``$ `` each such line is a command, and the lines up to the next are what it prints, errors included. All
blocks of a file run in one folder, which is empty at first. A file whose blocks import what an optional
extra installs, and what is not installed, is skipped with a message that names the extra.

    python docs/run_blocks.py README.md docs/quickstart.md
    python docs/run_blocks.py --write README.md    # fill in the text blocks instead
"""

import argparse
import contextlib
import difflib
import io
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

_BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?P<shown>\n?```text\n(?P<text>.*?)^```\n"
    r"|\n<!-- printed -->\n(?P<markdown>.*?)^<!-- end -->\n)?"
    r"|^```console\n(?P<commands>\$ .*?)^```\n",
    re.DOTALL | re.MULTILINE,
)
_COMMAND = "$ "
# Commands may span several lines, by a backslash at the end.
_CALL = re.compile(r"^\$ (?:.*\\\n)*.*\n", re.MULTILINE)
# What the extras install, by the name by which it is imported.
_EXTRAS = {
    "altair": "chart",
    "great_tables": "table",
    "matplotlib": "plot",
    "pyspark": "spark",
    "sklearn": "learn",
    "threadpoolctl": "learn",
}
_NAMED_EXTRA = re.compile(r"prframe\[(\w+)\]")
_PRELUDE = f'prframe() {{ "{sys.executable}" -m prframe "$@"; }}\n'


class SkippedError(Exception):
    """A file whose blocks need an extra that is not installed."""


def run(path: Path, *, write: bool = False) -> list[str]:
    """Run a file's blocks and return the differences; with `write`, bring the file up to date."""
    with TemporaryDirectory() as folder:
        try:
            return _run_in(folder, path.resolve(), path, write=write)
        except ImportError as error:
            extra = _extra_of(error)
            if extra is None:
                raise
            message = f"{path} is skipped: it needs the extra {extra}: {error}"
            raise SkippedError(message) from error


def _extra_of(error: ImportError) -> str | None:
    """Return the extra that has what could not be imported; None if no extra has it."""
    if named := _NAMED_EXTRA.search(str(error)):
        return named[1]
    return _EXTRAS.get((error.name or "").partition(".")[0])


def _run_in(folder: str, file: Path, path: Path, *, write: bool) -> list[str]:
    """Run the blocks of a file in a folder; messages name it as the caller did."""
    source = file.read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": "__main__"}
    faults: list[str] = []
    parts: list[str] = []
    end = 0
    for block in _BLOCK.finditer(source):
        if block["commands"] is not None:
            shown, printed = block["commands"], _session(block["commands"], folder)
            if printed != shown:
                line = source.count("\n", 0, block.start())
                faults.append(_difference(f"{path}:{line + 1}", shown, printed))
            parts += [source[end : block.start("commands")], printed, "```\n"]
            end = block.end()
            continue
        line = source.count("\n", 0, block.start("code"))
        with contextlib.chdir(folder):
            printed = _printed(block["code"], f"{path}", line, namespace)
        as_markdown = block["markdown"] is not None
        shown = block["markdown"] if as_markdown else block["text"] or ""
        if printed != shown:
            faults.append(_difference(f"{path}:{line + 1}", shown, printed))
        parts += [source[end : block.end("code")], "```\n"]
        if as_markdown:
            parts.append(f"\n<!-- printed -->\n{printed}<!-- end -->\n")
        elif printed:
            parts.append(f"\n```text\n{printed}```\n")
        end = block.end()
    if write:
        file.write_text("".join([*parts, source[end:]]), encoding="utf-8")
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


def _session(commands: str, folder: str) -> str:
    """Run the commands of a block in a folder, and return them with what they print."""
    lines = []
    for call in _CALL.findall(commands):
        done = subprocess.run(  # noqa: S603 - the files are our own
            ["bash", "-c", f"{_PRELUDE}{call.removeprefix(_COMMAND)}"],  # noqa: S607
            cwd=folder,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        lines += [call, done.stdout]
    return "".join(lines)


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
    faults: list[str] = []
    n_run = 0
    for path in given.files:
        try:
            faults += run(path, write=given.write)
            n_run += 1
        except SkippedError as skipped:
            print(skipped)
    print("\n\n".join(faults) or f"{n_run} files: every block runs and prints what is shown")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
