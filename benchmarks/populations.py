"""Populations of scores whose curves are known, and samples of them for studies of coverage."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, ndtr, ndtri, stdtr, stdtrit

from prframe.stats.rankings.cells import RankedCells

Floats: TypeAlias = NDArray[np.float64]
# The rate of false positives at a level of recall.
FalsePositiveRate: TypeAlias = Callable[[Floats], Floats]
Scores: TypeAlias = Callable[[np.random.Generator, int, int], tuple[Floats, Floats]]

# Recall at the thresholds of a score with few levels.
_FEW_LEVELS = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
_FIVE_LEVELS = (0.1, 0.3, 0.6, 0.85, 1.0)
_TEN_LEVELS = tuple(i / 10 for i in range(1, 11))


@dataclass(frozen=True)
class Population:
    """Scores of positives and negatives.

    `rate` is the false positive rate by recall. With `levels`, the recalls at its thresholds, the
    score has as many values.
    """

    name: str
    rate: FalsePositiveRate
    scores: Scores
    levels: tuple[float, ...] = ()

    @cached_property
    def _roc(self) -> tuple[Floats, Floats]:
        """Recall and false positive rate, at the thresholds or at very many."""
        very_many = ndtr(np.linspace(-12, 8.2, 400_001))
        recall = np.array(self.levels) if self.levels else very_many
        return np.insert(recall, 0, 0.0), np.insert(self.false(recall), 0, 0.0)

    def false(self, recall: Floats) -> Floats:
        """Return the rate of false positives, 1 at recall 1."""
        return np.where(recall < 1, self.rate(recall), 1.0)

    def precision(self, prevalence: float, recall: Floats) -> Floats:
        """Return the curve, joined within ties as Davis & Goadrich do."""
        false = np.interp(recall, *self._roc) if self.levels else self.false(recall)
        return prevalence * recall / (prevalence * recall + (1 - prevalence) * false)

    def recall_above(self, prevalence: float, shares: Floats) -> Floats:
        """Return the recall at thresholds that shares of all items exceed."""
        recall, false = self._roc
        above = prevalence * recall + (1 - prevalence) * false
        return np.asarray(np.interp(shares, above, recall))

    def metrics(self, prevalence: float, share: float, level: float) -> dict[str, float]:
        """Return metrics of the curve, those above a share of items, and precision at a recall."""
        recall, false = self._roc
        found = prevalence * recall
        above = found + (1 - prevalence) * false
        precision = np.divide(found, above, out=np.ones_like(found), where=above > 0)
        steps, middle = np.diff(recall), (precision[1:] + precision[:-1]) / 2
        at_share, at_prevalence = np.interp([share, prevalence], above, recall)
        f1 = 2 * found / (above + prevalence)
        return {
            # Of ties the end counts.
            "AP": float(steps @ (precision[1:] if self.levels else middle)),
            "AUPRC": float(steps @ middle),
            "AUC": 1 - float(steps @ (false[1:] + false[:-1])) / 2,
            "P@k": at_share * prevalence / share,
            "R@k": at_share,
            "Prec@r": float(precision[np.searchsorted(recall, level - 1e-12)]),
            "F1@k": 2 * at_share * prevalence / (share + prevalence),
            "Lift@k": at_share / share,
            "Rprec": at_prevalence,
            "MaxF1": float(f1.max()),
            "BEDROC": _bedroc(found, above, prevalence),
        }

    def samples(
        self, prevalence: float, n: int, number: int, rng: np.random.Generator
    ) -> Iterator[RankedCells]:
        """Draw samples of n items that hold both labels."""
        while number:
            n_pos = int(rng.binomial(n, prevalence))
            if 0 < n_pos < n:
                yield self._sample(n_pos, n, rng)
                number -= 1

    def _sample(self, n_pos: int, n: int, rng: np.random.Generator) -> RankedCells:
        """Draw n items; the time is that of drawing the positives."""
        if self.levels:
            recall = np.array(self.levels)
            pos = rng.multinomial(n_pos, np.diff(recall, prepend=0.0))
            neg = rng.multinomial(n - n_pos, np.diff(self.false(recall), prepend=0.0))
            return RankedCells(np.append(pos, 0), np.append(neg, 0))
        false = self.false(np.append(np.sort(rng.random(n_pos)), 1.0))
        pos, neg = np.zeros((2, 2 * n_pos + 2), dtype=np.int64)
        pos[1:-1:2] = 1
        neg[::2] = rng.multinomial(n - n_pos, np.maximum(np.diff(false, prepend=0.0), 0.0))
        return RankedCells(pos, neg)


def _bedroc(found: Floats, above: Floats, prevalence: float, alpha: float = 20.0) -> float:
    """Return BEDROC of positives found among the items above."""
    terms = np.exp(-alpha * above)
    steps = np.diff(above)
    means = np.divide(-np.diff(terms), steps, out=alpha * terms[1:], where=steps > 0)
    total = float(np.diff(found) @ means)
    best, rest = -np.expm1(-alpha * prevalence), -np.expm1(-alpha * (1 - prevalence))
    worst = best * (1 - rest)
    return float((total - worst) / (best * rest))


def binormal(mu: float, levels: tuple[float, ...] = ()) -> Population:
    """Return normal scores whose means are mu apart, as they are or cut into levels."""

    def scores(rng: np.random.Generator, n_pos: int, n_neg: int) -> tuple[Floats, Floats]:
        drawn = rng.normal(mu, 1.0, n_pos), rng.normal(0.0, 1.0, n_neg)
        if not levels:
            return drawn
        cuts = mu - ndtri(levels[:-1][::-1])
        pos, neg = (np.searchsorted(cuts, some).astype(np.float64) for some in drawn)
        return pos, neg

    name = f"normal, {mu:g} apart" + (f", {len(levels)} scores" if levels else "")
    return Population(name, lambda recall: ndtr(ndtri(recall) - mu), scores, levels)


def wide(mu: float, deviation: float) -> Population:
    """Return normal scores mu apart, those of positives with another standard deviation."""

    def scores(rng: np.random.Generator, n_pos: int, n_neg: int) -> tuple[Floats, Floats]:
        return rng.normal(mu, deviation, n_pos), rng.normal(0.0, 1.0, n_neg)

    name = f"normal, {mu:g} apart, positives {deviation:g} times as wide"
    return Population(name, lambda recall: ndtr(deviation * ndtri(recall) - mu), scores)


def beta(pos: tuple[float, float], neg: tuple[float, float]) -> Population:
    """Return scores with beta distributions."""

    def scores(rng: np.random.Generator, n_pos: int, n_neg: int) -> tuple[Floats, Floats]:
        return rng.beta(*pos, n_pos), rng.beta(*neg, n_neg)

    def rate(recall: Floats) -> Floats:
        return np.asarray(betainc(*reversed(neg), betaincinv(*reversed(pos), recall)))

    return Population(f"beta{pos} and beta{neg}", rate, scores)


def pure(share: float, mu: float) -> Population:
    """Return normal scores mu apart, but for a share of the positives above all negatives."""

    def scores(rng: np.random.Generator, n_pos: int, n_neg: int) -> tuple[Floats, Floats]:
        pos, neg = rng.normal(mu, 1.0, n_pos), rng.normal(0.0, 1.0, n_neg)
        return np.where(rng.random(n_pos) < share, 100 + pos, pos), neg

    def rate(recall: Floats) -> Floats:
        rest = np.clip((recall - share) / (1 - share), 0.0, 1.0)
        return np.asarray(ndtr(ndtri(rest) - mu))

    return Population(f"{100 * share:g} % pure, else normal, {mu:g} apart", rate, scores)


def edge(share: float, reached: float) -> Population:
    """Return even scores with an edge, above which are shares of the negatives and positives."""

    def scores(rng: np.random.Generator, n_pos: int, n_neg: int) -> tuple[Floats, Floats]:
        pos, neg = rng.random(n_pos) < reached, rng.random(n_neg) < share
        return rng.random(n_pos) + pos, rng.random(n_neg) + neg

    def rate(recall: Floats) -> Floats:
        return np.interp(recall, [0.0, reached, 1.0], [0.0, share, 1.0])

    name = f"even, with {100 * share:g} and {100 * reached:g} % above an edge"
    return Population(name, rate, scores)


def sunk(share: float, above: float, below: float) -> Population:
    """Return normal scores, a share of the positives so far below the negatives, others above."""

    def scores(rng: np.random.Generator, n_pos: int, n_neg: int) -> tuple[Floats, Floats]:
        mean = np.where(rng.random(n_pos) < share, -below, above)
        return rng.normal(mean, 1.0), rng.normal(0.0, 1.0, n_neg)

    cut = np.linspace(above + 10, -below - 10, 400_001)
    reached = (1 - share) * ndtr(above - cut) + share * ndtr(-below - cut)
    passed = ndtr(-cut)

    def rate(recall: Floats) -> Floats:
        return np.interp(recall, reached, passed)

    name = (
        f"normal, {100 * share:g} % of the positives {below:g} below, the others {above:g} above"
    )
    return Population(name, rate, scores)


def apart(share: float, reach: float, width: float) -> Population:
    """Return even scores of two lots of positives at either end of those of the negatives.

    Each lot is so wide, where negatives are 1 wide, and reaches so far among these.
    """

    def scores(rng: np.random.Generator, n_pos: int, n_neg: int) -> tuple[Floats, Floats]:
        begin = np.where(rng.random(n_pos) < share, reach - width, 1 - reach)
        return begin + width * rng.random(n_pos), rng.random(n_neg)

    begun, ended = max(0.0, (width - reach) / width), min(1.0, reach / width)

    def rate(recall: Floats) -> Floats:
        first = np.interp(recall / (1 - share), [begun, 1.0], [0.0, reach])
        second = np.interp((recall - 1 + share) / share, [0.0, ended], [1 - reach, 1.0])
        return np.where(recall <= 1 - share, first, second)

    name = (
        f"even, {100 * share:g} % of the positives at the lower end, the others at the upper one"
    )
    return Population(name, rate, scores)


def heavy(mu: float, df: float) -> Population:
    """Return scores mu apart with Student's distribution."""

    def scores(rng: np.random.Generator, n_pos: int, n_neg: int) -> tuple[Floats, Floats]:
        return mu + rng.standard_t(df, n_pos), rng.standard_t(df, n_neg)

    def rate(recall: Floats) -> Floats:
        return np.asarray(stdtr(df, stdtrit(df, recall) - mu))

    return Population(f"t({df:g}), {mu:g} apart", rate, scores)


