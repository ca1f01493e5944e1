"""Populations of scores whose curves are known, and samples of them, for the studies of coverage."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
from scipy.special import betainc, betaincinv, ndtr, ndtri, stdtr, stdtrit
from scipy.stats import poisson

import prframe
from prframe.typing import Flags, Floats, Integers

Rng: TypeAlias = np.random.Generator
Sampler: TypeAlias = Callable[[Rng, int], Floats]

FEW = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
FIVE = (0.1, 0.3, 0.6, 0.85, 1.0)
TEN = tuple(i / 10 for i in range(1, 11))


@dataclass(frozen=True)
class Population:
    """Scores of positives and negatives.

    `rate` is the false positive rate by recall. With `levels`, the recalls at its thresholds, the
    score has as many values.
    """

    name: str
    pos: Sampler
    neg: Sampler
    rate: Callable[[Floats], Floats]
    levels: tuple[float, ...] = ()

    @cached_property
    def _roc(self) -> tuple[Floats, Floats]:
        """Recall and false positive rate, at the thresholds or at very many."""
        very_many = ndtr(np.linspace(-12, 8.2, 400_001))
        recall = np.array(self.levels) if self.levels else very_many
        return np.insert(recall, 0, 0.0), np.insert(self._false(recall), 0, 0.0)

    def _false(self, recall: Floats) -> Floats:
        return np.where(recall < 1, self.rate(recall), 1.0)

    def precision(self, prevalence: float, recall: Floats) -> Floats:
        """Return the curve, joined within ties as Davis & Goadrich do."""
        false = np.interp(recall, *self._roc) if self.levels else self._false(recall)
        return prevalence * recall / (prevalence * recall + (1 - prevalence) * false)

    def recall_above(self, prevalence: float, shares: Floats | float) -> Floats:
        """Return the recall at thresholds that shares of all items exceed."""
        recall, false = self._roc
        return np.interp(shares, prevalence * recall + (1 - prevalence) * false, recall)

    def metrics(self, prevalence: float, names: list[str]) -> dict[str, float]:
        """Return metrics of the whole population, as `evaluate` has them of weighted rows."""
        recall, false = (np.diff(rate) for rate in self._roc)
        score = -np.arange(recall.size, dtype=np.float64)
        # Between two positives are the negatives in between, and levels are ties.
        parts = [
            {"score": score + (0.0 if self.levels else 0.5), "weight": (1 - prevalence) * false},
            {"score": score, "weight": prevalence * recall},
        ]
        frames = [pl.DataFrame(part).with_columns(label=pl.lit(i)) for i, part in enumerate(parts)]
        rows = pl.concat(frames).filter(pl.col("weight") > 0)
        rows = rows.with_columns(pl.col("weight") * 1e9)
        return prframe.evaluate(rows, names, weight="weight").row(0, named=True)

    def ranks(self, prevalence: float) -> tuple[Floats, Floats]:
        """Return shares of the positives, and the shares of all items below them."""
        recall, false = self._roc
        above = prevalence * recall + (1 - prevalence) * false
        return np.diff(recall), 1 - (above[1:] + above[:-1]) / 2

    def bedroc(self, prevalence: float, alpha: float = 20.0) -> float:
        """Return BEDROC, which takes no weights."""
        recall, false = self._roc
        above = prevalence * recall + (1 - prevalence) * false
        terms, steps = np.exp(-alpha * above), np.diff(above)
        means = np.divide(-np.diff(terms), steps, out=alpha * terms[1:], where=steps > 0)
        best, rest = -np.expm1(-alpha * prevalence), -np.expm1(-alpha * (1 - prevalence))
        total = float(prevalence * np.diff(recall) @ means)
        return float((total - best * (1 - rest)) / (best * rest))

    def scores(self, rng: Rng, n_pos: int, n_neg: int) -> tuple[Floats, Floats]:
        """Draw the scores of so many items of each class."""
        return self.pos(rng, n_pos), self.neg(rng, n_neg)

    def rows(self, n_pos: int, n_neg: int, rng: Rng) -> pl.DataFrame:
        """Draw so many items of each class."""
        score = np.concatenate(self.scores(rng, n_pos, n_neg))
        return pl.DataFrame({"score": score, "label": np.arange(score.size) < n_pos})

    def sample(self, prevalence: float, n: int, rng: Rng) -> pl.DataFrame:
        """Draw n items that hold both labels."""
        n_pos = 0
        while not 0 < n_pos < n:
            n_pos = int(rng.binomial(n, prevalence))
        return self.rows(n_pos, n - n_pos, rng)


def normal(mean: float = 0.0, deviation: float = 1.0) -> Sampler:
    """Return a sampler of normal scores."""
    return lambda rng, n: rng.normal(mean, deviation, n)


def either(share: float, some: Sampler, others: Sampler) -> Sampler:
    """Return a sampler of a mixture, a share of it being of the first kind."""
    return lambda rng, n: np.where(rng.random(n) < share, some(rng, n), others(rng, n))


def binormal(mu: float, levels: tuple[float, ...] = ()) -> Population:
    """Return normal scores whose means are mu apart, as they are or cut into levels."""

    def cut(drawn: Sampler) -> Sampler:
        cuts = mu - ndtri(levels[:-1][::-1])
        return lambda rng, n: np.searchsorted(cuts, drawn(rng, n)).astype(np.float64)

    pos, neg = (cut(one) if levels else one for one in (normal(mu), normal()))
    name = f"normal, {mu:g} apart" + (f", {len(levels)} scores" if levels else "")
    return Population(name, pos, neg, lambda recall: ndtr(ndtri(recall) - mu), levels)


def wide(mu: float, deviation: float) -> Population:
    """Return normal scores mu apart, those of positives with another standard deviation."""
    name = f"normal, {mu:g} apart, positives {deviation:g} times as wide"
    return Population(
        name, normal(mu, deviation), normal(), lambda recall: ndtr(deviation * ndtri(recall) - mu)
    )


def beta(pos: tuple[float, float], neg: tuple[float, float]) -> Population:
    """Return scores with beta distributions."""
    return Population(
        f"beta{pos} and beta{neg}",
        lambda rng, n: rng.beta(*pos, n),
        lambda rng, n: rng.beta(*neg, n),
        lambda recall: betainc(*reversed(neg), betaincinv(*reversed(pos), recall)),
    )


def heavy(mu: float, df: float) -> Population:
    """Return scores mu apart with Student's distribution."""
    return Population(
        f"t({df:g}), {mu:g} apart",
        lambda rng, n: mu + rng.standard_t(df, n),
        lambda rng, n: rng.standard_t(df, n),
        lambda recall: stdtr(df, stdtrit(df, recall) - mu),
    )


