"""
Bands around two curves
=======================

How sure are precision-recall curves of a hundred ranked items? ``band`` draws a confidence band
around the curve of each group.
"""

# %%
# One query
# ---------
# A band takes the rows of a group as a sample of independent items. Here the group is one query
# and the items are images of handwritten digits: with the query fixed, the score and the label of
# an image depend on that image alone. Rows of several queries in one ranking would be no such
# sample, as those of one query belong together, and scores of different queries do not compare.
#
# Each ranking lists the best 100 of 1796 images, so both totals are given. The query is one in
# which the two systems differ.

import polars as pl

import prframe

digits = prframe.datasets.load_digits().with_columns(n_other=1796 - pl.col("n_relevant"))
totals = {"n_pos": "n_relevant", "n_neg": "n_other"}
one = digits.filter(pl.col("query_id") == "q1705", pl.col("system").is_in(["pixels", "binary"]))
bands = one.pr.band(by="system", recall_range=(0.02, 0.19), rng=1, **totals)
print(bands.gather_every(60))

# %%
# Two systems
# -----------
# Each band covers the curve of its system at all levels shown with a probability of 95 %. At the
# first few images the two cannot be told apart, further down they can. ``binary`` gives only a
# handful of different scores; within a block of ties its curve is smooth. No ranking ever makes a
# band narrow at the first images, be they all relevant: they are few.

ax = prframe.plot.curve(bands)
ax.set_xlim(0, 0.2)

# %%
# Where the bands are apart, the systems differ; both bands are right with a probability of at least
# 90 %. Where they overlap, the systems may differ all the same. Both have ranked the same images,
# which moves the two curves together. To compare systems, compare their metrics query by query.
#
# All levels, or one
# ------------------
# A simultaneous band is about the whole curve. Intervals at single levels are narrower, and miss
# the curve somewhere far more often than in 5 % of all samples.

binary = one.filter(system="binary")
single = binary.pr.band(recall_range=(0.02, 0.19), simultaneous=False, rng=1, **totals)
both = pl.concat(
    rows.select(pl.lit(name).alias("levels"), pl.all())
    for name, rows in {
        "all at once": bands.filter(system="binary").drop("system"),
        "each by itself": single,
    }.items()
)
figure = prframe.plot.curve(both, facet="levels")
for ax in figure.axes:
    ax.set(xlim=(0, 0.2), xticks=[0, 0.1, 0.2])
figure

# %%
# Where the list ends
# -------------------
# The list of ``pixels`` holds less than half of the relevant images. At its end the curve drops to 0. How far such a list reaches in the population is uncertain too: where it may have ended
# already the band begins at 0, and as far as it may still go on the band has an upper end.

pixels = one.filter(system="pixels")
whole = pixels.pr.band(recall_range=(0.02, 0.6), rng=1, **totals)
reached = pixels["label"].sum() / pixels["n_relevant"][0]
print(f"{pixels['label'].sum()} of {pixels['n_relevant'][0]} relevant images are listed")
prframe.plot.curve(whole)

# %%
# Query by query
# --------------
# ``by=`` draws a band for each group.

six = ["q0303", "q0479", "q0684", "q1097", "q1199", "q1705"]
every = digits.filter(pl.col("query_id").is_in(six), pl.col("system").is_in(["pixels", "binary"]))
bands = every.pr.band(by=["query_id", "system"], recall_range=(0.02, 0.19), rng=1, **totals)
figure = prframe.plot.curve(bands, facet="query_id")
for ax in figure.axes:
    ax.set(xlim=(0, 0.2), xticks=[0, 0.1, 0.2])
figure
