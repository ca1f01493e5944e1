"""
What the bounds of rank statistics say
======================================

Clemencon, Limnios & Vayatis 2021 bound the deficit ``W* - W(s)`` of a scoring rule: by the error of a
plug-in rule (Remark 3), for maximisers of the statistic (Corollary 7), for the choice among families
(4.6) and for maximisers of the smoothed statistic (4.11) and (4.12). Here they are beside what they
bound, in the second location model of :doc:`/gallery/plot_rank_learning`.
"""

# %%
# A model in which all can be computed
# ------------------------------------
# Two normal classes in 15 dimensions share a covariance matrix. A linear rule theta gives positives a
# normal score that is d_theta standard deviations above the negatives', so W_phi is an integral over
# one normal distribution. Half of the items are positive.

import matplotlib.pyplot as plt
import numpy as np
from rank_models import D, location
from scipy.special import ndtr, roots_hermitenorm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from prframe.learn import complexity_constant, complexity_penalty
from prframe.stats import concentration_radius, parse_phi

MODEL, P = location(2), 0.5
SHIFT, COVARIANCE = MODEL.means[0] - MODEL.means[1], MODEL.covariances[0]
PHIS = ("mww", "p-norm-push(q=3)", "rtb(u0=0.9)")
NODES, SIZES = roots_hermitenorm(120)


def performance(distance: float, name: str, h: float = 0.0) -> float:
    """Return W_phi, or with a bandwidth h the smoothed W_phi (4.9), of scores so far apart."""
    x, wider = NODES + distance, (1 + h**2) ** 0.5
    below = P * ndtr((x - distance) / wider) + (1 - P) * ndtr(x / wider)
    return float(parse_phi(name)(below) @ SIZES / SIZES.sum())


def distance(theta: np.ndarray) -> float:
    """Return d_theta."""
    return float(theta @ SHIFT / np.sqrt(theta @ COVARIANCE @ theta))


BEST = MODEL.distance()

# %%
# Remark 3: plug-in rules
# -----------------------
# In print ``W* - W(Psi-hat) <= (1 - p) max|phi'| E|Psi-hat(X) - Psi(X)|``, X being a positive. It holds
# for a negative Y: pairs that are in the wrong order lose ``|Psi(z) - Psi(z')|``, at most the errors at
# both, and both are drawn from the negatives. For a positive it fails where positives do not come. Three
# kinds of items make up 1/2, 1/4 and 1/4 of the negatives, and the likelihood ratio Psi is 0, 1 and 3:

share, ratio = np.array([0.5, 0.25, 0.25]), np.array([0.0, 1.0, 3.0])
estimate = np.array([2.0, 1.0, 3.0])


def area(score: np.ndarray) -> float:
    """Return AUC, ties counting half."""
    wins = np.heaviside(score[:, None] - score, 0.5)
    return float(share * ratio @ wins @ share)


deficit = (1 - P) * (area(ratio) - area(estimate))
errors = np.abs(estimate - ratio)
print(f"deficit {deficit:.4f}")
print(f"bound by positives {(1 - P) * (share * ratio) @ errors:.4f}")
print(f"bound by negatives {(1 - P) * share @ errors:.4f}")

# %%
# With linear discriminants for Psi-hat the bound is loose: the ratio of densities is hard to estimate
# where it is large, and the order is not.

sample = MODEL.sample(100_000, np.random.default_rng(1))


def ratios(form: np.ndarray, constant: float, z: np.ndarray) -> np.ndarray:
    """Return the ratio of densities of a linear logit."""
    return np.exp(z @ form + constant)


form = np.linalg.solve(COVARIANCE, SHIFT)
exact = ratios(form, -float(form @ (MODEL.means[0] + MODEL.means[1])) / 2, sample.negatives)
for n in (150, 1500, 15_000):
    z, y = MODEL.sample(n, np.random.default_rng(2)).pooled()
    fitted = LinearDiscriminantAnalysis().fit(z, y)
    error = np.abs(ratios(fitted.coef_[0], fitted.intercept_[0], sample.negatives) - exact).mean()
    lost = performance(BEST, "mww") - performance(distance(fitted.coef_[0]), "mww")
    print(f"n = m = {n}: deficit {lost:.4f}, at most {(1 - P) * error:.4f}")

# %%
# Corollary 7: the best of many rules
# -----------------------------------
# The constants of the corollary are not known for infinite classes. For finitely many rules,
# `concentration_radius` has them: here for 64 directions that are drawn before the sample. The deficit
# to the best of them is at most twice the radius with probability .95, but for a bias of order 1/N;
# to it comes what the best direction lacks, ``W* - sup W``.

