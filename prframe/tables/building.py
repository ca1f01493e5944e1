"""From intervals and a comparison to a table."""

from collections.abc import Mapping
from math import comb
from typing import Any, Literal, TypeAlias, cast, get_args

import polars as pl

from prframe import checks
from prframe._preparation import wording
from prframe._preparation.results import Facts, Result, read, read_estimates, with_one_key
from prframe._preparation.sets import (
    Comparison,
    comparison,
    largest_first,
    letter,
    letters_of,
)
from prframe.errors import ArgumentError, PrframeError
from prframe.tables.table import Cell, Line, Table

Marks: TypeAlias = Literal["beats", "letters", "dagger"]
Places: TypeAlias = int | Mapping[str, int]
# The marks of systems and metrics, and what they mean.
Marked: TypeAlias = tuple[dict[tuple[Any, str], str], str]

_MOST_PLACES = 15
# The names of scores at which a metric is largest end with this.
_THRESHOLD = " threshold"


def results(  # noqa: PLR0913
    interval: object,
    compare: object = None,
    marks: Marks | None = None,
    baseline: object = None,
    places: Places | None = None,
    *,
    alpha: float = 0.05,
    ties: str | None = None,
) -> Table:
    """Make a table of results: a line per system, a column per metric, best system first.

    Parameters
    ----------
    interval : frame
        A result of `prframe.interval`, or of `prframe.evaluate` for a table without intervals,
        with one column ``by``, the systems.
    compare : frame, optional
        A result of `prframe.compare` of the same systems and metrics, for the marks.
    marks : {"beats", "letters", "dagger"}, optional
        Superscripts; by default "dagger" with a baseline, else "beats". ``"beats"``: the letters
        of the systems that this one beats significantly. ``"letters"``: a compact letter display,
        as `letters` makes it. ``"dagger"``: a dagger where a value is significantly larger than
        the baseline's, a double dagger where smaller.
    baseline : object, optional
        The system that daggers compare with, unless the comparison has only one.
    places : int or mapping of str to int, optional
        Decimals, for all metrics or per metric. Default: standard errors keep one or two figures.
    alpha : float, default 0.05
        The level of significance.
    ties : str, optional
        The tie policy that the caption should name.

    Returns
    -------
    Table
        With the methods ``to_latex``, ``to_markdown``, ``to_html``, ``to_frame`` and ``gt``.

    Raises
    ------
    PrframeError
        If a frame is not what it should be, if systems or metrics of the comparison are missing,
        or if an option is wrong.

    Notes
    -----
    The largest value of each metric, as printed, is bold, except of thresholds. Intervals may
    overlap where a paired test finds a significant difference.

    Examples
    --------
    >>> import polars as pl
    >>> import prframe
    >>> runs = prframe.datasets.load_digits().filter(pl.col("system").is_in(["pca", "ink"]))
    >>> totals = {"n_pos": "n_relevant"}
    >>> means = prframe.interval(runs, ["AP", "P@10"], by="system", over="query_id", **totals)
    >>> pairs = prframe.compare(runs, ["AP", "P@10"], model="system", **totals)
    >>> table = prframe.tables.results(means, pairs)
    >>> for line in table.lines:
    ...     print(f"{line.key} {line.name} {line.cells[0].text} ({line.cells[0].marks})")
    a pca 0.378 (b)
    b ink 0.009 ()
    """
    if marks is not None:
        checks.one_of("marks", marks, get_args(Marks), in_order=True)
    estimates = read_estimates(interval, "interval")
    estimates, model = with_one_key(estimates, "interval", "names the systems")
    values = _values(estimates, model)
    metrics = list(dict.fromkeys(metric for _, metric in values))
    systems = _ordered(values, metrics[0])
    known = estimates.facts() if ties is None else estimates.facts({"ties": ties})
    keys = [letter(number) for number in range(len(systems))]
    raised, meaning = dict[tuple[Any, str], str](), ""
    if compare is not None:
        paired = read(compare, "compare", "compare")
        known = cast("Facts", {**known, **paired.facts()})
        compared = {metric: _compared(paired, metric, systems, alpha) for metric in metrics}
        if marks is None:
            marks = "beats" if baseline is None and _has_all(*compared.values()) else "dagger"
        if marks == "beats":
            raised, words = _beats(compared, dict(zip(systems, keys, strict=True)))
        elif marks == "letters":
            raised, words = _letters(compared)
        else:
            raised, words = _daggers(compared, systems, baseline)
        meaning = f"{words} ({wording.testing_words(known, alpha, paired.methods())})."
    decimals = {metric: _places(estimates, metric, places) for metric in metrics}
    best = {metric: _best(values, metric, decimals[metric]) for metric in metrics}

    def cell(system: object, metric: str) -> Cell:
        row, marked = values.get((system, metric), {}), raised.get((system, metric), "")
        return _cell(row, decimals[metric], marked, best[metric])

    if compare is None or marks != "beats":
        keys = [""] * len(systems)
    lines = [
        Line(key, str(system), tuple(cell(system, metric) for metric in metrics))
        for key, system in zip(keys, systems, strict=True)
    ]
    return Table(
        caption=_caption(known, estimates, meaning),
        metrics=tuple(metrics),
        lines=tuple(lines),
        _rows=_numbers(estimates, model, systems, lines, metrics),
        _back=estimates.back,
    )


