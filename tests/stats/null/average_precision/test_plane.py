"""The null of AP over the plane of sizes: recorded references, and p-values of random labels."""

from math import log

import numpy as np
import pytest
from scipy.stats import kstest

from prframe.stats import APNull
from prframe.stats.null.average_precision.groups import Case, Cases

# n, n_pos, items retrieved, tie blocks of equal size (0: no ties), standard deviations above the
# mean, log P(AP >= ap) and its standard error; printed by `python -m benchmarks.null_record`.
# What each comes from is told behind it: see benchmarks/null_reference.py.
RECORDED = [
    (30, 3, 30, 0, 0, -1.11110, 0.0016),  # permutations
    (30, 3, 30, 0, 1, -1.97532, 0.0028),  # permutations
    (30, 3, 30, 0, 2, -2.82542, 0.0045),  # permutations
    (300, 150, 300, 0, 0.63, -1.35968, 0.0064),  # Edgeworth
    (300, 150, 300, 0, 3, -5.78489, 0.0083),  # tilted, smoothed
    (300, 150, 300, 0, 10, -41.25100, 0.0070),  # tilted, smoothed
    (1000, 10, 1000, 0, 0, -1.29996, 0.0018),  # permutations
    (1000, 10, 1000, 0, 2, -3.41992, 0.0061),  # permutations
    (1000, 10, 1000, 0, 6, -4.57125, 0.0109),  # permutations
    (1000, 10, 1000, 0, 20, -13.82699, 0.0212),  # tilted
    (3000, 2700, 3000, 0, 1, -1.83940, 0.0016),  # Edgeworth
    (3000, 2700, 3000, 0, 3, -6.91567, 0.0094),  # tilted, smoothed
    (10000, 1000, 10000, 0, -1, -0.17002, 0.0022),  # permutations
    (10000, 1000, 10000, 0, 0.27, -0.96410, 0.0064),  # permutations
    (10000, 1000, 10000, 0, 2, -3.53481, 0.0134),  # tilted
    (10000, 1000, 10000, 0, 4, -8.31949, 0.0190),  # tilted
    (10000, 1000, 10000, 0, 10, -28.53214, 0.0311),  # tilted
    (10000, 1000, 10000, 0, 40, -167.80947, 0.0067),  # tilted, smoothed
    (30000, 15000, 30000, 0, 0.9, -1.69406, 0.0002),  # Edgeworth
    (30000, 15000, 30000, 0, 3, -6.46458, 0.0036),  # Edgeworth
    (30000, 15000, 30000, 0, 10, -48.38588, 0.0106),  # tilted, smoothed
    (100000, 10, 100000, 0, 1, -4.86216, 0.0127),  # permutations
    (100000, 10, 100000, 0, 4, -6.25647, 0.0144),  # tilted
    (100000, 50000, 100000, 0, -1, -0.17275, 0.0000),  # Edgeworth
    (100000, 50000, 100000, 0, 0.63, -1.33283, 0.0000),  # Edgeworth
    (100000, 50000, 100000, 0, 1, -1.84103, 0.0001),  # Edgeworth
    (100000, 50000, 100000, 0, 2, -3.76116, 0.0002),  # Edgeworth
    (100000, 50000, 100000, 0, 2.3, -4.50030, 0.0002),  # Edgeworth
    (100000, 50000, 100000, 0, 3, -6.52715, 0.0012),  # Edgeworth
    (100000, 50000, 100000, 0, 10, -50.34111, 0.0126),  # tilted, smoothed
    (100000, 50000, 100000, 0, 40, -663.75267, 0.0085),  # tilted, smoothed
    (200000, 2000, 200000, 0, 0.27, -0.97817, 0.0064),  # permutations
    (200000, 2000, 200000, 0, 2, -3.52070, 0.0182),  # tilted
    (200000, 2000, 200000, 0, 6, -10.94569, 0.0377),  # tilted
    (1000000, 1000, 1000000, 0, 4, -5.42316, 0.0162),  # tilted
    (1000000, 1000, 1000000, 0, 10, -6.71207, 0.0181),  # tilted
    (1000000, 100000, 1000000, 0, 0.77, -1.51336, 0.0001),  # Edgeworth
    (1000000, 100000, 1000000, 0, 3, -6.50723, 0.0030),  # Edgeworth
    (1000000, 100000, 1000000, 0, 10, -49.54568, 0.0118),  # tilted, smoothed
    (1000000, 100000, 1000000, 0, 40, -595.59635, 0.0090),  # tilted, smoothed
    (3000000, 1500000, 3000000, 0, 0.002, -0.69521, 0.0000),  # Edgeworth
    (3000000, 1500000, 3000000, 0, 2, -3.77909, 0.0000),  # Edgeworth
    (3000000, 1500000, 3000000, 0, 20, -199.44007, 0.0113),  # tilted, smoothed
    (10000000, 100000, 10000000, 0, 0.27, -0.93640, 0.0001),  # Edgeworth
    (10000000, 100000, 10000000, 0, 2, -3.75307, 0.0006),  # Edgeworth
    (10000000, 100000, 10000000, 0, 10, -48.98055, 0.0175),  # tilted, smoothed
    (20000000, 10000000, 20000000, 0, -1, -0.17275, 0.0000),  # Edgeworth
    (20000000, 10000000, 20000000, 0, 0.27, -0.93267, 0.0000),  # Edgeworth
    (20000000, 10000000, 20000000, 0, 3, -6.60186, 0.0000),  # Edgeworth
    (20000000, 10000000, 20000000, 0, 10, -53.00551, 0.0079),  # tilted, smoothed
    (20000000, 10000000, 20000000, 0, 40, -790.63609, 0.0197),  # tilted, smoothed
    (20000000, 18000000, 20000000, 0, 1, -1.84102, 0.0000),  # Edgeworth
    (20000000, 18000000, 20000000, 0, 4, -10.36801, 0.0000),  # Edgeworth
    (20000000, 18000000, 20000000, 0, 10, -53.34250, 0.0113),  # tilted, smoothed
    (300, 30, 300, 5, 0.9, -1.77019, 0.0110),  # permutations
    (300, 30, 300, 5, 3, -4.61320, 0.0095),  # tilted
    (300, 30, 300, 5, 6, -9.31786, 0.0125),  # tilted
    (3000, 1500, 3000, 5, 0, -0.70529, 0.0004),  # Edgeworth
    (3000, 1500, 3000, 5, 2, -3.68350, 0.0041),  # Edgeworth
    (3000, 1500, 3000, 5, 6, -18.09495, 0.0038),  # tilted, smoothed
    (3000, 1500, 3000, 5, 40, -454.56079, 0.0053),  # tilted, smoothed
    (1000000, 100000, 1000000, 100, 0.9, -1.69351, 0.0001),  # Edgeworth
    (1000000, 100000, 1000000, 100, 3, -6.51627, 0.0023),  # Edgeworth
    (1000000, 100000, 1000000, 100, 10, -49.87506, 0.0048),  # tilted, smoothed
    (1000000, 100000, 1000000, 100, 40, -620.50303, 0.0068),  # tilted, smoothed
    (10000000, 5000000, 10000000, 5, 0.9, -1.69256, 0.0000),  # Edgeworth
    (10000000, 5000000, 10000000, 5, 3, -6.60085, 0.0000),  # Edgeworth
    (10000000, 5000000, 10000000, 5, 10, -52.97385, 0.0037),  # tilted, smoothed
    (50000, 500, 1000, 0, 0.9, -2.29263, 0.0149),  # permutations
    (50000, 500, 1000, 0, 3, -3.98461, 0.0183),  # tilted
    (50000, 500, 1000, 0, 6, -5.26857, 0.0327),  # tilted
    (1000000, 100000, 100000, 0, 0.9, -1.70183, 0.0106),  # permutations
    (1000000, 100000, 100000, 0, 3, -6.42100, 0.0113),  # tilted, smoothed
    (1000000, 100000, 100000, 0, 10, -46.49377, 0.0108),  # tilted, smoothed
    (10000000, 5000000, 1000000, 5, 0.9, -1.68430, 0.0105),  # permutations
    (10000000, 5000000, 1000000, 5, 3, -6.59350, 0.0043),  # tilted, smoothed
    (10000000, 5000000, 1000000, 5, 10, -52.70171, 0.0055),  # tilted, smoothed
]


