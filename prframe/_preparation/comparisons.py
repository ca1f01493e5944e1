"""What a comparison says of one metric, before it is drawn."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from prframe._preparation import wording
from prframe._preparation.results import Result, one_metric, read, with_one_key
from prframe._preparation.sets import Comparison, comparison, maximal_cliques
from prframe.errors import PrframeError

_MOST_SETS = 60


def compared_on(
    compare_result: object, metric: str | None, alpha: float
) -> tuple[Result, str, Comparison]:
    """Return a result of a comparison, the metric that is meant, and what it says of it."""
    result = read(compare_result, "compare", "compare_result")
    name = one_metric(result.rows, metric, "compare_result")
    rows = result.rows.filter(metric=name)
    result = Result(rows, result.keys, result.back)
    return result, name, comparison(result, name, alpha)


def bounds_of(intervals: object, metric: str) -> dict[Any, tuple[float, float]]:
    """Return the interval of each system."""
    if intervals is None:
        return {}
    result = read(intervals, "interval", "intervals")
    model = with_one_key(result, "intervals", "names the systems")
    rows = result.rows.filter(metric=one_metric(result.rows, metric, "intervals"))
    bounds = rows.select(model, "conf_low", "conf_high").drop_nulls().rows()
    return {system: (low, high) for system, low, high in bounds}


def sets_alike(compared: Comparison) -> list[list[int]]:
    """Return the largest sets of two or more systems no two of which are told apart."""
    sets = list(islice(maximal_cliques(compared.alike()), _MOST_SETS + 1))
    if len(sets) > _MOST_SETS:
        raise PrframeError(
            f"there are more than {_MOST_SETS} sets of systems that are not told apart; "
            "prframe.tables.letters gives few letters to as many systems."
        )
    return sorted(sorted(members) for members in sets if len(members) > 1)


def matrix_text(name: str, compared: Comparison, words: str) -> str:
    """Say in words and numbers what the matrix shows."""
    systems = [
        f"{model} {wording.number(mean)}"
        for model, mean in zip(compared.models, compared.means, strict=True)
    ]
    return (
        f"{name} of {len(systems)} systems: {wording.joined(systems, 10)}. "
        f"{len(compared.apart)} of {len(compared.rows)} pairs are told apart ({words})."
    )


def groups_text(
    name: str, compared: Comparison, shared: Sequence[Sequence[int]], words: str
) -> str:
    """Say in words and numbers which systems are not told apart."""
    sets_told = "; ".join(
        wording.joined([compared.models[member] for member in members], 12) for members in shared
    )
    return (
        f"{name} of {len(compared.models)} systems. Sets within which no two are told apart: "
        f"{sets_told or 'none'} ({words})."
    )
