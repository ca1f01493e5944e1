"""Reading the name of a metric.

The grammar of names is::

    name       = word [ "(" setting { "," setting } ")" ] [ "@" number ]
    setting    = [ word "=" ] value
    value      = number | word | quoted word

A value without a name sets the first parameter. Names of trec_eval, ranx and ir_measures are
accepted where this catalogue has another name for the same metric.
"""

import copyreg
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NoReturn

from prframe import checks
from prframe.errors import ArgumentError, PrframeError, UnknownMetricError
from prframe.metrics.aliases import ALIASES, CUT_ALIASES, CUT_OFF, INSTEAD, letters
from prframe.metrics.catalogue import CATALOGUE
from prframe.metrics.metric import Metric, Setting
from prframe.stats.score_functions import WORDS

# What metrics without a cut-off may be meant by F and F1.
_WITHOUT_CUTOFF = {
    "F": " F of all retrieved items is 'SetF'. Of a classifier say 'F(threshold=0.5)'.",
    "F1": " F1 of all retrieved items is 'SetF', and the largest F1 of all thresholds 'MaxF1'."
    " Of a classifier say 'F1(threshold=0.5)'.",
}
_OF_LISTS = " Several metrics are separate words, such as 'AP', 'nDCG@10'."
_WITH_SUFFIX = re.compile(r"(?P<name>\w+?)[._@]?(?P<k>\d+(?:\.\d+)?)", re.ASCII)
_PERSISTENCE = re.compile(r"rbp\.(?P<p>[0-9]+)")
_AT = re.compile(r"(?P<name>\w+?)_at_(?P<k>\d+)", re.ASCII)
_AT_GRADE = re.compile(r"(?P<name>[^-]+)-l(?P<rel>[0-9]{1,9})")
# No name of a metric is longer.
_LONGEST = 30
_WHOLE = re.compile(r"[0-9]{1,30}")
_REAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_TOKEN = re.compile(
    r"\s*(?:(?P<mark>[()@,=])|(?P<word>[\w.+-]+)|\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)')"
)


def parse_metric(metric: "str | Metric") -> Metric:
    """Return the metric that a name stands for.

    Parameters
    ----------
    metric : str or Metric
        A name as `evaluate` understands it, or a catalogue value, which comes back as it is.

    Returns
    -------
    Metric

    Raises
    ------
    PrframeError
        A name that cannot be read or is not known, a parameter or cut-off that the metric does
        not take, or a cut-off that it lacks.

    Examples
    --------
    >>> parse_metric("map_cut_10")
    <Metric AP@10>
    >>> parse_metric('nDCG(gain="exp")@5').at_random(n=100, n_pos=5)
    0.05
    """
    if isinstance(metric, Metric):
        parsed = metric
    elif isinstance(metric, str) or type(metric).__module__.startswith("ir_measures"):
        parsed = _Parser(str(metric)).metric()
    else:
        raise ArgumentError(
            f"a metric must be a name or a catalogue object; got {checks.brief(metric)}."
        )
    if parsed.lacks_cutoff:
        hint = _WITHOUT_CUTOFF.get(parsed.name) or _threshold_hint(
            CATALOGUE[parsed.name], parsed.rel
        )
        raise ArgumentError(parsed.lack_of_cutoff() + hint)
    return parsed


def _restore(text: str) -> Metric:
    """Return the metric whose name was pickled."""
    return _Parser(text).metric()


# Formulas are lambdas, which cannot be pickled, so a metric is pickled as its name.
copyreg.pickle(Metric, lambda metric: (_restore, (str(metric),)))


@dataclass(frozen=True)
class _Token:
    """A word, a quoted word or a mark, and the place where it begins."""

    text: str
    place: int
    kind: str

    def is_mark(self, mark: str) -> bool:
        """Tell whether the token is this mark, and not a quoted word that looks like it."""
        return self.kind == "mark" and self.text == mark


