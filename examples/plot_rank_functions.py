"""
ROC curves, their distances and score-generating functions
==========================================================

Figures 1 to 3 of Clemencon, Limnios & Vayatis, *Concentration inequalities for two-sample rank
processes with application to bipartite ranking*, Electronic Journal of Statistics 2021, and the
distances (2.3) and (2.4) of a ROC curve from the best one.
"""

# %%
# Distributions and ROC curves
# ----------------------------
# Scores of negatives are standard normal (blue). Those of positives have a larger mean, the same mean
# and more spread, or both. A curve is above the diagonal everywhere only if positives are
# stochastically larger.

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from scipy.stats import norm

import prframe
from prframe.stats import parse_phi, ranking_performance, roc_distances

# Mean and standard deviation by colour.
POSITIVES = {"#CC3311": (1, 1), "#EE7733": (0, 2), "#009988": (1, 1.5)}
NEGATIVES = norm(0, 1)

z = np.linspace(-9, 9, 4001)
fig, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.8), layout="constrained")
left.plot(z, NEGATIVES.pdf(z), color="#0072B2")
for colour, (mean, spread) in POSITIVES.items():
    positives = norm(mean, spread)
    left.plot(z, positives.pdf(z), color=colour)
left.set(xlim=(-5, 6), xlabel="score", ylabel="density")
curves = pl.concat(
    pl.DataFrame({"positives": colour, "fpr": NEGATIVES.sf(z), "tpr": norm(*moments).sf(z)})
    for colour, moments in POSITIVES.items()
)
prframe.plot.roc(curves, legend=None, palette=list(POSITIVES), ax=right)
plt.show()

# %%
# Distances from the best curve
# -----------------------------
# The score itself is the best order if only the means differ. If positives are spread more, the ratio
# of densities is large at both ends: the best order is by the distance from a point below 0, and its
# curve, ROC*, is above all others. `roc_distances` gives the largest distance d_inf and the area d_1
# between both, which is AUC* - AUC.


def corners(positives_above: np.ndarray, negatives_above: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return false and true positive rates, with both ends."""
    return tuple(
        np.concatenate([[0.0], rates, [1.0]]) for rates in (negatives_above, positives_above)
    )


for mean, spread in POSITIVES.values():
    positives = norm(mean, spread)
    by_score = corners(positives.sf(z[::-1]), NEGATIVES.sf(z[::-1]))
    best = by_score
    if spread > 1:
        centre, radius = -mean / (spread**2 - 1), np.linspace(20, 0, 4001)
        outside = [
            scores.cdf(centre - radius) + scores.sf(centre + radius)
            for scores in (positives, NEGATIVES)
        ]
        best = corners(*outside)
    distances = roc_distances(*by_score, *best)
    auc, best_auc = (np.diff(fpr) @ (tpr[1:] + tpr[:-1]) / 2 for fpr, tpr in (by_score, best))
    print(
        f"N({mean}, {spread}^2): d_inf {distances.sup:.3f}, d_1 {distances.area:.3f}, "
        f"AUC* - AUC {best_auc - auc:.3f}"
    )

# %%
# A deficit of W_phi is at most ``(1 - p) max|phi'|`` times d_1, by Lemma 3. For the last pair, half of
# the items positive:

for name in ("mww", "p-norm-push(q=3)", "rtb(u0=0.9)"):
    phi = parse_phi(name)
    slope = phi.derivative(np.linspace(0, 1, 10_001)).max()
    deficit = ranking_performance(*best, 0.5, name) - ranking_performance(*by_score, 0.5, name)
    print(f"{name}: W* - W = {deficit:.4f}, at most {0.5 * slope * distances.area:.4f}")

# %%
# Score-generating functions of tests
# -----------------------------------
# Figure 2: functions of classical tests of two samples.

CLASSICAL = ("logistic", "logrank", "mww", "median", "van-der-waerden")
u = np.linspace(0.001, 0.999, 999)
fig, ax = plt.subplots(figsize=(5.4, 3.8), layout="constrained")
for name in CLASSICAL:
    ax.plot(u, parse_phi(name)(u), label=name)
ax.set(xlabel="u", ylabel="phi(u)", ylim=(-3.2, 5))
ax.legend(fontsize="small")
plt.show()

# %%
# Score-generating functions of the experiments
# ---------------------------------------------
# Figure 3: those of :doc:`/gallery/plot_rank_learning`. The source gives no slopes for RTB; with steep
# ones it is nearly u 1{u >= u0}.

fig, ax = plt.subplots(figsize=(5.4, 3.8), layout="constrained")
steep = "rtb(u0=0.9, beta=1000, lam=1000)"
for name, colour in zip(
    ("mww", "p-norm-push(q=3)", "rtb(u0=0.9)", steep),
    ("#0072B2", "#E69F00", "#009E73", "0.6"),
    strict=True,
):
    ax.plot(u, parse_phi(name)(u), color=colour, label=name)
ax.axvline(0.9, color="black", linewidth=0.8)
ax.set(xlabel="u", ylabel="phi(u)")
ax.legend(fontsize="small")
plt.show()
