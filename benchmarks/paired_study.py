"""``python -m benchmarks.paired_study``: p-values and intervals of paired comparisons over queries.

``--quick`` takes fewer of everything, to see that it runs, and ``--part`` one part.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from itertools import combinations, product
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.special import expit, stdtr

from benchmarks.data import SEED
from benchmarks.report import table
from prframe.stats import SignFlipNull, adjust_p_values
from prframe.stats.paired_values import QUERY_TESTS, QueryTestOptions
from prframe.stats.paired_values.family import PairedFamily
from prframe.typing import Flags, Floats

Rng: TypeAlias = np.random.Generator
Shape: TypeAlias = tuple[int, int]
Law: TypeAlias = Callable[[Rng, Shape], Floats]

ACCURACY = """## paired-accuracy

The p-value of the randomization test that is not counted, over that by counting all signs, less 1: \
the largest absolute value for 20 to 36 queries, by the size of the p-value. Differences of P@10 have \
a common unit.
"""
GUARD = """## paired-skewness

How often tests reject at .05 where the mean difference is 0, in per cent of {samples:,} samples: \
two-sided, in brackets with the alternatives less and greater. *Warned* is the share of samples of \
which `compare` says that the differences are few and skewed, *unwarned* how often the t test \
rejects and it does not say so. {fewer:,} samples of *randomization*, *bootstrap*, *wilcoxon* and \
*sign*; these two are about medians. *Bootstrap* has 999 resamples.
"""
DESIGNS = """## paired-designs

How often a test rejects at .05 what is true, in per cent of {samples:,} samples; in brackets how \
often it does so without a `SkewedDifferencesWarning`, and how often that comes. *Interval*: \
Student's misses the mean; *equivalence*, of means a margin apart, which is three standard errors, on \
the worse side; *clusters*, of three queries, so many clusters; *folds*, five times five, whose values \
have a normal part in common with the correlation of 1/5, by resampling="cv".
"""
FAMILIES = """## paired-families

