"""``python -m benchmarks.accuracy``: how accurate the tails of the null distribution of AP are.

``--quick`` takes fewer of everything. ``python -m benchmarks`` runs this last.
"""

import argparse
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

import prframe
from benchmarks import rankings
from benchmarks.data import SEED
from benchmarks.null_tasks import RARE
from benchmarks.report import table
from benchmarks.simulation import Floats, enumerated, tilted, upper_tails
from prframe.stats import APNull, ap_beta_sf

Method: TypeAlias = Literal["auto", "lattice", "transform"]

TITLE = """## null-accuracy

Tail probabilities of AP under random ranking, found in independent ways. A difference is \
relative to the probability: |p / p' - 1|.
"""
# n, n_pos, AP.
_TAILS = [
    (100, 5, 0.47),
    (300, 10, 0.2390),
    (1000, 20, 0.105),
    (1000, 100, 0.15),
    (5000, 50, 0.05),
]
_LEVELS = (0.1, 1e-2, 1e-3, 1e-4, 1e-6)
_METHODS: tuple[Method, ...] = ("auto", "lattice", "transform")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer draws, rankings and groups")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    print(TITLE, flush=True)
    for part in (tails, enumeration, two_methods, peer_levels, peer_groups):
        print(part(quick=quick), flush=True)


def tails(*, quick: bool) -> str:
    """Compare the methods with one another, with certified bounds, and with a simulation."""
    draws = 2_000 if quick else 40_000
    rng = np.random.default_rng(SEED)
    rows = []
    for n, n_pos, ap in _TAILS:
        values = [float(_null(n, n_pos, method).sf(ap)) for method in _METHODS]
        low, high = APNull(n, n_pos).sf_bounds(ap)
        beta = float(ap_beta_sf(ap, n, n_pos))
        drawn = tilted(n, n_pos, ap, draws, rng)
        columns = [f"{value:.5g}" for value in (*values, low, high)]
        columns += [f"{drawn.value:.4g} ± {drawn.error:.1%}"]
        columns += [f"{beta:.2g} ({beta / values[0]:.2g})"]
        rows.append([f"{n}, {n_pos}, {ap:g}", *columns])
    text = (
        "P(AP >= ap). The bounds are those of `APNull.sf_bounds`; *simulated* is importance "
        f"sampling, {draws:,} rankings drawn with AP near ap and reweighted, with its standard "
        "error; *beta* is pranker's fit, and in brackets what share of the probability it gives."
    )
    header = ["n, n_pos, ap", *_METHODS, "lower bound", "upper bound", "simulated", "beta"]
    return f"{text}\n\n{table(header, rows)}"


def enumeration(*, quick: bool) -> str:
    """Compare with all rankings of few items."""
    few, many, at_most = (9, 14, 5) if quick else (16, 22, 25)
    small = list(_deviations(range(1, few + 1), at_most))
    large = list(_deviations([many], at_most))
    rows = [
        [f"n <= {few}", *_largest(small)],
        [f"n = {many}", *_largest(large)],
        [f"n = {many}, p > 1e-3", *_largest([row for row in large if row[0] > 1e-3])],
    ]
    text = (
        f"Largest difference from full enumeration: every number of positives, up to {at_most} "
        "values of AP for each, spread evenly over the rankings and with the highest. Where "
        "*auto* counts there is no difference but rounding; *transform* is "
        "asked for, and gives way to a walk where it does not settle."
    )
    return f"{text}\n\n{table(['rankings', 'values', *_METHODS], rows)}"


def _deviations(sizes: Iterable[int], at_most: int) -> Iterator[tuple[float, ...]]:
    """Return the true probability and the difference of each method, for many values."""
    for n in sizes:
        for n_pos, values in enumerated(n).items():
            places = np.linspace(0, values.size - 1, min(at_most, values.size)).astype(int)
            asked = np.unique(np.append(values[places], values[-2:]))
            true = upper_tails(values, asked)
            found = [np.asarray(_null(n, n_pos, m).sf(asked)) for m in _METHODS]
            yield from zip(true, *(np.abs(p / true - 1) for p in found), strict=True)


def _null(n: int, n_pos: int, method: Method) -> APNull:
    return APNull(n, n_pos, method=method)


def _largest(rows: Sequence[tuple[float, ...]]) -> list[str]:
    return [
        str(len(rows)),
        *(f"{max(column):.1e}" for column in list(zip(*rows, strict=True))[1:]),
    ]