class _Parser:
    """A parser that reads one name from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._split()
        self._next = 0

    def metric(self) -> Metric:
        """Return the metric that the text names."""
        name = self._take("word", "the name of a metric")
        settings = self._settings() if self._at("(") else []
        level = self._level() if self._at("@") else None
        if level is not None and (graded := _AT_GRADE.fullmatch(level)):
            # In ranx "map@10-l2" asks for labels of at least 2.
            level, settings = graded["name"], [*settings, ("rel", int(graded["rel"]))]
        if self._next < len(self._tokens):
            self._fail("its end")
        metric = _look_up(name, self._text, has_level=level is not None)
        named = [(name or self._first_parameter(metric), value) for name, value in settings]
        if len(dict(named)) < len(named):
            raise ArgumentError(f"a parameter stands twice in {self._text!r}.")
        metric = metric(**dict(named))
        return metric if level is None else _at_level(metric, level, self._text)

    def _first_parameter(self, metric: Metric) -> str:
        """Return the name of a metric's first parameter."""
        if not metric.parameters:
            raise ArgumentError(f"{metric.name} takes no parameters; got {self._text!r}.")
        return metric.parameters[0].name

    def _settings(self) -> list[tuple[str | None, Setting]]:
        """Read the settings in parentheses, as pairs of a name, or None, and a value."""
        settings: list[tuple[str | None, Setting]] = []
        self._next += 1
        while not self._at(")"):
            parameter = None
            if self._at("=", ahead=1):
                parameter = self._take("word", "the name of a parameter")
                self._next += 1
            elif settings:
                self._fail("a parameter=value")
            settings.append((parameter, self._value()))
            if self._at(","):
                self._next += 1
            elif not self._at(")"):
                self._fail("',' or ')'")
        self._next += 1
        return settings

    def _value(self) -> Setting:
        """Read the value of a setting."""
        if self._kind() == "quoted":
            self._next += 1
            return self._tokens[self._next - 1].text
        word = self._take("word", "a value")
        return _number(word) if _number(word) is not None else word

    def _level(self) -> str:
        """Read the cut-off behind the @."""
        self._next += 1
        return self._take("word", "a cut-off")

    def _at(self, mark: str, *, ahead: int = 0) -> bool:
        """Tell whether the next token, or one further ahead, is this mark."""
        place = self._next + ahead
        return place < len(self._tokens) and self._tokens[place].is_mark(mark)

    def _kind(self) -> str:
        """Return the kind of the next token."""
        return self._tokens[self._next].kind if self._next < len(self._tokens) else "end"

    def _take(self, kind: str, expected: str) -> str:
        """Return the text of the next token, which must be of this kind, and go on."""
        if self._kind() != kind:
            self._fail(expected)
        self._next += 1
        return self._tokens[self._next - 1].text

    def _fail(self, expected: str) -> NoReturn:
        """Raise an error that says what should stand at the next token."""
        if self._next < len(self._tokens):
            token = self._tokens[self._next]
            where = f"{token.text!r} at character {token.place + 1}"
        else:
            where = "its end"
        raise UnknownMetricError(
            f"cannot read the metric {checks.brief(self._text)}: {expected} is due, not {where}."
            f"{_OF_LISTS if ',' in self._text.partition('(')[0] else ''}",
            self._text,
        )

    def _split(self) -> list[_Token]:
        """Cut the text into words and marks."""
        tokens, place, end = [], 0, len(self._text.rstrip())
        while place < end:
            match = _TOKEN.match(self._text, place)
            if match is None:
                rest = self._text[place:].lstrip()
                at = self._text.index(rest, place)
                raise UnknownMetricError(
                    f"cannot read the metric {checks.brief(self._text)}: {rest[0]!r} at character "
                    f"{at + 1} has no meaning.",
                    self._text,
                )
            group = match.lastgroup or ""
            kind = "quoted" if group in {"double", "single"} else group
            tokens.append(_Token(match[group], match.start(group), kind))
            place = match.end()
        return tokens


def _look_up(name: str, text: str, *, has_level: bool) -> Metric:
    """Return the metric of a name without parameters."""
    if graded := _AT_GRADE.fullmatch(name):
        # In ranx "map-l2" asks for labels of at least 2.
        return _look_up(graded["name"], text, has_level=has_level)(rel=int(graded["rel"]))
    if has_level and name in CUT_ALIASES:
        return _alias(CUT_ALIASES[name])
    if name in CATALOGUE:
        return CATALOGUE[name]
    if name in ALIASES:
        return _alias(ALIASES[name])
    if persistence := _PERSISTENCE.fullmatch(name):
        return CATALOGUE["RBP"](p=float(f"0.{persistence['p']}"))
    cut = None if has_level else _with_cutoff(name, text)
    if cut is None:
        raise UnknownMetricError(_unknown(name, text), name)
    return cut


