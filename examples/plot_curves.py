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
# a level is the largest one at that recall or beyond. ``anchor=False`` leaves out the
# conventional opening point of precision 1, which says nothing about a system. A recall that a
# ranking never reaches counts with precision 0.

import matplotlib.pyplot as plt
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
    anchor=False,
)
mean = curves.group_by("system", "recall", maintain_order=True).agg(pl.col("precision").mean())
print(mean.pivot("system", index="recall"))

# %%
# One line per system
# -------------------
# All lines end before recall 0.6: a ranking of 100 items cannot hold more than 100 of the roughly
# 180 relevant ones.

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for (system,), line in mean.group_by("system", maintain_order=True):
    ax.plot(line["recall"], line["precision"], marker="o", label=system)
ax.set(
    xlabel="recall",
    ylabel="mean interpolated precision",
    xlim=(-0.02, 1.02),
    ylim=(-0.02, 1.02),
)
ax.legend(title="system")
plt.show()
