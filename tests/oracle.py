"""Naive definitions of every metric, in plain Python; slow and obvious on purpose.

A group is a list of `Item`. The position metrics are averaged over every order of the tied items,
one permutation after the other; the threshold metrics walk down the distinct scores.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, permutations, product
from math import inf, log2
from statistics import fmean
from typing import NamedTuple


class Item(NamedTuple):
    """One row of a group."""

    score: float
    label: float
    weight: float = 1.0


class Group(NamedTuple):
    """The rows of a group with what may be known beyond them."""

    items: Sequence[Item]
    ties: str = "group"
    positive: float | None = None
    n_pos: int | None = None
    n_neg: int | None = None
    include_unretrieved: bool = False
    prior: float | None = None
    interpolate: bool = False

    def is_positive(self, item: Item) -> bool:
        return item.label > 0 if self.positive is None else item.label >= self.positive

    def total(self, *, positive: bool) -> float:
        given = self.n_pos if positive else self.n_neg
        if given is not None:
            return given
        return sum(item.weight for item in self.items if self.is_positive(item) is positive)

    def blocks(self) -> list[list[Item]]:
        """Return the retrieved items best first, tied ones together (one by one in "order")."""
        shown = [item for item in self.items if self.include_unretrieved or item.score > -inf]
        ranked = sorted(shown, key=lambda item: -item.score)
        if self.ties == "order":
            return [[item] for item in ranked]
        scores = sorted({item.score for item in ranked}, reverse=True)
        return [[item for item in ranked if item.score == score] for score in scores]

    def orders(self) -> Iterator[list[Item]]:
        """Yield every ranking that the ties allow."""
        for chosen in product(*(permutations(block) for block in self.blocks())):
            yield [item for block in chosen for item in block]

    def precision(self, tp: float, fp: float) -> float:
        if self.prior is None:
            return tp / (tp + fp)
        if not (tp and fp):
            return float(not fp)
        true = tp * self.prior / self.total(positive=True)
        false = fp * (1 - self.prior) / self.total(positive=False)
        return true / (true + false)

    def points(self) -> list[tuple[float, float, float]]:
        """Return (tp, fp, precision) after each threshold, from the opening point on."""
        tp = fp = 0.0
        points = [(0.0, 0.0, 1.0)]
        for block in self.blocks():
            tp += sum(item.weight for item in block if self.is_positive(item))
            fp += sum(item.weight for item in block if not self.is_positive(item))
            points.append((tp, fp, self.precision(tp, fp)))
        if self.interpolate:
            points = [
                (tp, fp, max(p for _, _, p in points[i:])) for i, (tp, fp, _) in enumerate(points)
            ]
        return points


def average_precision(group: Group, k: int | None) -> float:
    n_pos = group.total(positive=True)
    if k is None:
        points = group.points()
        steps = pairwise(points)
        return sum((tp - before) * p for (before, _, _), (tp, _, p) in steps) / n_pos
    total = tp = rank = 0.0
    for block in group.blocks():
        size, hits = len(block), sum(group.is_positive(item) for item in block)
        inside = min(max(k - rank, 0), size)
        if inside:
            top = tp + hits * inside / size
            total += hits * inside / size * group.precision(top, rank + inside - top)
        rank, tp = rank + size, tp + hits
    return total / n_pos


def trapezoid(group: Group, _: int | None) -> float:
    points = group.points()
    if group.interpolate:
        return average_precision(group, None)
    area = 0.0
    for (before, _, p), (tp, _, q) in pairwise(points):
        area += (tp - before) * (p + q) / 2
    return area / group.total(positive=True)


def eleven_points(group: Group, _: int | None) -> float:
    n_pos = group.total(positive=True)
    points = group.points()
    best = [
        max((p for tp, _, p in points if 10 * tp >= i * n_pos - 1e-9), default=0.0)
        for i in range(11)
    ]
    return fmean(best)


def auc(group: Group, _: int | None) -> float:
    """Compare every positive with every negative; unlisted items count as scores of -inf."""
    missing = {
        positive: group.total(positive=positive)
        - sum(item.weight for item in group.items if group.is_positive(item) is positive)
        for positive in (True, False)
    }
    ranked = [item for block in group.blocks() for item in block]
    place = {id(item): rank for rank, item in enumerate(ranked)}

    def wins(one: Item, other: Item) -> float:
        if one.score != other.score:
            return float(one.score > other.score)
        if group.ties == "order" and id(one) in place and id(other) in place:
            return float(place[id(one)] < place[id(other)])
        return 0.5

    positives = [item for item in group.items if group.is_positive(item)]
    negatives = [item for item in group.items if not group.is_positive(item)]
    positives.append(Item(-inf, 1.0, missing[True]))
    negatives.append(Item(-inf, 0.0, missing[False]))
    won = sum(a.weight * b.weight * wins(a, b) for a in positives for b in negatives)
    return won / (group.total(positive=True) * group.total(positive=False))


def over_orders(
    metric: Callable[[list[bool], Group, int | None], float],
) -> Callable[[Group, int | None], float]:
    """Turn a metric of one ranking into its mean over all rankings that the ties allow."""

    def mean(group: Group, k: int | None) -> float:
        return fmean(
            metric([group.is_positive(item) for item in order], group, k)
            for order in group.orders()
        )

    return mean


def precision_at(hits: list[bool], _: Group, k: int | None) -> float:
    return sum(hits[:k]) / k


def recall_at(hits: list[bool], group: Group, k: int | None) -> float:
    return sum(hits[:k]) / group.total(positive=True)


def f1_at(hits: list[bool], group: Group, k: int | None) -> float:
    p, r = precision_at(hits, group, k), recall_at(hits, group, k)
    return 2 * p * r / (p + r) if p + r else 0.0


def r_precision(hits: list[bool], group: Group, _: int | None) -> float:
    n_pos = int(group.total(positive=True))
    return sum(hits[:n_pos]) / n_pos


def reciprocal_rank(hits: list[bool], _: Group, k: int | None) -> float:
    return next((1 / rank for rank, hit in enumerate(hits[:k], start=1) if hit), 0.0)


def success_at(hits: list[bool], _: Group, k: int | None) -> float:
    return float(any(hits[:k]))


def ndcg(group: Group, k: int | None) -> float:
    def dcg(gains: Sequence[float]) -> float:
        return sum(max(gain, 0) / log2(rank + 1) for rank, gain in enumerate(gains[:k], start=1))

    missing = int(group.total(positive=True)) - sum(map(group.is_positive, group.items))
    gains = [item.label for item in group.items] + [1.0] * (missing if group.n_pos else 0)
    ideal = dcg(sorted(gains, reverse=True))
    return fmean(dcg([item.label for item in order]) for order in group.orders()) / ideal


def _retrieved(group: Group) -> list[Item]:
    return [item for block in group.blocks() for item in block]


ORACLE: dict[str, Callable[[Group, int | None], float]] = {
    "AP": average_precision,
    "AP11": lambda group, k: eleven_points(group._replace(interpolate=True), k),
    "AUC": auc,
    "AUPRC": trapezoid,
    "F1": over_orders(f1_at),
    "NumRel": lambda group, _: group.total(positive=True),
    "NumRelRet": lambda group, _: sum(map(group.is_positive, _retrieved(group))),
    "NumRet": lambda group, _: len(_retrieved(group)),
    "P": over_orders(precision_at),
    "R": over_orders(recall_at),
    "RR": over_orders(reciprocal_rank),
    "Rprec": over_orders(r_precision),
    "Success": over_orders(success_at),
    "nDCG": ndcg,
}
