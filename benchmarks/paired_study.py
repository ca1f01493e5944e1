"""``python -m benchmarks.paired_study``: p-values and intervals of paired comparisons.

``--quick`` takes fewer of everything, to see that it runs. ``python -m benchmarks`` runs it too.
"""

import argparse
import warnings
from collections.abc import Iterator

import numpy as np
from scipy import special, stats

from benchmarks import paired_designs, paired_families
from benchmarks.data import SEED
from benchmarks.paired_laws import LAWS, SKEWED, Floats, Law
from benchmarks.report import table
from prframe.stats import SignFlipNull, paired_t_test, sign_test, signed_rank_test
from prframe.stats.intervals.confidence import Confidence
from prframe.stats.intervals.ends import acceleration, wald_interval
from prframe.stats.intervals.replicates import bca_interval, percentile_interval
from prframe.stats.null.sign_flips.signs import random_signs
from prframe.stats.paired_values import QUERY_TESTS, QueryTestOptions, hall_bends
from prframe.stats.paired_values.family import PairedFamily
from prframe.typing import Flags
from prframe.verbs.comparison.over_queries import student_intervals

ACCURACY = """## paired-accuracy

The p-value of the randomization test by convolution, over that by counting all signs, less 1: the \
largest absolute value, by the size of the p-value. Differences of P@10 have a common unit, and are \
not rounded.
"""
SAMPLED = """The p-value by convolution for {n} queries, with a sum of differences of about z \
standard deviations; what it is over the share of {draws:,} random signs, less 1; in brackets the \
standard error of that share, relative to it.
"""
COVERAGE = """## paired-coverage

95 % intervals for the mean difference: the share of {samples:,} samples whose interval covers it, \
in brackets how often it lies above it and below it, and the mean width; {resamples:,} resamples.
"""
SIZE = """## paired-size

How often a test rejects at .05 / .01 where the mean difference is 0, in per cent of {samples:,} \
samples (standard error of 5 and 1: {five:.2f}, {one:.2f}). *AP* and *P@10* are differences of two \
systems that are alike. *Skewed* is the distribution of an exponential variate less 1, for which only the \
mean is 0: the median is not, which *wilcoxon* and *sign* are right to tell. *Bootstrap* has \
{resamples:,} resamples.
"""
GUARD = """## paired-skewness

How often tests reject at .05 where the mean difference is 0, in per cent of {samples:,} samples: \
two-sided, in brackets with the alternatives less and greater. *Warned* is the share of samples of \
which `compare` says that the differences are few and skewed, *unwarned* how often the t test \
rejects and it does not say so. *Bootstrap* has {resamples:,} resamples, of {fewer:,} samples.
"""
CRITERION = """## paired-criterion

Of how many samples `compare` says that the differences are few and skewed, which it does by \
Cochran's rule and Lin & Mudholkar's test at .05; and by Cochran's rule alone, or with D'Agostino's \
test of skewness in place of the other. In brackets how often the t test rejects at .05 without a \
warning, where the mean difference is 0, two-sided and on the worse side. In per cent of \
{samples:,} samples. *t* is how often that test rejects at all.
"""
HALL = """## paired-hall

95 % intervals for the mean difference where it is 0: the share of {samples:,} samples whose interval \
covers it, in brackets how often it lies above it and below it, and the mean width over that of t.
"""
COUNTED = (20, 25, 30, 36, 40)
MANY = 200
BINS = ((1, 0.1), (0.1, 1e-2), (1e-2, 1e-3), (1e-3, 1e-5), (1e-5, 0))
DEVIATIONS = (1.0, 2.0, 3.0, 4.0)
QUERIES = (5, 10, 25, 50, 100, 200)
METHODS = ("t", "percentile", "bca")
TESTED = (10, 25, 50, 100)
GUARDED = (15, 25, 50, 100)
FEW = (10, 15, 25, 50, 100)
LEVEL = 0.05
TESTS = ("randomization", "t", "wilcoxon", "sign", "bootstrap")
# Samples that are resampled together.
_TOGETHER = 100


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paired_study", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--part", choices=list(PARTS), help="one part alone")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, part in PARTS.items():
        if options.part in {None, name}:
            for line in part(quick=options.quick):
                print(line, flush=True)
            print(flush=True)


