"""Comparisons with equivalence, clusters and folds: how often they reject what is true."""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import stdtr

from benchmarks.data import SEED
from benchmarks.paired_laws import MEANS, SPARSE, Floats
from prframe.stats import PairedFamily
from prframe.stats.paired_values import QUERY_TESTS, QueryTestOptions
from prframe.typing import Flags

TEXT = """## paired-designs

How often a test rejects at .05 what is true, in per cent of {samples:,} samples ({fewer:,} of \
the randomization test); in brackets how often it does so without a \
`SkewedDifferencesWarning`, and how often that comes. *Randomization*, \
of the distributions with mean 0; *interval*, Student's misses the mean; *equivalence*, of means a margin apart, which is \
three standard errors, on the worse side; *clusters*, of three queries, so many clusters; *folds*, five times five, whose \
values have a normal part in common with the correlation of 1/5, by resampling="cv".
"""
QUERIES, CLUSTER, FOLDS, REPETITIONS = (15, 25, 50), 3, 5, 5
LEVEL, MARGIN = 0.05, 3.0
DESIGNS = ("randomization", "interval", "equivalence")
OTHERS = ("clusters", "folds")


def study(
    rows_of: Callable[[list[str], Iterator[list[str]]], Iterator[str]], samples: int
) -> Iterator[str]:
    """Yield the lines of the section."""
    fewer = samples // 4
    yield TEXT.format(samples=samples, fewer=fewer)
    yield from rows_of(["differences", "queries", *DESIGNS, *OTHERS], _rows(samples, fewer))


def _rows(samples: int, fewer: int) -> Iterator[list[str]]:
    """Return a row per distribution and number of queries."""
    for name, law in SPARSE.items():
        for n in QUERIES:
            rng = np.random.default_rng([SEED, n])
            values = law(rng, (n, samples), 0.0)
            family, centred = _of(values), _of(values - MEANS.get(name, 0.0))
            cells = [_randomization(_of(values[:, :fewer])) if name not in MEANS else ""]
            cells.append(_cell(_by_t(centred), family.few_for_skewness))
            cells.append(_equivalence(centred))
            parts = law(rng, (CLUSTER * n, samples), -MEANS.get(name, 0.0))
            shared = law(rng, (n, samples), -MEANS.get(name, 0.0))
            sums = parts.reshape(CLUSTER, n, samples).sum(axis=0) + CLUSTER * shared
            clusters = PairedFamily(sums, np.full(sums.shape, float(CLUSTER)))
            cells.append(_cell(_by_t(clusters), clusters.few_for_skewness))
            cells.append(_folds(rng, law(rng, (FOLDS * REPETITIONS, samples), 0.0)))
            yield [name, str(n), *cells]


def _of(values: Floats) -> PairedFamily:
    """Return a pair for each column."""
    return PairedFamily(values, np.ones_like(values))


def _cell(rejects: Flags, warned: Flags) -> str:
    """Write how often a test rejects, how often it does so unwarned, and how often it is told."""
    unwarned = 100 * (rejects & ~warned).mean()
    return f"{100 * rejects.mean():.1f} ({unwarned:.1f}, {100 * warned.mean():.0f})"


def _by_t(family: PairedFamily) -> Flags:
    """Return whether the t test, with the family's standard errors, rejects."""
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.nan_to_num(family.means / family.std_errors)
    return np.asarray(2 * stdtr(len(family.sums) - 1, -np.abs(t)) <= LEVEL)


def _randomization(family: PairedFamily) -> str:
    """Describe the default test."""
    results = QUERY_TESTS["randomization"].of_pairs(family, QueryTestOptions())
    p_values = np.nan_to_num([result.p_value for result in results], nan=1.0)
    return _cell(p_values <= LEVEL + 1e-9, family.few_for_skewness)


def _equivalence(family: PairedFamily) -> str:
    """Describe the tests of equivalence where means are the margin apart, on the worse side."""
    margin = MARGIN * float(family.sums.std()) / len(family.sums) ** 0.5
    sides = []
    for side in (1, -1):
        moved = _of(family.sums + side * margin)
        sides.append(np.nan_to_num(moved.equivalence(margin)[1], nan=1.0) <= LEVEL)
    return _cell(max(sides, key=np.mean), family.few_for_skewness)


def _folds(rng: np.random.Generator, values: Floats) -> str:
    """Describe the corrected t test of folds whose values have a part in common."""
    shared = rng.normal(0, values.std(), (1, values.shape[1]))
    folds = np.sqrt(1 / FOLDS) * shared + np.sqrt(1 - 1 / FOLDS) * (values - values.mean())
    family = PairedFamily(folds, np.ones_like(folds), 1 / (FOLDS - 1))
    return _cell(_by_t(family), family.few_for_skewness)
