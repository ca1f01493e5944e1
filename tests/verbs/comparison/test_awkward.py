"""`compare` where data are awkward: names that clash, numbers at the edge, options that collide."""

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.errors import PrframeError

# Small samples of metrics are skewed, which is of no concern to what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore::prframe.SkewedDifferencesWarning")


def frame(n_queries=12, n_models=3, n_items=8):
    """Return labelled scores, later models being better."""
    rng = np.random.default_rng(1)
    query = np.repeat(np.arange(n_queries), n_items)
    label = rng.random(query.size) < 0.4
    label[::n_items], label[1::n_items] = True, False
    parts = [
        pl.DataFrame(
            {
                "model": f"m{model}",
                "query_id": query,
                "item": np.arange(query.size),
                "label": label,
                "score": rng.normal(size=query.size) + label * (0.2 + 0.4 * model),
            }
        )
        for model in range(n_models)
    ]
    return pl.concat(parts)


def test_models_without_items_in_common_are_refused():
    first = pl.col("query_id") % 3 == 0
    lacking = frame().filter(~(first & (pl.col("model") == "m0")))
    lacking = lacking.with_columns(third=pl.col("query_id") % 3).drop("query_id")
    options = {"over": None, "item": "item", "incomplete": "common", "n_resamples": 100}
    with pytest.raises(PrframeError, match=r"items in common, in groups \[0\]"):
        prframe.compare(lacking, "AP", by="third", **options)
    assert prframe.compare(lacking, "AP", **options)["n"].to_list() == [64] * 3
