"""``python -m benchmarks.cluster_coverage``: bands of curves and of differences with few clusters.

``--quick`` takes fewer samples and draws, to see that it runs. ``--settings`` takes a part of the
study, whose numbers are those of all of it.
"""

import argparse
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from benchmarks.data import SEED
from benchmarks.report import table
from prframe.stats.curves.bayesian_bootstrap import posterior_of_clusters
from prframe.stats.curves.difference import pr_curve_difference

Floats: TypeAlias = NDArray[np.float64]

LEVELS = np.linspace(0.05, 0.95, 46)
CLUSTERS = (3, 5, 7, 10, 20, 40)
TITLE = """## cluster-coverage

95 % bands over the recalls .05 to .95 of items in few clusters: the share of samples in which the \
band of the first model's curve covers at all levels, that in which the band of the difference of \
two models does, and that with a p-value of .05 or less. Positives lie as far apart from negatives \
as *apart* says for either model, in each cluster with a normal deviation whose standard deviation \
is *signal*; noise is correlated by .5 between models, and by *noise* within clusters. *empty* is \
the probability of a cluster without positives. Samples in which fewer than three clusters hold \
positives are left out.
"""


class Setting(NamedTuple):
    """Items of each cluster, and how their scores and labels are drawn."""

    size: int
    prevalence: float
    apart: tuple[float, float]
    signal: float = 0.0
    noise: float = 0.0
    empty: float = 0.0

    def curve(self, apart: float) -> Floats:
        """Return the curve of the population."""
        threshold = apart + np.sqrt(1 + self.signal**2) * ndtri(1 - LEVELS)
        share = self.prevalence * (1 - self.empty)
        return np.asarray(share * LEVELS / (share * LEVELS + (1 - share) * ndtr(-threshold)))

    def sample(
        self, clusters: int, rng: np.random.Generator
    ) -> tuple[list[Floats], NDArray[np.bool_], NDArray[np.int64]]:
        """Draw the scores of both models, labels and clusters."""
        cluster = np.repeat(np.arange(clusters), self.size)
        share = np.where(rng.random(clusters) < self.empty, 0.0, self.prevalence)
        positive = rng.random(cluster.size) < share[cluster]

        def pair(n: int) -> Floats:
            common, *own = rng.standard_normal((3, n))
            return np.asarray(np.sqrt(0.5) * (common + np.array(own)))

        shared, own, signal = pair(clusters), pair(cluster.size), pair(clusters)
        scores = [
            (apart + self.signal * signal[i][cluster]) * positive
            + np.sqrt(self.noise) * shared[i][cluster]
            + np.sqrt(1 - self.noise) * own[i]
            for i, apart in enumerate(self.apart)
        ]
        return scores, positive, cluster


SETTINGS = [
    Setting(30, 0.3, (1.5, 1.5)),
    Setting(30, 0.3, (1.5, 1.5), signal=1.0),
    Setting(30, 0.3, (1.5, 1.5), noise=0.5),
    Setting(30, 0.3, (1.5, 1.5), signal=0.5, noise=0.2, empty=0.5),
    Setting(30, 0.3, (1.0, 2.0), signal=0.5, noise=0.2),
    Setting(60, 0.05, (1.5, 2.0), signal=0.5, noise=0.2),
    Setting(30, 0.3, (4.0, 5.0), noise=0.3),
    Setting(30, 0.3, (4.0, 4.0)),
    Setting(5, 0.3, (1.5, 1.5), signal=0.3, noise=0.3),
    Setting(100, 0.3, (1.5, 2.0), signal=0.7, noise=0.3),
]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_coverage")
    parser.add_argument("--quick", action="store_true", help="fewer samples and draws")
    parser.add_argument("--samples", type=int, default=300, help="samples of each setting")
    parser.add_argument("--settings", nargs="+", type=int, help="numbers of rows, from 1 on")
    given = parser.parse_args()
    samples, draws = (10, 100) if given.quick else (given.samples, 500)
    print(TITLE, flush=True)
    print(f"{samples:,} samples of each setting and number of clusters, {draws} draws.\n")
    names = ("items", "prevalence", "apart", "signal, noise, empty")
    header = [*names, *(f"{number} clusters" for number in CLUSTERS)]
    print(table(header, []), end="", flush=True)
    for number in given.settings or range(1, len(SETTINGS) + 1):
        row = described(SETTINGS[number - 1], samples, draws, number)
        print(f"| {' | '.join(row)} |", flush=True)


def described(setting: Setting, samples: int, draws: int, number: int) -> Iterator[str]:
    """Return the cells of a row."""
    yield from (str(setting.size), f"{setting.prevalence:g}")
    yield " and ".join(f"{apart:g}" for apart in setting.apart)
    yield ", ".join(f"{x:g}" for x in (setting.signal, setting.noise, setting.empty))
    first, second = (setting.curve(apart) for apart in setting.apart)
    for clusters in CLUSTERS:
        found = []
        for i in range(samples):
            rng = np.random.default_rng([SEED, number, clusters, i])
            scores, positive, cluster = setting.sample(clusters, rng)
            difference = pr_curve_difference(
                scores[0], scores[1], positive, LEVELS, n_resamples=draws, rng=i, cluster=cluster
            )
            if np.isnan(difference.p_value[0]):
                continue
            one = posterior_of_clusters(scores[0], positive, cluster, LEVELS, draws, rng).band()
            covers = [
                ((band.low <= curve) & (curve <= band.high)).all()
                for band, curve in ((one, first), (difference, first - second))
            ]
            found.append([*covers, difference.p_value[0] <= 0.05])
        shares = np.array(found, dtype=np.float64).reshape(-1, 3)
        yield ", ".join(f"{share.mean():.3f}" for share in shares.T) if shares.size else ""


if __name__ == "__main__":
    main()
