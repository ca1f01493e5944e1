"""The facts of a report on systems that rank items for many queries."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, comb
from operator import itemgetter

import numpy as np
import polars as pl

from prframe import tables
from prframe._engine.rows import in_groups
from prframe.errors import ManyPairsWarning, PrframeError
from prframe.metrics import parse_metric
from prframe.reports import sections
from prframe.reports.options import ALPHA, Options
from prframe.reports.page import LONGEST_TEXT, Facts, distinct, plain
from prframe.reports.shown import ITEM, QUERY, SYSTEM, Shown
from prframe.tables.table import Table
from prframe.verbs.check import check
from prframe.verbs.comparison.compare import compare
from prframe.verbs.curves.band import band
from prframe.verbs.evaluate import evaluate
from prframe.verbs.intervals.interval import interval

METRICS = ("AP", "nDCG@10", "P@10")
_KEYS = [SYSTEM, QUERY]
_LEVELS = 11
_MOST_NAMED = 8
# So many systems have a letter without a number.
MOST_WITH_LETTERS = 52
# A page of this size still opens at once.
MOST_VALUES = 300_000
# Beyond so many comparisons, only those in the first metric are made.
MOST_COMPARISONS = 20_000


@dataclass(frozen=True)
class Rankings:
    """Labelled rankings, and the options of their report.

    `rows` has the columns ``system`` (String), ``query_id``, ``score`` and ``label``, and perhaps
    ``doc_id``, ``judged`` and the totals of positives; `both` also has labels of a machine.
    """

    rows: pl.DataFrame
    options: Options
    both: pl.DataFrame | None = None

    @classmethod
    def of(cls, rows: pl.DataFrame, options: Options) -> "Rankings":
        """Return the rankings that humans have judged, and all if a machine has judged these."""
        if "predicted" not in rows.columns:
            return cls(rows, options)
        return cls(rows.filter(pl.col("label").is_not_null()).drop("predicted"), options, rows)

    def _arguments(self, metrics: Sequence[str]) -> tuple[pl.DataFrame, Facts]:
        """Return the rows for means and comparisons, and the arguments of the verbs."""
        if self.both is None:
            return self.values, {"values": list(metrics)}
        item = {"item": ITEM} if self.options.ties == "trec" else {}
        judges = {"metrics": list(metrics), "predicted": "predicted"}
        return self.both, {**judges, **item, **self.options.shared}

    def facts(self) -> Facts:
        """Return all facts but the title and the provenance."""
        table = self.table()
        names = [line.name for line in table.lines]
        n = self.values[QUERY].n_unique()
        over = f"{n:,} {'query' if n == 1 else 'queries'}"
        if self.both is not None:
            over = f"{self.both[QUERY].n_unique():,} queries, {n:,} of them judged by humans"
        parts = [sections.results(table, self.means, SYSTEM, self.tie_ranges())]
        if self.pairs is not None:
            parts.append(sections.matrix(self.pairs, self.means, SYSTEM, names, over))
        parts += [
            self.curves(names),
            self.explorer(names),
            sections.findings(self.findings()),
        ]
        return {
            "title": f"{len(names)} {'run' if len(names) == 1 else 'runs'}, {over}",
            "sentence": sections.outcome(table, self.means, self.pairs, "mean ", over),
            "systems": distinct(names),
            "sections": parts,
        }

    def table(self) -> Table:
        """Return the results, with marks in the metrics that are compared, unless of too many."""
        is_compared = pl.col("metric").is_in(self.compared)
        ties: Facts = {"ties": "trec"} if self.options.ties == "trec" else {}
        means = self.means.filter(is_compared)
        has_marks = self.values[SYSTEM].n_unique() <= MOST_WITH_LETTERS
        marked = tables.results(means, self.pairs if has_marks else None, alpha=ALPHA, **ties)
        if self.compared == self.options.metrics:
            return marked
        whole = tables.results(self.means)
        lines = tuple(
            replace(line, key=of_first.key, cells=(*of_first.cells, *line.cells[1:]))
            for line, of_first in zip(whole.lines, marked.lines, strict=True)
        )
        return replace(whole, caption=marked.caption, lines=lines)

    @property
    def compared(self) -> tuple[str, ...]:
        """The metrics in which all pairs of systems are compared."""
        metrics, n_systems = self.options.metrics, self.values[SYSTEM].n_unique()
        is_much = comb(n_systems, 2) * len(metrics) > MOST_COMPARISONS
        return metrics[:1] if is_much else metrics

    @cached_property
    def values(self) -> pl.DataFrame:
        """The metrics of each query and system, without queries that no metric is defined for."""
        values = self.evaluated(self.options)
        self._refuse_missing(values)
        metrics = list(self.options.metrics)
        of_query = values.group_by(QUERY, maintain_order=True).agg(
            pl.any_horizontal(pl.col(metrics).is_not_null()).any().alias("defined")
        )
        kept = of_query.filter("defined").select(QUERY)
        return values.join(kept, on=QUERY, how="semi", nulls_equal=True, maintain_order="left")

    def evaluated(self, options: Options) -> pl.DataFrame:
        """Evaluate each query of each system."""
        rows = self.rows
        if options.ties != "trec" and ITEM in rows.columns:
            rows = rows.drop(ITEM)
        item = ITEM if ITEM in rows.columns else None
        return evaluate(rows, list(options.metrics), by=_KEYS, item=item, **options.shared)

    @cached_property
    def means(self) -> pl.DataFrame:
        """The means over queries with their intervals."""
        rows, asked = self._arguments(self.options.metrics)
        return interval(rows, by=SYSTEM, over=QUERY, **asked, **self.options.enclosed)

    @cached_property
    def pairs(self) -> pl.DataFrame | None:
        """The comparisons of all pairs of systems."""
        if self.values[SYSTEM].n_unique() == 1 or self.values[QUERY].n_unique() == 1:
            return None
        rows, asked = self._arguments(self.compared)
        with warnings.catch_warnings():
            # A report has no baseline, and shows few of many systems.
            warnings.simplefilter("ignore", ManyPairsWarning)
            return compare(rows, model=SYSTEM, over=QUERY, **asked, **self.options.compared)

    def _refuse_missing(self, values: pl.DataFrame) -> None:
        """Require that all systems have rows for all queries."""
        held = values.group_by(QUERY, maintain_order=True).agg(n=pl.col(SYSTEM).n_unique())
        short = held.filter(pl.col("n") < values[SYSTEM].n_unique())[QUERY]
        if short.len():
            raise PrframeError(
                "a report compares all models over the same queries: some have no rows for "
                f"{short.len()} of {held.height}{in_groups([(query,) for query in short])}; drop "
                "these queries, or give a model without rows a relevant item whose score is -inf, "
                "so that its value is 0."
            )

    def tie_ranges(self) -> dict[tuple[str, str], tuple[float, float]]:
        """Return the smallest and the largest mean over the orders of ties."""
        metrics = [
            name for name in self.options.metrics if {"worst", "best"} <= parse_metric(name).ties
        ]
        if self.both is not None or not metrics or not self.has_ties():
            return {}
        asked = replace(self.options, metrics=tuple(metrics))
        worst, best = (
            self.evaluated(replace(asked, ties=ties))
            .group_by(SYSTEM, maintain_order=True)
            .agg(pl.col(metrics).mean())
            for ties in ("worst", "best")
        )
        return {
            (system, metric): (low, high)
            for metric in metrics
            for system, low, high in zip(worst[SYSTEM], worst[metric], best[metric], strict=True)
            if low is not None and high is not None
        }

    def has_ties(self) -> bool:
        """Return whether any two retrieved items of a ranking share their score."""
        retrieved = self.rows.lazy().filter(pl.col("score") > -float("inf"))
        counts = retrieved.group_by(_KEYS).agg(pl.col("score").n_unique() < pl.len())
        return bool(counts.select(pl.col("score").any()).collect().item())

    def curves(self, names: Sequence[str]) -> Facts:
        """Return the mean interpolated curves."""
        defined = self.values.select(QUERY).unique()
        options = dict(self.options.shared)
        rows = self.rows.join(
            defined, on=QUERY, how="semi", nulls_equal=True, maintain_order="left"
        )
        if options["ties"] == "trec":
            options["item"] = ITEM
        elif ITEM in rows.columns:
            rows = rows.drop(ITEM)
        bands = band(
            rows,
            by=SYSTEM,
            over=QUERY,
            recall=_LEVELS,
            interpolate=True,
            simultaneous=False,
            **options,
            **self.options.enclosed,
        )
        lines: list[Facts] = [
            {
                "system": names.index(system),
                "x": part["recall"].to_list(),
                "y": part["precision"].to_list(),
                "low": part["conf_low"].to_list(),
                "high": part["conf_high"].to_list(),
            }
            for (system,), part in bands.group_by(SYSTEM, maintain_order=True)
        ]
        lines.sort(key=itemgetter("system"))
        tops = [top for line in lines for top in (*line["y"], *line["high"]) if top is not None]
        highest = min(1.0, ceil(10 * max(tops, default=1.0)) / 10)
        level = self.options.level
        return {
            "id": "curves",
            "kind": "charts",
            "title": "Precision and recall",
            "note": f"Mean interpolated precision at {_LEVELS} levels of recall, with {level} "
            "confidence intervals of each mean, "
            "level by level; a name shows or hides them. Whether two systems differ is "
            "said by the comparison above and not by intervals that overlap.",
            "charts": [
                {
                    "title": "",
                    "x": "recall",
                    "y": "precision",
                    "domain": [0, 1, 0, highest],
                    "lines": lines,
                }
            ],
        }

    def findings(self) -> pl.DataFrame:
        """Return what `check` reports."""
        cutoffs = [parse_metric(name).k for name in self.options.metrics]
        whole = sorted({k for k in cutoffs if isinstance(k, int)})
        item = ITEM if ITEM in self.rows.columns else None
        found = check(self.rows, by=_KEYS, k=whole or 10, item=item, **self.options.shared)
        return pl.concat([found, self.judgments().cast(found.schema)])

    @cached_property
    def counts(self) -> pl.DataFrame:
        """How many items are relevant, and which share is judged, for each query and system."""
        names = ["NumRel", "Judged@10"] if "judged" in self.rows.columns else ["NumRel"]
        rows, plain = (
            self.rows.drop(ITEM, strict=False),
            replace(self.options, ties="group").shared,
        )
        return evaluate(rows, names, by=_KEYS, **plain)

    @property
    def relevant(self) -> pl.DataFrame:
        """How many relevant items each query has."""
        return self.counts.group_by(QUERY, maintain_order=True).agg(pl.col("NumRel").max())

    def judgments(self) -> pl.DataFrame:
        """Return how many items are relevant and which share is judged, as findings."""
        values, relevant = self.counts, self.relevant["NumRel"].drop_nulls()
        least, median, most = np.quantile(relevant, [0, 0.5, 1]) if relevant.len() else [0, 0, 0]
        told = f"{least:g} to {most:g}, median {median:g}"
        rows = [("relevant_items", "info", relevant.len(), told)]
        if "Judged@10" in values.columns:
            shares = values.group_by(SYSTEM, maintain_order=True).agg(pl.col("Judged@10").mean())
            lowest = shares.drop_nulls().sort("Judged@10", SYSTEM).head(_MOST_NAMED)
            told = ", ".join(f"{name} {share:.1%}" for name, share in lowest.iter_rows())
            rows += [("judged_items", "info", shares.height, told)] if told else []
        return pl.DataFrame(rows, ["kind", "severity", "count", "example"], orient="row")

    def explorer(self, names: Sequence[str]) -> Facts:
        """Return the values of each query, with the head of each ranking.

        Where there are more values than a page should hold, those of the best systems are kept.
        """
        queries = self.values[QUERY].unique(maintain_order=True).sort()
        metrics = list(self.options.metrics)
        fitting = max(2, MOST_VALUES // max(1, len(metrics) * queries.len()))
        kept = names[:fitting]
        by_system = {
            system: part for (system,), part in self.values.group_by(SYSTEM, maintain_order=True)
        }
        table = pl.DataFrame({QUERY: queries})
        of_systems = [
            table.join(
                by_system[name], on=QUERY, how="left", nulls_equal=True, maintain_order="left"
            )
            for name in kept
        ]
        values = [[part[metric].to_list() for part in of_systems] for metric in metrics]
        shown = Shown.of(self.rows, self.options, list(kept), queries, values[0])
        relevant = table.join(
            self.relevant, on=QUERY, how="left", nulls_equal=True, maintain_order="left"
        )
        left_out = shown.left_out()
        if len(kept) < len(names):
            left_out.insert(
                0, f"The {len(kept)} best of {len(names)} systems are here, the others only above."
            )
        return {
            "id": "queries",
            "kind": "queries",
            "title": "Query by query",
            "note": " ".join(left_out),
            "metrics": metrics,
            "systems": list(range(len(kept))),
            "ids": [plain(query) for query in queries],
            "texts": [
                plain(" ".join(str(self.options.queries.get(query, "")).split()), LONGEST_TEXT)
                for query in queries
            ]
            if self.options.queries
            else None,
            "values": values,
            "depth": shown.depth,
            "relevant": relevant["NumRel"].fill_null(0).cast(pl.Int64).to_list(),
            **shown.facts(),
        }
