"""The settings in which `benchmarks.coverage` measures how often intervals and bands cover.

Each part yields studies: how samples are drawn, what a verb is asked, and the value to cover.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from scipy.special import expit, ndtr, ndtri, stdtrit
from scipy.stats import poisson

import prframe
from benchmarks.data import SEED
from benchmarks.populations import (
    FIVE,
    POPULATIONS,
    STUDIED,
    Clustered,
    Population,
    Rng,
    binormal,
    discrete,
    edge,
    hard,
    heavy,
    wide,
)
from prframe.stats import parse_phi
from prframe.typing import Floats

UNIT, ANY = (0.0, 1.0), (-np.inf, np.inf)
RANGES = {"Lift": (0.0, np.inf), "MCC": (-1.0, 1.0), "AUPRG": (-np.inf, 1.0)}


def intervals(rows: pl.DataFrame, metrics: list[str], rng: int, **options: Any) -> pl.DataFrame:
    """Return the intervals of metrics of each sample."""
    return prframe.interval(rows, metrics, by="sample", rng=rng, **options)


@dataclass(frozen=True)
class Study:
    """Samples as frames, the true value of each metric, and a verb that finds intervals."""

    part: str
    scores: str
    size: str
    draw: Callable[[Rng], pl.DataFrame]
    true: Callable[[], dict[str, float]]
    verb: Callable[..., pl.DataFrame] = intervals
    options: dict[str, Any] = field(default_factory=dict)
    samples: int = 1000
    """The most samples: fewer where they take long."""
    key: str = ""
    limits: tuple[float, float] = UNIT

    def limits_of(self, metric: str) -> tuple[float, float]:
        """Return the range of a metric."""
        return RANGES.get(re.split(r"[@(]", metric)[0], self.limits)


# Metrics of one ranking.

# Shares of positives and numbers of items, by population.
Sizes: TypeAlias = tuple[tuple[float, int], ...]
UNTIED = ",".join(key for key, population in POPULATIONS.items() if not population.levels)


def _with_positives(shares: tuple[float, ...], numbers: tuple[int, ...]) -> Sizes:
    return tuple((share, round(n_pos / share)) for share, n_pos in product(shares, numbers))


_MAIN = ((0.5, 40), (0.1, 200), (0.1, 1000), (0.01, 2000), (0.01, 10_000))
RANKINGS: dict[str, dict[str, Sizes]] = {
    "main": {
        "1": (*_MAIN, (0.5, 400), (0.001, 20_000)),
        "2": (*_MAIN, (0.001, 20_000), (0.001, 100_000)),
        "3": _MAIN,
        "beta": ((0.1, 300), (0.001, 20_000)),
        "ten": ((0.1, 500), (0.01, 2000)),
        "few": ((0.01, 2000), (0.01, 10_000)),
        "half pure,third pure": ((0.05, 360), (0.05, 5000), (0.05, 20_000)),
        "edge": ((0.05, 400), (0.1, 500), (0.3, 300), (0.1, 2000), (0.2, 5000)),
        "t(2),Cauchy": ((0.05, 400), (0.1, 1000)),
    },
    "ap": {UNTIED: _with_positives((0.01, 0.05, 0.1, 0.5), (20, 50, 100))},
    "top": {UNTIED: ((0.5, 40), (0.1, 200), (0.01, 2000))},
    "levels": {"few,five,ten": ((0.01, 2000), (0.01, 10_000), (0.1, 200), (0.1, 1000))},
    "sizes": {"1,2,4": _with_positives((0.1, 0.5, 0.9), (20, 200, 2000, 20_000))},
    "noise": {
        "few wrong": ((0.06, 1000), (0.02, 2000)),
        "fewer wrong": ((0.1, 1500),),
        "few wrong at 2": ((0.06, 1000),),
        "flipped": ((0.1, 1000),),
        "neighbours": ((0.05, 1000), (0.2, 300)),
        "confident,counts": ((0.1, 500),),
    },
}


def _settings(sizes: dict[str, Sizes]) -> Iterator[tuple[str, float, int]]:
    """Yield population, share of positives and number of items."""
    for keys, some in sizes.items():
        for key, (share, n) in product(keys.split(","), some):
            yield key, share, n


def of_main(population: Population, share: float, n: int) -> dict[str, float]:
    """Return metrics of the whole ranking and of the top; cut-offs at twice the positives."""
    k = 2 * round(share * n)
    recall, at_share = population.recall_above(share, [k / n, share])
    curve = population.metrics(share, ["AP", "AUPRC", "AUC", "Prec@0.5", "MaxF1"])
    cut = {
        f"P@{k}": recall * share * n / k,
        f"R@{k}": recall,
        f"F1@{k}": 2 * recall * share / (k / n + share),
        f"Lift@{k}": recall * n / k,
        "Rprec": at_share,
        "BEDROC": population.bedroc(share),
    }
    return curve | cut | of_top(population, share, n)


def of_top(population: Population, share: float, n: int) -> dict[str, float]:
    """Return metrics of the first ranks and levels of recall."""
    ranks = np.arange(1, n + 1)
    above = population.recall_above(share, np.append(0, ranks) / n)
    precision, discounts = n * share * np.diff(above), 1 / np.log2(ranks + 1)
    best = np.interp(min(10, n * share), np.append(0, ranks), np.append(0, discounts.cumsum()))
    names = ["pAP(max_recall=0.1)"]
    names += ["AUPRC", "AUPRG"] if population.levels else ["pAP(max_recall=0.5)"]
    return population.metrics(share, names) | {
        "nDCG@10": float(discounts[:10] @ precision[:10] / best),
        "RBP": float((0.2 * 0.8 ** (ranks - 1)) @ precision),
        **({"P@10": float(precision[:10].mean())} if population.levels else {}),
    }


def of_sizes(population: Population, share: float, n: int) -> dict[str, float]:
    """Return metrics that read whole curves; the sample's rank k is as large a share of all."""
    precision, k = population.precision(share, np.array([0.5]))[0], max(1, n // 50)
    recall = float(population.recall_above(share, k / n))
    levels = recall * (np.arange(100_000) + 0.5) / 100_000
    names = ["AP", "pAP(max_recall=0.3)", "pAUC(max_fpr=0.1)", "AUPRG", "W(phi=mww)", "MaxF1"]
    names.append(f"R(at_precision={precision:.3g})")
    of_k = {f"AP@{k}": recall * float(population.precision(share, levels).mean())}
    return population.metrics(share, names) | of_k


METRICS: dict[str, Callable[[Population, float, int], dict[str, float]]] = {
    "main": of_main,
    "ap": lambda population, share, _: population.metrics(share, ["AP"]),
    "top": of_top,
    "levels": of_top,
    "sizes": of_sizes,
    "noise": lambda population, share, _: population.metrics(share, ["AP", "AUC"]),
}


def rankings(part: str) -> Iterator[Study]:
    """Yield studies of metrics of one ranking."""
    for key, share, n in _settings(RANKINGS[part]):
        population = STUDIED[key]
        draw = partial(population.sample, share, n)
        true = partial(METRICS[part], population, share, n)
        options = {"samples": 300, "options": {"n_resamples": 500}} if part == "sizes" else {}
        yield Study(part, population.name, f"{share:g}, {n}", draw, true, key=key, **options)


PHIS = ("mww", "p-norm-push(q=3)", "p-norm-push(q=5)", "van-der-waerden", "logrank")
PHIS += ("rtb", "rtb(u0=0.8)", "local-auc", "median")
NORMAL = ((0, 1), (0.5, 1), (1, 1), (2, 1), (3, 1), (1, 2), (0, 0.5))
CLASSES = ((100, 100), (10, 10), (15, 15), (30, 30), (15, 100), (20, 200), (50, 1000), (150, 15))


def ranks() -> Iterator[Study]:
    """Yield studies of linear rank statistics; phi names the metric."""
    populations = [wide(*one) for one in NORMAL]
    populations += [heavy(2, 2), heavy(3, 3), hard(2), POPULATIONS["five"]]
    for population, (n_pos, n_neg) in product(populations, CLASSES):
        draw = partial(population.rows, n_pos, n_neg)
        true = partial(_of_phis, population, n_pos, n_neg)
        yield Study("ranks", population.name, f"{n_pos}, {n_neg}", draw, true, _of_ranks)


def _of_phis(population: Population, n_pos: int, n_neg: int) -> dict[str, float]:
    """Return W_phi = E phi(F(X)) of each phi."""
    n, steps, below = n_pos + n_neg, *population.ranks(n_pos / (n_pos + n_neg))
    below = np.clip(below, 1e-15, 1 - 1e-15)
    return {phi: float(steps @ parse_phi(phi).of_size(n)(below)) for phi in PHIS}


def _of_ranks(rows: pl.DataFrame, metrics: list[str], rng: int) -> pl.DataFrame:
    del rng
    found = prframe.rank_test(rows, by="sample", phi=metrics)
    return found.with_columns(metric=pl.Series(metrics * (found.height // len(metrics))))


CLUSTERED_METRICS = ["AP", "AUC", "AUPRC", "AUPRG", "pAUC(max_fpr=0.1)", "R(at_precision=0.5)"]
CLUSTERED_METRICS += ["MaxF1", "P(threshold=1)", "R(threshold=1)", "BEDROC"]


def clusters() -> Iterator[Study]:
    """Yield studies of metrics of rows in few clusters; the value is that of very many."""
    settings = (
        Clustered(30, 0.3, (1.5, 1.5), noise=0.5),
        Clustered(30, 0.3, (1.5, 1.5), signal=1.0),
        Clustered(60, 0.05, (1.5, 1.5), signal=0.5, noise=0.2),
    )
    for setting, number in product(settings, (3, 5, 8, 12, 20, 30, 40, 60, 100)):
        draw, true = partial(setting.sample, number), partial(_of_very_many, setting)
        options = {"cluster": "cluster", "n_resamples": 600}
        yield Study("clusters", *setting.about(number), draw, true, options=options)


def _of_very_many(setting: Clustered) -> dict[str, float]:
    rows = setting.sample(40_000, np.random.default_rng(SEED))
    return prframe.evaluate(rows, CLUSTERED_METRICS).row(0, named=True)


PRIORS = (
    *(("normal", 400, 0.5, prior) for prior in (0.5, 0.25, 0.125, 0.05, 0.02)),
    *(("normal", 400, 0.2, prior) for prior in (0.1, 0.05, 0.02, 0.008)),
    *(("counts", n, 0.3, prior) for n in (60, 300, 2000) for prior in (0.1, 0.01)),
)


def priors() -> Iterator[Study]:
    """Yield studies of `interval(prior=)`, of normal scores 1.5 apart and of Poisson counts."""
    counts = (poisson.pmf(np.arange(31), mean) for mean in (4, 1))
    populations = {"normal": binormal(1.5), "counts": discrete("counts", *counts)}
    for kind, n, share, prior in PRIORS:
        population, size = populations[kind], f"{share:g}, {n}, prior {prior:g}"
        draw = partial(population.sample, share, n)
        true = partial(population.metrics, prior, ["AP", "MaxF1"])
        yield Study("priors", kind, size, draw, true, options={"prior": prior})


# The threshold of MaxF1.

BEST = ("1", "2", "3", "t(3)", "hard", "wide", "ten", "few", "five", "pure", "third pure")
BESTS = {key: POPULATIONS[key] for key in (*BEST, "half pure", "all but pure", "edge")} | {
    "a small edge": edge(0.05, 0.5),
    "two edges alike": edge(0.1, 0.3),
    "half pure, even": edge(0.0, 0.5),
}
_MANY = 2_000_000


def best_threshold() -> Iterator[Study]:
    """Yield studies of the threshold at which F1 is largest; any of the best ones may be held."""
    sizes = ((0.5, 40), (0.3, 100), (0.1, 200), (0.3, 300), (0.5, 400), (0.1, 2000), (0.02, 2000))
    for (key, population), (share, n) in product(BESTS.items(), sizes):
        draw = partial(population.sample, share, n)
        options = {"key": key, "share": share}
        true = partial(dict, {"MaxF1 threshold": 0.0})
        about = ("best threshold", population.name, f"{share:g}, {n}")
        yield Study(*about, draw, true, _thresholds, options, key=key, limits=ANY)


def _thresholds(
    rows: pl.DataFrame, metrics: list[str], rng: int, key: str, share: float
) -> pl.DataFrame:
    """Return how far the ends of intervals are from the nearest of the best thresholds."""
    found = prframe.interval(rows, "MaxF1", by="sample", rng=rng)
    low, high = pl.col("conf_low"), pl.col("conf_high")
    best = best_thresholds(key, share)
    return found.filter(metric=metrics[0]).with_columns(
        width=pl.when((high - low).is_finite()).then(high - low),
        conf_low=pl.min_horizontal(low - most for _, most in best),
        conf_high=pl.max_horizontal(high - least for least, _ in best),
    )


@lru_cache
def best_thresholds(key: str, share: float) -> list[tuple[float, float]]:
    """Return between which values the best thresholds of the population are.

    The end of a pure top and all items are among them if nothing is better by a thousandth.
    """
    population, rng = BESTS[key], np.random.default_rng(SEED)
    pos, neg = (np.sort(some) for some in population.scores(rng, _MANY, _MANY))
    cuts = np.append(-np.inf, np.unique(pos))
    recall, false = (1 - np.searchsorted(some, cuts) / _MANY for some in (pos, neg))
    f1 = 2 * share * recall / (share * (recall + 1) + (1 - share) * false)
    found = []
    for end in {int(np.argmax(f1)), 0, min(int(np.argmin(false > 0)), f1.size - 1)}:
        if f1[end] >= 0.999 * f1.max():
            least = most = float(cuts[end])
            if end and not population.levels:
                below = [some[max(0, np.searchsorted(some, most) - 1)] for some in (pos, neg)]
                least = float(max(below))
            found.append((least, most))
    return found


# Means over queries.

VALUES: dict[str, tuple[Callable[[Rng, int], Floats], float]] = {
    "beta(.2, 2)": (lambda rng, n: rng.beta(0.2, 2, n), 0.2 / 2.2),
    "beta(2, .2)": (lambda rng, n: rng.beta(2, 0.2, n), 2 / 2.2),
    "beta(.5, .5)": (lambda rng, n: rng.beta(0.5, 0.5, n), 0.5),
    "beta(2, 2)": (lambda rng, n: rng.beta(2, 2, n), 0.5),
    "1 / k, k up to 49": (
        lambda rng, n: 1 / rng.integers(1, 50, n),
        float(np.mean(1 / np.arange(1, 50))),
    ),
    "zeros and ones, .1": (lambda rng, n: 1.0 * (rng.random(n) < 0.1), 0.1),
    "exponential": (lambda rng, n: rng.exponential(size=n), 1.0),
    "lognormal": (lambda rng, n: rng.lognormal(size=n), float(np.exp(0.5))),
}


def _means(rows: pl.DataFrame, metrics: list[str], rng: int, **options: Any) -> pl.DataFrame:
    """Return the intervals of the means of columns."""
    return prframe.interval(rows, values=metrics, over="query", by="sample", rng=rng, **options)


def means() -> Iterator[Study]:
    """Yield studies of means of few, skewed values."""
    for name, n, method in product(VALUES, (10, 15, 30, 50, 100, 200), ("auto", "t", "hall")):
        limits = ANY if name in {"exponential", "lognormal"} else UNIT
        # Values that are called AP have the limits of AP.
        column = "AP" if limits == UNIT else "gain"
        about = (f"means, {method}", name, f"{n} queries")
        draw = partial(_of_values, name, n, column)
        true = partial(dict, {column: VALUES[name][1]})
        yield Study(*about, draw, true, _means, {"method": method}, limits=limits)


def _of_values(name: str, n: int, column: str, rng: Rng) -> pl.DataFrame:
    return pl.DataFrame({"query": np.arange(n), column: VALUES[name][0](rng, n)})


def queries() -> Iterator[Study]:
    """Yield studies of means over queries in clusters, which have half of the variance."""
    methods = {name: {"method": name, "cluster": "user"} for name in ("auto", "t", "hall")}
    methods["independent"] = {}
    every = product(methods.items(), ((4, 4), (1, 7)), (5, 8, 15, 30, 60))
    for (name, options), (least, most), number in every:
        size = f"{number} clusters of {least} to {most} queries"
        draw = partial(_of_users, number, least, most)
        true = partial(dict, {"AP": float(ndtr(0.8 / 3**0.5))})
        yield Study(f"queries, {name}", "normal", size, draw, true, _means, options)


def _of_users(number: int, least: int, most: int, rng: Rng) -> pl.DataFrame:
    user = np.repeat(np.arange(number), rng.integers(least, most, number, endpoint=True))
    values = ndtr(0.8 + rng.normal(size=number)[user] + rng.normal(size=user.size))
    return pl.DataFrame({"query": np.arange(user.size), "user": user, "AP": values})


# How often a machine finds relevant documents, and takes others for relevant.
JUDGES = {
    "good": (0.9, 0.05),
    "biased": (0.95, 0.35),
    "useless": (0.3, 0.3),
    "adversarial": (0.2, 0.8),
}
PREDICTED = ["AP", "nDCG@10", "P@10"]


def predicted() -> Iterator[Study]:
    """Yield studies of means over 1,000 queries of which few have human labels, and of these."""
    for judge, n in product(JUDGES, (20, 50, 200)):
        for kind, columns in (("both", [f"machine {one}" for one in _NAMES]), ("human", None)):
            draw = partial(_judged, judge, n, 1000 if columns else n)
            options = {"predicted": columns} if columns else {}
            about = (f"predicted, {kind}", judge, f"{n} human queries")
            yield Study(*about, draw, partial(_true_means, judge), _means, options, limits=ANY)


_NAMES = [*PREDICTED, *(f"difference of {one}" for one in PREDICTED)]


@lru_cache(1)
def _judgments(judge: str) -> pl.DataFrame:
    """Return the values of 100,000 queries by humans and by a machine."""
    rng, (n, depth), (hit, false) = np.random.default_rng(SEED), (100_000, 30), JUDGES[judge]
    quality = rng.normal(size=(n, depth))
    relevant = rng.random((n, depth)) < expit(rng.normal(size=(n, 1)) - 1 + 1.5 * quality)
    taken = rng.random((n, depth)) < np.where(relevant, hit, false)
    scores = [quality + rng.normal(0, noise, quality.shape) for noise in (1.0, 1.8)]
    found = {}
    for prefix, label in (("", relevant), ("machine ", taken)):
        one, other = (_of_queries(score, label) for score in scores)
        for name in PREDICTED:
            found[prefix + name] = one[name]
            found[f"{prefix}difference of {name}"] = one[name] - other[name]
    return pl.DataFrame(found)


def _of_queries(score: Floats, label: Floats) -> pl.DataFrame:
    query = np.repeat(np.arange(len(score)), score.shape[1])
    rows = pl.DataFrame({"query": query, "score": score.ravel(), "label": label.ravel()})
    return prframe.evaluate(rows, PREDICTED, by="query", undefined=0.0)


def _judged(judge: str, n: int, queries: int, rng: Rng) -> pl.DataFrame:
    """Draw queries, the first n of which have human values."""
    values = _judgments(judge)
    drawn = values[rng.integers(0, values.height, queries)].with_row_index("query")
    return drawn.with_columns(pl.when(pl.col("query") < n).then(pl.col(_NAMES)))


def _true_means(judge: str) -> dict[str, float]:
    return _judgments(judge).select(pl.col(_NAMES).mean()).row(0, named=True)


# Differences of two models on the same items.

THRESHOLD = 2.0
BALANCED = f"BalancedAccuracy(threshold={THRESHOLD:g})"
LAWS: dict[str, Callable[[float], Population]] = {
    "normal": binormal,
    "t(3)": lambda apart: heavy(apart, 3),
    "hard": hard,
    "five": lambda apart: binormal(apart, FIVE),
}


class Pair(NamedTuple):
    """The items, how far the classes are apart for either model, and how alike the models are."""

    n: int
    share: float
    apart: tuple[float, float]
    law: str = "normal"
    alike: float = 0.5

    @property
    def about(self) -> tuple[str, str]:
        """What the scores and the size of a sample are called."""
        apart = " and ".join(f"{one:g}" for one in self.apart)
        return f"{self.law}, {apart} apart, alike {self.alike:g}", f"{self.share:g}, {self.n}"

    @property
    def k(self) -> int:
        """The cut-off: the expected number of positives."""
        return max(1, round(self.n * self.share))

    def draw(self, rng: Rng) -> pl.DataFrame:
        """Draw labels, three of either at least, and the scores of both models."""
        label = np.zeros(self.n, dtype=np.bool_)
        while not 3 <= label.sum() <= self.n - 3:
            label = rng.random(self.n) < self.share
        common, *own = rng.normal(size=(3, self.n))
        is_hard = (rng.random(self.n) < 0.1) & ~label
        columns = {}
        for name, apart, one in zip(("score", "other"), self.apart, own, strict=True):
            noise = np.sqrt(self.alike) * common + np.sqrt(1 - self.alike) * one
            if self.law == "t(3)":
                noise = stdtrit(3, ndtr(noise))
            scores = noise + apart * label + (apart + 1) * (is_hard & (self.law == "hard"))
            if self.law == "five":
                scores = 1.0 * np.searchsorted(apart - ndtri(FIVE[:-1][::-1]), scores)
            columns[name] = scores
        return pl.DataFrame(columns | {"label": label})

    def true(self) -> dict[str, float]:
        """Return the differences of the metrics in the population."""
        one, other = map(self._values, self.apart)
        return {metric: one[metric] - other[metric] for metric in one}

    def _values(self, apart: float) -> dict[str, float]:
        population, share = LAWS[self.law](apart), self.k / self.n
        pos, neg = population.scores(np.random.default_rng(SEED), _MANY, _MANY)
        found = population.metrics(self.share, ["AP", "AUC", "AUPRC", "MaxF1"])
        return found | {
            f"P@{self.k}": float(population.recall_above(self.share, share)) * self.share / share,
            BALANCED: float(((pos >= THRESHOLD).mean() + (neg < THRESHOLD).mean()) / 2),
        }

    def curve(self, levels: Floats) -> Floats:
        """Return the difference of the curves in the population."""
        one, other = (LAWS[self.law](mu).precision(self.share, levels) for mu in self.apart)
        return one - other


PAIRS = (
    *(Pair(40, 0.5, apart) for apart in ((1, 1), (2, 1), (3, 2), (5, 4))),
    *(Pair(150, 0.1, apart) for apart in ((2, 1), (3, 2))),
    *(Pair(200, 0.1, (1.5, 1), alike=alike) for alike in (0.0, 0.5, 0.9)),
    Pair(200, 0.1, (4, 4)),
    Pair(200, 0.1, (4, 4), alike=0.98),
    *(Pair(200, 0.1, (5, 4), alike=alike) for alike in (0.5, 0.9)),
    *(Pair(200, 0.9, apart) for apart in ((1.5, 1), (3, 2), (5, 4))),
    Pair(1000, 0.05, (1, 1)),
    *(Pair(2000, 0.01, apart) for apart in ((2, 1), (3, 2), (5, 4))),
    *(Pair(2000, 0.05, apart) for apart in ((4, 4), (5, 4))),
    *(Pair(200, 0.1, (2, 1), law) for law in ("t(3)", "hard", "five")),
    *(Pair(200, 0.5, (5, 4), law) for law in ("normal", "t(3)", "five")),
    Pair(2000, 0.01, (3, 2), "t(3)"),
    Pair(200, 0.5, (3, 2), "hard"),
)


def pairs() -> Iterator[Study]:
    """Yield studies of `compare(over=None)`."""
    for pair, interval in product(PAIRS, ("auto", "percentile")):
        about, limits = (f"pairs, {interval}", *pair.about), (-1.0, 1.0)
        options = {"interval": interval}
        yield Study(*about, pair.draw, pair.true, _compared, options, 300, limits=limits)


def _compared(rows: pl.DataFrame, metrics: list[str], rng: int, interval: str) -> pl.DataFrame:
    options: dict[str, Any] = {"score": ["score", "other"], "over": None, "by": "sample"}
    options |= {"test": "bootstrap", "interval": interval, "n_resamples": 600, "rng": rng}
    return prframe.compare(rows, metrics, **options).rename({"difference": "estimate"})


# Bands. One covers if it lies nowhere above or below the curve of the population.


def _bands(
    rows: pl.DataFrame,
    metrics: list[str],
    rng: int,
    *,
    levels: Floats,
    curve: Callable[[Floats], Floats],
    n_resamples: int = 500,
    **options: Any,
) -> pl.DataFrame:
    """Return how far bands are above or below the curve, where that is farthest."""
    options |= {"by": "sample", "recall": levels.tolist(), "n_resamples": n_resamples, "rng": rng}
    if metrics[0] == "difference":
        found = prframe.compare_curves(rows, ["score", "other"], **options)
    else:
        found = prframe.band(rows, **options)
    if options.get("method") == "asymptotic":
        # Where there is no limit the band reaches to 0 and 1.
        found = found.with_columns(
            pl.col("conf_low").fill_null(0), pl.col("conf_high").fill_null(1)
        )
    low, high = pl.col("conf_low"), pl.col("conf_high")
    true = pl.DataFrame({"recall": levels, "true": curve(levels)})
    return (
        found.join(true, on="recall", maintain_order="left")
        .group_by("sample", maintain_order=True)
        .agg(
            metric=pl.lit(metrics[0]),
            conf_low=(low - pl.col("true")).max(),
            conf_high=(high - pl.col("true")).min(),
            width=(high - low).mean(),
        )
        .with_columns(estimate=pl.col("sample").cast(pl.Float64))
    )


def band(
    part: str,
    about: tuple[str, str],
    draw: Callable[[Rng], pl.DataFrame],
    metric: str,
    levels: Floats,
    curve: Callable[[Floats], Floats],
    samples: int = 300,
    key: str = "",
    **options: Any,
) -> Study:
    """Return the study of a band; the metric "difference" is that of two curves."""
    options = {"levels": levels, "curve": curve, **options}
    true = partial(dict, {metric: 0.0})
    return Study(part, *about, draw, true, _bands, options, samples, key, ANY)


BANDS: dict[str, Sizes] = {
    "1": (
        *((0.5, n) for n in (20, 40, 400, 2000)),
        *((0.1, n) for n in (200, 1000)),
        *((0.01, n) for n in (2000, 10_000, 100_000)),
    ),
    "2": ((0.1, 100), (0.01, 1000), (0.01, 5000), (0.001, 20_000), (0.001, 50_000), (0.9, 300)),
    "3": ((0.01, 2000), (0.9, 1000)),
    "beta": ((0.1, 300), (0.02, 2500)),
    "ten": ((0.1, 500), (0.01, 5000)),
    "few": ((0.01, 5000),),
    "pure": ((0.5, 60), (0.1, 200), (0.1, 600), (0.01, 5000)),
    "all but pure": ((0.1, 200),),
    # Nearly perfect rankings, or most items positive.
    "4": ((0.1, 600), (0.5, 300), (0.5, 1000), (0.8, 1000), (0.9, 2000)),
    "t(3)": ((0.9, 1000),),
    # A part of the positives is below most negatives.
    "wide": ((0.1, 180), (0.3, 60), (0.1, 1000)),
    # Precision falls steeply at a gap between the scores of positives, or at an edge.
    "third": ((0.2, 100),),
    "far": ((0.2, 100), (0.1, 1000)),
    "half": ((0.1, 1000),),
    "apart": ((0.05, 400), (0.1, 1000)),
    "little apart": ((0.1, 1000), (0.1, 5000)),
    "edge": ((0.05, 400), (0.1, 500), (0.2, 5000)),
    "half pure": ((0.1, 300), (0.05, 5000)),
    # Heavy tails.
    "t(2),Cauchy": ((0.05, 400), (0.1, 1000)),
}
METHODS: dict[str, dict[str, Any]] = {
    "default": {},
    "prior": {"prior": 0.05},
    "smoothed-bootstrap": {"method": "smoothed-bootstrap"},
    "asymptotic": {"method": "asymptotic"},
}


def bands() -> Iterator[Study]:
    """Yield studies of bands of one curve, a metric per method."""
    levels = np.linspace(0.05, 0.95, 181)
    for (key, share, n), (method, options) in product(_settings(BANDS), METHODS.items()):
        population = STUDIED[key]
        curve = partial(population.precision, options.get("prior", share))
        about = (
            "bands",
            (population.name, f"{share:g}, {n}"),
            partial(population.sample, share, n),
        )
        every = {"samples": 1000, "key": key, "n_resamples": 2000}
        yield band(*about, method, levels, curve, **every, **options)


LEVELS = (0.5, 0.7, 0.8, 0.9)


def single_levels() -> Iterator[Study]:
    """Yield studies of intervals of precision at single levels of recall."""
    keys = ("tenth", "fifth", "third", "half", "near", "far", "apart", "little apart", "wide")
    sizes = ((0.2, 100), (0.05, 400), (0.3, 100), (0.1, 1000))
    for key, (share, n), prior in product(keys, sizes, (None, 0.05)):
        population, options = STUDIED[key], {} if prior is None else {"prior": prior}
        curve = population.precision(share if prior is None else prior, np.array(LEVELS))
        names = [f"precision at {level:g}" for level in LEVELS]
        true = partial(dict, list(zip(names, curve.tolist(), strict=True)))
        size = f"{share:g}, {n}" + ("" if prior is None else f", prior {prior:g}")
        draw, about = partial(population.sample, share, n), ("single levels", population.name)
        yield Study(*about, size, draw, true, _single, options, key=key)


def _single(rows: pl.DataFrame, metrics: list[str], rng: int, **options: Any) -> pl.DataFrame:
    options |= {"by": "sample", "recall": LEVELS, "simultaneous": False, "n_resamples": 1000}
    found = prframe.band(rows, rng=rng, **options)
    names = pl.format("precision at {}", "recall").alias("metric")
    return found.with_columns(names, estimate=pl.col("precision")).filter(
        pl.col("metric").is_in(metrics)
    )


def cluster_bands() -> Iterator[Study]:
    """Yield studies of bands of items in clusters, of one curve and of the difference of two."""
    settings = (
        Clustered(30, 0.3, (1.5, 1.5)),
        Clustered(30, 0.3, (1.5, 1.5), signal=1.0),
        Clustered(30, 0.3, (1.5, 1.5), noise=0.5),
        Clustered(30, 0.3, (1.5, 1.5), signal=0.5, noise=0.2, empty=0.5),
        Clustered(30, 0.3, (1.0, 2.0), signal=0.5, noise=0.2),
        Clustered(60, 0.05, (1.5, 2.0), signal=0.5, noise=0.2),
        Clustered(30, 0.3, (4.0, 5.0), noise=0.3),
        Clustered(5, 0.3, (1.5, 1.5), signal=0.3, noise=0.3),
        Clustered(100, 0.3, (1.5, 2.0), signal=0.7, noise=0.3),
    )
    curves = {
        "curve": lambda setting, levels: setting.curves(levels)[0],
        "difference": lambda setting, levels: np.subtract(*setting.curves(levels)),
    }
    for setting, number, metric in product(settings, (3, 5, 7, 10, 20, 40), curves):
        about, curve = setting.about(number), partial(curves[metric], setting)
        levels, draw = np.linspace(0.05, 0.95, 46), partial(setting.sample, number)
        yield band("cluster bands", about, draw, metric, levels, curve, cluster="cluster")


def differences() -> Iterator[Study]:
    """Yield studies of the difference of two curves of models with correlated scores."""
    sizes = [(0.3, 200), (0.3, 1000), (0.1, 200), (0.1, 1000), (0.1, 5000), (0.01, 5000)]
    # Nearly perfect models are among them.
    settings = [
        *product(sizes, [(1.5, 1.5), (1.7, 1.5), (2.5, 1.0)]),
        *product([(0.1, 600), (0.1, 2000), (0.5, 600)], [(4.0, 4.0), (5.0, 4.0)]),
        ((0.5, 300), (4.0, 4.0)),
        ((0.02, 2000), (5.0, 4.0)),
        ((0.5, 600), (4.0, 2.0)),
        ((0.9, 1000), (4.0, 4.0)),
    ]
    for ((share, n), apart), alike in product(settings, (0.0, 0.5, 0.9, 0.99)):
        pair, levels = Pair(n, share, apart, alike=alike), np.linspace(0.05, 0.95, 91)
        about = ("differences", pair.about, pair.draw, "difference", levels, pair.curve)
        yield band(*about, n_resamples=1000)


class Queries(NamedTuple):
    """How queries are drawn that two models rank.

    Beside one positive there are `positives` more on average. How far they stand apart is normal
    with the deviation `spread`, the difference between models with `differs`; half of these
    variances is that between clusters.
    """

    items: int
    positives: float
    apart: float
    spread: float
    better: float
    differs: float = 0.0

    def draw(self, clusters: int, sizes: tuple[int, int], rng: Rng) -> pl.DataFrame:
        """Draw so many clusters of queries, each of a size between two."""
        user = np.repeat(np.arange(clusters), rng.integers(*sizes, clusters, endpoint=True))

        def deviates() -> Floats:
            return (rng.normal(size=clusters)[user] + rng.normal(size=user.size)) / 2**0.5

        label = np.arange(self.items) < 1 + rng.poisson(self.positives, user.size)[:, None]
        apart = self.apart + self.spread * deviates()
        common, scores = rng.normal(size=label.shape), {}
        for name, better in (("score", 0.0), ("other", self.better)):
            mean = apart + better + self.differs * deviates()
            noise = (common + rng.normal(size=common.shape)) / 2**0.5
            scores[name] = (noise + mean[:, None] * label).ravel()
        query = np.repeat(np.arange(user.size), self.items)
        return pl.DataFrame(
            {"query": query, "user": user[query], **scores, "label": label.ravel()}
        )


@lru_cache
def _mean_curves(setting: Queries, levels: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Return the mean curves of both models in the population."""
    rows = setting.draw(8000, (1, 1), np.random.default_rng(SEED))
    one, other = (
        prframe.curve(rows, name, over="query", recall=levels)["precision"].to_numpy()
        for name in ("score", "other")
    )
    return one, other


def _mean_curve(setting: Queries, metric: str, levels: Floats) -> Floats:
    one, other = _mean_curves(setting, tuple(levels.tolist()))
    return one - other if metric == "difference" else one


def mean_curve(
    setting: Queries, number: int, sizes: tuple[int, int], metric: str, cluster: str | None
) -> Study:
    """Return the study of a band of a mean curve over queries in clusters."""
    size = f"{number} queries" if sizes == (1, 1) else f"{number} clusters of {sizes} queries"
    scores = (
        f"1 + {setting.positives:g} of {setting.items}, {setting.apart:g} ({setting.spread:g})"
    )
    curve = partial(_mean_curve, setting, metric)
    levels = np.arange(101) / 100 if cluster is None else np.arange(1, 11) / 10
    about = (f"{scores} apart, {setting.better:g} better", size)
    draw = partial(setting.draw, number, sizes)
    options = {"over": "query", "cluster": cluster, "samples": 600, "n_resamples": 499}
    part = "mean curves" if cluster is None else "clustered curves"
    return band(part, about, draw, metric, levels, curve, **options)


OF_USERS = Queries(30, 4, 1.4, 0.7, 0.0, 0.5)


def mean_curves() -> Iterator[Study]:
    """Yield studies of bands of mean curves over queries, and of their differences."""
    settings = (Queries(200, 8, 2.0, 0.8, 0.0), Queries(200, 8, 2.0, 0.8, 0.4))
    settings += (Queries(200, 8, 0.7, 0.4, 0.2), Queries(200, 1, 2.0, 0.8, 0.2))
    for setting, number, metric in product(settings, (10, 20, 50, 200), ("curve", "difference")):
        yield mean_curve(setting, number, (1, 1), metric, None)


PARTS: dict[str, Callable[[], Iterator[Study]]] = {
    **{part: partial(rankings, part) for part in RANKINGS},
    "ranks": ranks,
    "clusters": clusters,
    "priors": priors,
    "best threshold": best_threshold,
    "means": means,
    "queries": queries,
    "predicted": predicted,
    "pairs": pairs,
    "bands": bands,
    "single levels": single_levels,
    "cluster bands": cluster_bands,
    "differences": differences,
    "mean curves": mean_curves,
}
