"""
Which rankings are better than chance?
======================================

Six rankers answer the same 200 queries. Some of them find what they look for, one hardly does, and
one is random. This example tests every ranking, and then every ranker.
"""

# %%
# Within the list
# ---------------
# The first question is about the 100 items that each ranking lists: are the relevant ones further up
# than chance would put them? AP has to be read beside the number of relevant items in the list, for
# random ranking earns more where there are more of them. ``APNull`` gives its mean and the value that
# one random ranking in twenty reaches.
#
# Items of one score stand in the order of their ids, which has nothing to do with their labels.

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import prframe
from prframe.stats import APNull

COLOURS = {
    "pixels": "#0072B2",
    "pca": "#56B4E9",
    "thumbnail": "#009E73",
    "binary": "#E69F00",
    "ink": "#D55E00",
    "random": "#999999",
}

runs = prframe.datasets.load_digits().with_columns(n_other=1796 - pl.col("n_relevant"))
queries = ["system", "query_id"]
listed = runs.pr.evaluate(["AP", "NumRelRet"], by=queries, ties="order")

n_pos = np.array([2, 4, 7, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 95])
nulls = [APNull(100, int(count)) for count in n_pos]
mean = [null.mean() for null in nulls]
critical = [null.isf(0.05) for null in nulls]

fig, axes = plt.subplots(2, 3, figsize=(8, 5.5), sharex=True, sharey=True, layout="constrained")
for ax, (system, colour) in zip(axes.flat, COLOURS.items(), strict=True):
    some = listed.filter(system=system)
    ax.plot(some["NumRelRet"], some["AP"], ".", markersize=4, color=colour)
    ax.plot(n_pos, mean, color="black", linewidth=1)
    ax.plot(n_pos, critical, "--", color="black", linewidth=1)
    ax.set_title(system, color=colour)
axes[0, 0].annotate("mean at random", (50, 0.52), (45, 0.2), arrowprops={"arrowstyle": "-"})
axes[0, 0].annotate("5 % critical", (20, critical[5]), (2, 0.75), arrowprops={"arrowstyle": "-"})
fig.supxlabel("relevant items among the 100 listed")
fig.supylabel("AP within the list")
plt.show()

# %%
# The better rankers list many relevant items, and most of their lists lie above the dashed line.
# ``ink`` and ``random`` list about ten, as any choice of 100 would, and scatter around the black line;
# one list in twenty above the dashed line is what chance gives.

print(
    listed.with_columns(critical=np.interp(listed["NumRelRet"], n_pos, critical))
    .group_by("system", maintain_order=True)
    .agg(share_above=(pl.col("AP") >= pl.col("critical")).mean())
)

# %%
# Among all items
# ---------------
# A list is good already if it holds many relevant items. With the totals ``ap_test`` compares with a
# random choice and order of 100 items among all 1796.

totals = {"n_pos": "n_relevant", "n_neg": "n_other"}
tested = runs.pr.ap_test(by=queries, ties="order", correction="holm", **totals)
print(
    tested.group_by("system", maintain_order=True).agg(
        below_5_percent=(pl.col("p_value") < 0.05).sum(),
        after_correction=(pl.col("p_adjusted") < 0.05).sum(),
        median=pl.col("p_value").median(),
        largest=pl.col("p_value").max(),
    )
)

fig, (far, near) = plt.subplots(1, 2, figsize=(8, 4), sharey=True, layout="constrained")
share = np.arange(1, 201) / 200
for system, colour in COLOURS.items():
    p_value = np.sort(tested.filter(system=system)["p_value"])
    far.step(p_value, share, color=colour, where="post")
    if system in ("ink", "random"):
        near.step(p_value, share, color=colour, where="post")
near.axline((0, 0), (1, 1), linestyle=":", color="black", linewidth=1)
for ax, system, place in [
    (far, "pixels", (1e-85, 0.68)),
    (far, "thumbnail", (1e-82, 0.22)),
    (far, "binary", (1e-38, 0.22)),
    (far, "ink, random", (1e-48, 0.02)),
    (near, "ink", (0.02, 0.32)),
    (near, "random", (0.2, 0.06)),
]:
    ax.text(*place, system, color=COLOURS.get(system, "black"))
line = {"arrowstyle": "-", "color": COLOURS["pca"]}
far.annotate("pca", (1e-50, 0.66), (1e-85, 0.86), color=COLOURS["pca"], arrowprops=line)
far.set(xscale="log", xlabel="p-value", ylabel="share of queries at or below")
near.set(xlabel="p-value, two of the rankers")
plt.show()

# %%
# To the right, the p-values of ``random`` follow the diagonal, as they should: about one in twenty
# lies below 0.05, and none is left after the correction for 1200 tests. ``ink`` has more of them than
# chance, but few single queries would prove it. The others are beyond doubt for almost all queries.

# %%
# Ranker by ranker
# ----------------
# Many weak hints add up. Over 200 queries the MAP of ``ink`` is far from what random ranking gives,
# though it is a small number. P-values below 2.2e-308 are given as that number.

means = runs.pr.ap_test(by="system", over="query_id", ties="order", **totals)
print(means.select("system", "n_groups", "map", "null_mean", "z", "p_value"))
