"""
How a band is made
==================

Samples from a population that is known: 1 % of its items are positive, with scores from N(2, 1),
the others have scores from N(0, 1). The pictures show each step of Clemencon & Vayatis,
*Nonparametric estimation of the precision-recall curve*, ICML 2009, and what ``band`` does instead.
The guide page on bands explains them.
"""

# %%
# The population and a sample
# ---------------------------
# Precision at recall b is ``p b / (p b + (1 - p) alpha(b))``, where alpha(b) is the false positive
# rate at the threshold that a share b of the positives exceeds.

import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from scipy.stats import norm

import prframe
from prframe import stats

N, PREVALENCE, SHIFT = 10_000, 0.01, 2.0
LEVELS = np.linspace(0.05, 0.95, 181)
# Colours that the colour-blind can tell apart (Okabe & Ito).
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"


def population(recall: np.ndarray, p: float, shift: float) -> tuple[np.ndarray, ...]:
    """Return precision, false positive rate and ratio of densities at levels of recall."""
    threshold = norm.isf(recall, loc=shift)
    fpr = norm.sf(threshold)
    ratio = norm.pdf(threshold) / norm.pdf(threshold, loc=shift)
    return p * recall / (p * recall + (1 - p) * fpr), fpr, ratio


def sample(rng: np.random.Generator, n: int, p: float, shift: float) -> tuple[np.ndarray, ...]:
    """Return the scores of positives and negatives; how many are positive is random."""
    n_pos = max(rng.binomial(n, p), 3)
    return rng.normal(shift, 1, n_pos), rng.normal(0, 1, n - n_pos)


true = population(LEVELS, PREVALENCE, SHIFT)[0]
positives, negatives = sample(np.random.default_rng(48), N, PREVALENCE, SHIFT)
seen = stats.pr_curve(positives, negatives, LEVELS)
print(f"{positives.size} positives, {negatives.size} negatives")

# %%
# Smoothing
# ---------
# The distribution of the positives in the sample has a step at each of them. A bootstrap sample
# drawn from it repeats the same scores, and its thresholds jump from step to step. The smoothed
# bootstrap draws from kernel estimates, which have no steps.

width_pos, width_neg = (x.std(ddof=1) * x.size**-0.2 for x in (positives, negatives))
grid = np.linspace(-1, 5, 400)

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.ecdf(positives, color=BLUE)
left.plot(grid, norm.cdf((grid[:, None] - positives) / width_pos).mean(axis=1), color=RED)
left.plot(grid, norm.cdf(grid, loc=SHIFT), "k--", linewidth=1)
left.set(xlabel="score", ylabel="share of positives below", xlim=(-1, 5))
smoothed = stats.pr_curve(positives, negatives, LEVELS, bandwidth="scott")
curves = pl.concat(
    pl.DataFrame({"curve": name, "recall": LEVELS, "precision": precision})
    for name, precision in {"sample": seen, "smoothed": smoothed, "population": true}.items()
)
prframe.plot.curve(curves, palette=[BLUE, RED, "black"], ax=right)
plt.show()

# %%
# No more than the levels need
# ----------------------------
# A bootstrap sample as the paper draws it has n scores, to be sorted. ``pr_bootstrap`` draws the
# thresholds at the levels of recall, which are order statistics of uniform numbers sent through
# the smoothed distributions, and the numbers of negatives between them, which are binomial. The
# largest deviation from the curve of the sample is distributed alike. Its law jumps where many
# resamples deviate most by the same amount: those without a negative above the threshold, whose
# precision is 1, at one of the first levels.


def full_resample(rng: np.random.Generator) -> np.ndarray:
    """Return the curve of a smoothed bootstrap sample of all n items."""
    n_pos = max(rng.binomial(N, positives.size / N), 1)
    some = rng.choice(positives, n_pos) + width_pos * rng.standard_normal(n_pos)
    others = rng.choice(negatives, N - n_pos) + width_neg * rng.standard_normal(N - n_pos)
    return stats.pr_curve(some, others, LEVELS)


