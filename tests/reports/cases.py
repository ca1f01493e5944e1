"""Data of which the tests make reports."""

import numpy as np
import polars as pl

import prframe
from prframe.reports import Report

RIGHT_TO_LEFT = "\u202e"
HOSTILE = {
    "script": "</script><script>window.hit = 1</script>",
    "image": '<img src="https://example.org/x.png" onerror="window.hit = 2">',
    "quotes": "\"'` onmouseover=window.hit=3 style=color:red",
    "comment": "<!--<script>",
    "direction": f"{RIGHT_TO_LEFT}abc\u2066 \u05d0\u05d1\u05d2 \u0627\u0644\u0639",
    "long": "x" * 10_000,
    "template": "${window.hit = 4}{{7*7}}\u2028\u0000\\u003cscript>",
    "key": "__proto__",
}


def runs(n_queries: int, systems: list[str], depth: int = 30, seed: int = 1) -> pl.DataFrame:
    """Return runs of systems of which each is a little worse than the one before."""
    rng = np.random.default_rng(seed)
    queries = np.repeat(np.arange(n_queries), depth)
    documents = np.tile(np.arange(depth), n_queries)
    parts = [
        pl.DataFrame(
            {
                "system": system,
                "query_id": [f"q{query}" for query in queries],
                "doc_id": [f"d{query}-{document}" for query, document in zip(queries, documents, strict=True)],
                "score": (rng.normal(0, 0.5 + place, queries.size) - documents / 10).round(4),
            }
        )
        for place, system in enumerate(systems)
    ]  # fmt: skip
    return pl.concat(parts)


def qrels(n_queries: int, depth: int = 30) -> pl.DataFrame:
    """Return judgments of half the documents, of grades 0 to 2; good documents have low numbers."""
    rows = [
        (f"q{query}", f"d{query}-{document}", (document + query) % 3 * (document < depth // 2))
        for query in range(n_queries)
        for document in range(0, depth, 2)
    ]
    return pl.DataFrame(rows, schema=["query_id", "doc_id", "label"], orient="row")


def hostile_report() -> Report:
    """Return a report in which every name, id and text is hostile."""
    names = list(HOSTILE.values())
    frame = runs(8, ["a", "b", "c"])
    strange = {f"q{place}": name for place, name in enumerate(names)}
    systems = {"a": HOSTILE["script"], "b": HOSTILE["direction"], "c": HOSTILE["long"]}
    known = qrels(8)

    def renamed(rows: pl.DataFrame) -> pl.DataFrame:
        documents = pl.col("doc_id") + HOSTILE["image"]
        return rows.with_columns(pl.col("query_id").replace(strange), documents)

    rows = renamed(frame).with_columns(pl.col("system").replace(systems))
    return prframe.report(
        rows,
        renamed(known),
        queries=dict.fromkeys(names, HOSTILE["image"] + HOSTILE["long"]),
        texts=dict.fromkeys(rows["doc_id"].unique(), HOSTILE["script"]),
        title=HOSTILE["script"],
        notes={HOSTILE["quotes"]: HOSTILE["image"]},
    )


def classified(n: int = 400, seed: int = 2) -> pl.DataFrame:
    """Return items that three models have scored, in two regions."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.3
    parts = [
        pl.DataFrame(
            {
                "model": model,
                "item": np.arange(n),
                "score": rng.normal(label * shift, 1),
                "label": label,
                "region": np.where(np.arange(n) % 3 == 0, "north", "south"),
            }
        )
        for model, shift in (("old", 0.8), ("new", 1.6), ("other", 1.0))
    ]
    return pl.concat(parts)