def pure(share: float, mu: float) -> Population:
    """Return normal scores mu apart, but for a share of the positives above all negatives."""
    name = f"{100 * share:g} % pure, else normal, {mu:g} apart"
    return Population(
        name,
        either(share, normal(100 + mu), normal(mu)),
        normal(),
        lambda recall: ndtr(ndtri(np.clip((recall - share) / (1 - share), 0.0, 1.0)) - mu),
    )


def edge(share: float, reached: float) -> Population:
    """Return even scores with an edge, above which are shares of the negatives and positives."""
    return Population(
        f"even, with {100 * share:g} and {100 * reached:g} % above an edge",
        lambda rng, n: rng.random(n) + (rng.random(n) < reached),
        lambda rng, n: rng.random(n) + (rng.random(n) < share),
        lambda recall: np.interp(recall, [0.0, reached, 1.0], [0.0, share, 1.0]),
    )


def mixed(mu: float, share: float, mean: float, deviation: float, what: str) -> Population:
    """Return normal scores mu apart, but for a share of the negatives with another distribution."""

    def rate(recall: Floats) -> Floats:
        threshold = mu - ndtri(recall)
        others = ndtr((mean - threshold) / deviation)
        return (1 - share) * ndtr(-threshold) + share * others

    neg = either(share, normal(mean, deviation), normal())
    name = f"normal, {mu:g} apart, {100 * share:g} % {what}"
    return Population(name, normal(mu), neg, rate)


def hard(mu: float, share: float = 0.1) -> Population:
    """Return normal scores mu apart, but for a share of the negatives 1 above the positives."""
    return mixed(mu, share, mu + 1, 1.0, "hard")


def sunk(share: float, above: float, below: float, wrong: float = 0.0) -> Population:
    """Return normal scores, a share of the positives so far below the negatives, others above.

    The share `wrong` of the negatives are as high as the positives above.
    """
    cut = np.linspace(above + 10, -below - 10, 400_001)
    reached = (1 - share) * ndtr(above - cut) + share * ndtr(-below - cut)
    passed = (1 - wrong) * ndtr(-cut) + wrong * ndtr(above - cut)
    name = (
        f"normal, {100 * share:g} % of the positives {below:g} below, the others {above:g} above"
    )
    return Population(
        name + (f", as are {100 * wrong:g} % of the negatives" if wrong else ""),
        either(share, normal(-below), normal(above)),
        either(wrong, normal(above), normal()),
        lambda recall: np.interp(recall, reached, passed),
    )


