"""Laws of `compare` over queries that hold for few and ragged data, whatever is asked for."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.stats.paired_values import QUERY_TESTS
from tests.compared_runs import without_nan

METRICS = ["AP", "P@2", "AUC", "DCG"]


def ragged(rng: np.random.Generator) -> pl.DataFrame:
    """Return a few tied items of a few queries, many without a positive, a model or any rows."""
    n_models, n_queries = rng.integers(2, 5), rng.choice([1, 2, 3, 6, 9])
    shape = (n_models, n_queries, 4)
    model, query, item = np.indices(shape)
    label, score = rng.random(shape) < 0.4, rng.integers(0, 3, shape)
    listed = (rng.random(shape) < 0.7) & (rng.random((*shape[:2], 1)) < 0.9)
    # Of each model there is something.
    listed[:, 0, 0] = True
    columns = {"model": model, "query_id": query, "item": item, "score": score, "label": label}
    frame = pl.DataFrame({name: column[listed] for name, column in columns.items()})
    return frame.with_columns(half=pl.col("query_id") % 2, cluster=pl.col("query_id") // 2)


def asked(rng: np.random.Generator) -> dict[str, Any]:
    """Return options that go together."""
    test = str(rng.choice(list(QUERY_TESTS)))
    corrections = ["holm", "by", *(["max-t"] if test == "randomization" else [])]
    chosen = {
        "test": [test],
        "alternative": ["two-sided", "less", "greater"],
        "interval": ["auto", "t", "hall"],
        "incomplete": ["pairwise", "common", "zero"],
        "correction": corrections,
        "within": ["by"],
        "by": ["", "half"],
    }
    options: dict[str, Any] = {name: str(rng.choice(some)) for name, some in chosen.items()}
    options["by"] = options["by"] or None
    if QUERY_TESTS[test].clusters and rng.random() < 0.3:
        return options | {"cluster": "cluster"}
    # The power takes most of the time.
    return options if options["by"] else options | {"power": 0.8}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.filterwarnings("ignore::prframe.UnlistedItemsWarning")
@pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")
def test_ragged_data(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data, options = ragged(rng), asked(rng)
    found = without_nan(prframe.compare(data, METRICS, n_resamples=60, rng=1, **options))
    tested = found.drop_nulls("p_value")
    assert tested["p_value"].is_between(0, 1, closed="right").all()
    assert (found["n"] == found["wins"] + found["ties"] + found["losses"]).all()
    assert (found["n"] == 0).equals(found["difference"].is_null())
    difference = found["mean_a"] - found["mean_b"]
    assert ((difference - found["difference"]).abs().drop_nulls() < 1e-9).all()
    # What is alike has no p-value below 1, and is no reason to have none.
    alike = found.filter(pl.col("n") == pl.col("ties"), pl.col("n") > 0)
    assert (alike["p_value"] == 1).all()
    assert alike["p_value"].null_count() == 0
    ends = found.drop_nulls(["conf_low", "conf_high"])
    assert (ends["conf_low"] <= ends["conf_high"]).all()
    assert found["p_adjusted"].is_null().equals(found["p_value"].is_null())
    if options["correction"] in {"holm", "by"}:
        assert (tested["p_adjusted"] >= tested["p_value"]).all()