def log_tail(n: int, n_pos: int, depth: int, levels: int, z: float) -> float:
    """Return log P(AP >= mean + z standard deviations)."""
    ties = [depth // levels] * levels if levels else None
    if depth == n:
        null = APNull(n, n_pos, ties)
        return null.logsf(min(1.0, null.mean() + z * null.std()))
    cases = Cases([Case(n, n_pos, depth, tuple(ties) if ties else None)])
    return cases.tails(cases.mean + z * np.sqrt(cases.variance))[0].log_reached


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_pos", "depth", "levels", "z", "log_p", "error"), RECORDED)
def test_recorded_references(
    n: int, n_pos: int, depth: int, levels: int, z: float, log_p: float, error: float
) -> None:
    tolerated = 0.02 if log_p > log(1e-20) else 1e-3 * abs(log_p)
    assert log_tail(n, n_pos, depth, levels, z) == pytest.approx(
        log_p, rel=0, abs=4 * error + tolerated
    )


def random_ap(n: int, n_pos: int, levels: int, groups: int) -> np.ndarray:
    """Return AP of groups with shuffled labels; with levels, it counts at the ends of blocks."""
    rng = np.random.default_rng(n + n_pos + levels)
    size = n // levels if levels else 1
    ends = np.repeat(np.arange(size, n + 1, size), size)
    label = np.arange(n) < n_pos
    values = np.zeros(groups)
    for group in range(groups):
        rng.shuffle(label)
        values[group] = (np.cumsum(label)[ends - 1] / ends)[label].mean()
    return values


@pytest.mark.slow
@pytest.mark.parametrize("levels", [0, 5])
@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("n", [50_000, 200_000])
def test_p_values_of_random_labels_are_uniform(n: int, share: float, levels: int) -> None:
    n_pos, groups = round(n * share), 300
    ap = np.sort(random_ap(n, n_pos, levels, groups))
    null = APNull(n, n_pos, [n // levels] * levels if levels else None)
    # No value has a probability that counts, so that between some values p is interpolated.
    asked = np.unique(ap[np.linspace(0, groups - 1, 31).astype(int)])
    p_value = np.interp(ap, asked, np.asarray(null.sf(asked)))
    assert kstest(p_value, "uniform").pvalue > 1e-4
    for level in (0.01, 0.05, 0.5):
        limit = groups * level + 4 * (groups * level * (1 - level)) ** 0.5
        assert (p_value <= level).sum() <= limit