def apart(share: float, reach: float, width: float) -> Population:
    """Return even scores of two lots of positives at either end of those of the negatives.

    Each lot is so wide, where negatives are 1 wide, and reaches so far among these.
    """

    def pos(rng: Rng, n: int) -> Floats:
        begin = np.where(rng.random(n) < share, reach - width, 1 - reach)
        return begin + width * rng.random(n)

    begun, ended = max(0.0, (width - reach) / width), min(1.0, reach / width)

    def rate(recall: Floats) -> Floats:
        first = np.interp(recall / (1 - share), [begun, 1.0], [0.0, reach])
        second = np.interp((recall - 1 + share) / share, [0.0, ended], [1 - reach, 1.0])
        return np.where(recall <= 1 - share, first, second)

    name = (
        f"even, {100 * share:g} % of the positives at the lower end, the others at the upper one"
    )
    return Population(name, pos, lambda rng, n: rng.random(n), rate)


def discrete(name: str, pos: Floats, neg: Floats) -> Population:
    """Return scores of few values, from the lowest one, with these shares of either class."""

    def sampler(shares: Floats) -> Sampler:
        chances = shares / shares.sum()
        return lambda rng, n: rng.choice(shares.size, n, p=chances).astype(np.float64)

    recall, passed = (np.cumsum(shares[::-1] / shares.sum()) for shares in (pos, neg))
    recall[-1] = 1.0
    return Population(
        name,
        sampler(pos),
        sampler(neg),
        lambda at: np.interp(at, np.insert(recall, 0, 0.0), np.insert(passed, 0, 0.0)),
        tuple(recall),
    )


_COUNTS = np.arange(17)
# Of 15 nearest neighbours, and of probabilities most of which are 0 or 1.
_NEIGHBOURS = (
    np.array([12, 15, 20, 20, 25, 30, 35, 45, 60, 75, 90, 110, 130, 140, 113, 80.0]),
    np.array([8200, 850, 350, 200, 120, 80, 60, 40, 30, 25, 20, 10, 8, 4, 2, 1.0]),
)
_CONFIDENT = (
    np.array([6, 1, 1, 1, 1, 2, 3, 5, 10, 70.0]),
    np.array([90, 4, 2, 1, 1, 0.5, 0.5, 0.3, 0.3, 0.4]),
)
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
    "ten": binormal(1.5, TEN),
    "few": binormal(1.5, FEW),
    "five": binormal(1.5, FIVE),
    "cluster": mixed(2, 0.02, 2, 0.2, "in a cluster"),
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
# A part of the labels is wrong, or many scores are alike.
NOISY = {
    "few wrong": sunk(0.03, 4, 0),
    "fewer wrong": sunk(0.01, 4, 0),
    "few wrong at 2": sunk(0.03, 2, 0),
    "flipped": sunk(0.03, 4, 0, 0.03),
    "neighbours": discrete("shares of 15 neighbours", *_NEIGHBOURS),
    "confident": discrete("overconfident probabilities", *_CONFIDENT),
    "counts": discrete(
        "counts, many 0",
        0.95 * poisson.pmf(_COUNTS, 5) + 0.05 * (_COUNTS == 0),
        0.3 * poisson.pmf(_COUNTS, 1) + 0.7 * (_COUNTS == 0),
    ),
}
STUDIED = POPULATIONS | SUNK | NOISY | {"4": binormal(4)}


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

    def curves(self, levels: Floats) -> tuple[Floats, Floats]:
        """Return the curves of both models in the population."""
        share = self.prevalence * (1 - self.empty)

        def curve(apart: float) -> Floats:
            threshold = apart + np.sqrt(1 + self.signal**2) * ndtri(1 - levels)
            return share * levels / (share * levels + (1 - share) * ndtr(-threshold))

        one, other = map(curve, self.apart)
        return one, other

    def sample(self, clusters: int, rng: Rng) -> pl.DataFrame:
        """Draw the scores of both models, labels and clusters."""
        cluster: Integers = np.repeat(np.arange(clusters), self.size)
        share = np.where(rng.random(clusters) < self.empty, 0.0, self.prevalence)
        label: Flags = rng.random(cluster.size) < share[cluster]

        def pair(n: int) -> Floats:
            common, *own = rng.standard_normal((3, n))
            return np.sqrt(0.5) * (common + np.array(own))

        shared, own, signal = pair(clusters), pair(cluster.size), pair(clusters)
        score, other = (
            (apart + self.signal * signal[i][cluster]) * label
            + np.sqrt(self.noise) * shared[i][cluster]
            + np.sqrt(1 - self.noise) * own[i]
            for i, apart in enumerate(self.apart)
        )
        return pl.DataFrame({"score": score, "other": other, "label": label, "cluster": cluster})