rng = np.random.default_rng(2)
clock = [time.perf_counter()]
full = np.array([full_resample(rng) for _ in range(2000)])
clock.append(time.perf_counter())
resampled = stats.pr_bootstrap(positives, negatives, LEVELS, n_resamples=2000, rng=3)
clock.append(time.perf_counter())
print("2,000 resamples: full {:.2f} s, at the levels {:.2f} s".format(*np.diff(clock)))

fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
for curves, colour, style, name in [
    (full, BLUE, "-", "full samples"),
    (resampled.replicates, RED, "--", "at the levels"),
]:
    ax.ecdf(np.abs(curves - seen).max(axis=1), color=colour, linestyle=style, label=name)
ax.axhline(0.95, color="grey", linewidth=0.8)
ax.set(xlabel="largest deviation from the curve of the sample", ylabel="share of resamples")
ax.legend()
plt.show()

# %%
# Importance sampling
# -------------------
# Labels may be drawn with another prevalence q than the p that is seen, and each resample weighted
# for it. The effective sample size says how many unweighted resamples are worth as much: about the
# part ``(p^2 / q + (1 - p)^2 / (1 - q))^-n`` of all (lines, drawn as far as it is worth more than
# one; the dots are measured). Even with 5 positives that ends well before q reaches 1/2.

fig, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
rng = np.random.default_rng(4)
share = np.geomspace(0.001, 0.6, 4000)
p = PREVALENCE
for n, colour in [(500, BLUE), (2000, GREEN), (10_000, ORANGE), (100_000, RED)]:
    n_pos = round(n * p)
    worth = 2000 * (p**2 / share + (1 - p) ** 2 / (1 - share)) ** -n
    some = worth > 1
    ax.plot(share[some], worth[some], color=colour, label=f"{n_pos:,} of {n:,}")
    classes = rng.normal(SHIFT, 1, n_pos), rng.normal(0, 1, n - n_pos)
    for q in p + np.sqrt(p * (1 - p) / n) * np.array([0, 0.5, 1, 1.5]):
        with warnings.catch_warnings():
            # That few resamples count is the point.
            warnings.simplefilter("ignore")
            found = stats.pr_bootstrap(*classes, [0.5], importance=q, rng=rng)
        ax.plot(q, found.effective_sample_size, "o", color=colour, markersize=4)
ax.axvline(0.5, color="grey", linewidth=0.8)
ax.text(0.47, 30, "q = 1/2", ha="right")
ax.set(
    xscale="log",
    yscale="log",
    xlim=(0.001, 0.7),
    ylim=(1, 3000),
    xlabel="prevalence drawn with",
    ylabel="effective sample size of 2,000",
)
ax.set_xticks([0.001, 0.01, 0.1, 0.5], ["0.1 %", "1 %", "10 %", "50 %"])
ax.legend(title="positives", loc="upper right", bbox_to_anchor=(0.94, 1))
plt.show()

# %%
# Ball and studentized band
# -------------------------
# A ball is as wide everywhere as the curve is uncertain at its most uncertain place: here, with
# rare positives, among the first few of them. The studentized band is wide where the draws (grey)
# spread.

posterior = stats.pr_posterior(positives, negatives, LEVELS, rng=5)
curves = 1 / (1 + np.exp(-posterior.log_odds))
panels = [
    ("Smoothed bootstrap, ball", resampled.replicates, resampled.band(), RED),
    ("Bayesian bootstrap, studentized", curves, posterior.band(), BLUE),
]
fig, axes = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True, layout="constrained")
for ax, (name, draws, band, colour) in zip(axes, panels, strict=True):
    ax.plot(LEVELS, draws[:100].T, color="grey", linewidth=0.4, alpha=0.4)
    ax.fill_between(LEVELS, band.low, band.high, color=colour, alpha=0.15)
    ax.plot(LEVELS, np.transpose(band), color=colour, linewidth=1.5)
    ax.plot(LEVELS, seen, color="black", linewidth=1.2, label="sample")
    ax.plot(LEVELS, true, color="black", linestyle="--", linewidth=1.2, label="population")
    ax.set(title=name, xlabel="recall", ylim=(0, 1))
    print(f"{name}: mean width {np.mean(band.high - band.low):.2f}")