def two_methods(*, quick: bool) -> str:
    """Compare the walk with the inversion."""
    groups = 20 if quick else 200
    frame = rankings.distinct(groups)
    values = {method: prframe.ap_test(frame, by="group", method=method) for method in _METHODS}
    p = values["lattice"]["p_value"].to_numpy()
    difference = np.abs(values["transform"]["p_value"].to_numpy() / p - 1)
    inverts = (values["auto"]["method"] == "transform").to_numpy()
    rows = []
    for name, chosen in (("transform", inverts), ("another", ~inverts)):
        for low, high in pairwise([0, 1e-12, 1e-6, 1e-2, 1.1]):
            inside = difference[chosen & (low <= p) & (p < high)]
            if inside.size:
                both = f"{np.median(inside):.1e}", f"{inside.max():.1e}"
                rows.append([name, f"{low:g} to {min(high, 1):g}", str(inside.size), *both])
    text = (
        f"*lattice* and *transform*, forced, for the first {groups} groups of the case `null`; "
        "*auto* is what `ap_test` chooses of itself."
    )
    header = ["auto", "p", "groups", "median difference", "largest difference"]
    return f"{text}\n\n{table(header, rows)}"


def peer_levels(*, quick: bool) -> str:
    """Compare p-values of copairs at several levels with ours."""
    try:
        from copairs import compute  # noqa: PLC0415
    except ImportError as error:
        return f"copairs: not compared ({error}).\n"
    n, n_pos, _ = RARE
    null, walk = _null(n, n_pos, "transform"), _null(n, n_pos, "lattice")
    ap = np.asarray(null.isf(_LEVELS))
    p, other = (np.asarray(one.sf(ap)) for one in (null, walk))
    columns = []
    for draws, repeats in ((1_000, 40), (10_000, 20), (100_000, 1 if quick else 5)):
        found = np.stack(
            [
                _upper(np.sort(compute.random_ap(draws, n_pos, n, seed)), ap)
                for seed in range(repeats)
            ]
        )
        measured = np.sqrt(((found / p - 1) ** 2).mean(axis=0))
        expected = np.sqrt((1 - p) / (p * draws))
        columns.append([f"{m:.2g} ({e:.2g})" for m, e in zip(measured, expected, strict=True)])
    ours = [f"{abs(o / q - 1):.1e}" for o, q in zip(other, p, strict=True)]
    needed = [f"{(1 - q) / q * 1e4:.2g}" for q in p]
    rows = zip([f"{q:g}" for q in _LEVELS], ours, *columns, needed, strict=True)
    text = (
        f"{n_pos} positives among {n} items, at five levels. Ours is the difference between "
        "*lattice* and *transform*. Of copairs, the relative root mean square error over repeated "
        "draws by its `random_ap`, and in brackets sqrt((1 - p) / (p B)); it counts itself as one "
        "more ranking as good, so that no p-value is below 1 / (B + 1). The last column is how "
        "many draws it takes to know p to 1 %."
    )
    header = ["p", "ours", *(f"copairs, B = {b:,}" for b in (1_000, 10_000, 100_000))]
    return f"{text}\n\n{table([*header, 'draws for 1 %'], rows)}"


def _upper(drawn: Floats, ap: Floats) -> Floats:
    """Return p-values as copairs computes them."""
    return np.asarray((drawn.size - np.searchsorted(drawn, ap) + 1) / (drawn.size + 1))


def peer_groups(*, quick: bool) -> str:
    """Compare p-values of copairs for distinct groups with ours."""
    try:
        from copairs import compute  # noqa: PLC0415
    except ImportError as error:
        return f"copairs: not compared ({error}).\n"
    from benchmarks.null_tasks import copairs_p_values  # noqa: PLC0415

    groups, draws, repeats = (20, 1_000, 2) if quick else (1_000, 1_000, 5)
    frame = rankings.distinct(groups)
    p = prframe.ap_test(frame, by="group")["p_value"].to_numpy()
    is_known = (p > 0.02) & (p < 0.98)
    known = frame.filter(pl.col("group").is_in(np.flatnonzero(is_known).tolist()))
    seeds = range(SEED, SEED + repeats)
    theirs = np.stack([copairs_p_values(compute, known, draws, seed) for seed in seeds])
    hits, p_known = theirs * (draws + 1) - 1, p[is_known]
    scores = (hits - draws * p_known) / np.sqrt(draws * p_known * (1 - p_known))
    beyond = int((p < 1 / (draws + 1)).sum())
    return (
        f"The {groups:,} groups of the case `null`, B = {draws:,}: {beyond} have a p-value below "
        f"1 / (B + 1), for which copairs has no other answer. Of the {p_known.size} between .02 "
        f"and .98, with {repeats} seeds, the number of its draws that are as good differs from "
        f"B p by {np.sqrt((scores**2).mean()):.2f} binomial standard deviations (root mean "
        f"square; 1 if our p is right), on average by {scores.mean():+.3f} of them (0 ± "
        f"{scores.size**-0.5:.3f} if all draws are independent).\n"
    )


if __name__ == "__main__":
    main()