def rows_of(header: list[str], rows: Iterator[list[str]]) -> Iterator[str]:
    """Yield the lines of a table as its rows come."""
    yield from table(header, []).rstrip("\n").split("\n")
    for row in rows:
        yield table(header, [row]).rstrip("\n").split("\n")[-1]


def accuracy(*, quick: bool) -> Iterator[str]:
    """Compare the convolution with counting, and with many signs."""
    yield ACCURACY
    header = ["differences", "queries", *(f"p in ({low:g}, {high:g}]" for high, low in BINS)]
    yield from rows_of(header, _counted(3 if quick else 40))
    draws = 100_000 if quick else 10_000_000
    yield "\n" + SAMPLED.format(n=MANY, draws=draws)
    header = ["differences", *(f"z = {z:g}" for z in DEVIATIONS)]
    yield from rows_of(header, _sampled(draws))


def _counted(samples: int) -> Iterator[list[str]]:
    """Return a row per law and number of queries."""
    for name, law in LAWS.items():
        for n in COUNTED:
            rng = np.random.default_rng([SEED, n])
            found = []
            for z in np.linspace(0.1, 5.5, samples):
                differences = _tilted(law(rng, (n, 1), 0.0)[:, 0], float(z), rng)
                exact = SignFlipNull(differences, method="exact").p_value(alternative="two-sided")
                found.append(
                    (
                        exact,
                        SignFlipNull(differences, method="convolution").p_value(
                            alternative="two-sided"
                        ),
                    )
                )
            exact, others = np.array(found).T
            yield [name, str(n), *_by_size(exact, np.abs(others / exact - 1))]


def _tilted(differences: Floats, z: float, rng: np.random.Generator) -> Floats:
    """Return the numbers with signs by which their sum is about z standard deviations."""
    sizes = np.abs(differences)
    spread = float(np.sqrt((sizes**2).sum()))
    if not spread:
        return sizes
    chance = np.clip(0.5 + 0.5 * z * sizes / spread, 0, 1)
    signed = np.where(rng.random((500, sizes.size)) < chance, sizes, -sizes)
    return np.asarray(signed[np.abs(signed.sum(axis=1) - z * spread).argmin()])


def _by_size(p_values: Floats, errors: Floats) -> list[str]:
    """Return the largest error in each bin of p-values."""
    inside = [(p_values <= most) & (p_values > least) for most, least in BINS]
    return [f"{errors[some].max():.1e}" if some.any() else "" for some in inside]


def _sampled(draws: int) -> Iterator[list[str]]:
    """Return a row per law."""
    rng = np.random.default_rng(SEED)
    columns = np.column_stack(
        [
            _tilted(law(rng, (MANY, 1), 0.0)[:, 0], z, rng)
            for law in LAWS.values()
            for z in DEVIATIONS
        ]
    )
    limits = np.abs(columns.sum(axis=0)) - 1e-12 * np.abs(columns).sum(axis=0)
    beyond = np.zeros(len(columns.T))
    for signs in random_signs(MANY, draws, rng):
        beyond += (np.abs(signs @ columns) >= limits).sum(axis=0)
    for i, name in enumerate(LAWS):
        some = slice(i * len(DEVIATIONS), (i + 1) * len(DEVIATIONS))
        shares = (beyond[some] / draws).tolist()
        yield [name, *map(_ratio, columns.T[some], shares, [draws] * len(DEVIATIONS))]


def _ratio(differences: Floats, share: float, draws: int) -> str:
    """Write the p-value, and how far it is from the share of draws."""
    p_value = SignFlipNull(differences, method="convolution").p_value(alternative="two-sided")
    if not share:
        return f"{p_value:.2g}"
    error = np.sqrt((1 - share) / (share * draws))
    return f"{p_value:.2g}: {p_value / share - 1:+.1e} ({error:.0e})"


def coverage(*, quick: bool) -> Iterator[str]:
    """Study the intervals of the mean difference."""
    samples, resamples = (100, 200) if quick else (4000, 2000)
    yield COVERAGE.format(samples=samples, resamples=resamples)
    header = ["differences", "queries", "mean", *METHODS]
    yield from rows_of(header, _covered(samples, resamples))


