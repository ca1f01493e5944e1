"""``python -m benchmarks.null_study``: the tails of the null of AP over the whole plane of sizes.

The references are in `null_reference`; nothing of prframe's tails is in them. Those of the plane,
of ties and of means take hours and are kept in ``null_references.csv``; ``--anew`` computes them
again. ``--quick`` takes a few sizes, ``--part NAME`` one part.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from scipy.stats import kstest

from benchmarks import null_lower, null_means, null_plane, null_rare_means
from benchmarks.data import SEED
from benchmarks.null_compared import Point, labels, regions, worst
from benchmarks.null_draws import brute
from benchmarks.null_kept import Kept, name_of
from benchmarks.null_means import Queries
from benchmarks.null_package import package, package_mean
from benchmarks.null_plane import Place
from benchmarks.null_reference import (
    NONE,
    SMOOTH,
    Reference,
    Tilting,
    best,
    counted,
    edgeworth,
    enumerated,
    location,
    sampled,
    smoothed,
    weighed,
)
from benchmarks.null_steps import Floats, Shape
from benchmarks.report import table
from prframe.stats import APNull

TITLE = """## null-study

log P(AP >= ap) under random ranking over the plane of sizes, from the package and from references \
that share nothing with it. z is how many standard deviations above the mean ap lies. Differences \
are |log p - log p_ref|, beyond 1e-20 relative to |log p_ref|; the excess is what is left after \
three standard errors of the reference, in units of what is tolerated, .02 or beyond 1e-20 .001.
"""
# A reference at least as good as this needs no simulation.
_GOOD = 0.004
# P(AP <= ap) is 1 less P(AP >= x) of an x this much larger than ap.
_JUST_ABOVE = 3e-12
# Deviations for which tilted laws are drawn from: with few positives each takes several pilots.
_SPARSE, _DENSE = (2, 4, 10, 40), (2, 3, 4, 6, 8, 10, 20, 40)
# So likely values are asked of so many permutations where the package is off the reference.
_PERMUTED, _MANY = -8.0, 400_000
ISSUE = (
    (30_000, 0.5, 0.90, 0.182),
    (100_000, 0.5, 0.63, 0.270),
    (10**6, 0.1, 0.77, 0.23),
    (3 * 10**6, 0.5, 0.002, 0.499),
    (10**7, 0.01, 0.27, 0.394),
    *((100_000, 0.5, z, None) for z in (1, 2, 2.3, 3)),
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.null_study", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few sizes and few draws")
    parser.add_argument("--part", choices=list(PARTS), help="one part")
    parser.add_argument("--anew", action="store_true", help="compute kept references again")
    options = parser.parse_args()
    kept = Kept(anew=options.anew)
    warnings.simplefilter("ignore")
    print(TITLE, flush=True)
    for name, part in PARTS.items():
        if options.part in {None, name}:
            start = time.perf_counter()
            print(f"### {name}\n\n{part(kept, quick=options.quick)}", flush=True)
            print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)


def references(_: Kept, *, quick: bool) -> str:
    """Compare the references with one another."""
    rng = np.random.default_rng([SEED, 1])
    draws = 1_000 if quick else 8_000
    rows = []
    for place in _checked(quick=quick):
        rows += list(_checks(place, draws, rng))
    text = (
        "The references against each other, as differences of the logarithm in standard errors of "
        "both: enumeration, Edgeworth series, permutations by steps, labels shuffled one by one "
        "(up to 10^5 items), and two tilts, each weighed and smoothed. All should look like "
        "standard normal numbers. The first column of differences is from the one named."
    )
    header = ["ranking", "z", "log p", "from", "permutations", "shuffled", "weighed"]
    scores = [float(cell) for row in rows for cell in row[4:] if cell]
    summary = (
        f"{len(scores)} differences: root mean square {np.sqrt(np.mean(np.square(scores))):.2f}, "
        f"largest {max(map(abs, scores)):.1f}."
    )
    full = [*header, "smoothed", "weighed, other tilt", "smoothed, other tilt"]
    return f"{text}\n\n{table(full, rows)}\n{summary}\n"


def _checked(*, quick: bool) -> Iterator[Place]:
    """Return rankings for the comparison of the references."""
    shapes = [
        Shape(20, 6, 20),
        Shape(20, 8, 20, (3, 5, 4, 8)),
        Shape(20, 10, 12, (5, 5, 1, 1)),
        Shape(18, 5, 9),
        Shape(1000, 100, 1000),
        Shape(10**5, 10, 10**5),
        Shape(10**5, 5 * 10**4, 10**5),
    ]
    if not quick:
        big = 10**6
        shapes += [
            Shape(10**5, 1000, 10**5),
            Shape(10**5, 10**4, 10**5, null_plane.levels(10**5, np.linspace(0, 1, 6)[1:-1])),
            Shape(10**5, 5 * 10**4, 10**4),
            Shape(big, 10**5, big, null_plane.levels(big, np.linspace(0.01, 0.99, 99))),
            Shape(10**7, 10**5, 10**7),
            Shape(2 * 10**7, 10**7, 2 * 10**7),
        ]
    for shape in shapes:
        deviations = (1, 2) if shape.n <= 20 else (0, 1, 2, 4, 10, 40)
        found = null_plane.place(shape, "", shape.n_pos / shape.n, deviations)
        yield found._replace(ap=found.ap[found.ap < 1], deviations=found.deviations[found.ap < 1])


def _checks(place: Place, draws: int, rng: np.random.Generator) -> Iterator[list[str]]:
    """Return a row for each value of a ranking."""
    shape, ap = place.shape, place.ap
    drawn = sampled(shape, ap, 5 * draws, rng)
    shuffled = [NONE] * ap.size
    if 20 < shape.n <= 10**5:
        every = brute(shape, draws // 4, rng)
        good = (every[:, None] >= shape.n_pos * ap).sum(axis=0)
        shuffled = [
            Reference(
                float(np.log(k / every.size)), ((every.size - k) / k / every.size) ** 0.5, ""
            )
            if k > 50
            else NONE
            for k in good.tolist()
        ]
    tilting = Tilting(shape, ap)
    series, all_of = edgeworth(shape, ap), enumerated(shape, ap)
    for number, z in enumerate(place.deviations):
        found = [drawn[number], shuffled[number]]
        if z > 0.9:
            tilt = tilting.tilt(number, rng)
            for part in (1.0, 0.93):
                other = tilt._replace(slope=part * tilt.slope, top=tilt.top / part**5)
                sample = tilting.law(other).draw(draws, rng)
                value = float(tilting.values[number])
                found.append(weighed(sample, value))
                found.append(
                    NONE
                    if tilt.top or shape.n_pos < SMOOTH
                    else smoothed(sample, other.slope, value)
                )
        base = best([all_of[number], series[number], *found])
        scores = [_score(one, base) for one in (*found, *[NONE] * 6)[:6]]
        yield [_name(place), f"{z:g}", f"{base.log_p:.4f}", base.source, *scores]


def _score(one: Reference, base: Reference) -> str:
    """Return the difference in standard errors of both."""
    if one is base or not np.isfinite(one.error) or not np.isfinite(base.error):
        return ""
    return f"{(one.log_p - base.log_p) / max(float(np.hypot(one.error, base.error)), 1e-12):.1f}"


def _name(place: Place) -> str:
    shape = place.shape
    kind = place.kind
    if not kind:
        kind = f"depth {shape.depth:,}" if shape.depth < shape.n else "no ties"
        kind = f"{len(shape.ties)} blocks" if shape.ties else kind
    return f"{shape.n:,}, {shape.n_pos:,}, {kind}"


def plane(kept: Kept, *, quick: bool) -> str:
    """Compare the package with references, without ties."""
    return _reported(list(_points(null_plane.untied(quick=quick), kept, quick=quick)))


def ties(kept: Kept, *, quick: bool) -> str:
    """Compare the package with references, with ties and with a depth."""
    return _reported(list(_points(null_plane.tied(quick=quick), kept, quick=quick, by_kind=True)))


def few_hits(kept: Kept, *, quick: bool) -> str:
    """Compare the package with references where few positives are retrieved, or not in a block."""
    return _reported(
        list(_points(null_plane.few_hits(quick=quick), kept, quick=quick, by_kind=True))
    )


def lower(kept: Kept, *, quick: bool) -> str:
    """Compare the package with references of P(AP <= ap), below the mean."""
    points = []
    for number, place in enumerate(null_lower.places(quick=quick)):
        name, values = name_of(place.shape, place.kind), place.ap.tolist()
        known = kept.find(name, values)
        if known is None:
            rng = np.random.default_rng([SEED, 8, number])
            known = null_lower.references(place, 500 if quick else 6000, rng)
            if not quick:
                kept.keep(name, values, known)
        start = time.perf_counter()
        found = package(place.shape, place.ap * (1 + _JUST_ABOVE))
        print(f"{_name(place)}: package {time.perf_counter() - start:.1f} s", file=sys.stderr)
        for z, one, ours in zip(place.deviations.tolist(), known, found, strict=True):
            group = "" if place.kind.startswith("no ties") else place.kind
            point = Point(
                _name(place),
                place.shape.n,
                place.share,
                z,
                one,
                ours.log_below,
                ours.method,
                group,
            )
            points.append(point)
    return _reported([*points, *_low_means(quick=quick)])


def _low_means(*, quick: bool) -> Iterator[Point]:
    """Compare the package with references of low means over equal rankings."""
    for number, (count, place) in enumerate(null_lower.mean_places(quick=quick)):
        rng = np.random.default_rng([SEED, 9, number])
        known = null_lower.mean_references(place, count, 500 if quick else 6000, rng)
        name, group = f"{count} times {_name(place)}", "means, below"
        queries = Queries("", (place.shape,), (count,))
        for z, value, one in zip(place.deviations, place.ap.tolist(), known, strict=True):
            ours = package_mean(queries, value * (1 + _JUST_ABOVE))
            if ours is not None:
                yield Point(
                    name, count, place.share, float(z), one, ours.log_below, ours.method, group
                )


def _reported(points: Sequence[Point]) -> str:
    return f"{regions(points)}\n{worst(points)}\n{labels(points)}"


def _points(
    places: Iterator[Place], kept: Kept, *, quick: bool, by_kind: bool = False
) -> Iterator[Point]:
    for number, place in enumerate(places):
        rng = np.random.default_rng([SEED, 2, number])
        start = time.perf_counter()
        found = package(place.shape, place.ap)
        middle = time.perf_counter()
        known = _known(place, [one.log_p for one in found], kept, rng, quick=quick)
        times = f"package {middle - start:.1f} s, references {time.perf_counter() - middle:.1f} s"
        print(f"{_name(place)}: {times}", file=sys.stderr, flush=True)
        for z, reference, one in zip(place.deviations, known, found, strict=True):
            yield Point(
                _name(place),
                place.shape.n,
                place.share,
                float(z),
                reference,
                one.log_p,
                one.method,
                place.kind if by_kind else "",
            )


def _known(
    place: Place, log_p: Sequence[float], kept: Kept, rng: np.random.Generator, *, quick: bool
) -> list[Reference]:
    """Return the references of a ranking, kept or computed; quick ones are not kept."""
    name, values = name_of(place.shape, place.kind), place.ap.tolist()
    known = kept.find(name, values)
    is_new = known is None
    if known is None:
        known = known_of(place, 3000 if quick else 20_000, 1500 if quick else 3000, rng)
    for number, (ours, one) in enumerate(zip(log_p, known, strict=True)):
        if _is_off(ours, one) and not quick:
            known[number], is_new = reconsidered(place, number, rng), True
    if is_new and not quick:
        kept.keep(name, values, known)
    return known


def _is_off(log_p: float, reference: Reference) -> bool:
    """Whether a value is away from a reference that reweights draws and may have missed some.

    Where single ranks carry weight, a tilt hardly ever draws some rankings that weigh much.
    """
    is_drawn = reference.source.startswith("tilted") and log_p > _PERMUTED
    return is_drawn and abs(log_p - reference.log_p) > 3 * reference.error


def reconsidered(place: Place, number: int, rng: np.random.Generator) -> Reference:
    """Return a reference from many permutations, which misses nothing."""
    return best(sampled(place.shape, place.ap[[number]], _MANY, rng))


def known_of(
    place: Place, permutations: int, draws: int, rng: np.random.Generator, *, every: bool = False
) -> list[Reference]:
    """Return the best reference of each value of a ranking."""
    shape, ap = place.shape, place.ap
    found = [
        [*some, counted(shape, float(value))]
        for *some, value in zip(enumerated(shape, ap), edgeworth(shape, ap), ap, strict=True)
    ]
    open_ = [i for i, some in enumerate(found) if best(some).error > _GOOD]
    few = shape.n_pos <= 20
    if open_ and place.deviations[open_[0]] < 3:
        drawn = sampled(shape, ap, permutations * (20 if few else 1), rng)
        for some, one in zip(found, drawn, strict=True):
            some.append(one)
    asked = _SPARSE if shape.n_pos**2 < 100 * shape.n else _DENSE
    far = [
        i
        for i in open_
        if (place.deviations[i] in asked or (every and place.deviations[i] > 1.4))
        and best(found[i]).error > 3 * _GOOD
        and ap[i] < 1
    ]
    if far:
        tilting = Tilting(shape, ap[far])
        for number, i in enumerate(far):
            tilt = tilting.tilt(number, rng)
            found[i].append(tilting.reference(number, tilt, round(draws * tilting.ease), rng))
    return [best(some) for some in found]


def means(kept: Kept, *, quick: bool) -> str:
    """Compare the package with references for means over queries."""
    points = []
    for number, queries in enumerate(_queries(quick=quick)):
        rng = np.random.default_rng([SEED, 3, number])
        mean, deviation = queries.moments()
        z = np.array([0.0, 1, 2, 4] if queries.count > 100 else [0.0, 1, 2, 4, 8])
        values = mean + z * deviation
        name = f"{queries.count:,} queries, {queries.name}"
        known_of_all = kept.find(name, values.tolist())
        if known_of_all is None:
            known_of_all = _known_means(queries, z, values, rng, quick=quick)
            if not quick:
                kept.keep(name, values.tolist(), known_of_all)
        for i, value in enumerate(values):
            one = package_mean(queries, float(value))
            if one is not None:
                known = known_of_all[i]
                points.append(Point(name, 1, 0.1, float(z[i]), known, one.log_p, one.method, name))
    return _reported(points)


def _known_means(
    queries: Queries, z: Floats, values: Floats, rng: np.random.Generator, *, quick: bool
) -> list[Reference]:
    """Return the best reference of each value of a mean."""
    found = null_means.edgeworth(queries, values)
    if queries.count > 100:
        return [best([one]) for one in found]
    drawn = null_means.sampled(queries, values, 4000 if quick else 20_000, rng)
    draws = (6000 if queries.count < 100 else 1000) // (4 if quick else 1)
    found = [best([one, some]) for one, some in zip(found, drawn, strict=True)]
    for i, value in enumerate(values):
        if found[i].error > 0.015 and z[i] > 1:
            found[i] = best([found[i], null_means.tilted(queries, float(value), draws, rng)])
    return found


def _queries(*, quick: bool) -> Iterator[Queries]:
    """Return sets of queries with mixed sizes."""
    mixed = ((100, 10), (300, 60), (1000, 15), (1000, 300), (3000, 30))
    for count in (2, 10) if quick else (2, 10, 100, 1000):
        some = mixed[: min(5, count)]
        often = tuple(count // len(some) for _ in some)
        shapes = tuple(Shape(n, n_pos, n) for n, n_pos in some)
        yield Queries("no ties", shapes, often)
        cuts = np.linspace(0, 1, 6)[1:-1]
        shapes = tuple(Shape(n, n_pos, n, null_plane.levels(n, cuts)) for n, n_pos in some)
        yield Queries("5 levels", shapes, often)
    large = ((5 * 10**4, 5000), (10**5, 50_000))
    shapes = tuple(Shape(n, n_pos, n) for n, n_pos in large)
    for count in (2,) if quick else (2, 10):
        yield Queries("large", shapes, (count // 2, count // 2))
    if not quick:
        yield Queries("depth 1,000", (Shape(11_429, 18, 1000), Shape(11_429, 60, 1000)), (10, 10))


def rare_means(_: Kept, *, quick: bool) -> str:
    """Compare the package with draws of means where positives are rare."""
    return _means_drawn(null_rare_means.queries_of(quick=quick), 6, 5_000 if quick else 100_000)


def mixed_means(_: Kept, *, quick: bool) -> str:
    """Compare the package with draws of means over rankings with few and with many positives."""
    return _means_drawn(
        null_rare_means.mixed_queries_of(quick=quick), 7, 5_000 if quick else 30_000
    )


def _means_drawn(sets: Iterable[Queries], seed: int, draws: int) -> str:
    """Compare the package with draws of means over sets of queries."""
    points = []
    for number, queries in enumerate(sets):
        rng = np.random.default_rng([SEED, seed, number])
        name = f"{queries.count:,} queries, {queries.name}"
        mean, deviation = queries.moments()
        values, known_of_all = null_rare_means.known_of(queries, draws, rng)
        for value, known in zip(values.tolist(), known_of_all, strict=True):
            one = package_mean(queries, value)
            if one is not None:
                z = (value - mean) / deviation
                points.append(Point(name, 1, 0.001, z, known, one.log_p, one.method, name))
    return _reported(points)


def uniform(_: Kept, *, quick: bool) -> str:
    """Test that p-values of random labels are uniform."""
    rows = []
    groups = 200 if quick else 500
    for n in (100, 3000, 50_000) if quick else (100, 3000, 50_000, 300_000):
        for share in (0.01, 0.1, 0.5):
            cuts = np.linspace(0, 1, 6)[1:-1]
            for kind, blocks in (("no ties", None), ("5 levels", null_plane.levels(n, cuts))):
                shape = Shape(n, max(1, round(n * share)), n, blocks)
                rng = np.random.default_rng([SEED, 4, n, shape.n_pos, len(blocks or ())])
                rows.append([f"{n:,}, {shape.n_pos:,}, {kind}", *_uniform(shape, groups, rng)])
    text = (
        f"P-values of {groups} groups with shuffled labels: how many are at most .01, .05 and .5 "
        "(in brackets binomial standard deviations above), and a Kolmogorov-Smirnov test of "
        "P(AP > ap) + U P(AP = ap), which is uniform with ties too. From 1,000 items on the package is "
        "asked at 31 of the values, spread evenly, and its p-values are interpolated between them."
    )
    return f"{text}\n\n{table(['ranking', '.01', '.05', '.5', 'p of KS'], rows)}"


def _uniform(shape: Shape, groups: int, rng: np.random.Generator) -> list[str]:
    """Return how many p-values are small, and the test of all."""
    ap = brute(shape, groups, rng) / shape.n_pos
    is_lumpy = shape.ties is not None or shape.n < 1000
    asked = np.unique(ap)
    if shape.n >= 1000:
        asked = np.unique(np.sort(ap)[np.linspace(0, groups - 1, 31).astype(int)])
    found = [np.exp([one.log_p for one in package(shape, asked)])]
    if is_lumpy:
        ends = package(shape, asked * (1 + 3e-12))
        found.append(1 - np.exp([one.log_below for one in ends]))
    above, beyond = (np.interp(ap, asked, found[i]) for i in (0, -1))
    counts = []
    for level in (0.01, 0.05, 0.5):
        count = int((above <= level).sum())
        score = (count - groups * level) / (groups * level * (1 - level)) ** 0.5
        counts.append(f"{count} ({score:+.1f})")
    beyond = np.clip(beyond, 0, above)
    randomised = beyond + rng.random(groups) * (above - beyond)
    return [*counts, f"{kstest(randomised, 'uniform').pvalue:.2g}"]


def issue(_: Kept, *, quick: bool) -> str:
    """Return the values that were found wrong, beside references."""
    rows = []
    draws = 4000 if quick else 40_000
    for n, share, z, said in ISSUE:
        rng = np.random.default_rng([SEED, 5, n])
        shape = Shape(n, round(n * share), n)
        where = location(shape)
        ap = np.array([where.mean + z * where.deviation]) / shape.n_pos
        ours = float(APNull(shape.n, shape.n_pos).sf(ap[0]))
        series, drawn = edgeworth(shape, ap)[0], sampled(shape, ap, draws, rng)[0]
        known = [series, drawn]
        tail = NONE
        if z >= 1.5:
            tilting = Tilting(shape, ap)
            tail = tilting.reference(0, tilting.tilt(0, rng), draws // 4, rng)
        cells = [_probability(one) for one in (*known, tail)]
        rows.append([f"{n:,}, {shape.n_pos:,}", f"{z:g}", f"{said or ''}", f"{ours:.5g}", *cells])
    header = ["n, n_pos", "z", "first said", "APNull.sf", "Edgeworth", "permutations", "tilted"]
    return table(header, rows)


def _probability(one: Reference) -> str:
    if not np.isfinite(one.error):
        return ""
    return f"{np.exp(one.log_p):.5g} ± {np.exp(one.log_p) * one.error:.1g}"


PARTS = {
    "references": references,
    "issue": issue,
    "plane": plane,
    "ties": ties,
    "few-hits": few_hits,
    "lower": lower,
    "means": means,
    "rare-means": rare_means,
    "mixed-means": mixed_means,
    "uniform": uniform,
}

if __name__ == "__main__":
    main()
