"""
Which ranker is better, and how many queries does it take?
==========================================================

Six rankers answer the same 200 queries. ``compare`` puts them against each other pair by pair; and
this example asks how much of what it finds could have been found with fewer queries.
"""

# %%
# All pairs
# ---------
# One row per pair: the mean difference over the queries, its interval, and the p-value of a
# randomization test, adjusted for 15 pairs by their joint law (``"max-t"``). Each ranking lists its
# 100 best items, and ``n_relevant`` counts the relevant ones among all 1796.

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import prframe
from prframe import stats

runs = prframe.datasets.load_digits()
found = runs.pr.compare(
    "AP", model="system", n_pos="n_relevant", correction="max-t", power=0.8, rng=1
)
pairs = found.with_columns(pair=pl.format("{} - {}", "model_a", "model_b"))
with pl.Config(tbl_rows=-1):
    print(pairs.select("pair", "difference", "conf_low", "conf_high", "p_adjusted"))

# %%
# The differences come in groups. ``ink`` finds as little as ``random``, and the other four are far
# from both. These four all differ significantly, the two best by .02.

prframe.plot.interval(found)

# %%
# Below, joined dots are systems that do not differ significantly:

prframe.plot.groups(found)

# %%
# The picture of all pairs has the numbers:

prframe.plot.matrix(found)

# %%
# Wins and losses are another matter than means: ``ink`` loses more queries to ``random`` than it
# wins, and is ahead on average.
#
# Fewer queries
# -------------
# What would 10 queries have told, or 50? Draw so many of the 200, again and again, and count how
# often a pair differs significantly in such a smaller experiment, all 15 pairs tested together. This asks for
# thousands of tests and no frames: ``PairedFamily`` holds the differences of all pairs, query by
# query.

wide = runs.pr.evaluate("AP", by=["system", "query_id"], n_pos="n_relevant").pivot(
    "system", index="query_id", values="AP"
)
both = zip(found["model_a"], found["model_b"], strict=True)
differences = np.column_stack([wide[a] - wide[b] for a, b in both])
rng = np.random.default_rng(1)
sizes = [5, 10, 15, 20, 30, 40, 60, 80, 100]


def told_apart(n: int, experiments: int = 300) -> np.ndarray:
    """Return how often each pair is told apart with n queries."""
    apart = np.zeros(differences.shape[1])
    for _ in range(experiments):
        some = differences[rng.choice(len(differences), n, replace=False)]
        family = stats.PairedFamily(some, np.ones_like(some))
        apart += family.max_t(999, rng, "two-sided").p_values <= 0.05
    return apart / experiments


shares = np.array([told_apart(n) for n in sizes])

# %%
# Solid lines are these shares. Dotted ones are what the t test of a single pair promises for the
# effect size that all 200 queries show, which needs nothing but ``paired_t_power``. The distance is what
# testing 15 pairs costs. With 5 queries no randomization test tells anything apart: the smallest of its
# p-values is 2 / 2^5. (With 80 and 100 the shares are a little high, as these are half of all queries.)

SHOWN = {
    "binary - pixels": "#E69F00",
    "pixels - thumbnail": "#0072B2",
    "pca - thumbnail": "#009E73",
    "pca - pixels": "#D55E00",
    "ink - random": "#999999",
}
fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for pair, colour in SHOWN.items():
    column = pairs["pair"].to_list().index(pair)
    power = stats.paired_t_power(sizes, pairs["effect_size"][column])
    ax.plot(sizes, shares[:, column], "o-", markersize=4, color=colour, label=pair)
    ax.plot(sizes, power, ":", color=colour)
ax.axhline(0.8, color="black", linewidth=0.5)
ax.set(
    xlabel="queries", ylabel="share of experiments that tell the pair apart", ylim=(-0.02, 1.02)
)
ax.legend(loc="center right", bbox_to_anchor=(1, 0.42))
plt.show()

# %%
# A difference of .19 shows in any ten queries, one of .02 in most samples of eighty. It is not the
# difference that counts but the effect size, in standard deviations of the differences: ``pca`` is
# nearer to ``pixels`` than to ``thumbnail`` by half, and takes about as many queries to tell from either,
# because rankers that resemble each other err together.
#
# With ``power=0.8`` the verb says how many queries each difference would need if it were tested alone.
# ``ink`` and ``random``, if they differ at all, need some hundreds.

near = pairs.filter(pl.col("pair").is_in(list(SHOWN)))
print(near.select("pair", "difference", "effect_size", "detectable_difference", "n_needed"))