def _covered(samples: int, resamples: int) -> Iterator[list[str]]:
    """Return a row per law and number of queries."""
    for name, law in LAWS.items():
        if name == "P@10":
            continue
        rng = np.random.default_rng(SEED)
        true = float(np.mean([law(rng, (100, 10_000), 0.4).mean() for _ in range(20)]))
        for n in QUERIES:
            found = [
                _ends(PairedFamily(values, np.ones_like(values)), resamples, rng)
                for values in _samples(law, n, 0.4, samples, rng)
            ]
            ends = np.concatenate(found)
            described = [_described(ends[:, j], true) for j in range(len(METHODS))]
            yield [name, str(n), f"{true:.4f}", *described]


def _samples(
    law: Law, n: int, shift: float, samples: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Yield samples as columns, some at a time."""
    for start in range(0, samples, _TOGETHER):
        yield law(rng, (n, min(_TOGETHER, samples - start)), shift)


def _ends(family: PairedFamily, resamples: int, rng: np.random.Generator) -> Floats:
    """Return the intervals of each column, by each method."""
    ends, confidence, n = [], Confidence(0.95), len(family.sums)
    columns = zip(family.sums.T, family.replicates(resamples, rng), strict=True)
    for values, means in columns:
        mean, std_error = float(values.mean()), float(values.std(ddof=1)) / n**0.5
        bend = acceleration(values - mean, np.ones(n))
        ends.append(
            [
                wald_interval(mean, std_error, confidence, df=n - 1),
                percentile_interval(means, confidence),
                bca_interval(mean, means, bend, confidence),
            ]
        )
    return np.array(ends)


def _described(ends: Floats, true: float) -> str:
    """Write coverage, misses on either side and the mean width."""
    low, high = ends.T
    above, below = (low > true).mean(), (high < true).mean()
    covers = ((low <= true) & (true <= high)).mean()
    return f"{covers:.3f} ({above:.3f}, {below:.3f}) {np.nanmean(high - low):.3f}"


def size(*, quick: bool) -> Iterator[str]:
    """Study how often tests reject what is true."""
    samples, resamples = (100, 199) if quick else (4000, 1999)
    five, one = (100 * np.sqrt(p * (1 - p) / samples) for p in (0.05, 0.01))
    yield SIZE.format(samples=samples, resamples=resamples, five=five, one=one)
    yield from rows_of(["differences", "queries", *TESTS], _sizes(samples, resamples))


def _sizes(samples: int, resamples: int) -> Iterator[list[str]]:
    """Return a row per law and number of queries."""
    for name in ("AP", "P@10", "skewed"):
        for n in TESTED:
            rng = np.random.default_rng([SEED, n])
            found = [
                _p_values(values, resamples, rng)
                for values in _samples(LAWS[name], n, 0.0, samples, rng)
            ]
            p_values = np.concatenate(found, axis=1)
            yield [name, str(n), *(_rejected(row) for row in p_values)]


def _p_values(values: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Return the p-values of each column, a row per test."""
    tests = [
        [
            SignFlipNull(differences).p_value(alternative="two-sided"),
            paired_t_test(differences).p_value,
            signed_rank_test(differences).p_value,
            sign_test(differences).p_value,
        ]
        for differences in values.T
    ]
    family = PairedFamily(values, np.ones_like(values))
    bootstrap = family.bootstrap(resamples, rng, "two-sided").p_values
    # Where nothing varies there is no test.
    constant = np.ptp(values, axis=0) == 0
    return np.vstack([np.transpose(tests), np.where(constant, 1.0, bootstrap)])


def _rejected(p_values: Floats) -> str:
    """Write how often p-values are small enough, in per cent."""
    return " / ".join(f"{100 * (p_values <= level + 1e-9).mean():.2f}" for level in (0.05, 0.01))


def guard(*, quick: bool) -> Iterator[str]:
    """Study the tests of skewed differences, and how often `compare` warns of them."""
    samples, resamples = (200, 199) if quick else (10_000, 999)
    fewer = samples // 5
    yield GUARD.format(samples=samples, resamples=resamples, fewer=fewer)
    header = ["differences", "queries", "t", "hall", "bootstrap", "warned", "unwarned"]
    yield from rows_of(header, _guarded(samples, resamples, fewer))


def _guarded(samples: int, resamples: int, fewer: int) -> Iterator[list[str]]:
    """Return a row per law and number of queries."""
    for name, law in SKEWED.items():
        for n in GUARDED:
            rng = np.random.default_rng([SEED, n])
            values = law(rng, (n, samples), 0.0)
            family = PairedFamily(values, np.ones_like(values))
            part = PairedFamily(values[:, :fewer], np.ones((n, fewer)))
            described, two_sided = [], np.zeros(samples)
            for test, tested in (("t", family), ("hall", family), ("bootstrap", part)):
                by_side = []
                for alternative in ("two-sided", "less", "greater"):
                    options = QueryTestOptions(alternative, n_resamples=resamples, rng=SEED)
                    results = QUERY_TESTS[test].of_pairs(tested, options)
                    by_side.append(np.nan_to_num([result.p_value for result in results], nan=1.0))
                if test == "t":
                    two_sided = by_side[0]
                shares = [100 * (p_values <= LEVEL).mean() for p_values in by_side]
                described.append(f"{shares[0]:.1f} ({shares[1]:.1f}, {shares[2]:.1f})")
            warned = family.few_for_skewness
            unwarned = (two_sided <= LEVEL) & ~warned
            about = [f"{100 * share.mean():.1f}" for share in (warned, unwarned)]
            yield [name, str(n), *described, *about]


def criterion(*, quick: bool) -> Iterator[str]:
    """Study how often `compare` warns of few, skewed differences, and how often it might."""
    samples = 200 if quick else 10_000
    yield CRITERION.format(samples=samples)
    header = ["differences", "queries", "t", "as it stands", "Cochran alone", "and D'Agostino"]
    yield from rows_of(header, _by_criterion(samples))


def _by_criterion(samples: int) -> Iterator[list[str]]:
    """Return a row per law and number of queries."""
    for name, law in SKEWED.items():
        for n in FEW:
            values = law(np.random.default_rng([SEED, n]), (n, samples), 0.0)
            family = PairedFamily(values, np.ones_like(values))
            cochran = n <= 25 * family.skewness**2
            with np.errstate(invalid="ignore", divide="ignore"):
                p_values = np.nan_to_num(stats.skewtest(values, axis=0).pvalue, nan=1.0)
                t = np.nan_to_num(stats.ttest_1samp(values, 0.0, axis=0).statistic)
            lower = special.stdtr(n - 1, t)
            sides = [2 * np.minimum(lower, 1 - lower) <= LEVEL, lower <= LEVEL, 1 - lower <= LEVEL]
            described = [_by_sides(sides)]
            for warned in (family.few_for_skewness, cochran, cochran & (p_values <= LEVEL)):
                unwarned = _by_sides([side & ~warned for side in sides])
                described.append(f"{100 * warned.mean():.1f} ({unwarned})")
            yield [name, str(n), *described]


def _by_sides(rejects: list[Flags]) -> str:
    """Write how often a two-sided test rejects, and the one-sided one that rejects more often."""
    two_sided, *one_sided = (100 * side.mean() for side in rejects)
    return f"{two_sided:.1f}, {max(one_sided):.1f}"


def hall(*, quick: bool) -> Iterator[str]:
    """Study the interval of Hall's test beside Student's."""
    samples = 200 if quick else 10_000
    yield HALL.format(samples=samples)
    yield from rows_of(["differences", "queries", "t", "hall"], _hall_rows(samples))


def _hall_rows(samples: int) -> Iterator[list[str]]:
    """Return a row per law and number of queries."""
    for name, law in SKEWED.items():
        for n in FEW:
            values = law(np.random.default_rng([SEED, n]), (n, samples), 0.0)
            family = PairedFamily(values, np.ones_like(values))
            ends = [
                student_intervals(family, Confidence(0.95), bends)
                for bends in (None, hall_bends(family))
            ]
            width = np.ptp(ends[0], axis=1).mean()
            described = [
                f"{((low <= 0) & (high >= 0)).mean():.3f} ({(low > 0).mean():.3f}, "
                f"{(high < 0).mean():.3f}) {(high - low).mean() / width:.2f}"
                for low, high in (pair.T for pair in ends)
            ]
            yield [name, str(n), *described]


def families(*, quick: bool) -> Iterator[str]:
    """Study corrections for many pairs."""
    yield from paired_families.study(rows_of, data_sets=20 if quick else 2000)


def designs(*, quick: bool) -> Iterator[str]:
    """Study equivalence, strata, clusters and folds."""
    yield from paired_designs.study(rows_of, samples=80 if quick else 4000)


PARTS = {
    "accuracy": accuracy,
    "coverage": coverage,
    "size": size,
    "guard": guard,
    "criterion": criterion,
    "hall": hall,
    "families": families,
    "designs": designs,
}

if __name__ == "__main__":
    main()
