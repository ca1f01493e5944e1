"""The heads of rankings that a report shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from prframe._engine.arguments import Arguments
from prframe._engine.rows import positive
from prframe.reports.options import Options
from prframe.reports.page import LONGEST_TEXT, Facts, plain

SYSTEM, QUERY, ITEM = "system", "query_id", "doc_id"
_KEYS = [SYSTEM, QUERY]
# A page of so many items still opens at once.
MOST_ITEMS = 100_000
_LEAST_DEPTH = 5


@dataclass(frozen=True)
class Shown:
    """The first `depth` items of rankings, of the queries at the places `with_rankings`."""

    rows: pl.DataFrame
    options: Options
    systems: list[str]
    queries: pl.Series
    depth: int
    with_rankings: list[int]

    @classmethod
    def of(
        cls,
        rows: pl.DataFrame,
        options: Options,
        systems: list[str],
        queries: pl.Series,
        values: Sequence[Sequence[float | None]],
    ) -> "Shown":
        """Choose depth and queries; queries on which the systems differ most go first."""
        if ITEM not in rows.columns:
            return cls(rows, options, systems, queries, 0, [])
        n_rankings = max(1, len(systems) * queries.len())
        depth = min(options.depth, max(_LEAST_DEPTH, MOST_ITEMS // n_rankings))
        fitting = MOST_ITEMS // (depth * len(systems))
        places = list(range(queries.len()))
        if fitting < len(places):
            table = np.array(values, dtype=np.float64)
            spread = np.nan_to_num(table).max(axis=0) - np.nan_to_num(table).min(axis=0)
            places = sorted(np.argsort(-spread, kind="stable")[:fitting].tolist())
        return cls(rows, options, systems, queries, depth, places)

    def left_out(self) -> list[str]:
        """Say what the page has no room for."""
        if not self.depth:
            return []
        said = ["Open a query to see its rankings."]
        if len(self.with_rankings) < self.queries.len():
            said.append(
                f"Rankings are here for the {len(self.with_rankings):,} queries on which the "
                f"systems differ most, of {self.queries.len():,}."
            )
        if self.depth < self.options.depth:
            said.append(f"Of each ranking the first {self.depth} items are here.")
        return said

    def facts(self) -> Facts:
        """Return for each query its items, their grades, and the rankings as places of items."""
        if not self.depth:
            return {"rankings": None}
        heads = self.heads()
        parts: list[Any] = [None] * self.queries.len()
        places = dict(zip(self.queries, range(self.queries.len()), strict=True))
        number = {system: place for place, system in enumerate(self.systems)}
        for (query,), rows in heads.group_by(QUERY, maintain_order=True):
            parts[places[query]] = self._of_query(rows, number)
        return {"rankings": parts, "documents": self._texts(heads)}

    def heads(self) -> pl.DataFrame:
        """Return the first items of each shown ranking, best first."""
        rows = self.rows.lazy().filter(
            pl.col("score") > -float("inf"),
            pl.col(SYSTEM).is_in(self.systems),
            pl.col(QUERY).is_in(
                self.queries.gather(self.with_rankings).implode(), nulls_equal=True
            ),
        )
        score = pl.col("score").rank("ordinal", descending=True).over(_KEYS)
        if self.options.ties != "trec":
            return (
                rows.filter(score <= self.depth)
                .sort("score", descending=True, maintain_order=True)
                .collect()
            )
        # Of the rows that may be among the first, the ids decide between equal scores.
        least = pl.col("score").top_k(self.depth).min().over(_KEYS)
        near = rows.filter(pl.col("score") >= least).collect()
        return (
            near.sort(pl.col("score"), pl.col(ITEM).cast(pl.String), descending=True)
            .group_by(_KEYS, maintain_order=True)
            .head(self.depth)
        )

    def _of_query(self, rows: pl.DataFrame, number: dict[str, int]) -> list[Any]:
        """Return the items of a query, judged ones first, their grades, and the rankings."""
        judged = rows["judged"] if "judged" in rows.columns else pl.Series([True] * rows.height)
        items = dict.fromkeys(rows.filter(judged)[ITEM].to_list())
        relevant = rows.select(
            positive(Arguments(positive=self.options.positive), rows.schema["label"])
        ).to_series()
        grades = dict(zip(rows[ITEM], map(_grade, rows["label"], relevant), strict=True))
        n_judged = len(items)
        items |= dict.fromkeys(rows[ITEM].to_list())
        place = {item: position for position, item in enumerate(items)}
        ranked: list[list[int]] = [[] for _ in self.systems]
        for system, item in zip(rows[SYSTEM], rows[ITEM], strict=True):
            ranked[number[system]].append(place[item])
        return [
            [plain(item) for item in items],
            [grades[item] for item in list(items)[:n_judged]],
            ranked,
        ]

    def _texts(self, heads: pl.DataFrame) -> list[list[str]] | None:
        """Return the texts of the shown items, pairs of an id and a text."""
        texts = self.options.texts
        if not texts:
            return None
        items = heads[ITEM].unique(maintain_order=True)
        return [
            [plain(item), plain(" ".join(str(texts[item]).split()), LONGEST_TEXT)]
            for item in items
            if item in texts
        ]


def _grade(label: float | bool | str, relevant: bool) -> Any:  # noqa: ANN401, FBT001 - labels
    """Return a label as a number, with whether it is relevant if its sign does not say so."""
    if isinstance(label, str):
        return [plain(label), relevant]
    grade = int(label) if float(label).is_integer() else float(label)
    return grade if (grade > 0) == relevant else [grade, relevant]
