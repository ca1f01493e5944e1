"""Cut a release: write its number and date into the package, the citations and the changelog."""

import argparse
import datetime as dt
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def cut(root: Path, version: str, date: str) -> None:
    """Replace the version where it is stated, and give the unreleased changes a heading."""
    replace(
        root / "prframe" / "__init__.py", r'(?m)^__version__ = ".*"$', f'__version__ = "{version}"'
    )
    replace(
        root / "CITATION.cff",
        r"(?m)^version: .*\n(?:date-released: .*\n)?",
        f"version: {version}\ndate-released: {date}\n",
    )
    replace(
        root / "docs" / "cite.md",
        r"(?m)^  version = \{.*\},\n  year    = \{.*\},$",
        f"  version = {{{version}}},\n  year    = {{{date[:4]}}},",
    )
    replace(
        root / "CHANGELOG.md",
        r"(?m)^## \[Unreleased\]\n",
        f"## [Unreleased]\n\n## [{version}] - {date}\n",
    )


def replace(path: Path, pattern: str, text: str) -> None:
    """Replace what a pattern matches, which must be there once."""
    written, count = re.subn(pattern, lambda _: text, path.read_text(encoding="utf-8"))
    if count != 1:
        sys.exit(f"{path}: {pattern!r} stands there {count} times, not once")
    path.write_text(written, encoding="utf-8")


def main() -> int:
    """Read the version, and cut today's release."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", help="for example 0.1.0")
    given = parser.parse_args()
    cut(ROOT, given.version, dt.datetime.now(tz=dt.UTC).date().isoformat())
    return 0


if __name__ == "__main__":
    sys.exit(main())