def hard(mu: float, share: float = 0.1) -> Population:
    """Return normal scores mu apart, but for a share of the negatives 1 above the positives."""

    def scores(rng: np.random.Generator, n_pos: int, n_neg: int) -> tuple[Floats, Floats]:
        above = (mu + 1) * (rng.random(n_neg) < share)
        return rng.normal(mu, 1.0, n_pos), rng.normal(size=n_neg) + above

    def rate(recall: Floats) -> Floats:
        below_mean = ndtri(recall)
        usual, above = ndtr(below_mean - mu), ndtr(below_mean + 1)
        return np.asarray((1 - share) * usual + share * above)

    return Population(f"normal, {mu:g} apart, {100 * share:g} % hard", rate, scores)


def clustered(mu: float, share: float, deviation: float) -> Population:
    """Return normal scores mu apart, but for a share of the negatives about the positives' mean."""

    def scores(rng: np.random.Generator, n_pos: int, n_neg: int) -> tuple[Floats, Floats]:
        neg, alike = rng.normal(size=n_neg), rng.random(n_neg) < share
        return rng.normal(mu, 1.0, n_pos), np.where(alike, mu + deviation * neg, neg)

    def rate(recall: Floats) -> Floats:
        below_mean = ndtri(recall)
        usual, above = ndtr(below_mean - mu), ndtr(below_mean / deviation)
        return np.asarray((1 - share) * usual + share * above)

    return Population(f"normal, {mu:g} apart, {100 * share:g} % in a cluster", rate, scores)