axes[0].set_ylabel("precision")
axes[1].legend()
plt.show()

# %%
# Few positives
# -------------
# Could the band take its draws from the smoothed bootstrap? Here are 300 samples of 2,000 items, 20
# of them positive on average, and 95 % intervals at each level by itself.
#
# - From quantile to quantile of the replicates, the smoothed bootstrap covers on the left, a little
#   too often. On the right the positives stand out. Its samples have no negatives above the
#   first of them: all replicates are 1, and so is the interval.
# - A pivot takes the quantiles for those of the error and subtracts them from the curve. The law is
#   skewed, its long arm then lies on the wrong side, and the interval misses at every level.
# - The Bayesian bootstrap of the ranks covers in 92 to 99 % of the samples at each level, in both.
#   (With 300 samples the standard error of 95 % is 1.3 %.)

few = np.linspace(0.05, 0.95, 37)
fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
for ax, shift in zip(axes, (2.0, 3.0), strict=True):
    rng = np.random.default_rng(1)
    target = population(few, PREVALENCE, shift)[0]
    covered: dict[str, list[np.ndarray]] = {}
    for _ in range(300):
        classes = sample(rng, 2000, PREVALENCE, shift)
        smoothed = stats.pr_bootstrap(*classes, few, n_resamples=500, rng=rng)
        low, high = np.quantile(smoothed.replicates, [0.025, 0.975], axis=0)
        bayes = stats.pr_posterior(*classes, few, n_resamples=500, rng=rng)
        center = smoothed.precision
        for name, (start, end) in {
            "Bayesian bootstrap, quantiles": bayes.band(simultaneous=False),
            "smoothed bootstrap, quantiles": (low, high),
            "smoothed bootstrap, pivot": (2 * center - high, 2 * center - low),
        }.items():
            covered.setdefault(name, []).append((start <= target) & (target <= end))
    for (name, hits), colour in zip(covered.items(), (BLUE, RED, ORANGE), strict=True):
        ax.plot(few, np.mean(hits, axis=0), color=colour, label=name)
    ax.axhline(0.95, color="grey", linewidth=0.8)
    ax.set(title=f"positives from N({shift:.0f}, 1)", xlabel="recall", ylim=(0, 1))
axes[0].set_ylabel("coverage")
axes[0].legend(loc="lower right")
plt.show()

# %%
# The asymptotic variance
# -----------------------
# The standard deviation of precision in 2,000 samples of 2,000 items, 30 % of them positive, and
# the square root of the asymptotic variance over n. The printed eq. (9) lacks a factor on two of
# its three terms.

n, p, shift = 2000, 0.3, 1.0
recall = np.linspace(0.1, 0.9, 17)
precision, fpr, ratio = population(recall, p, shift)
rng = np.random.default_rng(6)
simulated = np.std(
    [stats.pr_curve(*sample(rng, n, p, shift), recall) for _ in range(2000)], axis=0
)
corrected = stats.pr_asymptotic_variance(recall, fpr, ratio, p)
printed = (
    (1 - p) * precision**4 * fpr**2 / (recall**2 * p**3)
    + (1 - p) ** 2 * recall * (1 - recall) * ratio**2 / p**3
    + (1 - p) * fpr * (1 - fpr) / p**2
)
fig, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
ax.plot(recall, np.sqrt(printed / n), color=RED, linestyle="--", label="eq. (9) as printed")
ax.plot(recall, np.sqrt(corrected / n), color=BLUE, label="eq. (9), corrected")
ax.plot(recall, simulated, "ko", markersize=4, label="simulated")
ax.set(xlabel="recall", ylabel="standard deviation of precision", ylim=(0, None))
ax.legend()
plt.show()
assert np.abs(simulated / np.sqrt(corrected / n) - 1).max() < 0.1
