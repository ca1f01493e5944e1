"""
A simulation study done again
=============================

Zhang & Su, *Statistical inference on recall, precision and average precision under random
selection*, FSKD 2012, rank items at random 10,000 times and compare AP with a normal
distribution, for 100 positives among 1000 items and for 500 among 2000. Here is their study again,
with ten times as many rankings, beside the exact moments.
"""

# %%
# The simulation
# --------------
# In a random ranking the ranks of the positives are a random sample of all ranks. The i-th
# smallest of them, L_i, has precision i / L_i, and AP is the mean of these.

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from scipy.stats import beta, norm

from prframe import stats

RANKINGS, BATCH = 100_000, 1000


def random_rankings(n: int, n_pos: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return AP, and recall at rank n_pos, of random rankings."""
    ap, recall = [], []
    for _ in range(RANKINGS // BATCH):
        keys = rng.random((BATCH, n), dtype=np.float32)
        ranks = 1 + np.sort(np.argpartition(keys, n_pos - 1)[:, :n_pos])
        ap.append((np.arange(1, n_pos + 1) / ranks).mean(axis=1))
        recall.append((ranks <= n_pos).mean(axis=1))
    return np.concatenate(ap), np.concatenate(recall)


rng = np.random.default_rng(2012)
settings = [(1000, 100), (2000, 500)]
simulated = {setting: random_rankings(*setting, rng) for setting in settings}

# %%
# Recall
# ------
# Recall and precision at rank n_pos are the same number. The paper's eqs (3) and (4) for it are
# right, and so are the values it prints.

printed_recall = {(1000, 100): (0.099985, 0.000824), (2000, 500): (0.250023, 0.0002824)}
rows = []
for n, n_pos in settings:
    exact = stats.recall_null_moments(n, n_pos, n_pos)
    recall = simulated[n, n_pos][1]
    rows += [
        (n, n_pos, "exact", float(exact.mean), 1e6 * float(exact.variance)),
        (n, n_pos, "simulated here", recall.mean(), 1e6 * recall.var()),
        (n, n_pos, "simulated there", *np.array(printed_recall[n, n_pos]) * [1, 1e6]),
    ]
columns = ["n", "n_pos", "recall", "mean", "variance * 1e6"]
pl.DataFrame(rows, schema=columns, orient="row")

# %%
# Average precision: Table III
# ----------------------------
# The paper's theory is a normal distribution by the delta method. Its moments of the L_i divide by
# ``C(n - 1, n_pos - 1)`` where ``C(n, n_pos)`` is due; ``delta_moments`` does the same with the
# right ones. The exact mean and variance need no delta method.

printed = {
    (1000, 100): {
        "simulated there": (0.1037, 0.0001286, 0.0876, 0.1044, 0.1321),
        "theory there": (0.1037, 0.0001392, 0.0806, 0.1037, 0.1268),
    },
    (2000, 500): {
        "simulated there": (0.2527, 0.000096, 0.2347, 0.2521, 0.2731),
        "theory there": (0.2522, 0.000142, 0.2288, 0.2522, 0.2755),
    },
}
levels = [0.025, 0.5, 0.975]


def normal(moments: tuple[np.ndarray, np.ndarray]) -> tuple[float, ...]:
    """Return mean, variance and quantiles of a normal distribution."""
    mean, variance = map(float, moments)
    return mean, variance, *norm.ppf(levels, mean, variance**0.5)


rows = []
for n, n_pos in settings:
    ap = simulated[n, n_pos][0]
    found = {
        "simulated here": (ap.mean(), ap.var(), *np.quantile(ap, levels)),
        **printed[n, n_pos],
        "delta method, corrected": normal(stats.delta_moments(n, n_pos)),
        "exact moments, normal": normal(stats.ap_null_moments(n, n_pos)),
    }
    rows += [
        (n, n_pos, source, *np.array(numbers) * [1, 1e6, 1, 1, 1])
        for source, numbers in found.items()
    ]
columns = ["n", "n_pos", "AP", "mean", "variance * 1e6", "2.5 %", "50 %", "97.5 %"]
table = pl.DataFrame(rows, schema=columns, orient="row")
with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=120, fmt_str_lengths=30):
    print(table)

# %%
# Where the print cannot be right
# -------------------------------
# For 100 among 1000 the printed mean of the simulation is that of the printed theory, .1037. The
# mean of 10,000 rankings has a standard error of .0001, and the exact mean lies 18 of them higher.
# The printed quantiles of the same simulation agree with the ones found here: only the mean does
# not belong to them.

for n, n_pos in settings:
    mean, variance = stats.ap_null_moments(n, n_pos)
    off = (printed[n, n_pos]["simulated there"][0] - mean) / np.sqrt(variance / 10_000)
    mine = (simulated[n, n_pos][0].mean() - mean) / np.sqrt(variance / RANKINGS)
    print(f"{n}, {n_pos}: standard errors off, printed {off:.1f}, here {mine:.1f}")
    assert abs(mine) < 4

# %%
# The theoretical variances are not those of the printed formulas either. With the printed eqs (8)
# to (11), eq. (13) gives twice as much. The printed values come out when the sum over pairs is
# taken once instead of twice, and with the pairs of a rank with itself.

for n, n_pos in settings:
    i = np.arange(1.0, n_pos + 1)
    mean = i * n / n_pos
    u = i * n * (i * n + i + n - n_pos) / (n_pos * (n_pos + 1)) / mean**2 - 1
    low, high = np.minimum.outer(i, i), np.maximum.outer(i, i)
    products = low * (n - 1) * (n * high + n - n_pos) / (n_pos * (n_pos - 1))
    pairs = (products / np.outer(mean, mean) - 1) * (n_pos / n) ** 2
    own = (u * (1 - u)).sum() * (n_pos / n) ** 2
    twice = (own + 2 * np.triu(pairs, 1).sum()) / n_pos**2
    once = (own + np.triu(pairs).sum()) / n_pos**2
    print(f"{n}, {n_pos}: eq. (13) {twice:.7f}, pairs taken once {once:.7f}")
    assert abs(once / printed[n, n_pos]["theory there"][1] - 1) < 0.002

# %%
# Figure 1
# --------
# The second setting with the normal curve of the paper, the exact mean and variance, and the beta
# distribution of pranker.

n, n_pos = 2000, 500
ap = simulated[n, n_pos][0]
grid = np.linspace(0.21, 0.3, 400)
mean, variance, *_ = printed[n, n_pos]["theory there"]
exact = stats.ap_null_moments(n, n_pos)
least, a, b = stats.beta_parameters(n, n_pos)
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.hist(ap, bins=40, density=True, color="lightgrey", label="random rankings")
ax.plot(grid, norm.pdf(grid, mean, variance**0.5), ":", label="normal, as printed")
ax.plot(grid, norm.pdf(grid, exact.mean, exact.variance**0.5), "--", label="normal, exact moments")
ax.plot(grid, beta.pdf(grid, a, b, least, 1 - least), label="beta")
ax.set(xlabel="average precision", ylabel="density")
fig.legend(loc="outside upper center", ncols=2)
plt.show()

# %%
# The tail
# --------
# What a test needs is the tail, and there even the exact mean and variance do not make a normal or
# a beta distribution right: the share of random rankings that reach a high AP is larger.

n, n_pos = 1000, 100
ap = simulated[n, n_pos][0]
high = np.array([0.13, 0.14, 0.15])
tail = pl.DataFrame(
    {
        "AP": high,
        "share that reaches it": [(ap >= level).mean() for level in high],
        "beta": stats.ap_beta_sf(high, n, n_pos),
        "normal": stats.ap_normal_sf(high, n, n_pos),
        "normal, delta": stats.ap_normal_sf(high, n, n_pos, moments="delta"),
    }
)
assert (tail["share that reaches it"] > tail["beta"]).all()
tail
