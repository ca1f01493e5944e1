"""Runs of several models over queries, and their values query by query, for tests of `compare`."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy

import prframe

MODELS = ("x", "y", "z")


def runs(
    n_queries: int = 12, models: tuple[str, ...] = MODELS, n_items: int = 10, seed: int = 1
) -> pl.DataFrame:
    """Return graded items of several queries, ranked by several models; later ones are worse."""
    rng = np.random.default_rng(seed)
    labels = rng.choice([0, 0, 1, 2], size=(n_queries, n_items))
    labels[:, 0], labels[:, 1] = 1, 0
    query, item = np.indices(labels.shape)
    parts = []
    for place, model in enumerate(models):
        score = labels / (2 + place) + rng.normal(size=labels.shape) / 2
        columns = {"query_id": query, "item": item, "score": score.round(2), "label": labels}
        flat = pl.DataFrame({name: column.ravel() for name, column in columns.items()})
        parts.append(flat.with_columns(model=pl.lit(model)))
    named = pl.format("q{}", pl.col("query_id").cast(pl.String).str.zfill(3))
    return pl.concat(parts).with_columns(query_id=named)


def table(
    frame: pl.DataFrame, metric: str, over: str | list[str] = "query_id", **options: Any
) -> pd.DataFrame:
    """Return a row per query and a column per model, in the order of their first rows."""
    over = [over] if isinstance(over, str) else over
    values = prframe.evaluate(frame, metric, by=["model", *over], **options).to_pandas()
    wide = values.pivot_table(index=over, columns="model", values=metric, dropna=False)
    return wide[frame["model"].unique(maintain_order=True).to_list()]


def pair(values: pd.DataFrame, row: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of the two models of a row for the queries that both have."""
    both = values[[row["model_a"], row["model_b"]]].dropna()
    return both[row["model_a"]].to_numpy(), both[row["model_b"]].to_numpy()


def without_nan(found: pl.DataFrame) -> pl.DataFrame:
    """Require that nothing is NaN, and give the rows back."""
    floats = [name for name, dtype in found.schema.items() if dtype == pl.Float64]
    assert not any(found[name].is_nan().any() for name in floats)
    return found


def scipy_seed(seed: int) -> dict[str, Any]:
    """Return the seed for a function of SciPy, which was called `random_state` before 1.15."""
    before = tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 15)
    return {"random_state" if before else "rng": np.random.default_rng(seed)}
