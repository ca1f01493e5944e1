"""
How wrong the beta distribution is
==================================

pranker takes the p-value of average precision from a beta distribution with the right mean and
variance. Its upper tail is too light, and the p-value is the upper tail.
"""

# %%
# Five values
# -----------
# The probability that a random ranking reaches an AP, by ``APNull``, and what the beta makes of it.

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from prframe import stats

rows = []
for n, n_pos, ap in [
    (100, 5, 0.47),
    (300, 10, 0.239),
    (1000, 20, 0.105),
    (1000, 100, 0.15),
    (5000, 50, 0.05),
]:
    true = stats.APNull(n, n_pos).sf(ap)
    fitted = float(stats.ap_beta_sf(ap, n, n_pos))
    rows.append((n, n_pos, ap, f"{true:.3e}", f"{fitted:.2e}", f"{fitted / true:.2g}"))
columns = ["n", "n_pos", "AP", "P(AP >= a)", "beta", "beta / true"]
print(pl.DataFrame(rows, schema=columns, orient="row"))

# %%
# The whole tail
# --------------
# Each line is one pair of sizes, for all values of AP from the mean upwards; the axis to the right
# leads further out. Where a line runs at 0.01, the p-value of the beta is a hundred times too small.
# All lines start near 1 and fall: around the mean the fit is good, at 5 % it is passable, and the
# smaller the p-value is, the less it can be believed. Rare positives among many items, as in search,
# are the worst case: 50 among 5000 are off by a factor of 40 at 1 % already. The line for 5 among
# 100 breaks off where two rankings of 75 million are left, while the beta goes on towards 0.

# The largest AP of each line, and by how much its label is moved up.
LINES = {
    (100, 5): (1.0, 0),
    (300, 10): (0.7, 5),
    (1000, 20): (0.4, 0),
    (1000, 100): (0.25, -8),
    (5000, 50): (0.11, 0),
}
# Colours that the colour-blind can tell apart (Okabe & Ito); the labels say it too.
COLOURS = ["#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00"]

fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
ax.axhline(1, color="black", linewidth=1)
ax.annotate("right", (1e-12, 1), xytext=(-4, 4), textcoords="offset points", ha="right")
for (sizes, (largest, raised)), colour in zip(LINES.items(), COLOURS, strict=True):
    null = stats.APNull(*sizes)
    ap = np.linspace(null.mean(), largest, 50)[:-1]
    true = null.sf(ap)
    ratio = stats.ap_beta_sf(ap, *sizes) / true
    shown = (true > 1e-10) & (ratio > 1e-12)
    ax.plot(true[shown], ratio[shown], color=colour)
    end = true[shown][-1], ratio[shown][-1]
    ax.annotate(
        f"{sizes[1]} of {sizes[0]}",
        end,
        xytext=(4, raised),
        textcoords="offset points",
        va="center",
    )
ax.set(xscale="log", yscale="log", xlim=(1, 1e-12), ylim=(1e-13, 10))
ax.set(xlabel="P(AP >= a)", ylabel="beta / true")
plt.show()
