"""``python -m benchmarks.paired_runs``: what tests find on the Vaswani runs, and how steadily.

The runs are not part of the repository; PRFRAME_TEST_DATA names the directory that holds them.
``--quick`` takes fewer draws. ``python -m benchmarks`` runs it too.
"""

import argparse
import warnings
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

import prframe
from benchmarks.compare_peer import Theirs, compared_by_ranx, ranx_objects
from benchmarks.comparisons import runs
from benchmarks.data import SEED
from benchmarks.rankings import vaswani
from benchmarks.report import table

Floats: TypeAlias = NDArray[np.float64]

POWER = """## paired-power

Seven runs of the Vaswani collection, 93 queries: how many of the 21 pairs a test tells apart at \
.05. Corrections are for the 21 pairs of a metric (`within="metric"`); draws: {draws:,}. \
Tukey's test deals out the values of all seven runs, of which one is random: every pair is measured \
against differences as wide as those from it.
"""
NONE = "All tests tell apart the pairs that are not in the table, but for these, which none does: \
{pairs}.\n"
DISAGREE = """The pairs about which these disagree: the p-values, adjusted where a correction is \
named, those above .05 in brackets.
"""
STABLE = """## paired-stability

P-values of AP for all pairs of {systems} systems on {queries} queries, from {calls} calls that are \
given no seed, in one process: for how many pairs they differ from call to call, the largest spread \
of one pair (most less least), for how many pairs there is significance at .05 in some calls and \
not in others, and how many p-values are 0, which none can be. *ranx* is `ranx.compare(..., \
stat_test="fisher")`, its seed the default one.
"""
METRICS = ("AP", "P@10", "nDCG@10")
LEVEL = 0.05
# Columns: a test, and a correction.
ASKED = [
    *(("randomization", correction) for correction in (None, "holm", "max-t")),
    *((test, c) for test in ("t", "wilcoxon", "sign", "bootstrap") for c in (None, "holm")),
]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paired_runs", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer draws and calls")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    draws = 1_000 if quick else 100_000
    print(POWER.format(draws=draws), flush=True)
    try:
        frame = vaswani(7)
    except FileNotFoundError as error:
        print(f"skipped: {error}\n", flush=True)
    else:
        print("\n".join(power(frame, draws)), flush=True)
    size = {"systems": 5, "queries": 20} if quick else {"systems": 20, "queries": 200}
    calls = 2 if quick else 5
    print(STABLE.format(calls=calls, **size), flush=True)
    header = ["", "differ", "largest spread", "significance differs", "0"]
    print(table(header, list(stability(calls, **size))), flush=True)


def power(frame: pl.DataFrame, draws: int) -> Iterator[str]:
    """Return both tables."""
    found = {asked: _p_values(frame, *asked, draws) for asked in ASKED}
    rows = [
        [test, correction or "none", *(str((p[name] <= LEVEL).sum()) for name in METRICS)]
        for (test, correction), p in found.items()
    ]
    yield table(["test", "correction", *METRICS], rows)
    yield DISAGREE
    systems = frame["system"].unique(maintain_order=True).to_list()
    pairs = [f"{a}, {b}" for a, b in combinations(systems, 2)]
    header = ["metric", "pair", *(" ".join(filter(None, asked)) for asked in ASKED)]
    yield table(header, list(_disagreeing(pairs, list(found.values()))))
    never = [
        f"{name}: {'; '.join(_never(pairs, [p[name] for p in found.values()])) or 'none'}"
        for name in METRICS
    ]
    yield NONE.format(pairs=". ".join(never))


def _p_values(
    frame: pl.DataFrame, test: str, correction: str | None, draws: int
) -> dict[str, Floats]:
    """Return the p-values of all pairs by metric, adjusted if there is a correction."""
    found = prframe.compare(
        frame,
        list(METRICS),
        model="system",
        test=test,  # type: ignore[arg-type]
        correction=correction,  # type: ignore[arg-type]
        within="metric",
        n_resamples=draws,
        rng=SEED,
        ties="trec",
        item="doc_id",
        n_pos="n_pos",
    )
    column = "p_adjusted" if correction else "p_value"
    return {
        name: found.filter(pl.col("metric") == name)[column].fill_null(1.0).to_numpy()
        for name in METRICS
    }


def _disagreeing(pairs: Sequence[str], found: list[dict[str, Floats]]) -> Iterator[list[str]]:
    """Return a row per metric and pair that some tell apart and others do not."""
    for name in METRICS:
        columns = np.array([p_values[name] for p_values in found])
        for pair, p_values in zip(pairs, columns.T, strict=True):
            if 0 < (p_values <= LEVEL).sum() < p_values.size:
                yield [name, pair, *(_bracketed(p) for p in p_values)]


def _never(pairs: Sequence[str], found: Sequence[Floats]) -> list[str]:
    """Return the pairs that nothing tells apart."""
    apart = np.array(found).min(axis=0) <= LEVEL
    return [pair for pair, is_apart in zip(pairs, apart, strict=True) if not is_apart]


def _bracketed(p_value: float) -> str:
    """Write a p-value, in brackets if it is too large."""
    return f"{p_value:.2g}" if p_value <= LEVEL else f"({p_value:.2g})"


def stability(calls: int, **size: int) -> Iterator[list[str]]:
    """Return a row per way to test."""
    made = runs(documents=100, **size)
    frame = made.labelled()
    ways: dict[str, dict[str, Any]] = {
        "compare, as it is": {},
        'compare, method="sampled", n_resamples=1000': {"method": "sampled", "n_resamples": 1000},
        "the same with rng=1": {"method": "sampled", "n_resamples": 1000, "rng": 1},
        'compare, correction="max-t"': {"correction": "max-t"},
        'compare, correction="max-t", rng=1': {"correction": "max-t", "rng": 1},
    }
    for name, options in ways.items():
        column = "p_adjusted" if "correction" in options else "p_value"
        found = [
            prframe.compare(frame, "AP", model="system", **options)[column].to_numpy()
            for _ in range(calls)
        ]
        yield [name, *_spread(np.array(found))]
    try:
        of_ranx = ranx_objects(made.retrieved, made.judged)
    except ImportError as error:
        yield ["ranx", f"skipped: {error}", "", "", ""]
        return
    yield ["ranx", *_spread(np.array([_of_ranx(*of_ranx) for _ in range(calls)]))]


def _of_ranx(qrels: Theirs, theirs: list[Theirs]) -> Floats:
    """Return the p-values of AP of all pairs."""
    report = compared_by_ranx(qrels, theirs, "fisher", ["map"])
    names = [run.name for run in theirs]
    found = (report.comparisons[frozenset(pair)]["map"] for pair in combinations(names, 2))
    return np.array([one["p_value"] for one in found])


def _spread(p_values: Floats) -> list[str]:
    """Describe calls, a row each."""
    spread = np.ptp(p_values, axis=0)
    significant = (p_values <= LEVEL).mean(axis=0)
    return [
        f"{(spread > 0).sum()} of {spread.size}",
        f"{spread.max():.4f}",
        str(((significant > 0) & (significant < 1)).sum()),
        str((p_values[0] == 0).sum()),
    ]


if __name__ == "__main__":
    main()
