"""The warning that two models differ by few, skewed values, and what of a result minds that."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.rows import in_groups
from prframe.errors import SkewedDifferencesWarning, warn
from prframe.stats.paired_values import QUERY_TESTS
from prframe.verbs.comparison.rows import JOINT, Block, Comparison

# The part of a block that tells of few, skewed differences.
SKEWED = "skewed"


def warn_of_skewness(
    groups: Sequence[tuple[pl.DataFrame, Mapping[str, Block]]],
    pairs: Sequence[tuple[object, object]],
    consequence: str,
) -> None:
    """Warn once of pairs that differ by few, skewed values, and of what this does to results.

    `pairs` are the models of the comparisons of each block.
    """
    blocks = [block for _, of_group in groups for block in of_group.values()]
    skewed = np.array([block[SKEWED] for block in blocks])
    if not consequence or not skewed.any():
        return
    keys = [
        key.row(0)
        for key, of_group in groups
        if key.width and any(np.any(block[SKEWED]) for block in of_group.values())
    ]
    where = f"{_named(groups, pairs)}{in_groups(keys) if keys else ''}"
    warn(
        f"the differences of {skewed.sum()} of {skewed.size} comparisons are few and skewed"
        f"{where}: {consequence}; where it does not matter, ignore SkewedDifferencesWarning.",
        SkewedDifferencesWarning,
    )


def _named(
    groups: Sequence[tuple[pl.DataFrame, Mapping[str, Block]]],
    pairs: Sequence[tuple[object, object]],
) -> str:
    """Name the first metrics and models whose differences are skewed, if there are others."""
    if len(pairs) * max(len(of_group) for _, of_group in groups) == 1:
        return ""
    named = dict.fromkeys(
        f"{metric} of {first} and {second}"
        for _, of_group in groups
        for metric, block in of_group.items()
        for is_skewed, (first, second) in zip(block[SKEWED], pairs, strict=True)
        if is_skewed
    )
    more = len(named) - checks.SHOWN
    shown = ", ".join(list(named)[: checks.SHOWN])
    return f" ({shown}{f' and {more} more' if more > 0 else ''})"


def effects_of_skewness(asked: Comparison, *, corrected: bool) -> str:
    """Return what skewness does to a comparison over queries; nothing if all allow for it.

    The variance of the t test may be `corrected` for dependence, which no other test is.
    """
    too_small = "" if asked.equivalence is None else ", and p_equivalence be too small"
    if QUERY_TESTS[asked.test].symmetric:
        misses = "" if asked.takes_halls_interval else ", and its interval miss"
        effect = (
            f"test={asked.test!r} may then reject too often where the means are equal, above all "
            f"one-sided{misses}{too_small}"
        )
        if corrected:
            return f"{effect}. No test that allows for skewness knows such a `resampling`"
        interval = "" if asked.takes_halls_interval else " with interval='hall'"
        by_itself = " Either takes correction='holm'" if asked.correction in JOINT else ""
        return (
            f"{effect}. Take test='hall', or test='bootstrap'{interval}, which allow for "
            f"skewness{by_itself and '.'}{by_itself}"
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
