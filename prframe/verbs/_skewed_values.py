"""The warning that means are of few, skewed values, whose intervals miss them too often."""

import numpy as np
import polars as pl

from prframe._engine.rows import in_groups
from prframe.errors import CoverageWarning, warn
from prframe.stats import PairedFamily
from prframe.typing import Floats

_ENDS = (0.0, 1.0)


def few_for_skewness(values: Floats, method: str) -> bool:
    """Tell whether a mean has too few values for their skewness and the method of its interval.

    The rule is that of `PairedFamily.few_for_skewness`. Shares of zeros and ones have intervals
    that allow for these, but for Student's.
    """
    if method == "hall" or (method != "t" and np.isin(values, _ENDS).all()):
        return False
    column = values[:, None]
    return bool(PairedFamily(column, np.ones_like(column)).few_for_skewness.any())


def warn_of_skewed_values(means: pl.DataFrame, keys: list[str], kind: str) -> None:
    """Warn once of the means with the flag ``skewed``.

    `means` has a row for each, with the keys of its group; `kind` is the word for them.
    """
    skewed = means.filter("skewed")
    if skewed.is_empty():
        return
    groups = skewed.select(keys).unique(maintain_order=True).rows()
    warn(
        f"the values of {skewed.height} of {means.height} {kind} are few and skewed"
        f"{in_groups(groups) if keys else ''}: their intervals may miss the mean too often, as "
        "rare values, on which it depends, are lacking by chance. Take method='hall', which "
        "allows for skewness; where it does not matter, ignore CoverageWarning.",
        CoverageWarning,
    )
