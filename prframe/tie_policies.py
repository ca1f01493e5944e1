"""The tie policies; the engine ranks by their attributes and knows none by name."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from textwrap import fill
from typing import Literal, TypeAlias, get_args

import polars as pl

Ties: TypeAlias = Literal["group", "order", "trec", "expected", "best", "worst"]


@dataclass(frozen=True, eq=False)
class TiePolicy:
    """How rows with one score are ranked, and the `meaning` of that in the documentation.

    `ordered`: each row has a rank that does not depend on labels; tied rows are sorted by the
    working columns `then`, descending, and keep their input order where these are equal.
    `merit`: tied rows that are best for the ranking come first (1) or last (-1).
    `mean`: metrics are their mean over all orders of tied rows.
    """

    meaning: str
    ordered: bool = False
    then: tuple[pl.Expr, ...] = ()
    merit: Literal[0, 1, -1] = 0
    mean: bool = False

    @cached_property
    def by_item(self) -> bool:
        """Whether ranks depend on the names of the items."""
        return any("item" in key.meta.root_names() for key in self.then)

    @property
    def blocks(self) -> bool:
        """Whether rows with one score stay together as one threshold."""
        return not (self.ordered or self.merit or self.mean)


POLICIES: dict[Ties, TiePolicy] = {
    "group": TiePolicy(
        "tied rows are one threshold; metrics on positions average over their orders."
    ),
    "order": TiePolicy("tied rows keep their input order.", ordered=True),
    "trec": TiePolicy(
        "tied rows are sorted by `item` as text, descending, as in trec_eval.",
        ordered=True,
        then=(pl.col("item"),),
    ),
    "expected": TiePolicy(
        "average over all orders of tied rows, for metrics on thresholds too.", mean=True
    ),
    "best": TiePolicy("tied rows in the order that is best for the ranking.", merit=1),
    "worst": TiePolicy("in the order that is worst for it.", merit=-1),
}

ALL_TIES: tuple[Ties, ...] = get_args(Ties)
# Under these policies ranks and blocks do not depend on labels, so that labels can be exchanged.
WITHOUT_LABELS: tuple[Ties, ...] = tuple(
    ties for ties, policy in POLICIES.items() if policy.ordered or policy.blocks
)
# Under these policies there is one ranking, of rows or of blocks.
NO_MEAN: tuple[Ties, ...] = tuple(ties for ties, policy in POLICIES.items() if not policy.mean)
BLOCKS: tuple[Ties, ...] = tuple(ties for ties, policy in POLICIES.items() if policy.blocks)


def listed_in_braces(policies: Iterable[Ties]) -> str:
    """Return policies in the form in which docstrings list the options of an argument."""
    return "{" + ", ".join(f'"{ties}"' for ties in policies) + "}"


def described(indent: str) -> str:
    """Return the meaning of each policy, as lines of a docstring."""
    meanings = " ".join(f'``"{ties}"``: {policy.meaning}' for ties, policy in POLICIES.items())
    return fill(meanings, 95, initial_indent=indent, subsequent_indent=indent)
