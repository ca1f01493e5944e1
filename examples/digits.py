"""
Compare six rankers
===================

Six rankers answer the same 200 queries: given the image of a handwritten digit, find other images
of that digit. This example measures every ranking and compares the rankers over the queries.
"""

# %%
# One row per query
# -----------------
# A ranking lists only its 100 best items. The column ``n_relevant`` holds the number of relevant
# items among all candidates, so the ones that were never listed count as missed.

# sphinx_gallery_thumbnail_path = "_static/bands-light.svg"
import polars as pl

import prframe

METRICS = ["AP", "nDCG@10", "P@10", "RR"]

runs = prframe.datasets.load_digits()
per_query = prframe.evaluate(runs, METRICS, by=["system", "query_id"], n_pos="n_relevant")
print(per_query.head())

# %%
# One row per system and metric
# -----------------------------
# The result is a frame like any other: the comparison is an ordinary aggregation. The standard
# deviation is over the queries.

comparison = (
    per_query.unpivot(METRICS, index=["system", "query_id"], variable_name="metric")
    .group_by("metric", "system")
    .agg(
        mean=pl.col("value").mean(),
        std=pl.col("value").std(),
        n_queries=pl.col("value").count(),
    )
    .sort("metric", "mean", descending=[False, True])
)
with pl.Config(tbl_rows=-1):
    print(comparison)