All pairs of systems on 50 queries, whose values are like those of AP: in how many of {samples:,} \
data sets any pair of systems that are alike is found significantly different at .05, in per cent, \
and the share of the other pairs that is found. *Copies*: half of the systems are near copies of one. \
Holm is that of randomization tests; max-t has 999 draws.
"""
COUNTED, BINS = (20, 25, 30, 36), ((1, 0.1), (0.1, 1e-2), (1e-2, 1e-3), (1e-3, 1e-5), (1e-5, 0))
TESTS = ("t", "hall", "randomization", "bootstrap", "wilcoxon", "sign")
QUERIES, RESAMPLES = (15, 50), 999
SIDES = ("two-sided", "less", "greater")
LEVEL, MARGIN, CLUSTER, FOLDS = 0.05, 3.0, 3, 5
ERROR, COPY = 0.6, 0.1


def of_ap(rng: Rng, shape: Shape) -> Floats:
    """Draw differences of AP: queries are easy or hard."""
    hardness = rng.normal(-0.8, 1.0, shape)
    first, second = (hardness + 0.6 * rng.normal(size=shape) for _ in "ab")
    return expit(first) - expit(second)


def of_precision(rng: Rng, shape: Shape) -> Floats:
    """Draw differences of P@10, of which many are 0 and others tie."""
    chance = expit(rng.normal(-0.8, 1.5, shape))
    return (rng.binomial(10, chance) - rng.binomial(10, chance)) / 10


def of_rr(rng: Rng, shape: Shape) -> Floats:
    """Draw differences of reciprocal ranks."""
    chance = np.clip(expit(rng.normal(-0.5, 1.5, shape)), 1e-3, 1)
    return 1 / rng.geometric(chance) - 1 / rng.geometric(chance)


def gamma(k: float) -> Law:
    """Return a gamma distribution less its mean, whose skewness is 2 / sqrt(k)."""
    return lambda rng, shape: 0.1 * (rng.gamma(k, size=shape) - k)


def wins(share: float, win: float, deviation: float, loss: float) -> Law:
    """Return a few large wins and many small losses, of mean 0."""

    def law(rng: Rng, shape: Shape) -> Floats:
        is_win = rng.random(shape) < share
        return np.where(is_win, rng.normal(win, 0.05, shape), rng.normal(loss, deviation, shape))

    return law


def sparse(share: float, law: Law) -> Law:
    """Return zeros, and a share of other values."""
    return lambda rng, shape: np.where(rng.random(shape) < share, law(rng, shape), 0.0)


def contaminated(rng: Rng, shape: Shape) -> Floats:
    """Draw small normal values, and one in ten of fifteen times their deviation."""
    return rng.normal(0, np.where(rng.random(shape) < 0.1, 0.3, 0.02))


def of_success(rng: Rng, shape: Shape) -> Floats:
    """Draw differences of success, of which four in five are 0."""
    drawn = rng.random(shape)
    return 1.0 * (drawn < 0.1) - (drawn > 0.9)


# Differences of mean 0, but for "zeros and wins".
LAWS: dict[str, Law] = {
    "normal": lambda rng, shape: rng.normal(0, 0.1, shape),
    "AP": of_ap,
    "RR": of_rr,
    "P@10": of_precision,
    "t(3)": lambda rng, shape: 0.1 * rng.standard_t(3, shape),
    "few wins": wins(0.15, 0.34, 0.03, -0.06),
    "rare wins": wins(0.05, 0.57, 0.03, -0.03),
    "gamma(1/2)": gamma(0.5),
    "gamma(1)": gamma(1.0),
    "gamma(2)": gamma(2.0),
    "gamma(4)": gamma(4.0),
    "lognormal": lambda rng, shape: 0.1 * (rng.lognormal(size=shape) - np.exp(0.5)),
    "mostly 0": sparse(0.2, lambda rng, shape: rng.normal(0, 0.2, shape)),
    "zeros and wins": sparse(0.2, lambda rng, shape: 0.1 * rng.exponential(size=shape)),
    "zeros and others": sparse(0.3, lambda rng, shape: 0.2 * (rng.exponential(size=shape) - 1)),
    "contaminated": contaminated,
    "success": of_success,
}
MEANS = {"zeros and wins": 0.02}
CENTRED = {name: law for name, law in LAWS.items() if name not in MEANS}
COUNTED_LAWS = ("AP", "P@10", "RR", "gamma(1)", "mostly 0")


class Part(NamedTuple):
    """What is said of a table, its header, what yields its rows, and samples if quick or not."""

    title: str
    header: list[str]
    rows: Callable[[int], Iterator[list[str]]]
    quick: int
    full: int


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paired_study", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--part", choices=list(PARTS), help="one part alone")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, part in PARTS.items():
        if options.part in {None, name}:
            samples = part.quick if options.quick else part.full
            print(part.title.format(samples=samples, fewer=samples // 5), flush=True)
            print(table(part.header, part.rows(samples)), flush=True)


def _of(values: Floats) -> PairedFamily:
    """Return a pair for each column."""
    return PairedFamily(values, np.ones_like(values))


def accuracy(samples: int) -> Iterator[list[str]]:
    """Return a row per law."""
    for name in COUNTED_LAWS:
        found = []
        for n, z in product(COUNTED, np.linspace(0.1, 5.5, samples)):
            rng = np.random.default_rng([SEED, n, round(100 * z)])
            differences = _tilted(LAWS[name](rng, (n, 1))[:, 0], float(z), rng)
            nulls = (SignFlipNull(differences, method=m) for m in ("exact", "convolution"))
            found.append([null.p_value(alternative="two-sided") for null in nulls])
        exact, others = np.array(found).T
        inside = [(exact <= most) & (exact > least) for most, least in BINS]
        errors = np.abs(others / exact - 1)
        yield [name, *(f"{errors[one].max():.1e}" if one.any() else "" for one in inside)]


def _tilted(differences: Floats, z: float, rng: Rng) -> Floats:
    """Return the numbers with signs by which their sum is about z standard deviations."""
    sizes = np.abs(differences)
    spread = float(np.sqrt((sizes**2).sum()))
    if not spread:
        return sizes
    chance = np.clip(0.5 + 0.5 * z * sizes / spread, 0, 1)
    signed = np.where(rng.random((500, sizes.size)) < chance, sizes, -sizes)
    return np.asarray(signed[np.abs(signed.sum(axis=1) - z * spread).argmin()])


def guard(samples: int) -> Iterator[list[str]]:
    """Return how often tests reject what is true, and how often `compare` warns."""
    for (name, law), n in product(CENTRED.items(), QUERIES):
        values = law(np.random.default_rng([SEED, n]), (n, samples))
        every, part = _of(values), _of(values[:, : samples // 5])
        rejects = {
            test: [
                _rejects(every if test in {"t", "hall"} else part, test, side) for side in SIDES
            ]
            for test in TESTS
        }
        unwarned = rejects["t"][0] & ~every.few_for_skewness
        shares = ([100 * side.mean() for side in sides] for sides in rejects.values())
        described = [f"{two:.1f} ({less:.1f}, {greater:.1f})" for two, less, greater in shares]
        about = [f"{100 * share.mean():.1f}" for share in (every.few_for_skewness, unwarned)]
        yield [name, str(n), *described, *about]


def _rejects(tested: PairedFamily, test: str, side: str) -> Flags:
    """Return which pairs a test rejects."""
    options = QueryTestOptions(side, n_resamples=RESAMPLES, rng=SEED)  # type: ignore[arg-type]
    results = QUERY_TESTS[test].of_pairs(tested, options)  # type: ignore[index]
    return np.nan_to_num([result.p_value for result in results], nan=1.0) <= LEVEL + 1e-9


def designs(samples: int) -> Iterator[list[str]]:
    """Return a row per distribution and number of queries."""
    for (name, law), n in product(LAWS.items(), QUERIES[:1]):
        rng, mean = np.random.default_rng([SEED, n]), MEANS.get(name, 0.0)
        centred = _of(law(rng, (n, samples)) - mean)
        parts = law(rng, (CLUSTER * n, samples)).reshape(CLUSTER, n, samples) - mean
        sums = parts.sum(axis=0) + CLUSTER * (law(rng, (n, samples)) - mean)
        clusters = PairedFamily(sums, np.full(sums.shape, float(CLUSTER)))
        of_folds = _folds(rng, law, samples)
        cells = [_by_t(centred), _equivalence(centred), _by_t(clusters), _by_t(of_folds)]
        yield [name, str(n), *cells]


def _cell(rejects: Flags, warned: Flags) -> str:
    """Write how often a test rejects, how often without a warning, and how often that comes."""
    unwarned = 100 * (rejects & ~warned).mean()
    return f"{100 * rejects.mean():.1f} ({unwarned:.1f}, {100 * warned.mean():.0f})"


def _by_t(pairs: PairedFamily) -> str:
    """Describe the t test with the family's standard errors."""
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.nan_to_num(pairs.means / pairs.std_errors)
    rejects = 2 * stdtr(len(pairs.sums) - 1, -np.abs(t)) <= LEVEL
    return _cell(rejects, pairs.few_for_skewness)


