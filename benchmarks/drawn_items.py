"""``python -m benchmarks.drawn_items``: intervals of means where queries and items are drawn.

``--quick`` takes fewer samples, to see that it runs.
"""

import argparse
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.data import SEED
from benchmarks.report import table
from prframe.stats import AveragePrecision, CellStatistic, RocArea
from prframe.stats.intervals import Confidence, mean_interval
from prframe.stats.intervals.shared_items import influence_of_few, shared_item_variance
from prframe.stats.rankings import cells_from_scores
from prframe.typing import Flags, Floats

TITLE = """## drawn-items

95 % intervals of a mean over queries, where new queries and as many new items are meant: the share \
of {samples:,} samples whose interval covers the mean over the population of both. The normal score \
of an item is {apart:g} above the others where it is positive, more or less by query (standard \
deviation {spread:g}); a fifth of the items is. *Own*: every query has items of its own. *Shared*: \
all rank the same items, some of which stand above others for every query (standard deviation .5 or \
1). *Over queries*: the variance between queries alone. *Two levels*: items are drawn again within \
drawn queries, which adds the variance within queries. *Both*: shared items are drawn for all queries \
at once, and the variances of both draws are added, as in the pigeonhole bootstrap at least. *Drawn*: \
resampling="items", which adds to the variance between queries what shared items have in common. *Difference* is that of AP of two models \
that are alike, items standing above others for each in its own way: 1 less the coverage is how often \
the test rejects. In brackets the mean width over that \
which has the right level. Ends by the logit of the mean, of the difference by the mean, and Student's quantiles.
"""
APART, SPREAD, SHARE = 1.5, 0.5, 0.2
QUERIES, ITEMS, SHARED = (15, 50, 200), (20, 100, 1000), (None, 0.5, 1.0)
VARIANTS = ("over queries", "two levels", "both", "drawn")
UNIT = Confidence(limits=(0.0, 1.0))
METRICS: dict[str, CellStatistic] = {"AP": AveragePrecision(), "AUC": RocArea()}
DIFFERENCE = "AP, difference"


