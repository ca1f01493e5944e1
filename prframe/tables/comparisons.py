"""Comparisons in the words of a paper, and as a compact letter display."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from prframe._preparation import wording
from prframe._preparation.results import Result, one_metric, read
from prframe._preparation.sets import comparison, letters_of
from prframe.typing import FrameT

# The limits of a normal 95 % interval are so many standard errors from its middle.
_REACH = 1.96


def letters(compare_result: FrameT, metric: str | None = None, alpha: float = 0.05) -> FrameT:
    """Assign letters to systems: two systems that share no letter differ significantly.

    Two systems differ significantly if their adjusted p-value (without a correction, the p-value)
    is at most `alpha`. All other pairs share a letter.

    Parameters
    ----------
    compare_result : frame
        A result of `prframe.compare` with all pairs of systems, without ``baseline=``.
    metric : str, optional
        The metric, if the result has several.
    alpha : float, default 0.05
        The level of significance.

    Returns
    -------
    frame of the caller's kind
        A row per system, the one with the largest mean first, with the columns ``metric``,
        ``model``, ``mean`` and ``letters``. The letters are a to z, A to Z, then a2, b2 and so on.

    Raises
    ------
    PrframeError
        If the frame is no result of a comparison, if a pair is missing, or if the metric or the
        level is wrong.

    Notes
    -----
    A pair with an undefined p-value does not differ significantly.

    References
    ----------
    H.-P. Piepho, An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons,
    Journal of Computational and Graphical Statistics 13, 2004.

    Examples
    --------
    >>> import prframe
    >>> runs = prframe.datasets.load_digits()
    >>> compared = prframe.compare(runs, "P@10", model="system", correction="holm", rng=1)
    >>> prframe.tables.letters(compared)
    shape: (6, 4)
    ┌────────┬───────────┬──────────┬─────────┐
    │ metric ┆ model     ┆ mean     ┆ letters │
    │ ---    ┆ ---       ┆ ---      ┆ ---     │
    │ str    ┆ str       ┆ f64      ┆ str     │
    ╞════════╪═══════════╪══════════╪═════════╡
    │ P@10   ┆ pixels    ┆ 0.974    ┆ a       │
    │ P@10   ┆ pca       ┆ 0.929    ┆ b       │
    │ P@10   ┆ thumbnail ┆ 0.902592 ┆ b       │
    │ P@10   ┆ binary    ┆ 0.724783 ┆ c       │
    │ P@10   ┆ ink       ┆ 0.110048 ┆ d       │
    │ P@10   ┆ random    ┆ 0.101006 ┆ d       │
    └────────┴───────────┴──────────┴─────────┘
    """
    result = read(compare_result, "compare", "compare_result")
    name = one_metric(result.rows, metric, "compare_result")
    compared = comparison(result, name, alpha)
    rows = pl.DataFrame(
        {
            "metric": [name] * len(compared.models),
            "model": pl.Series(compared.models, dtype=result.rows.schema["model_a"]),
            "mean": pl.Series(compared.means, dtype=pl.Float64),
            "letters": letters_of(compared),
        }
    )
    return result.back(rows)  # type: ignore[no-any-return]


def sentences(compare_result: object) -> list[str]:
    """Write a sentence for each row of a comparison, as a paper prints it.

    Parameters
    ----------
    compare_result : frame
        A result of `prframe.compare`, or some of its rows.

    Returns
    -------
    list of str
        In the order of the rows.

    Raises
    ------
    PrframeError
        If the frame is no result of a comparison.

    Notes
    -----
    The decimals of a metric follow the width of the intervals, as in `results`. The difference is
    the value of ``model_a`` minus that of ``model_b``.

    Examples
    --------
    >>> import prframe
    >>> from textwrap import fill
    >>> digits = prframe.datasets.load_digits()
    >>> pairs = prframe.compare(digits, "AP", model="system", n_pos="n_relevant")
    >>> print(fill(prframe.tables.sentences(pairs)[0], 90))
    Mean AP of binary is 0.2105 and that of ink 0.0089: a difference of +0.2016, 95%
    confidence interval [+0.1831, +0.2202] (randomization test, adjusted p < 0.001, Holm's
    correction, family of 15; n = 200).
    """
    result = read(compare_result, "compare", "compare_result")
    places = {
        metric: wording.places_for(_standard_errors(rows))
        for (metric,), rows in result.rows.group_by("metric")
    }
    return [
        _sentence(result, row, places[row["metric"]]) for row in result.rows.iter_rows(named=True)
    ]


def _standard_errors(rows: pl.DataFrame) -> list[float]:
    """Return approximate standard errors of the differences that have an interval."""
    if not {"conf_low", "conf_high"} <= set(rows.columns):
        return []
    # The other end of a one-sided interval is that of the range, and farther.
    reach = (pl.col("conf_low", "conf_high") - pl.col("difference")).abs()
    nearer = rows.select(reach).min_horizontal()
    return (nearer / _REACH).drop_nulls().to_list()


def _sentence(result: Result, row: Mapping[str, Any], places: int) -> str:
    """Write the sentence of a row."""
    keys = {name: "null" if row[name] is None else row[name] for name in result.keys}
    group = ", ".join(f"{name} {value}" for name, value in keys.items())
    # On the same items there are no wins, and the values are no means.
    is_mean = row.get("wins") is not None
    mean = "" if not is_mean else "mean " if group else "Mean "
    begin = f"{group}: " if group else ""
    of = f"{begin}{mean}{row['metric']} of {row['model_a']}"
    if row["difference"] is None:
        return f"{of} and {row['model_b']} cannot be compared."
    first, second = (wording.number(row[name], places) for name in ("mean_a", "mean_b"))
    difference = wording.number(row["difference"], places, signed=True)
    told = [_testing(row)]
    if row.get("p_equivalence") is not None:
        told.append(f"test of equivalence, {wording.p_value(row['p_equivalence'])}")
    if row.get("n") is not None:
        told.append(f"n = {row['n']:,}")
    return (
        f"{of} is {first} and that of {row['model_b']} {second}: "
        f"a difference of {difference}{_interval(row, places)} ({'; '.join(told)})."
    )


def _interval(row: Mapping[str, Any], places: int) -> str:
    """Write the interval of a difference, nothing where there is none."""
    if row.get("conf_low") is None or row.get("conf_high") is None:
        return ""
    low, high = (
        wording.number(row[name], places, signed=True) for name in ("conf_low", "conf_high")
    )
    level = row.get("confidence_level")
    at = "" if level is None else f"{wording.percent(level)} "
    return f", {at}confidence interval [{low}, {high}]"


def _testing(row: Mapping[str, Any]) -> str:
    """Write the test, its p-value and the correction."""
    words = wording.tested(row, [row.get("method") or ""])
    # The p-value of a single test is adjusted for nothing.
    if row.get("p_adjusted") is not None and row.get("n_family") != 1:
        words += [f"adjusted {wording.p_value(row['p_adjusted'])}", *wording.family_words(row)]
    else:
        words.append(wording.p_value(row.get("p_value")))
    return ", ".join(words)
