"""
Average curves at fixed recall levels
=====================================

Curves of different queries have their points at different recalls. To average them, give each one
at the same levels.
"""

# %%
# Curves at eleven levels
# -----------------------
# With ``recall=`` every group gets one row per level. With ``interpolate=True`` the precision at
# a level is the largest one at that recall or beyond, and there is no opening point of precision 1,
# which would say nothing about a system. A recall that a ranking never reaches counts with
# precision 0.

import polars as pl

import prframe

LEVELS = [i / 10 for i in range(11)]

runs = prframe.datasets.load_digits()
curves = prframe.curve(
    runs,
    by=["system", "query_id"],
    n_pos="n_relevant",
    recall=LEVELS,
    interpolate=True,
)
mean = curves.group_by("system", "recall", maintain_order=True).agg(pl.col("precision").mean())
print(mean.pivot("system", index="recall"))

# %%
# One line per system
# -------------------
# All lines end before recall 0.6: a ranking of 100 items cannot hold more than 100 of the roughly
# 180 relevant ones.

prframe.plot.curve(mean)

# %%
# The same in one call
# --------------------
# ``over=`` of ``curve`` averages, and ``df.pr.plot.curve`` with ``over=`` shows every query around the mean.

runs.filter(pl.col("system").is_in(["pixels", "ink"])).pr.plot.curve(
    facet="system", over="query_id", n_pos="n_relevant"
)