def _values(estimates: Result, model: str) -> dict[tuple[Any, str], dict[str, Any]]:
    """Return the row of each system and metric."""
    rows = estimates.rows.to_dicts()
    values = {(row[model], row["metric"]): row for row in rows}
    if len(values) < len(rows):
        raise PrframeError(
            f"`interval` must have one row per metric and value of {model!r}; some have more."
        )
    return values


def _cell(row: Mapping[str, Any], places: int, marks: str, best: str | None) -> Cell:
    """Return the cell of a row of the intervals, which may be empty."""
    text, low, high = (
        wording.number(row.get(name), places) for name in ("estimate", "conf_low", "conf_high")
    )
    is_known = low != wording.NONE or high != wording.NONE
    return Cell(text, f"[{low}, {high}]" if is_known else "", marks, text == best)


def _ordered(values: dict[tuple[Any, str], dict[str, Any]], metric: str) -> list[Any]:
    """Return the systems, the one with the largest value of the metric first."""
    systems = list(dict.fromkeys(system for system, _ in values))
    estimates = {system: values.get((system, metric), {}).get("estimate") for system in systems}
    return sorted(systems, key=lambda system: largest_first(estimates[system]))


def _compared(paired: Result, metric: str, systems: list[Any], alpha: float) -> Comparison:
    """Return what the comparison says of a metric of the intervals."""
    if not paired.rows["metric"].is_in([metric]).any():
        raise PrframeError(
            f"`compare` must have the metrics of `interval`; it lacks {metric!r}. Compare it too, "
            "or leave it out of the intervals."
        )
    compared = comparison(paired, metric, alpha)
    compared.require("compare", systems)
    return compared


def _has_all(*compared: Comparison) -> bool:
    """Return whether all pairs of systems are compared."""
    return all(len(pairs.rows) == comb(len(pairs.models), 2) for pairs in compared)


def _beats(compared: dict[str, Comparison], keys: dict[Any, str]) -> Marked:
    """Mark systems with the letters of those that they are better than."""
    marks = {}
    for metric, pairs in compared.items():
        if not _has_all(pairs):
            raise PrframeError(
                f"marks='beats' needs all pairs of systems, and `compare` lacks some for "
                f"{metric}; take marks='dagger', which compares with one baseline, or compare "
                "without baseline=."
            )
        for position, system in enumerate(pairs.models):
            beaten = {pairs.models[other] for other in pairs.beaten(position)}
            marks[system, metric] = "".join(keys[other] for other in keys if other in beaten)
    return marks, "Superscripts name the systems that a value is significantly larger than"


def _letters(compared: dict[str, Comparison]) -> Marked:
    """Mark systems with a compact letter display."""
    marks = {
        (system, metric): letters
        for metric, pairs in compared.items()
        for system, letters in zip(pairs.models, letters_of(pairs), strict=True)
    }
    return marks, "Values of a column that share no superscript differ significantly"


