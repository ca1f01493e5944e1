"""Bands, intervals and the tests of AP: rankings that are the same on every run, and what is timed."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import prframe
from benchmarks.data import SEED
from benchmarks.fresh import Answer
from benchmarks.tasks import Work, means
from prframe.typing import Flags, Floats

# The Vaswani collection: abstracts, and how many of them a run retrieves.
COLLECTION, DEPTH = 11_429, 1_000
RUNS = ("bm25", "bm25flat", "qld", "tfidf", "lsa", "binary", "random")
_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


def distinct(groups: int) -> pl.DataFrame:
    """Return groups of 100 to 1,000 items with 1 to 100 positives, none like another.

    The positives of a group score higher by 0 to 2 standard deviations of the scores.
    """
    rng = np.random.default_rng(SEED)
    sizes: dict[tuple[int, int], None] = {}
    while len(sizes) < groups:
        n = int(rng.integers(100, 1_001))
        sizes[n, int(rng.integers(1, min(100, n // 2) + 1))] = None
    return pl.concat(
        _group(np.random.default_rng([SEED, group]), group, n, n_pos, 2 * shift)
        for group, ((n, n_pos), shift) in enumerate(zip(sizes, _even(groups), strict=True))
    )


def shifted(groups: int, per_group: int) -> pl.DataFrame:
    """Return groups with a tenth of positives, higher by one standard deviation."""
    rng = np.random.default_rng(SEED)
    n = groups * per_group
    label = rng.random(n) < 0.1
    group = np.repeat(np.arange(groups), per_group)
    return pl.DataFrame({"group": group, "score": rng.normal(size=n) + label, "label": label})


def retrieved(groups: int) -> pl.DataFrame:
    """Return the best items of groups that are shaped like the queries of Vaswani.

    With `n_pos` and `n_neg` of all items: 1 to 144 positives, 18 in the median. AP goes from
    chance to about .7.
    """
    rng = np.random.default_rng(SEED)
    positives = np.exp(rng.normal(np.log(18), 0.8, groups)).round().clip(1, 144).astype(int)
    shifts = rng.permutation(np.linspace(0, 3.5, groups))
    return pl.concat(
        _group(rng, group, COLLECTION, int(n_pos), shift)
        .top_k(DEPTH, by="score")
        .with_columns(n_pos=pl.lit(int(n_pos)), n_neg=pl.lit(COLLECTION - int(n_pos)))
        for group, (n_pos, shift) in enumerate(zip(positives, shifts, strict=True))
    )


def large(n: int) -> pl.DataFrame:
    """Return one group, a hundredth of it positive and a little better than chance."""
    return _group(np.random.default_rng(SEED), 0, n, n // 100, 0.05)


def tied_queries(systems: int, queries: int) -> pl.DataFrame:
    """Return systems with 800 documents for each query, whose scores have one decimal.

    A query has 2 to 150 relevant ones, 25 in the median; systems are ever better.
    """
    rng = np.random.default_rng(SEED)
    n_pos = np.exp(rng.normal(np.log(25), 0.8, queries)).round().clip(2, 150).astype(int)
    return pl.concat(
        _group(rng, query, 800, int(positives), 0.2 + 0.25 * system).with_columns(
            pl.col("score").round(1), system=pl.lit(system)
        )
        for system in range(systems)
        for query, positives in enumerate(n_pos)
    )


def half(n: int) -> pl.DataFrame:
    """Return one group, half of it positive and a little better than chance."""
    return _group(np.random.default_rng(SEED), 0, n, n // 2, 0.001)


def vaswani(runs: int) -> pl.DataFrame:
    """Return the first runs of the Vaswani collection, judged."""
    folder = Path(os.environ.get("PRFRAME_TEST_DATA", _BESIDE)) / "vaswani"
    if not folder.is_dir():
        raise FileNotFoundError("PRFRAME_TEST_DATA does not name a directory with `vaswani`")
    qrels = prframe.trec.read_qrels(folder / "qrels.txt")
    judged = [
        prframe.trec.join(
            prframe.trec.read_run(folder / f"run.{name}.txt.gz"), qrels
        ).with_columns(pl.lit(name).alias("system"))
        for name in RUNS[:runs]
    ]
    totals = qrels.group_by("query_id").agg(n_pos=(pl.col("label") > 0).sum().cast(pl.Int64))
    rows = pl.concat(judged).join(totals, on="query_id", maintain_order="left")
    return rows.with_columns(n_neg=COLLECTION - pl.col("n_pos"))


def _even(count: int) -> Floats:
    """Return numbers spread evenly over [0, 1], the first of which are so as well."""
    return np.asarray(np.arange(1, count + 1) * 5**0.5 / 2 % 1)


def _group(rng: np.random.Generator, group: int, n: int, n_pos: int, shift: float) -> pl.DataFrame:
    """Return a group whose positives score higher by a number of standard deviations."""
    label = np.arange(n) < n_pos
    return _rows(group, rng.standard_normal(n) + shift * label, label)


def _rows(group: int, score: Floats, label: Flags) -> pl.DataFrame:
    return pl.DataFrame({"group": np.full(label.size, group), "score": score, "label": label})


def band(method: str = "auto", **size: int) -> Work:
    frame = shifted(**size)
    return Work(lambda: prframe.band(frame, by="group", method=method, rng=1), _width)


def interval(metrics: list[str], n_resamples: int, method: str = "auto", **size: int) -> Work:
    frame = shifted(**size)
    return Work(
        lambda: prframe.interval(
            frame, metrics, by="group", method=method, n_resamples=n_resamples, rng=1
        ),
        _width,
    )


def curve_floor(**size: int) -> Work:
    """Sort the same rows and compute AP."""
    frame = shifted(**size)
    return Work(lambda: prframe.evaluate(frame, "AP", by="group"), means)


def _width(found: pl.DataFrame) -> Answer:
    width = found["conf_high"] - found["conf_low"]
    return {"rows": found.height, "width": float(width.mean())}  # type: ignore[arg-type]


_TOTALS = {"n_pos": "n_pos", "n_neg": "n_neg"}


def null_test(data: str, **size: int) -> Work:
    frame, options = _frame(data, **size)
    return Work(lambda: prframe.ap_test(frame, **options), _tested)


def null_floor(data: str, **size: int) -> Work:
    """Compute AP alone, of the same rows."""
    frame, options = _frame(data, **size)
    if over := options.pop("over", None):
        options["by"] = [options["by"], over]
    return Work(lambda: prframe.evaluate(frame, "AP", **options), means)


def _frame(data: str, **size: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return rows, and how they are told to the verbs."""
    if data == "vaswani":
        options = {"ties": "trec", "item": "doc_id", **_TOTALS}
        return vaswani(**size), {"by": ["system", "query_id"], **options}
    if data == "tied_queries":
        return tied_queries(**size), {"by": "system", "over": "group"}
    frame: pl.DataFrame = globals()[data](*size.values())
    return frame, {"by": "group", **(_TOTALS if data == "retrieved" else {})}


def _tested(found: pl.DataFrame) -> Answer:
    p_values = found["p_value"].drop_nulls()
    return {"rows": found.height, "log10 p": float(p_values.log10().mean())}  # type: ignore[arg-type]
