"""Names that strangers have chosen, as a page shows them."""

import unicodedata
from collections.abc import Sequence

LONGEST_NAME = 120
LONGEST_TEXT = 400

# These join letters or symbols, in Persian or in emoji, and turn nothing around.
_JOINERS = "\u200c\u200d"
_ISOLATE, _POP = "\u2068", "\u2069"


def plain(text: object, longest: int = LONGEST_NAME) -> str:
    """Return a text without signs that cannot be seen, cut short where it is long.

    Control signs, such as those that turn the direction of what follows, are written as escapes.
    """
    shown = str(text)
    cut = shown if len(shown) <= longest else f"{shown[: longest - 1]}\N{HORIZONTAL ELLIPSIS}"
    return "".join(map(_seen, cut))


def _seen(sign: str) -> str:
    """Return a sign, or its escape if it cannot be seen."""
    if sign in _JOINERS or unicodedata.category(sign) not in {"Cc", "Cf", "Zl", "Zp"}:
        return sign
    return sign.encode("unicode_escape").decode("ascii")


def in_a_sentence(name: object) -> str:
    """Return a name whose direction of writing does not reach beyond it."""
    shown = plain(name, 40)
    return shown if shown.isascii() else f"{_ISOLATE}{shown}{_POP}"


def distinct(names: Sequence[object]) -> list[str]:
    """Return names as the page shows them, numbered where several look the same."""
    shown = [plain(name) for name in names]
    return [
        f"{text} ({1 + shown[:place].count(text)})" if shown.count(text) > 1 else text
        for place, text in enumerate(shown)
    ]
