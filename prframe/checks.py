"""Checks of arguments, and the wording that their messages share."""

from collections.abc import Collection, Iterable, Sequence
from math import inf
from numbers import Integral, Real

from prframe import hints
from prframe.errors import ArgumentError, MissingColumnError

SHOWN = 5
LARGEST_COUNT = 2**53
LARGEST_DRAWS = 10**8
_LISTED = 20
_LONGEST = 200


def listed(values: Iterable[object], *, in_order: bool = False) -> str:
    """Return values as a quoted list, sorted unless they are `in_order` already."""
    return ", ".join(map(repr, values if in_order else sorted(values, key=str)))


def is_one_of(value: object, options: Collection[object]) -> bool:
    """Return whether a value is among options; arrays, frames and expressions never are."""
    if getattr(value, "shape", ()) != ():
        return False
    try:
        return value in options
    except (TypeError, ValueError):
        # Expressions, and arrays within tuples, have no truth value.
        return False


def one_of(name: str, value: object, options: Sequence[str], *, in_order: bool = False) -> None:
    """Require one of the options."""
    if not is_one_of(value, options):
        hint = hints.did_you_mean(value, options)
        those = listed(options, in_order=in_order)
        raise ArgumentError(f"`{name}` must be one of {those}; got {brief(value)}.{hint}")


def brief(value: object) -> str:
    """Return the repr of a value on one line, cut short if it is long."""
    text = repr(value)
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def column_name(name: str, given: object) -> str:
    """Require the name of a column, which polars must not read as a pattern."""
    if not isinstance(given, str):
        raise ArgumentError(
            f"`{name}` must be the name of a column, a string; got {brief(given)}."
            f"{hints.of_column_name(name, given)}"
        )
    if given == "*" or (given.startswith("^") and given.endswith("$")):
        raise ArgumentError(
            f"`{name}` must not look like a pattern, as polars would read it as one; "
            f"got {given!r}; rename the column."
        )
    return given


def column_names(name: str, given: object, *, at_least: int = 1) -> list[str]:
    """Require the name of a column or a list of different names, and return a list of them.

    An array of names, or an index of pandas, is a list; a series is a column and no name.
    """
    names = unpacked(given)
    if isinstance(names, list) and all(isinstance(each, str) for each in names):
        given = given if type(given).__name__ == "Series" else names
    if not isinstance(given, (str, list, tuple)) or len(given) < at_least:
        raise ArgumentError(
            f"`{name}` must be a column name or a list of them; got {brief(given)}."
            f"{hints.of_column_name(name, given)}"
        )
    if isinstance(given, str):
        return [column_name(name, given)]
    columns = [column_name(f"{name}[{place}]", column) for place, column in enumerate(given)]
    if len(set(columns)) < len(columns):
        raise ArgumentError(f"`{name}` names a column twice: {brief(columns)}.")
    return columns


def columns_exist(wanted: dict[str, str], present: Sequence[str], hint: str = "") -> None:
    """Require every wanted column (column -> the argument that named it)."""
    for column, argument in wanted.items():
        if column not in present:
            shown = ", ".join(map(repr, present[:_LISTED]))
            more = f" and {len(present) - _LISTED} more" if len(present) > _LISTED else ""
            has = f"its columns are {shown}{more}" if present else "it has no columns"
            usual = hints.of_column(column, argument, present)
            alike = hints.closest(column, present, cutoff=0.7)
            if column == argument:
                # The caller has not named it.
                meant = usual or alike
                why = hints.NEEDED.get(argument, "")
                close = f" {why}Name the column with {argument}={repr(meant) if meant else ''}."
            else:
                meant = alike or usual
                close = f" Did you mean {meant!r}?" if meant else ""
            raise MissingColumnError(
                f"`{argument}` names the column {brief(column)}, which the frame does not have; "
                f"{has}.{close}{hint}"
            )


def whole_number(name: str, value: object, at_least: int) -> int:
    """Require an integer, of any library, from `at_least` to 2^53, beyond which floats round."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        number = int(value)
        if at_least <= number <= LARGEST_COUNT:
            return number
    is_large = isinstance(value, Integral) and int(value) > LARGEST_COUNT
    limit = " and <= 2^53" if is_large else ""
    raise ArgumentError(
        f"`{name}` must be a whole number >= {at_least}{limit}; got {brief(value)}."
    )


def cutoffs(k: object) -> list[int]:
    """Require whole numbers >= 1, one or several, and return each once."""
    given = unpacked(k)
    several = given if isinstance(given, (list, tuple, range)) else [given]
    found = list(dict.fromkeys(whole_number("k", cutoff, at_least=1) for cutoff in several))
    if not found:
        raise ArgumentError("`k` must name at least one cut-off; got none.")
    return found


def number_of_draws(value: object) -> int:
    """Require a number of draws that ends within days, and whose values a computer may hold."""
    number = whole_number("n_resamples", value, at_least=1)
    if number > LARGEST_DRAWS:
        raise ArgumentError(
            f"`n_resamples` must be at most {LARGEST_DRAWS:,}, of which a share of .05 has a "
            f"standard error of .00002; got {number:,}."
        )
    return number


def instance(name: str, value: object, kind: type) -> None:
    """Require an object of a class of this package."""
    if not isinstance(value, kind):
        got = value.__name__ if isinstance(value, type) else type(value).__name__
        article = "the class" if isinstance(value, type) else "a"
        raise ArgumentError(f"`{name}` must be a {kind.__name__}; got {article} {got}.")


def flag(name: str, value: object) -> None:
    """Require True or False."""
    if not isinstance(value, bool):
        raise ArgumentError(f"`{name}` must be True or False; got {brief(value)}.")


def fraction(name: str, value: object) -> float:
    """Require a number in [0, 1]."""
    if isinstance(value, Real) and not isinstance(value, bool):
        number = float(value)
        if 0 <= number <= 1:
            return number
    raise ArgumentError(f"`{name}` must lie between 0 and 1; got {brief(value)}.")


def unpacked(values: object) -> object:
    """Return an array, an index or a series as a list, and any other object as it is."""
    to_list = getattr(values, "tolist", None) or getattr(values, "to_list", None)
    is_array = callable(to_list) and len(getattr(values, "shape", ())) == 1
    return to_list() if is_array and callable(to_list) else values


def plain(value: object) -> object:
    """Return a scalar of NumPy as one of Python, and any other object as it is."""
    item = getattr(value, "item", None)
    is_scalar = type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0
    return item() if is_scalar and callable(item) else value


def number(  # noqa: PLR0913
    name: str,
    value: object,
    *,
    above: float = -inf,
    at_least: float = -inf,
    below: float = inf,
    at_most: float = inf,
) -> int | float:
    """Require a finite number within bounds."""
    if isinstance(value, Real) and not isinstance(value, bool):
        got = int(value) if isinstance(value, Integral) else float(value)
        if above < got < below and at_least <= got <= at_most and abs(got) < inf:
            return got
    bounds = [(">", above), (">=", at_least), ("<", below), ("<=", at_most)]
    must = " and ".join(f"{sign} {bound}" for sign, bound in bounds if abs(bound) < inf)
    kind = f"number {must}" if must else "finite number"
    raise ArgumentError(f"`{name}` must be a {kind}; got {brief(value)}.")
