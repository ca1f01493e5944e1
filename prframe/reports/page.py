"""The page: a template, a style and a script, with the facts as data."""

import json
import re
import unicodedata
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib import resources
from math import isfinite
from os import PathLike
from typing import Any, TypeAlias

from prframe._preparation import wording
from prframe._replacing import replacing

Facts: TypeAlias = dict[str, Any]

_PLACES = 5
# A number below this one keeps so many digits.
_SMALL, _DIGITS = 1e-3, 4
_HEIGHT_IN_NOTEBOOKS = 800
LONGEST_NAME = 120
LONGEST_TEXT = 400

# These join letters in Persian and symbols in emoji.
_JOINERS = "\u200c\u200d"
_ISOLATE, _POP = "\u2068", "\u2069"


@dataclass(frozen=True, repr=False)
class Report:
    """A report, made by `prframe.report`.

    Attributes
    ----------
    facts : dict
        What the page shows, as plain data of which JSON can be made.
    html : str
        The page.
    """

    facts: Facts
    html: str

    @classmethod
    def of(cls, facts: Facts) -> "Report":
        """Make the page of facts."""
        return cls(facts, _page(facts))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file.

        Raises
        ------
        OSError
            A file that cannot be written.
        """
        with replacing(path) as file:
            # Names of files that are not UTF-8 have signs that are none.
            file.write(self.html.encode("utf-8", "backslashreplace"))

    def __repr__(self) -> str:
        """Name the page by its title."""
        return f"Report({self.facts['title']!r})"

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame whose script can reach nothing outside."""
        return (
            f'<iframe title="{escape(str(self.facts["title"]))}" sandbox="allow-scripts" '
            f'width="100%" height="{_HEIGHT_IN_NOTEBOOKS}" srcdoc="{escape(self.html)}"></iframe>'
        )


def rounded(value: Any) -> Any:  # noqa: ANN401 - plain data of any shape
    """Return plain data with few decimals, and null for what is no finite number."""
    if isinstance(value, float):
        if not isfinite(value):
            return None
        return round(value, _PLACES) if abs(value) >= _SMALL else float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(part) for part in value]
    return value


def _page(facts: Facts) -> str:
    """Return the page; the policy lets no other script, style or address in than its own."""
    template, style, script = (_part(f"page.{ending}") for ending in ("html", "css", "js"))
    parts = {
        "title": escape(str(facts["title"])),
        "description": escape(facts["sentence"]),
        "core": _static_core(facts),
        "style": style,
        "script": script,
        "style-hash": _hash(style),
        "script-hash": _hash(script),
        "data": _data(facts),
    }
    pieces = template.split("\N{SECTION SIGN}")
    # Every other piece is the name of a part, so that nothing is looked for within the parts.
    return "".join(parts[piece] if place % 2 else piece for place, piece in enumerate(pieces))


def _part(name: str) -> str:
    """Return the text of a file of this package."""
    return resources.files("prframe.reports").joinpath(name).read_bytes().decode("utf-8")


def _hash(text: str) -> str:
    """Return the hash by which the policy of the page knows a script or a style."""
    return b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")


def _data(facts: Facts) -> str:
    """Return the facts as JSON in which no element can begin or end."""
    text = json.dumps(facts, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _static_core(facts: Mapping[str, Any]) -> str:
    """Return the main finding and the results as HTML, for where the script does not run."""
    results, *others = facts["sections"]
    # As the script writes it: the caption below the table, and systems or models in the head.
    table = re.sub("<caption>.*</caption>\n", "", results["copies"]["HTML"], count=1)
    table = table.replace(">System<", f">{results['of']}<", 1)
    missing = wording.joined([part["title"] for part in others], most=len(others))
    sections = "section" if len(others) == 1 else "sections"
    return (
        f'<h1>{escape(facts["title"])}</h1>\n<p class="lead">{escape(facts["sentence"])}</p>\n'
        f'<h2>{escape(results["title"])}</h2>\n<div class="scroll">{table}</div>\n'
        f'<p class="note">{escape(results["caption"])}</p>\n'
        f'<noscript><p class="note">The {sections} {escape(missing)} of this page, and its '
        "charts, are drawn by the script within it, which does not run here. Any browser that "
        "runs scripts shows them, without a network.</p></noscript>"
    )


def plain(text: object, longest: int = LONGEST_NAME) -> str:
    """Return a text cut short, with escapes for signs that cannot be seen or turn directions."""
    shown = str(text)
    cut = shown if len(shown) <= longest else f"{shown[: longest - 1]}\N{HORIZONTAL ELLIPSIS}"
    return "".join(map(_seen, cut))


def _seen(sign: str) -> str:
    """Return a sign, or its escape if it cannot be seen."""
    if sign in _JOINERS or unicodedata.category(sign) not in {"Cc", "Cf", "Zl", "Zp"}:
        return sign
    return sign.encode("unicode_escape").decode("ascii")


def isolated(name: object) -> str:
    """Return a name that is isolated from the direction of writing around it."""
    shown = plain(name, 40)
    return shown if shown.isascii() else f"{_ISOLATE}{shown}{_POP}"


def distinct(names: Sequence[object]) -> list[str]:
    """Return names as the page shows them, numbered where several look the same."""
    shown = [plain(name) for name in names]
    return [
        f"{text} ({1 + shown[:place].count(text)})" if shown.count(text) > 1 else text
        for place, text in enumerate(shown)
    ]
