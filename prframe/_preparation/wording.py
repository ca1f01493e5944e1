"""Numbers and facts in words, for captions and descriptions."""

from collections.abc import Mapping, Sequence
from math import floor, isfinite, isinf, isnan, log10
from typing import Any

import polars as pl

from prframe._preparation.results import Facts

_TESTS = {
    "bootstrap": "bootstrap test",
    "delong": "DeLong's test",
    "hall": "Hall's test",
    "pooled": "test of the pooled difference",
    "randomization": "randomization test",
    "sign": "sign test",
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon's signed-rank test",
}
_SIDES = {"greater": "positive", "less": "negative"}
_CORRECTIONS = {
    "bh": "Benjamini and Hochberg's correction",
    "bonferroni": "Bonferroni's correction",
    "by": "Benjamini and Yekutieli's correction",
    "holm": "Holm's correction",
    "max-t": "the max-t correction",
}
_TIES = {
    "best": "positives first among ties",
    "expected": "means over the orders of ties",
    "group": "ties taken as one step",
    "order": "ties in the order of the rows",
    "trec": "ties in the order of trec_eval",
    "worst": "positives last among ties",
}
# What stands for a number that does not exist.
NONE = "\N{EN DASH}"
_FEWEST_PLACES, _MOST_PLACES, _USUAL_PLACES = 2, 4, 3


def number(value: float | None, places: int = _USUAL_PLACES, *, signed: bool = False) -> str:
    """Return a number with fixed decimals, a dash where there is none."""
    if value is None or isnan(value):
        return NONE
    if isinf(value):
        sign = "\N{MINUS SIGN}" if value < 0 else "+" if signed else ""
        return f"{sign}\N{INFINITY}"
    text = f"{value:+.{places}f}" if signed else f"{value:.{places}f}"
    if not any(digit in "123456789" for digit in text):
        text = text.lstrip("+-")
    return text.replace("-", "\N{MINUS SIGN}")


def count(value: float) -> str:
    """Return a number of items, or the sum of their weights."""
    return f"{value:,.10g}"


def percent(level: float) -> str:
    """Return a share as a percentage without needless zeros."""
    return f"{100 * level:.6g}%"


def p_value(value: float | None) -> str:
    """Return a p-value in words of a table."""
    if value is None:
        return "p unknown"
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"  # noqa: PLR2004


def places_for(std_errors: Sequence[float]) -> int:
    """Return decimals by which the median standard error keeps one or two figures."""
    errors = sorted(error for error in std_errors if error and isfinite(error))
    if not errors:
        return _USUAL_PLACES
    middle = errors[len(errors) // 2]
    return max(_FEWEST_PLACES, min(_MOST_PLACES, 1 - floor(log10(middle))))


def unbroken(text: str) -> str:
    """Return text that is not broken into lines at equality signs."""
    return text.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


def joined(names: Sequence[object], most: int = 6) -> str:
    """Return names as a list in a sentence, cut short where it is long."""
    texts = [str(name) for name in names]
    if len(texts) > most:
        texts = [*texts[:most], f"{len(texts) - most} more"]
    if len(texts) <= 1:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def are_unknown(rows: pl.DataFrame) -> bool:
    """Return whether no row has a limit of an interval, as those of a single query."""
    return all(rows[name].null_count() == rows.height for name in ("conf_low", "conf_high"))


def interval_words(facts: Facts) -> str:
    """Name the intervals."""
    level = facts.get("confidence_level")
    words = "confidence intervals" if level is None else f"{percent(level)} confidence intervals"
    return f"simultaneous {words}" if facts.get("simultaneous") else words


def band_words(facts: Facts) -> str:
    """Name a band, and the ties where they are known."""
    words = interval_words(facts).replace("confidence intervals", "confidence band")
    if facts.get("simultaneous") is False:
        words = f"pointwise {words}"
    ties = ties_words(facts)
    return f"{words}; {ties}" if ties else words


def testing_words(facts: Facts, alpha: float, methods: Sequence[str]) -> str:
    """Say by which test, with which correction, and at which level differences are significant."""
    words = tested(facts, methods) or ([f"method {joined(methods)}"] if methods else [])
    words += [*family_words(facts), f"alpha = {alpha:g}"]
    if (n := facts.get("n")) is not None:
        words.append(f"n = {n}")
    return ", ".join(words)


def tested(facts: Mapping[str, Any], methods: Sequence[str]) -> list[str]:
    """Say by which test, and on which side, p-values were computed, if it is known."""
    test, side = facts.get("test"), _SIDES.get(facts.get("alternative", ""))
    if test is None and side is None:
        return []
    name = "test" if test is None else _TESTS.get(test, test)
    words = str(name) if side is None else f"one-sided {name} of a {side} difference"
    is_corrected = any(method.endswith("-corrected") for method in methods)
    return [f"{words} corrected for overlapping training sets" if is_corrected else words]


def family_words(facts: Mapping[str, Any]) -> list[str]:
    """Say by which correction and for how many tests p-values are adjusted, if it is known."""
    correction, family = facts.get("correction"), facts.get("n_family")
    words: list[str] = []
    if correction is not None:
        words.append(_CORRECTIONS.get(correction, str(correction)))
    return words if family is None else [*words, f"family of {family}"]


def ties_words(facts: Facts) -> str:
    """Say how ties are ranked, nothing where it is not known."""
    ties = facts.get("ties")
    return "" if ties is None else _TIES.get(ties, ties)