def _with_cutoff(name: str, text: str) -> Metric | None:
    """Return the metric of a name that ends in its cut-off; None if it does not."""
    suffix = CUT_OFF.fullmatch(name)
    if suffix and suffix["name"] in CUT_ALIASES:
        return _at_level(_alias(CUT_ALIASES[suffix["name"]]), suffix["k"], text)
    if suffix := _AT.fullmatch(name):
        # In MTEB "ndcg_at_10" has the cut-off 10.
        return _at_level(_look_up(suffix["name"], text, has_level=True), suffix["k"], text)
    return None


def _unknown(name: str, text: str) -> str:
    """Return the message for an unknown name, with what may be meant by it."""
    base = suffix["name"] if (suffix := _WITH_SUFFIX.fullmatch(name)) else name
    for known in (name, base):
        if (instead := INSTEAD.get(letters(known))) is not None:
            return f"{checks.brief(text)} is no name of a metric here; use {instead}."
    if name in WORDS:
        return f"{checks.brief(text)} is a score-generating function; use 'W(\"{text}\")'."
    if name in CUT_ALIASES:
        more = _WITHOUT_CUTOFF.get(CUT_ALIASES[name], "")
        return f"{name} needs a cut-off, for instance '{name}_10'.{more}"
    guesses = [(name, text[len(name) :])]
    if suffix:
        guesses.append((base, f"@{suffix['k']}"))
    meant = next((like for guess in guesses for like in _resembling(*guess)), None)
    hint = f" Did you mean {meant!r}?" if meant else ""
    return (
        f"unknown metric {checks.brief(text)}.{hint} prframe.CATALOGUE has all metrics, such as "
        "'AP', 'AUC', 'P@10' and 'nDCG@10'."
    )


def _resembling(name: str, rest: str) -> Iterator[str]:
    """Yield the metrics whose names have nearly these letters, with what stands behind the name.

    Digits are the same, since F2 is not F1.
    """
    known = {letters(other): other for other in (*CUT_ALIASES, *ALIASES, *CATALOGUE)}
    name = name[:_LONGEST]
    for close in get_close_matches(letters(name), known, n=5, cutoff=0.7):
        if re.sub(r"\D", "", close) == re.sub(r"\D", "", name) and _is_metric(known[close] + rest):
            yield known[close] + rest


def _alias(text: str) -> Metric:
    """Return the metric that an alias stands for, which may still lack its cut-off."""
    return _Parser(text).metric()


def _at_level(metric: Metric, level: str, text: str) -> Metric:
    """Return the metric cut off at the text that stands behind the @."""
    number = _number(level)
    if metric.cutoff == "recall":
        if not isinstance(number, (int, float)):
            raise ArgumentError(f"the recall level in {text!r} must be a number; got {level!r}.")
        return metric @ number
    if not metric.takes_cutoff:
        hint = _threshold_hint(metric, number)
        raise ArgumentError(f"{metric.name} takes no cut-off; got {text!r}.{hint}")
    if not isinstance(number, int) or number < 1:
        hint = _threshold_hint(metric, number)
        raise ArgumentError(
            f"the cut-off in {text!r} must be a whole number >= 1; got {level!r}.{hint}"
        )
    return metric @ number


def _threshold_hint(metric: Metric, number: float | None) -> str:
    """Return how a threshold on the score is written, where a number behind an @ may mean one."""
    if not metric.takes("threshold") or not isinstance(number, float):
        return ""
    return f" For a threshold on the score use '{metric(threshold=number)}'."


def _number(word: str) -> int | float | None:
    """Return the number that a word stands for; None if it is no number."""
    if _WHOLE.fullmatch(word):
        return int(word)
    return float(word) if _REAL.fullmatch(word) else None


def _is_metric(text: str) -> bool:
    """Tell whether a text is the name of a metric."""
    try:
        parse_metric(text)
    except PrframeError:
        return False
    return True