POPULATIONS = {
    "pure": pure(0.13, 1.5),
    "all but pure": pure(0.6, 1.5),
    "half pure": pure(0.5, 1),
    "third pure": pure(0.3, 0),
    "edge": edge(0.02, 0.8),
    "1": binormal(1),
    "2": binormal(2),
    "3": binormal(3),
    "beta": beta((2, 1), (1, 2)),
    "ten": binormal(1.5, _TEN_LEVELS),
    "few": binormal(1.5, _FEW_LEVELS),
    "five": binormal(1.5, _FIVE_LEVELS),
    "cluster": clustered(2, 0.02, 0.2),
    "wide": wide(1.5, 3),
    "t(2)": heavy(2, 2),
    "t(3)": heavy(3, 3),
    "Cauchy": heavy(3, 1),
    "hard": hard(2),
    "rarely hard": hard(2, 0.01),
}
# A part of the positives is below most negatives.
SUNK = {
    "tenth": sunk(0.1, 2, 2),
    "fifth": sunk(0.2, 2, 2),
    "third": sunk(0.3, 2, 2),
    "half": sunk(0.5, 2, 2),
    "near": sunk(0.3, 2, 1),
    "far": sunk(0.3, 3, 3),
    "apart": apart(0.3, 0.2, 0.4),
    "little apart": apart(0.2, 0.1, 0.3),
}
STUDIED = POPULATIONS | SUNK | {"4": binormal(4), "5": binormal(5)}


class Clustered(NamedTuple):
    """Items of each cluster, and how scores of two models and labels are drawn.

    Positives lie so far `apart` from negatives, in each cluster with a normal deviation whose
    standard deviation is `signal`. Noise is correlated by .5 between models, and by `noise` within
    clusters. A cluster is without positives with the probability `empty`.
    """

    size: int
    prevalence: float
    apart: tuple[float, float]
    signal: float = 0.0
    noise: float = 0.0
    empty: float = 0.0

    def about(self, clusters: int) -> tuple[str, str]:
        """Return what the scores and the size of a sample are called."""
        apart = " and ".join(f"{one:g}" for one in self.apart)
        scores = f"{apart} apart, signal {self.signal:g}, noise {self.noise:g}"
        empty = f", {100 * self.empty:g} % empty" if self.empty else ""
        size = f"{clusters} clusters of {self.size}, {100 * self.prevalence:g} % positive"
        return scores, size + empty

    def curve(self, apart: float, levels: Floats) -> Floats:
        """Return the curve of the population."""
        threshold = apart + np.sqrt(1 + self.signal**2) * ndtri(1 - levels)
        share = self.prevalence * (1 - self.empty)
        return np.asarray(share * levels / (share * levels + (1 - share) * ndtr(-threshold)))

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
