"""What may be meant by the name of a metric that is not known."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import product

# In names of up to so many characters letters only change places, or are doubled or not.
_SHORT = 5
# A name of more characters than this may have two slips, and others one.
_LONG = 7
# Names are not compared if their lengths differ by this number of characters or more.
_NEARLY = 5
_DOUBLED = re.compile(r"(.)\1+")


def resembling(
    guesses: Iterable[tuple[str, str]],
    known_names: Sequence[str],
    is_metric: Callable[[str], bool],
) -> str | None:
    """Return the text that may be meant by the first guess for which there is one.

    A guess is an unknown name and what stands behind it. A known name resembles it that differs in
    case and punctuation alone, or by few slips of the letters; of equally many, case decides.
    Digits never slip, since F2 is not F1; in short names letters only change places, or are
    doubled or not, since HR is not R, nor AUPRG AUPRC.
    """
    for name, rest in guesses:
        allowed = 1 + (len(name) > _LONG)
        close = {
            known: _slips(letters(name), letters(known))
            for known in known_names
            if abs(len(known) - len(name)) < _NEARLY
            and _digits(known) == _digits(name)
            and (len(name) > _SHORT or _has_letters_of(letters(name), letters(known)))
        }
        for known in sorted(close, key=lambda known: (close[known], _slips(name, known))):
            if close[known] <= allowed and is_metric(known + rest):
                return known + rest
    return None


def letters(name: str) -> str:
    """Return the letters and digits of a name in lower case."""
    return re.sub(r"[\W_]", "", name).lower()


def _has_letters_of(word: str, other: str) -> bool:
    """Tell whether two words have the same letters, but for their order, or for doubled ones."""
    return sorted(word) == sorted(other) or _DOUBLED.sub(r"\1", word) == _DOUBLED.sub(r"\1", other)


def _digits(name: str) -> str:
    """Return the digits of a name."""
    return re.sub(r"\D", "", name)


def _slips(word: str, other: str) -> int:
    """Return how many letters were added, left out, replaced, or exchanged with the next one."""
    slips = [[i + j for j in range(len(other) + 1)] for i in range(len(word) + 1)]
    for i, j in product(range(1, len(word) + 1), range(1, len(other) + 1)):
        slips[i][j] = min(
            slips[i - 1][j] + 1,
            slips[i][j - 1] + 1,
            slips[i - 1][j - 1] + (word[i - 1] != other[j - 1]),
        )
        if word[i - 1] != word[i - 2] and word[i - 2 : i] == other[j - 2 : j][::-1]:
            slips[i][j] = min(slips[i][j], slips[i - 2][j - 2] + 1)
    return slips[-1][-1]
