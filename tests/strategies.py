"""Hypothesis data: small groups with forced ties and unretrieved items."""

from math import inf

import polars as pl
from hypothesis import strategies as st

from tests.oracle import Group, Item

# Few distinct values, so that ties are the rule; both zeros and both infinities among them.
SCORES = st.sampled_from([-inf, -1.5, -0.0, 0.0, 0.25, 0.5, 3.0, inf])
FINITE = st.sampled_from([-1.5, -0.0, 0.0, 0.25, 0.5, 3.0])


def items(
    scores: st.SearchStrategy[float] = SCORES,
    labels: st.SearchStrategy[float] | None = None,
    max_size: int = 6,
) -> st.SearchStrategy[list[Item]]:
    """Lists of items, binary labels unless told, some of the others not judged."""
    labels = st.sampled_from([0.0, 1.0]) if labels is None else labels
    rows = st.builds(Item, scores, labels, st.just(1.0), st.booleans())
    return st.lists(rows, min_size=1, max_size=max_size).map(_named)


def _named(rows: list[Item]) -> list[Item]:
    """Give the items names whose order as text is not that of the rows; judge the relevant."""
    return [
        item._replace(name=str(i * 37 % 101), judged=item.judged or item.label > 0)
        for i, item in enumerate(rows)
    ]


def weighted(max_size: int = 12) -> st.SearchStrategy[list[Item]]:
    """Lists of weighted items, zero weights among them."""
    weight = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.25])
    rows = st.builds(Item, FINITE, st.sampled_from([0.0, 1.0]), weight)
    return st.lists(rows, min_size=2, max_size=max_size).map(_named)


def frame(groups: dict[str, list[Item]]) -> pl.DataFrame:
    """One frame of several groups."""
    rows = [(name, *item) for name, group in groups.items() for item in group]
    schema = {
        "group": pl.String,
        "score": pl.Float64,
        "label": pl.Float64,
        "weight": pl.Float64,
        "judged": pl.Boolean,
        "item": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


__all__ = ["FINITE", "SCORES", "Group", "Item", "frame", "items", "weighted"]