def _equivalence(pairs: PairedFamily) -> str:
    """Describe the tests of equivalence where means are the margin apart, on the worse side."""
    margin = MARGIN * float(pairs.sums.std()) / len(pairs.sums) ** 0.5
    sides = []
    for side in (1, -1):
        moved = _of(pairs.sums + side * margin)
        sides.append(np.nan_to_num(moved.equivalence(margin)[1], nan=1.0) <= LEVEL)
    return _cell(max(sides, key=np.mean), pairs.few_for_skewness)


def _folds(rng: Rng, law: Law, samples: int) -> PairedFamily:
    """Return five times five folds whose values have a part in common."""
    values = law(rng, (FOLDS * FOLDS, samples))
    shared = rng.normal(0, values.std(), (1, samples))
    folds = np.sqrt(1 / FOLDS) * shared + np.sqrt(1 - 1 / FOLDS) * (values - values.mean())
    return PairedFamily(folds, np.ones_like(folds), 1 / (FOLDS - 1))


def families(samples: int) -> Iterator[list[str]]:
    """Return a row per number of systems and case."""
    for systems in (7, 20):
        half, nothing = systems // 2, np.zeros(systems)
        better = np.append(np.linspace(0.2, 0.8, half), np.zeros(systems - half))
        cases = {"all alike": (nothing, 0), "half better": (better, 0), "copies": (nothing, half)}
        for name, (effects, copies) in cases.items():
            rng = np.random.default_rng([SEED, systems])
            differs = np.array([a != b for a, b in combinations(effects.tolist(), 2)])
            found = np.array(
                [_significant(_systems(effects, copies, rng), rng) for _ in range(samples)]
            )
            wrong = 100 * found[..., ~differs].any(axis=-1).mean(axis=0)
            cells = [f"{share:.1f}" for share in wrong] + ["", ""]
            if differs.any():
                right = 100 * found[..., differs].mean(axis=(0, -1))
                cells[2:] = [f"{share:.1f}" for share in right]
            yield [str(systems), name, *cells]


def _systems(effects: Floats, copies: int, rng: Rng) -> Floats:
    """Draw values, a row per system."""
    errors = ERROR * rng.normal(size=(effects.size, 50))
    shared = np.sqrt(ERROR**2 - COPY**2) * rng.normal(size=50)
    errors[:copies] = shared + COPY / ERROR * errors[:copies]
    return np.asarray(expit(rng.normal(-0.8, 1.0, 50) + effects[:, None] + errors))


def _significant(values: Floats, rng: Rng) -> list[Flags]:
    """Return which pairs each correction finds significantly different."""
    first, second = np.array(list(combinations(range(len(values)), 2))).T
    pairs = _of((values[first] - values[second]).T)
    tests = QUERY_TESTS["randomization"].of_pairs(pairs, QueryTestOptions())
    p_values = [
        adjust_p_values([test.p_value for test in tests], "holm"),
        pairs.max_t(999, rng, "two-sided").p_values,
    ]
    return [p <= LEVEL + 1e-9 for p in p_values]


_BINS = [f"p in ({low:g}, {high:g}]" for high, low in BINS]
_ABOUT = ["differences", "queries"]
_DESIGNS = ["interval", "equivalence", "clusters", "folds"]
_FAMILIES = ["error, holm", "error, max-t", "found, holm", "found, max-t"]
PARTS = {
    "accuracy": Part(ACCURACY, ["differences", *_BINS], accuracy, 3, 40),
    "guard": Part(GUARD, [*_ABOUT, *TESTS, "warned", "unwarned"], guard, 100, 10_000),
    "designs": Part(DESIGNS, [*_ABOUT, *_DESIGNS], designs, 80, 4000),
    "families": Part(FAMILIES, ["systems", "case", *_FAMILIES], families, 20, 2000),
}

if __name__ == "__main__":
    main()
