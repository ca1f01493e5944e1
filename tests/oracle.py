"""Naive definitions of every metric, in plain Python; slow and obvious on purpose.

A group is a list of `Item`. `BLOCKS` defines each metric for a ranking given as tie blocks, which
are single items where ties have an order. `value` adds the tie policies, by enumeration.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, permutations, product
from math import ceil, exp, floor, inf, log, log1p, log2, prod, sqrt
from statistics import NormalDist, fmean
from typing import Any, NamedTuple


class Item(NamedTuple):
    """One row of a group."""

    score: float
    label: float
    weight: float = 1.0
    judged: bool = True
    name: str = ""


# The policies under which each item has a place of its own: the order of items with one score.
ORDERS: dict[str, Callable[[list[Item]], list[Item]]] = {
    "order": lambda items: items,
    "trec": lambda items: sorted(items, key=lambda item: item.name, reverse=True),
}


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

    def size(self) -> float:
        return self.total(positive=True) + self.total(positive=False)

    def is_shown(self, item: Item) -> bool:
        return self.include_unretrieved or item.score > -inf

    def blocks(self) -> list[list[Item]]:
        """Return the retrieved items best first, tied ones together (one by one in an order)."""
        shown = [item for item in self.items if self.is_shown(item)]
        if self.ties in ORDERS:
            ranked = sorted(ORDERS[self.ties](shown), key=lambda item: -item.score)
            return [[item] for item in ranked]
        ranked = sorted(shown, key=lambda item: -item.score)
        scores = sorted({item.score for item in ranked}, reverse=True)
        return [[item for item in ranked if item.score == score] for score in scores]

    def ranking(self) -> list[Item]:
        return [item for block in self.blocks() for item in block]

    def hits(self) -> list[bool]:
        return [self.is_positive(item) for item in self.ranking()]

    def orders(self) -> Iterator["Group"]:
        """Yield every ranking that the ties allow; orders of alike items are one."""
        hidden = [item for item in self.items if not self.is_shown(item)]
        blocks = self._replace(ties="group").blocks()
        alike = [[item._replace(name="") for item in block] for block in blocks]
        for chosen in product(*(sorted(set(permutations(block))) for block in alike)):
            ranked = [item for block in chosen for item in block]
            yield self._replace(items=ranked + hidden, ties="order")

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


def trapezoid(group: Group, _: int | None, rule: str) -> float:
    assert rule == "trapezoid"
    points = group.points()
    if group.interpolate:
        return average_precision(group, None)
    area = 0.0
    for (before, _, p), (tp, _, q) in pairwise(points):
        area += (tp - before) * (p + q) / 2
    return area / group.total(positive=True)


def interpolated(group: Group, level: float, levels: str) -> float:
    """Return the largest precision from a level of recall on, of retrieved positives alone."""
    n_pos = group.total(positive=True)
    needed = {
        "exact": level * n_pos - 1e-9,
        "v9": floor(level * n_pos + 0.9),
        "v10": floor(level * n_pos + 0.5),
    }[levels]
    steps = pairwise(group.points())
    return max(
        (p for (before, _, _), (tp, _, p) in steps if tp > before and tp >= needed), default=0.0
    )


def first_reaching(group: Group, level: float) -> float:
    """Return the precision at the first point that reaches a level of recall."""
    needed = level * group.total(positive=True) - 1e-9
    return next((p for tp, _, p in group.points() if tp >= needed), 0.0)


def eleven_points(group: Group, _: int | None, levels: str) -> float:
    opened = [interpolated(group, i / 10, levels) for i in range(11)]
    if levels == "exact":
        opened[0] = 1.0
    return fmean(opened)


def largest_f1(group: Group, _: int | None) -> float:
    n_pos = group.total(positive=True)
    return max((2 * tp / (tp + fp + n_pos) for tp, fp, _ in group.points()), default=0.0)


def auc(group: Group, _: int | None) -> float:
    """Compare every positive with every negative; unlisted items count as scores of -inf."""
    missing = {
        positive: group.total(positive=positive)
        - sum(item.weight for item in group.items if group.is_positive(item) is positive)
        for positive in (True, False)
    }
    # Every row an object of its own.
    listed = [Item(*item) for item in group.items]
    place = {id(item): rank for rank, item in enumerate(group._replace(items=listed).ranking())}

    def wins(one: Item, other: Item) -> float:
        if one.score != other.score:
            return float(one.score > other.score)
        if group.ties in ORDERS and id(one) in place and id(other) in place:
            return float(place[id(one)] < place[id(other)])
        return 0.5

    positives = [item for item in listed if group.is_positive(item)]
    negatives = [item for item in listed if not group.is_positive(item)]
    positives.append(Item(-inf, 1.0, missing[True]))
    negatives.append(Item(-inf, 0.0, missing[False]))
    won = sum(a.weight * b.weight * wins(a, b) for a in positives for b in negatives)
    return won / (group.total(positive=True) * group.total(positive=False))


def discount(rank: float, k: int) -> float:
    """Return the discount of a rank from the top, perhaps between two; ranks below 1 count as 1."""
    return 1 / log2(1 + max(rank, 1)) if rank < k + 0.4999 else 0.0


# Score-generating functions of u in (0, 1), with what they need to know of the number of items.
SCORES: dict[str, Callable[[float, float], float]] = {
    "dcg(k=2)": lambda u, n: discount((n + 1) * (1 - u), 2),
    "local-auc(u0=0.5)": lambda u, _: u if u >= 0.5 else 0,
    "logistic": lambda u, _: sqrt(12) * (u - 1 / 2),
    "logrank": lambda u, _: -log(1 - u),
    "median": lambda u, _: (u > 0.5) - (u < 0.5),
    "mww": lambda u, _: u,
    "p-norm-push(q=3)": lambda u, _: u**3,
    "rtb(u0=0.3, beta=3, lam=50)": lambda u, _: (
        log1p(exp(3 * (u - 0.3))) / 3 + 0.3 / (1 + exp(-50 * (u - 0.3)))
    ),
    "van-der-waerden": lambda u, _: NormalDist().inv_cdf(u),
}

# The words of these functions, as error messages list them.
PHI_WORDS = ", ".join(sorted({repr(name.partition("(")[0]) for name in SCORES}))


def linear_rank(group: Group, _: int | None, phi: str) -> float:
    """Add up phi(rank / (N + 1)); unlisted and hidden items are one block at the bottom."""
    size = group.size()

    def block_score(above: float, weight: float) -> float:
        # The mean rank counts places from the top: above + 1 .. above + weight.
        places = [above + (weight + 1) / 2]
        if group.ties == "expected":
            places = [above + place for place in range(1, round(weight) + 1)]
        return fmean(SCORES[phi](max(size + 1 - place, 0) / (size + 1), size) for place in places)

    above = total = hits = 0.0
    for block in group.blocks():
        weight = sum(item.weight for item in block)
        found = sum(item.weight for item in block if group.is_positive(item))
        total += found * block_score(above, weight)
        above, hits = above + weight, hits + found
    missed = group.total(positive=True) - hits
    if missed > 1e-9:
        total += missed * block_score(above, size - above)
    return total / group.total(positive=True)


def inferred_ap(group: Group, _: int | None) -> float:
    """Take counts at the ends of blocks; without ties, that is the published definition."""
    total, above = 0.0, []
    for block in group.blocks():
        above += block
        judged = [group.is_positive(item) for item in above if item.judged]
        pool = len(judged) + sum(not item.judged and item.label < 0 for item in above)
        hits = sum(map(group.is_positive, block))
        if hits:
            share = (sum(judged) - 1 + 1e-5) / (len(judged) - 1 + 2e-5)
            total += hits * (1 + (pool - 1) * share) / len(above)
    return total / group.total(positive=True)


def bpref(group: Group, _: int | None) -> float:
    n_pos = group.total(positive=True)
    n_nonrel = sum(item.judged and not group.is_positive(item) for item in group.items)
    total, nonrel = 0.0, 0
    for item in group.ranking():
        if group.is_positive(item):
            total += 1 - (min(nonrel, n_pos) / min(n_nonrel, n_pos) if nonrel else 0)
        nonrel += item.judged and not group.is_positive(item)
    return total / n_pos


def judged(group: Group, k: int | None) -> float:
    top = group.ranking()[:k]
    return sum(item.judged for item in top) / len(top) if top else 0.0


def precision_at(group: Group, k: int) -> float:
    return sum(group.hits()[:k]) / k


def recall_at(group: Group, k: int) -> float:
    return sum(group.hits()[:k]) / group.total(positive=True)


def harmonic(p: float, r: float, beta: float = 1.0) -> float:
    return (1 + beta**2) * p * r / (beta**2 * p + r) if p + r else 0.0


def reciprocal_rank(group: Group, k: int | None) -> float:
    return next((1 / rank for rank, hit in enumerate(group.hits()[:k], start=1) if hit), 0.0)


def rank_biased(group: Group, k: int | None, p: float) -> float:
    return sum((1 - p) * p**i for i, hit in enumerate(group.hits()[:k]) if hit)


def enrichment(group: Group, _: int | None, fraction: float) -> float:
    top = ceil(fraction * group.size() - 1e-9)
    return precision_at(group, top) * group.size() / group.total(positive=True)


def bedroc(group: Group, _: int | None, alpha: float) -> float:
    """Scale the robust initial enhancement between its extremes, eqs (18), (33)-(36)."""
    size, n_pos = group.size(), int(group.total(positive=True))

    def weighed(ranks: Sequence[int]) -> float:
        return sum(exp(-alpha * rank / size) for rank in ranks)

    ranked = len(group.hits())
    found = weighed([rank for rank, hit in enumerate(group.hits(), start=1) if hit])
    missed = n_pos - sum(group.hits())
    if missed:
        # Somewhere below the ranking.
        found += missed * weighed(range(ranked + 1, int(size) + 1)) / (size - ranked)
    best = weighed(range(1, n_pos + 1))
    worst = weighed(range(int(size) - n_pos + 1, int(size) + 1))
    return (found - worst) / (best - worst)


def dcg_of(grades: Sequence[float], k: int | None, gain: str) -> float:
    def value(grade: float) -> float:
        return 2 ** max(grade, 0) - 1 if gain == "exp" else max(grade, 0)

    return sum(value(grade) / log2(rank + 1) for rank, grade in enumerate(grades[:k], start=1))


def dcg(group: Group, k: int | None, gain: str) -> float:
    return dcg_of([item.label for item in group.ranking()], k, gain)


def ndcg(group: Group, k: int | None, gain: str) -> float:
    missing = int(group.total(positive=True)) - sum(map(group.is_positive, group.items))
    grades = [item.label for item in group.items] + [1.0] * (missing if group.n_pos else 0)
    return dcg(group, k, gain) / dcg_of(sorted(grades, reverse=True), k, gain)


def err(group: Group, k: int | None, top: float) -> float:
    stops = [(2 ** max(item.label, 0) - 1) / 2**top for item in group.ranking()[:k]]
    return sum(
        stop * prod(1 - above for above in stops[:i]) / (i + 1) for i, stop in enumerate(stops)
    )


def set_precision(group: Group) -> float:
    return sum(group.hits()) / len(group.hits()) if group.hits() else 0.0


def share_above(group: Group, threshold: float) -> float:
    """Return the precision of the items above a threshold, undefined if there are none."""
    hits = above(group, threshold).hits()
    return sum(hits) / len(hits)


def set_recall(group: Group) -> float:
    return sum(group.hits()) / group.total(positive=True)


def table(group: Group, threshold: float) -> tuple[float, float, float, float]:
    """Return the true and false positives, and the false and true negatives, of a classifier."""
    above = [group.is_positive(item) for item in group.items if item.score >= threshold]
    tp, fp = sum(above), len(above) - sum(above)
    return tp, fp, group.total(positive=True) - tp, group.total(positive=False) - fp


def above(group: Group, threshold: float) -> Group:
    """Return the group as if nothing below a threshold had been retrieved."""
    cut = [item if item.score >= threshold else item._replace(score=-inf) for item in group.items]
    return group._replace(items=cut, include_unretrieved=False)


def matthews(group: Group, threshold: float) -> float:
    tp, fp, fn, tn = table(group, threshold)
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return (tp * tn - fp * fn) / sqrt(product) if product else 0.0


def specificity(group: Group, threshold: float) -> float:
    _, fp, _, tn = table(group, threshold)
    return tn / (tn + fp)


def precision_and_recall(group: Group, k: int | None, threshold: float | None) -> list[float]:
    """Return precision and recall among the first k, or above a threshold."""
    cut = group if threshold is None else above(group, threshold)
    # Precision is defined without positives.
    recall = recall_at(cut, k) if cut.total(positive=True) else 0.0
    return [set_precision(cut) if k is None else precision_at(cut, k), recall]


def all_points(group: Group) -> list[tuple[float, float, float]]:
    """Return the points of the curve, with that of all items as the last one."""
    ends = group.total(positive=True), group.total(positive=False)
    return [*group.points(), (*ends, group.precision(*ends))]


def partial_ap(group: Group, _: int | None, max_recall: float) -> float:
    """Add up the precision of thin slices of recall."""
    reach = max_recall * group.total(positive=True)
    steps = pairwise(group.points())
    return (
        sum((min(tp, reach) - min(above, reach)) * p for (above, _, _), (tp, _, p) in steps)
        / reach
    )


def partial_auc(group: Group, _: int | None, max_fpr: float, scale: str) -> float:
    """Add up trapezoids up to the false positive rate, where the last one is cut."""
    n_pos, n_neg = group.total(positive=True), group.total(positive=False)
    points = [(fp / n_neg, tp / n_pos) for tp, fp, _ in all_points(group)]
    area = 0.0
    for (x, y), (right, top) in pairwise(points):
        if x < max_fpr and right > x:
            end = min(right, max_fpr)
            height = y + (top - y) * (end - x) / (right - x)
            area += (end - x) * (y + height) / 2
    least = max_fpr**2 / 2
    return area if scale == "area" else (1 + (area - least) / (max_fpr - least)) / 2


def gain_area(group: Group, _: int | None) -> float:
    """Add up trapezoids of the precision-recall-gain curve, from where recall gain is 0."""
    n_pos, n_neg = group.total(positive=True), group.total(positive=False)
    share = n_pos / (n_pos + n_neg)
    points = [(tp, fp) for tp, fp, _ in all_points(group)]
    crossed = []
    for (tp, fp), (after, fp_after) in pairwise(points):
        if tp < share * n_pos < after:
            at = share * n_pos
            crossed.append((at, fp + (fp_after - fp) * (at - tp) / (after - tp)))
        if after >= share * n_pos - 1e-12:
            crossed.append((after, fp_after))
    gains = [
        (1 - n_pos / n_neg * (n_pos - tp) / tp, 1 - n_pos / n_neg * fp / tp) for tp, fp in crossed
    ]
    return sum((right - x) * (y + top) / 2 for (x, y), (right, top) in pairwise(gains))


def recall_reaching(group: Group, precision: float) -> float:
    """Return the largest recall of the thresholds with at least this precision."""
    reached = [tp for tp, fp, _ in group.points()[1:] if tp >= precision * (tp + fp) - 1e-12]
    return max(reached, default=0.0) / group.total(positive=True)


# Metrics of the curve: under "group" they count at the ends of blocks.
CURVE: dict[str, Callable[..., float]] = {
    "AP": average_precision,
    "AP11": lambda group, k, levels: eleven_points(group._replace(interpolate=True), k, levels),
    "AUC": auc,
    "AUPRC": trapezoid,
    "AUPRG": gain_area,
    "BalancedAccuracy": lambda group, _, threshold: (
        (set_recall(above(group, threshold)) + specificity(group, threshold)) / 2
    ),
    "IPrec": lambda group, k, levels: interpolated(group, k, levels),
    "MCC": lambda group, _, threshold: matthews(group, threshold),
    "MaxF1": largest_f1,
    "Prec": first_reaching,
    "Specificity": lambda group, _, threshold: specificity(group, threshold),
    "W": linear_rank,
    "infAP": inferred_ap,
    "pAP": partial_ap,
    "pAUC": partial_auc,
}
# Metrics of positions: under "group" they are the mean over all orders.
POSITIONS: dict[str, Callable[..., float]] = {
    "BEDROC": bedroc,
    "Bpref": bpref,
    "DCG": dcg,
    "EF": enrichment,
    "ERR": err,
    "F": lambda group, k, beta, threshold: harmonic(
        *precision_and_recall(group, k, threshold), beta
    ),
    "F1": lambda group, k, threshold: harmonic(*precision_and_recall(group, k, threshold)),
    "Judged": judged,
    "Lift": lambda group, k: precision_at(group, k) * group.size() / group.total(positive=True),
    "NumRel": lambda group, _: group.total(positive=True),
    "NumRelRet": lambda group, _: sum(group.hits()),
    "NumRet": lambda group, _: len(group.hits()),
    "P": lambda group, k, threshold: (
        precision_at(group, k) if threshold is None else share_above(group, threshold)
    ),
    "R": lambda group, k, threshold, at_precision: (
        precision_and_recall(group, k, threshold)[1]
        if at_precision is None
        else recall_reaching(group, at_precision)
    ),
    "RBP": rank_biased,
    "RR": reciprocal_rank,
    "RelP": lambda group, k: sum(group.hits()[:k]) / min(k, group.total(positive=True)),
    "Rprec": lambda group, _: precision_at(group, int(group.total(positive=True))),
    "SetAP": lambda group, _: set_precision(group) * set_recall(group),
    "SetF": lambda group, _, beta: harmonic(set_precision(group), set_recall(group), beta),
    "SetP": lambda group, _: set_precision(group),
    "SetR": lambda group, _: set_recall(group),
    "Success": lambda group, k: float(any(group.hits()[:k])),
    "nDCG": ndcg,
}
ORACLE = CURVE | POSITIONS


def value(group: Group, name: str, k: float | None, settings: dict[str, Any]) -> float:
    """Return the value of a metric under the group's tie policy."""
    others = {key: setting for key, setting in settings.items() if key != "rel"}
    if settings.get("rel") is not None:
        group = group._replace(positive=settings["rel"])

    def one(ranking: Group) -> float:
        return ORACLE[name](ranking, k, **others)

    at_ends = name in CURVE or others.get("at_precision") is not None
    if group.ties in ORDERS or (group.ties == "group" and at_ends):
        return one(group)
    if group.ties == "expected" and name == "W":
        # Its own mean: what is not retrieved would make too many orders.
        return one(group)
    combine = {"best": max, "worst": min}.get(group.ties, fmean)
    return combine([one(order) for order in group.orders()])