def _daggers(compared: dict[str, Comparison], systems: list[Any], baseline: object) -> Marked:
    """Mark the systems that differ significantly from a baseline."""
    chosen = _shared_system(compared) if baseline is None else baseline
    checks.one_of("baseline", chosen, systems, in_order=True)
    marks: dict[tuple[Any, str], str] = {}
    for metric, pairs in compared.items():
        base = pairs.models.index(chosen)
        marks |= {(pairs.models[other], metric): "‡" for other in pairs.beaten(base)}
        marks |= {
            (system, metric): "†"
            for position, system in enumerate(pairs.models)
            if base in pairs.beaten(position)
        }
    return marks, f"† significantly larger, ‡ significantly smaller than {chosen}"


def _shared_system(compared: dict[str, Comparison]) -> object:
    """Return the system that all pairs have in common."""
    rows = [row for pairs in compared.values() for row in pairs.rows.values()]
    shared = set.intersection(*({row["model_a"], row["model_b"]} for row in rows))
    # With two systems the second one is the baseline, as compare(baseline=) writes it.
    seconds = {row["model_b"] for row in rows}
    if len(shared) != 1 and not (shared and len(seconds) == 1):
        raise ArgumentError("`baseline` must name the system that daggers compare with.")
    return (shared if len(shared) == 1 else seconds).pop()


def _places(estimates: Result, metric: str, places: Places | None) -> int:
    """Return the decimals of a metric."""
    given = places.get(metric) if isinstance(places, Mapping) else places
    if given is not None:
        number = checks.whole_number("places", given, 0)
        if number > _MOST_PLACES:
            raise ArgumentError(f"`places` must be at most {_MOST_PLACES}; got {number}.")
        return number
    rows = estimates.rows.filter(metric=metric)
    errors = rows["std_error"].drop_nulls().to_list() if "std_error" in rows.columns else []
    return wording.places_for(errors)


def _best(values: dict[tuple[Any, str], dict[str, Any]], metric: str, places: int) -> str | None:
    """Return the largest value of a metric as it is printed; a larger threshold is no better."""
    if metric.endswith(_THRESHOLD):
        return None
    estimates = [row["estimate"] for (_, name), row in values.items() if name == metric]
    defined = [value for value in estimates if value is not None]
    return wording.number(max(defined), places) if defined else None


def _caption(facts: Facts, estimates: Result, meaning: str) -> str:
    """Say what the table shows."""
    methods = estimates.methods()
    by = f" by the method {wording.joined(methods)}" if methods else ""
    intervals = f"Estimates with {wording.interval_words(facts)}{by}."
    ties = wording.ties_words(facts)
    has_thresholds = estimates.rows["metric"].str.ends_with(_THRESHOLD).any()
    but = ", except of thresholds" if has_thresholds else ""
    sentences = [
        "Estimates without intervals." if wording.are_unknown(estimates.rows) else intervals,
        f"The largest value of each column is bold{but}.",
        meaning,
        f"{ties[:1].upper()}{ties[1:]}." if ties else "",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _numbers(
    estimates: Result, model: str, systems: list[Any], lines: list[Line], metrics: list[str]
) -> pl.DataFrame:
    """Return the table as rows of numbers, in its order."""
    dtype = estimates.rows.schema[model]
    cells = pl.DataFrame(
        {
            "key": [line.key for line in lines for _ in metrics],
            model: pl.Series([name for name in systems for _ in metrics], dtype=dtype),
            "metric": metrics * len(lines),
            "marks": [cell.marks for line in lines for cell in line.cells],
            "best": [cell.is_best for line in lines for cell in line.cells],
        }
    )
    wanted = [model, "metric", "estimate", "conf_low", "conf_high"]
    options: Any = {"how": "left", "maintain_order": "left", "nulls_equal": True}
    joined = cells.join(estimates.rows.select(wanted), on=[model, "metric"], **options)
    return joined.select("key", *wanted, "marks", "best")
