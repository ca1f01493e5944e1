"""All metrics by their names, lists of those that suit a purpose, and the reading of names.

The grammar of names is::

    name       = word [ "(" setting { "," setting } ")" ] [ "@" number ]
    setting    = [ word "=" ] value
    value      = number | word | quoted word

A value without a name sets the first parameter. Names of trec_eval, ranx and ir_measures are
accepted where this catalogue has another name for the same metric.
"""

import copyreg
import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches

from prframe import checks
from prframe.errors import ArgumentError, PrframeError, UnknownMetricError
from prframe.metrics import positions, sets, thresholds
from prframe.metrics.aliases import ALIASES, CUT_ALIASES, CUT_OFF, INSTEAD, letters
from prframe.metrics.metric import Metric, Setting
from prframe.stats.score_functions import WORDS

CATALOGUE: dict[str, Metric] = {
    value.name: value
    for module in (positions, sets, thresholds)
    for value in vars(module).values()
    if isinstance(value, Metric)
}
CATALOGUE = dict(sorted(CATALOGUE.items(), key=lambda entry: (entry[0].lower(), entry[0])))

# What metrics without a cut-off may be meant by F and F1.
_WITHOUT_CUTOFF = {
    "F": " F of all retrieved items is 'SetF'. Of a classifier say 'F(threshold=0.5)'.",
    "F1": " F1 of all retrieved items is 'SetF', and the largest F1 of all thresholds 'MaxF1'."
    " Of a classifier say 'F1(threshold=0.5)'.",
}
_OF_LISTS = "write several metrics as a list, ['AP', 'nDCG@10'], or in a shell as AP nDCG@10."
_WORD, _QUOTED = r"[\w.+-]+", r"\"[^\"]*\"|'[^']*'"
_FORM = re.compile(
    rf"\s*(?P<name>{_WORD})\s*(?:\((?P<settings>(?:[^()\"']|{_QUOTED})*)\)\s*)?"
    rf"(?:@\s*(?P<level>{_WORD})\s*)?"
)
_SETTING = re.compile(
    rf"\s*(?:(?P<name>{_WORD})\s*=)?\s*(?P<value>{_WORD}|{_QUOTED})\s*(?:,\s*|$)"
)
_WITH_SUFFIX = re.compile(r"(?P<name>\w+?)[._@]?(?P<k>\d+(?:\.\d+)?)", re.ASCII)
_PERSISTENCE = re.compile(r"rbp\.(?P<p>[0-9]+)")
_AT = re.compile(r"(?P<name>\w+?)_at_(?P<k>\d+)", re.ASCII)
_AT_GRADE = re.compile(r"(?P<name>[^-]+)-l(?P<rel>[0-9]{1,9})")
# No name of a metric is longer.
_LONGEST = 30
_WHOLE = re.compile(r"[0-9]{1,30}")
_REAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def with_cells(test: str | None = None) -> str:
    """List the metrics that are functions of the counts in cells, or those that a test is for."""
    return forms_that(
        lambda metric: (
            not metric.without_cells and (test is None or metric.cell_statistic().of_two_samples)
        )
    )


def forms_that(suits: "Callable[[Metric], bool]") -> str:
    """List the metrics that suit, at all places where they may be taken."""
    places = [
        place
        for metric in CATALOGUE.values()
        for place in (metric, *(other for _, other in metric.instead))
    ]
    *most, last = [
        place.form + "[@k]" * (place.cutoff == "optional" and suits(place @ 1))
        for place in places
        if suits(place.example())
    ]
    return f"{', '.join(most)} and {last}" if most else last


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
        parsed = _parsed(str(metric))
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


# Formulas are lambdas, which cannot be pickled, so a metric is pickled as its name.
copyreg.pickle(Metric, lambda metric: (_parsed, (str(metric),)))


def _parsed(text: str) -> Metric:
    """Return the metric of a name, which may still lack its cut-off."""
    form = _FORM.fullmatch(text)
    settings = None if form is None else _settings(form["settings"] or "")
    if form is None or settings is None:
        remedy = "write it as in 'P@10', 'RBP(p=0.8)' or 'nDCG(gain=\"exp\")@10'."
        if text.rstrip().endswith("@"):
            remedy = f"it has no number after '@'; write {checks.brief(text.rstrip() + '10')}."
        if "," in text.partition("(")[0]:
            remedy = _OF_LISTS
        raise UnknownMetricError(f"cannot read the metric {checks.brief(text)}; {remedy}", text)
    level = form["level"]
    if level is not None and (graded := _AT_GRADE.fullmatch(level)):
        # In ranx "map@10-l2" asks for labels of at least 2.
        level, settings = graded["name"], [*settings, ("rel", int(graded["rel"]))]
    metric = _look_up(form["name"], text, has_level=level is not None)
    if settings and not metric.parameters:
        name = settings[0][0]
        if name is None:
            raise ArgumentError(f"{metric.name} takes no parameters; got {text!r}.")
    named = {name or metric.parameters[0].name: value for name, value in settings}
    if len(named) < len(settings):
        raise ArgumentError(f"a parameter stands twice in {text!r}.")
    metric = metric(**named)
    return metric if level is None else _at_level(metric, level, text)


def _settings(text: str) -> list[tuple[str | None, Setting]] | None:
    """Read what stands in parentheses: names, of which the first may lack, and values."""
    settings: list[tuple[str | None, Setting]] = []
    place, text = 0, text.strip()
    while place < len(text):
        match = _SETTING.match(text, place)
        if match is None or (settings and match["name"] is None):
            return None
        word = match["value"]
        number = _number(word)
        value = word[1:-1] if word[0] in "\"'" else word if number is None else number
        settings.append((match["name"], value))
        place = match.end()
    return settings


def _look_up(name: str, text: str, *, has_level: bool) -> Metric:
    """Return the metric of a name without parameters."""
    if graded := _AT_GRADE.fullmatch(name):
        # In ranx "map-l2" asks for labels of at least 2.
        return _look_up(graded["name"], text, has_level=has_level)(rel=int(graded["rel"]))
    if has_level and name in CUT_ALIASES:
        return _parsed(CUT_ALIASES[name])
    if name in CATALOGUE:
        return CATALOGUE[name]
    if name in ALIASES:
        return _parsed(ALIASES[name])
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
        return _at_level(_parsed(CUT_ALIASES[suffix["name"]]), suffix["k"], text)
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


def _at_level(metric: Metric, level: str, text: str) -> Metric:
    """Return the metric cut off at the text that stands behind the @."""
    number = _number(level)
    if metric.cutoff == "recall":
        if not isinstance(number, (int, float)):
            raise ArgumentError(f"the recall level in {text!r} must be a number; got {level!r}.")
        return metric @ number
    if not metric.takes_cutoff:
        hint = _threshold_hint(metric, number)
        if metric.name == "NumRelRet":
            hint = f" For any hit use 'Success@{level}', for the share of hits 'P@{level}'."
        raise ArgumentError(f"{metric.name} takes no cut-off; got {text!r}.{hint}")
    if not isinstance(number, int) or not 1 <= number <= checks.LARGEST_COUNT:
        hint = _threshold_hint(metric, number)
        raise ArgumentError(
            f"the cut-off in {text!r} must be a whole number from 1 to 2^53; got {level!r}.{hint}"
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
    """Return whether a text is the name of a metric."""
    try:
        parse_metric(text)
    except PrframeError:
        return False
    return True