rng = np.random.default_rng(3)
directions = rng.standard_normal((64, D)) @ np.linalg.inv(np.linalg.cholesky(COVARIANCE))
# Directions that lean to the best one.
directions += 0.5 * form / np.linalg.norm(form)
reached = {name: [performance(distance(one), name) for one in directions] for name in PHIS}
lost = {name: [] for name in PHIS}
N_POS = 150
for _ in range(100):
    z, y = MODEL.sample(N_POS, rng).pooled()
    ranks = (z @ directions.T).argsort(axis=0).argsort(axis=0)[y == 1] + 1
    for name in PHIS:
        means = parse_phi(name)(ranks / (2 * N_POS + 1)).mean(axis=0)
        lost[name].append(max(reached[name]) - reached[name][int(means.argmax())])
for name in PHIS:
    radius = concentration_radius(N_POS, N_POS, name, n_rules=64)
    lacking = performance(BEST, name) - max(reached[name])
    print(
        f"{name}: 95 % of deficits below {np.quantile(lost[name], 0.95):.4f}, "
        f"bound {2 * radius:.3f}; W* - sup W = {lacking:.4f}"
    )

# %%
# (4.6): the price of choosing a family
# -------------------------------------
# Family k has the linear rules of the first k features. The right side of (4.6) is the smallest ``2
# pen(N, k) + W* - sup W`` plus ``2 sqrt(C / (p^2 N))``, with B_1 = 1. The criterion itself goes from .25
# to .75, so with "mww" the bound says nothing of 300 items. With 3,000,000 all features are worth it.


def family_best(k: int) -> float:
    """Return d_theta of the best rule of the first k features."""
    part = np.linalg.solve(COVARIANCE[:k, :k], SHIFT[:k])
    return float(np.sqrt(part @ SHIFT[:k]))


for n in (300, 30_000, 3_000_000, 300_000_000):
    deficits = [
        2 * complexity_penalty(n, n // 2, k + 1, k)
        + performance(BEST, "mww")
        - performance(family_best(k), "mww")
        for k in range(1, D + 1)
    ]
    chosen = int(np.argmin(deficits))
    rest = 2 * (complexity_constant("mww") / (P**2 * n)) ** 0.5
    print(f"N = {n:,}: bound {deficits[chosen] + rest:.4f}, least at k = {chosen + 1}")

# %%
# (4.11) and (4.12): the price of smoothing
# -----------------------------------------
# Smoothing the ranks adds ``sup |W~ - W|`` over the rules, which is of order h^2. For rules whose scores
# have standard deviation 1 within the classes, d_theta goes from -1 to 1. What it is divided by h^2
# tends to a number, which takes the place of C_5.

bandwidths = np.array([0.05, 0.1, 0.2, 0.32, 0.5, 0.8])
apart = np.linspace(-BEST, BEST, 41)
fig, ax = plt.subplots(figsize=(5.4, 3.8), layout="constrained")
for name, colour in zip(PHIS, ("#0072B2", "#E69F00", "#009E73"), strict=True):
    plain = np.array([performance(d, name) for d in apart])
    bias = np.array(
        [np.abs([performance(d, name, h) for d in apart] - plain).max() for h in bandwidths]
    )
    ax.plot(bandwidths, bias / bandwidths**2, color=colour, marker="o", label=name)
    print(f"{name}: " + ", ".join(f"{b:.5f}" for b in bias))
ax.set(xscale="log", xlabel="bandwidth h", ylabel="bias / h^2", ylim=(0, None))
ax.set_xticks(bandwidths, [f"{h:g}" for h in bandwidths])
ax.minorticks_off()
ax.legend(fontsize="small")
plt.show()

# %%
# In (4.11) the bias counts once. It must count twice, for the best rule and for the one that is chosen,
# as their biases may have different signs; of the order h^2 in (4.12) it changes the constant alone. A
# class with two rules, the score and its negative, shows it: with a very large h all smoothed ranks are
# 1/2, and a small sample in which positives happen to lie below chooses the negative.

chosen, other = performance(-BEST, "mww"), performance(BEST, "mww")
bias = abs(performance(BEST, "mww", h=1e6) - other)
print(f"deficit {other - chosen:.3f}, bias {bias:.3f}, twice that {2 * bias:.3f}")

# %%
# With 64 rules, 300 items and h = 300^(-1/5) = .32, the right side of (4.12) is twice the radius of
# Corollary 7, to which smoothing adds twice the bias:

for name in PHIS:
    radius = concentration_radius(N_POS, N_POS, name, n_rules=64)
    plain = np.array([performance(d, name) for d in apart])
    bias = np.abs([performance(d, name, 0.32) for d in apart] - plain).max()
    lacking = performance(BEST, name) - max(reached[name])
    print(f"{name}: {2 * radius:.3f} + {2 * bias:.3f} + {lacking:.3f}")

# %%
# Of the three parts the one from the sample is by far the largest, and it is eight to twenty times what
# is lost.
