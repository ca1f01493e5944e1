"""Coverage of what verbs return, in declared settings; `benchmarks.default_coverage` runs them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.special import ndtr, ndtri, stdtrit
from scipy.stats import poisson

import prframe
from benchmarks.coverage import Row, Task, of_band
from benchmarks.data import SEED
from benchmarks.populations import (
    POPULATIONS,
    Clustered,
    Population,
    binormal,
    edge,
    hard,
    heavy,
)
from prframe.typing import Flags, Floats

# So many samples share the draws of one call, which bounds what their noise does to the coverage.
SHARED = 20
UNIT, ANY = (0.0, 1.0), (-np.inf, np.inf)
Draw = Callable[[np.random.Generator], pl.DataFrame]
Found = Callable[..., pl.DataFrame]


@dataclass(frozen=True)
class Study:
    """Samples as frames, a verb that finds intervals of them, and the values to cover."""

    part: str
    scores: str
    size: str
    draw: Draw
    true: Callable[[], dict[str, float]]
    samples: int
    verb: Found = prframe.interval
    estimate: str = "estimate"
    limits: tuple[float, float] = UNIT
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self) -> list[Row]:
        """Return a row per metric."""
        parts = []
        for first in range(0, self.samples, SHARED):
            numbers = range(first, min(first + SHARED, self.samples))
            frames = [
                self.draw(np.random.default_rng([SEED, *self.size.encode(), i])).with_columns(
                    sample=pl.lit(i)
                )
                for i in numbers
            ]
            parts.append(self.verb(pl.concat(frames), by="sample", rng=first, **self.options))
        found, columns = pl.concat(parts), [self.estimate, "conf_low", "conf_high"]
        rows = []
        for metric, value in self.true().items():
            of_metric = found.filter(metric=metric).drop_nulls("conf_low").select(columns)
            if not of_metric.is_empty():
                about = (self.part, metric, self.scores, self.size)
                rows.append(Row(*about, value, self.limits, of_metric.to_numpy()))
        return rows


# Rows in clusters.

CLUSTERED = (
    Clustered(30, 0.3, (1.5, 1.5), noise=0.5),
    Clustered(30, 0.3, (1.5, 1.5), signal=1.0),
    Clustered(60, 0.05, (1.5, 1.5), signal=0.5, noise=0.2),
)
CLUSTERS = (3, 5, 8, 12, 20, 30, 40, 60, 100)
VERY_MANY = 40_000
METRICS = ["AP", "AUC", "AUPRC", "AUPRG", "pAUC(max_fpr=0.1)", "R(at_precision=0.5)", "MaxF1"]
METRICS += ["P(threshold=1)", "R(threshold=1)", "BEDROC"]


def clusters(only: Sequence[str] | None, samples: int) -> Iterator[Task]:
    """Yield studies of metrics of rows in few clusters; the value is that of very many."""
    del only
    for setting, number in product(CLUSTERED, CLUSTERS):
        draw = partial(_clustered, setting, number)
        true = partial(_of_very_many, setting)
        options = {"metrics": METRICS, "cluster": "cluster", "n_resamples": 600}
        yield Study("clusters", *setting.about(number), draw, true, samples, options=options)


def _clustered(setting: Clustered, number: int, rng: np.random.Generator) -> pl.DataFrame:
    (score, _), positive, cluster = setting.sample(number, rng)
    return pl.DataFrame({"score": score, "label": positive, "cluster": cluster})


def _of_very_many(setting: Clustered) -> dict[str, float]:
    rows = _clustered(setting, VERY_MANY, np.random.default_rng(SEED))
    return prframe.evaluate(rows, METRICS).row(0, named=True)


# Priors by which a negative counts often.

PRIORS = (
    *(("normal", 400, 0.5, prior) for prior in (0.5, 0.25, 0.125, 0.05, 0.02)),
    *(("normal", 400, 0.2, prior) for prior in (0.1, 0.05, 0.02, 0.008)),
    *(("counts", n, 0.3, prior) for n in (60, 300, 2000) for prior in (0.1, 0.01)),
)


def priors(only: Sequence[str] | None, samples: int) -> Iterator[Task]:
    """Yield studies of `interval(prior=)`, of normal scores 1.5 apart and of Poisson counts."""
    del only
    for kind, n, share, prior in PRIORS:
        draw, true = partial(_at_share, kind, n, share), partial(_at_prior, kind, prior)
        options = {"metrics": ["AP", "MaxF1"], "prior": prior}
        size = f"{share:g}, {n}, prior {prior:g}"
        yield Study("priors", kind, size, draw, true, samples, options=options)


def _at_share(kind: str, n: int, share: float, rng: np.random.Generator) -> pl.DataFrame:
    label = rng.random(n) < share
    score = rng.normal(1.5 * label) if kind == "normal" else rng.poisson(1 + 3 * label)
    return pl.DataFrame({"score": score.astype(np.float64), "label": label})


def _at_prior(kind: str, prior: float) -> dict[str, float]:
    if kind == "normal":
        score = np.linspace(10, -8, 200_001)
        recall, false = ndtr(1.5 - score), ndtr(-score)
    else:
        level = np.arange(60, -1, -1)
        recall, false = poisson.sf(level - 1, 4), poisson.sf(level - 1, 1)
    above, steps = prior * recall + (1 - prior) * false, np.diff(recall, prepend=0.0)
    f1 = 2 * prior * recall / (above + prior)
    return {"AP": float(steps @ (prior * recall / above)), "MaxF1": float(f1.max())}


# Means of skewed values, and of queries in clusters.

VALUES: dict[str, tuple[Callable[[np.random.Generator, int], Floats], float]] = {
    "beta(.2, 2)": (lambda rng, n: rng.beta(0.2, 2, n), 0.2 / 2.2),
    "beta(2, .2)": (lambda rng, n: rng.beta(2, 0.2, n), 2 / 2.2),
    "beta(.5, .5)": (lambda rng, n: rng.beta(0.5, 0.5, n), 0.5),
    "1 / k, k up to 49": (
        lambda rng, n: 1 / rng.integers(1, 50, n),
        float(np.mean(1 / np.arange(1, 50))),
    ),
    "zeros and ones, .1": (lambda rng, n: 1.0 * (rng.random(n) < 0.1), 0.1),
    "exponential": (lambda rng, n: rng.exponential(size=n), 1.0),
    "lognormal": (lambda rng, n: rng.lognormal(size=n), float(np.exp(0.5))),
}
_SHIFT = 0.8


def skewed(only: Sequence[str] | None, samples: int) -> Iterator[Task]:
    """Yield studies of means of few, skewed values."""
    del only
    for name, n, method in product(VALUES, (10, 15, 30, 50, 100), ("auto", "hall")):
        limits = ANY if name in {"exponential", "lognormal"} else UNIT
        # Values that are called AP have the limits of AP.
        column = "AP" if limits == UNIT else "gain"
        options = {"values": column, "over": "query", "method": method}
        about = (f"skewed, {method}", name, f"{n} queries")
        draw = partial(_of_values, name, n, column)
        true = partial(_named, column, VALUES[name][1])
        yield Study(*about, draw, true, samples, limits=limits, options=options)


def _of_values(name: str, n: int, column: str, rng: np.random.Generator) -> pl.DataFrame:
    return pl.DataFrame({"query": np.arange(n), column: VALUES[name][0](rng, n)})


def _named(column: str, mean: float) -> dict[str, float]:
    return {column: mean}


def queries(only: Sequence[str] | None, samples: int) -> Iterator[Task]:
    """Yield studies of means over queries in clusters, which have half of the variance."""
    del only
    for (least, most), number in product(((4, 4), (1, 7)), (5, 8, 15, 30, 60)):
        options = {"values": "AP", "over": "query", "cluster": "user"}
        size = f"{number} clusters of {least} to {most} queries"
        draw = partial(_of_users, number, least, most)
        true = partial(_named, "AP", float(ndtr(_SHIFT / 3**0.5)))
        yield Study("queries", "normal", size, draw, true, samples, options=options)


def _of_users(number: int, least: int, most: int, rng: np.random.Generator) -> pl.DataFrame:
    user = np.repeat(np.arange(number), rng.integers(least, most, number, endpoint=True))
    values = ndtr(_SHIFT + rng.normal(size=number)[user] + rng.normal(size=user.size))
    return pl.DataFrame({"query": np.arange(user.size), "user": user, "AP": values})


# Means over new queries and new items.


class Design(NamedTuple):
    """Numbers of queries and items, and how far shared items differ; None if none is shared."""

    queries: int
    items: int
    shared: float | None


def items(only: Sequence[str] | None, samples: int) -> Iterator[Task]:
    """Yield studies of means over queries that rank items of their own, or the same items."""
    del only
    for shared, number in product((None, 0.5, 1.0), (15, 50)):
        design = Design(number, 100, shared)
        about = "own items" if shared is None else f"shared items, {shared:g}"
        options = {"metrics": ["AP", "AUC"], "over": "query", "item": "item"}
        options |= {"resampling": "items"}
        draw, true = partial(_ranked, design), partial(_over_queries, design)
        size = f"{number} queries of 100 items"
        yield Study("items", about, size, draw, true, min(samples, 400), options=options)


def _ranked(design: Design, rng: np.random.Generator) -> pl.DataFrame:
    """Draw rankings: positives, a fifth, are about 1.5 above the others."""
    n, m, shape = design.queries, design.items, (design.queries, design.items)
    label = rng.random(shape) < 0.2
    label[:, 0] |= ~label.any(axis=1)
    rows = n if design.shared is None else 1
    common = (design.shared or 0.0) * rng.normal(size=(rows, m))
    score = rng.normal(1.5, 0.5, (n, 1)) * label + common + rng.normal(size=shape)
    item = np.arange(n * m) if design.shared is None else np.tile(np.arange(m), n)
    columns = {"score": score.ravel(), "label": label.ravel(), "item": item}
    return pl.DataFrame(columns | {"query": np.repeat(np.arange(n), m)})


def _over_queries(design: Design) -> dict[str, float]:
    """Return the means over the population; sharing changes none, and so queries share nothing."""
    rng = np.random.default_rng(SEED)
    rows = _ranked(Design(20_000, design.items, None), rng)
    common = (design.shared or 0.0) * rng.normal(size=rows.height)
    means = prframe.evaluate(
        rows.with_columns(pl.col("score") + common), ["AP", "AUC"], over="query"
    )
    return dict(zip(means["metric"], means["mean"], strict=True))


# The threshold of MaxF1.

EDGES = {
    "a small edge": edge(0.05, 0.5),
    "two edges alike": edge(0.1, 0.3),
    "half pure, even": edge(0.0, 0.5),
}
KEYS = ("1", "2", "3", "t(3)", "hard", "wide", "ten", "few", "five", "pure", "third pure")
KEYS += ("half pure", "all but pure", "edge")
BESTS = {key: POPULATIONS[key] for key in KEYS} | EDGES
SIZES = ((0.5, 40), (0.3, 100), (0.1, 200), (0.3, 300), (0.5, 400), (0.1, 2000), (0.02, 2000))
_MANY = 2_000_000


def thresholds(only: Sequence[str] | None, samples: int) -> Iterator[Task]:
    """Yield studies of the threshold at which F1 is largest."""
    for key, size in product(BESTS, SIZES):
        if only is None or key in only:
            yield partial(_of_thresholds, key, *size, samples)


def _of_thresholds(key: str, prevalence: float, n: int, samples: int) -> list[Row]:
    """Return the row of one setting; an interval covers if it holds any of the best thresholds."""
    population = BESTS[key]
    frames = [_sample(population, prevalence, n, i) for i in range(samples)]
    found = prframe.interval(pl.concat(frames), "MaxF1", by="sample", rng=1)
    found = found.filter(metric="MaxF1 threshold").drop_nulls("conf_low")
    low, high = (found[end].to_numpy() for end in ("conf_low", "conf_high"))
    best = best_thresholds(population, prevalence)
    too_high = np.min([low - most for _, most in best], axis=0)
    too_low = np.max([high - least for least, _ in best], axis=0)
    ends = np.column_stack([found["estimate"].to_numpy(), too_high, too_low])
    about = ("best threshold", "MaxF1 threshold", population.name, f"{prevalence:g}, {n}")
    return [Row(*about, 0.0, ANY, ends, float(np.median(high - low)))]


def _sample(population: Population, prevalence: float, n: int, i: int) -> pl.DataFrame:
    rng = np.random.default_rng([SEED, n, i])
    n_pos = int((rng.random(n) < prevalence).sum())
    score = np.concatenate(population.scores(rng, n_pos, n - n_pos))
    return pl.DataFrame({"score": score, "label": np.arange(n) < n_pos, "sample": i})


def best_thresholds(population: Population, prevalence: float) -> list[tuple[float, float]]:
    """Return between which values the best thresholds of the population are.

    The end of a pure top and all items are among them if nothing is better by a thousandth.
    """
    rng = np.random.default_rng(SEED)
    pos, neg = (np.sort(some) for some in population.scores(rng, _MANY, _MANY))
    cuts = np.append(-np.inf, np.unique(pos))
    recall, false = (1 - np.searchsorted(some, cuts) / _MANY for some in (pos, neg))
    f1 = 2 * prevalence * recall / (prevalence * (recall + 1) + (1 - prevalence) * false)
    ends = {int(np.argmax(f1)), 0, min(int(np.argmin(false > 0)), f1.size - 1)}
    found = []
    for end in ends:
        if f1[end] >= 0.999 * f1.max():
            least = most = float(cuts[end])
            if end and not population.levels:
                below = [some[max(0, np.searchsorted(some, most) - 1)] for some in (pos, neg)]
                least = float(max(below))
            found.append((least, most))
    return found


# Differences of two models on the same items.

_FIVE = (0.1, 0.3, 0.6, 0.85, 1.0)
LAWS: dict[str, Callable[[float], Population]] = {
    "normal": binormal,
    "t(3)": lambda apart: heavy(apart, 3),
    "hard": hard,
    "five": lambda apart: binormal(apart, _FIVE),
}
THRESHOLD = 2.0
BALANCED = f"BalancedAccuracy(threshold={THRESHOLD})"


class Pair(NamedTuple):
    """The items, how far the classes are apart for either model, and how alike the models are."""

    n: int
    share: float
    apart: tuple[float, float]
    law: str = "normal"
    alike: float = 0.5

    def draw(self, rng: np.random.Generator) -> pl.DataFrame:
        """Draw labels, two of either at least, and the scores of both models."""
        label = np.zeros(self.n, dtype=np.bool_)
        while not 2 <= label.sum() <= self.n - 2:
            label = rng.random(self.n) < self.share
        common, *own = rng.normal(size=(3, self.n))
        is_hard = rng.random(self.n) < 0.1
        noise = [np.sqrt(self.alike) * common + np.sqrt(1 - self.alike) * one for one in own]
        old, new = (
            self._scores(*of_model, label, is_hard)
            for of_model in zip(self.apart, noise, strict=True)
        )
        return pl.DataFrame({"old": old, "new": new, "label": label})

    def _scores(self, apart: float, noise: Floats, label: Flags, is_hard: Flags) -> Floats:
        if self.law == "t(3)":
            noise = np.asarray(stdtrit(3, ndtr(noise)))
        scores = noise + apart * label
        if self.law == "hard":
            scores += (apart + 1) * (is_hard & ~label)
        if self.law == "five":
            return np.searchsorted(apart - ndtri(_FIVE[:-1][::-1]), scores).astype(np.float64)
        return np.asarray(scores)

    def true(self) -> dict[str, float]:
        """Return the differences of the metrics in the population."""
        old, new = (self._values(apart) for apart in self.apart)
        return {metric: old[metric] - new[metric] for metric in old}

    def _values(self, apart: float) -> dict[str, float]:
        population, k = LAWS[self.law](apart), max(1, round(self.n * self.share))
        values = population.metrics(self.share, k / self.n, 0.5)
        pos, neg = population.scores(np.random.default_rng(SEED), _MANY, _MANY)
        balanced = float(((pos >= THRESHOLD).mean() + (neg < THRESHOLD).mean()) / 2)
        known = {metric: values[metric] for metric in ("AP", "AUC", "AUPRC", "MaxF1")}
        return known | {f"P@{k}": values["P@k"], BALANCED: balanced}


PAIRS = (
    *(Pair(40, 0.5, apart) for apart in ((1, 1), (2, 1), (3, 2), (5, 4))),
    *(Pair(150, 0.1, apart) for apart in ((2, 1), (3, 2))),
    *(Pair(200, 0.1, (1.5, 1), alike=alike) for alike in (0.0, 0.5, 0.9)),
    Pair(200, 0.1, (4, 4)),
    Pair(200, 0.1, (4, 4), alike=0.98),
    *(Pair(200, 0.1, (5, 4), alike=alike) for alike in (0.5, 0.9)),
    Pair(200, 0.5, (5, 4)),
    *(Pair(200, 0.9, apart) for apart in ((1.5, 1), (3, 2), (5, 4))),
    Pair(1000, 0.05, (1, 1)),
    *(Pair(2000, 0.01, apart) for apart in ((2, 1), (3, 2), (5, 4))),
    *(Pair(2000, 0.05, apart) for apart in ((4, 4), (5, 4))),
    Pair(200, 0.1, (2, 1), "t(3)"),
    Pair(200, 0.5, (5, 4), "t(3)"),
    Pair(2000, 0.01, (3, 2), "t(3)"),
    Pair(200, 0.1, (2, 1), "hard"),
    Pair(200, 0.5, (3, 2), "hard"),
    Pair(200, 0.1, (2, 1), "five"),
    Pair(200, 0.5, (5, 4), "five"),
)


def pairs(only: Sequence[str] | None, samples: int) -> Iterator[Task]:
    """Yield studies of `compare(over=None)`."""
    del only
    for pair in PAIRS:
        k = max(1, round(pair.n * pair.share))
        options: dict[str, Any] = {"score": ["old", "new"], "over": None, "test": "bootstrap"}
        options |= {"metrics": ["AP", "AUC", "AUPRC", "MaxF1", f"P@{k}", BALANCED]}
        options |= {"n_resamples": 600}
        apart = " and ".join(f"{one:g}" for one in pair.apart)
        about = (f"{pair.law}, {apart} apart, alike {pair.alike:g}", f"{pair.share:g}, {pair.n}")
        yield Study(
            "pairs",
            *about,
            pair.draw,
            pair.true,
            samples,
            prframe.compare,
            "difference",
            (-1.0, 1.0),
            options,
        )


# Mean curves of queries in clusters.

LEVELS = [i / 10 for i in range(1, 11)]
ITEMS, POSITIVES = 30, 5


class CurveShares(NamedTuple):
    """Bands of mean curves, of differences of these, and how often a test rejects."""

    curve: Row
    difference: Row
    rejected: float


def curves(only: Sequence[str] | None, samples: int) -> Iterator[Task]:
    """Yield studies of `band(over=, cluster=)` and of `compare_curves(over=, cluster=)`."""
    del only
    for sizes, number in product(((4, 4), (1, 7)), (5, 15, 30)):
        yield partial(_of_curves, number, sizes, samples)


def _of_curves(number: int, sizes: tuple[int, int], samples: int) -> list[Row]:
    true = mean_curve(np.random.default_rng(SEED))
    rows = drawn_queries(np.random.default_rng([SEED, number]), samples, number, sizes)
    size = f"{number} clusters of {sizes[0]} to {sizes[1]} queries"
    return list(curve_shares(rows, true, "user", size)[:2])


def drawn_queries(
    rng: np.random.Generator, samples: int, clusters: int, sizes: tuple[int, int]
) -> pl.DataFrame:
    """Return the rows of all queries of each user of each sample, scored by models a and b.

    How far positives stand apart, and how much the models differ in that, is normal, with half of
    the variance between users.
    """
    numbers = rng.integers(*sizes, samples * clusters, endpoint=True)
    user = np.repeat(np.arange(numbers.size), numbers)

    def deviates() -> Floats:
        of_user = rng.normal(size=numbers.size)[user]
        return np.asarray((of_user + rng.normal(size=user.size)) / 2**0.5)

    label = np.arange(ITEMS) < POSITIVES
    common, apart = rng.normal(size=(user.size, ITEMS)), 2.0 + deviates()
    scores = {
        model: common + rng.normal(size=common.shape) + (apart + 0.7 * deviates())[:, None] * label
        for model in "ab"
    }
    keys = {"sample": user // clusters, "user": user, "query": np.arange(user.size)}
    of_items = {name: np.repeat(key, ITEMS) for name, key in keys.items()}
    of_models = {model: score.ravel() for model, score in scores.items()}
    return pl.DataFrame({**of_items, **of_models, "label": np.tile(label, user.size)})


def mean_curve(rng: np.random.Generator) -> Floats:
    """Return the mean curve of the population, from independent queries."""
    rows = drawn_queries(rng, 1, 30_000, (1, 1))
    return prframe.curve(rows, "a", over="query", recall=LEVELS)["precision"].to_numpy()


def curve_shares(
    rows: pl.DataFrame, true: Floats, cluster: str | None, size: str = ""
) -> CurveShares:
    """Return how bands of the samples cover, and how often models are significantly different."""
    options: dict[str, Any] = {"by": "sample", "over": "query", "cluster": cluster}
    options |= {"recall": LEVELS, "n_resamples": 499, "rng": 1}
    bands = prframe.band(rows, "a", **options)
    compared = prframe.compare_curves(rows, ["a", "b"], **options)
    p_values = compared.group_by("sample").agg(pl.col("p_value").first())["p_value"]
    rejected = float((p_values <= 0.05).to_numpy().mean())
    difference = _of_bands("difference", size, compared, np.zeros_like(true))
    return CurveShares(_of_bands("curve", size, bands, true), difference, rejected)


def _of_bands(metric: str, size: str, bands: pl.DataFrame, true: Floats) -> Row:
    low, high = (bands[end].to_numpy().reshape(-1, true.size) for end in ("conf_low", "conf_high"))
    return of_band(("clustered curves", metric, "normal", size), low, high, true)


PARTS = {
    "clusters": clusters,
    "priors": priors,
    "skewed": skewed,
    "queries": queries,
    "items": items,
    "best threshold": thresholds,
    "pairs": pairs,
    "clustered curves": curves,
}
