"""The warning that two models differ by few, skewed values, and what of a result minds that."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from prframe._engine.rows import in_groups
from prframe.errors import SkewedDifferencesWarning, warn
from prframe.stats.paired_values import QUERY_TESTS
from prframe.verbs.comparison.rows import Block, Comparison

# The part of a block that tells of few, skewed differences, and the tests that these call for.
SKEWED = "skewed"
_FOR_SKEWED = ("bootstrap", "hall")


def warn_of_skewness(
    groups: Sequence[tuple[pl.DataFrame, Mapping[str, Block]]], consequence: str
) -> None:
    """Warn once of pairs that differ by few, skewed values, and of what this does to results."""
    blocks = [block for _, of_group in groups for block in of_group.values()]
    skewed = np.array([block[SKEWED] for block in blocks])
    if not consequence or not skewed.any():
        return
    keys = [
        key.row(0)
        for key, of_group in groups
        if key.width and any(np.any(block[SKEWED]) for block in of_group.values())
    ]
    warn(
        f"the differences of {skewed.sum()} of {skewed.size} comparisons are few and skewed"
        f"{in_groups(keys) if keys else ''}: {consequence}; where it does not matter, ignore "
        "SkewedDifferencesWarning.",
        SkewedDifferencesWarning,
    )


def effects_of_skewness(asked: Comparison) -> str:
    """Return what skewness does to a comparison over queries; nothing if all allow for it."""
    too_small = "" if asked.equivalence is None else ", and p_equivalence be too small"
    if QUERY_TESTS[asked.test].symmetric:
        remedies = [f"test={name!r}" for name in _FOR_SKEWED if name != asked.test]
        return (
            f"test={asked.test!r} may then reject too often where the means are equal, above all "
            f"one-sided, and its interval miss{too_small}. Take {' or '.join(remedies)}, which "
            "allow for skewness"
        )
    if not asked.takes_halls_interval:
        return (
            f"the interval may then miss the mean difference too often{too_small}. Take "
            "interval='hall', which allows for skewness"
        )
    if asked.equivalence is None:
        return ""
    return (
        "p_equivalence, of two t tests, may then be too small. See instead whether the interval "
        "with confidence_level=0.9 is within the margin, which is such a test at .05"
    )


IN_STRATA = (
    "where large ones are rare, a stratum without any has a small standard error and so a large "
    "weight, by which the pooled difference is off, and its test may reject too often where the "
    "means are equal. Compare without `strata`, with test='hall', where all queries weigh the same"
)
