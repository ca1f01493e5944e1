"""
What ties do to average precision
=================================

The ranker ``binary`` counts shared dark pixels, so the 100 items of a ranking share a handful of
scores. How these ties are taken decides a part of its AP.
"""

# %%
# Two policies, two orders of the rows
# ------------------------------------
# ``ties="group"``, the default, takes each score as one threshold: the order of the rows does not
# matter. ``ties="order"`` believes the order of the rows. Here this is the order of the item ids,
# an arbitrary choice: the reversed frame holds the same scores and gives another answer.

import matplotlib.pyplot as plt
import polars as pl

import prframe

runs = prframe.datasets.load_digits().filter(pl.col("system") == "binary")
ap = pl.concat(
    frame.pr.evaluate("AP", by="query_id", n_pos="n_relevant", ties=ties).with_columns(
        ties=pl.lit(ties), rows=pl.lit(rows)
    )
    for ties in ("group", "order")
    for rows, frame in {"as given": runs, "reversed": runs.reverse()}.items()
)
print(ap.group_by("ties", "rows", maintain_order=True).agg(mean_ap=pl.col("AP").mean()))

# %%
# Query by query
# --------------
# The same scores in two orders of the rows, with ``ties="order"``: AP of a query changes by up to .03,
# and its mean by .005.

order = ap.filter(ties="order").select("rows", "query_id", "AP")
prframe.plot.queries(order, "as given", "reversed", metric="AP", model="rows")

# %%
# ``"group"`` tends to lie lower than either: it counts every hit at the end of its block, below all
# other items of that score.

group = ap.filter(ties="group", rows="as given").select("query_id", group="AP")
print(
    order.join(group, on="query_id")
    .group_by("rows", maintain_order=True)
    .agg(group_is_lower=(pl.col("group") < pl.col("AP")).mean())
)

# %%
# The whole range
# ---------------
# No order of the ties gives less than ``"worst"`` or more than ``"best"``; ``"expected"`` is the
# mean over all orders, in closed form. Where the range is wide, the scores say little about the
# ranking, and a comparison that rests on the order of the rows says nothing.

policies = ("worst", "group", "expected", "best")
ranges = pl.concat(
    [
        runs.pr.evaluate(
            ["AP", "P@10"], by="query_id", ties=ties, n_pos="n_relevant"
        ).with_columns(ties=pl.lit(ties))
        for ties in policies
    ]
)
print(ranges.group_by("ties", maintain_order=True).agg(pl.col("AP", "P@10").mean()))

wide = ranges.pivot("ties", index="query_id", values="AP").sort("expected")
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
places = range(wide.height)
ax.vlines(places, wide["worst"], wide["best"], color="lightgrey", label="worst to best")
for ties, mark in (("group", "_"), ("expected", ".")):
    ax.plot(places, wide[ties], mark, markersize=3, label=ties)
ax.set(xlabel="query, by expected AP", ylabel="AP")
fig.legend(loc="outside upper center", ncols=3)
plt.show()