class Design(NamedTuple):
    """Numbers of queries and items, and how far shared items differ; None if none is shared."""

    queries: int
    items: int
    shared: float | None


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drawn_items", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--samples", type=int, default=400, help="samples of each setting")
    parser.add_argument("--queries", type=int, nargs="+", default=QUERIES)
    parser.add_argument("--items", type=int, nargs="+", default=ITEMS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    samples = 10 if options.quick else options.samples
    print(TITLE.format(samples=samples, apart=APART, spread=SPREAD), flush=True)
    header = ["metric", "items", "n items", "queries", *VARIANTS]
    print(table(header, []), end="", flush=True)
    for n_items in options.items:
        for shared in SHARED:
            for n_queries in options.queries:
                for row in study(Design(n_queries, n_items, shared), samples):
                    print(f"| {' | '.join(row)} |", flush=True)


def study(design: Design, samples: int) -> Iterator[list[str]]:
    """Yield a row per metric."""
    rng = np.random.default_rng([SEED, design.queries, design.items])
    drawn = [variances(design, rng) for _ in range(samples)]
    means = np.append(truth(design), 0.0)
    kind = "own" if design.shared is None else f"shared, {design.shared:g}"
    for place, name in enumerate([*METRICS, DIFFERENCE]):
        method = "t" if name == DIFFERENCE else "logit"
        ends = np.array(
            [[mean_ends(*sample[place], i, method) for i in range(4)] for sample in drawn]
        )
        covers = ((ends[..., 0] <= means[place]) & (means[place] <= ends[..., 1])).mean(axis=0)
        widths = (ends[..., 1] - ends[..., 0]).mean(axis=0)
        estimates = np.array([sample[place][0].mean() for sample in drawn])
        right = 2 * 1.96 * estimates.std()
        about = [name, kind, str(design.items), str(design.queries)]
        yield [
            *about,
            *(f"{c:.3f} ({w / right:.2f})" for c, w in zip(covers, widths, strict=True)),
        ]


def _ranked(
    design: Design, rng: np.random.Generator, models: int = 1
) -> tuple[Flags, list[Floats]]:
    """Draw the labels of all queries, a row each, and the scores of each model."""
    shape = (design.queries, design.items)
    label = rng.random(shape) < SHARE
    label[:, 0] |= ~label.any(axis=1)
    label[:, 1] &= ~label.all(axis=1)
    apart = rng.normal(APART, SPREAD, (design.queries, 1))
    deviation = design.shared or 0.0
    rows = 1 if design.shared is not None else design.queries
    scores = [
        apart * label + deviation * rng.normal(size=(rows, design.items)) + rng.normal(size=shape)
        for _ in range(models)
    ]
    return label, scores


def variances(design: Design, rng: np.random.Generator) -> list[tuple[Floats, Floats]]:
    """Return for each metric the values of the queries, and what each variant adds to variances.

    That is a part of the variance of the mean.
    """
    labels, (first, second) = _ranked(design, rng, models=2)
    n, m = design.queries, design.items
    values, influence = np.zeros((3, n)), np.zeros((n, m, 3))
    for q, label in enumerate(labels):
        pairs = [_measured(metric, first[q], label) for metric in METRICS.values()]
        other = _measured(METRICS["AP"], second[q], label)
        pairs.append((pairs[0][0] - other[0], pairs[0][1] - other[1]))
        for place, (value, of_items) in enumerate(pairs):
            values[place, q], influence[q, :, place] = value, of_items
    rows = influence.reshape(-1, 3)
    query = np.repeat(np.arange(n), m)
    item = np.tile(np.arange(m), n) if design.shared is not None else np.arange(n * m)
    shared = shared_item_variance(query, item, rows)
    within = (rows**2).sum(axis=0) / n**2
    return [
        (values[i], np.array([0.0, within[i], within[i] + shared[i], shared[i]])) for i in range(3)
    ]


def _measured(metric: CellStatistic, score: Floats, label: Flags) -> tuple[float, Floats]:
    """Return a metric of a ranking and the influence of its items."""
    cells, cell = cells_from_scores(score, label)
    of_class = influence_of_few(cells, metric)
    return metric.value(cells), np.where(label, of_class.pos[cell], of_class.neg[cell])


def mean_ends(values: Floats, added: Floats, variant: int, method: str) -> tuple[float, float]:
    """Return the interval of a variant."""
    between = values.var(ddof=1) / values.size
    ratio = float(added[variant] / between / values.size)
    confidence = UNIT if method == "logit" else Confidence()
    interval = mean_interval(values, method, confidence, test_train_ratio=ratio)
    return interval.low, interval.high


def truth(design: Design) -> Floats:
    """Return the mean of each metric over the population of queries and items."""
    rng = np.random.default_rng([SEED, design.items])
    # Each ranking stands alone: sharing changes no mean, and so items are drawn for each query.
    own = Design(200, design.items, None)
    means = []
    for _ in range(max(20, 40_000 // design.items)):
        label, (score,) = _ranked(own, rng)
        if design.shared:
            score = score + design.shared * rng.normal(size=score.shape)
        means.append(_values(label, score).mean(axis=1))
    return np.asarray(np.mean(means, axis=0))


def _values(label: Flags, score: Floats) -> Floats:
    """Return AP and AUC of each row, by their definitions."""
    order = np.argsort(-score, axis=1)
    positive = np.take_along_axis(label, order, axis=1)
    hits, rank = positive.cumsum(axis=1), np.arange(1, score.shape[1] + 1)
    n_pos = hits[:, -1]
    ap = (hits / rank * positive).sum(axis=1) / n_pos
    n_neg = score.shape[1] - n_pos
    above = ((rank - hits) * positive).sum(axis=1)
    return np.stack([ap, 1 - above / (n_pos * n_neg)])


if __name__ == "__main__":
    main()
