"""The warning that means are of few, skewed values, whose intervals miss them too often."""

import numpy as np
import polars as pl

from prframe._engine.rows import in_groups
from prframe.errors import CoverageWarning, warn
from prframe.stats import PairedFamily
from prframe.stats.paired_values import COCHRAN
from prframe.typing import Floats

_ENDS = (0.0, 1.0)
# Of so few values a logit is as bad as the values.
_FEW = 30


def few_for_skewness(values: Floats, method: str) -> bool:
    """Tell whether a mean has too few values for their skewness and the method of its interval.

    The rule is that of `PairedFamily.few_for_skewness`. The logit of more than 30 values has the
    skewness ``G + 1.5 s (2 m - 1) / (m (1 - m))`` of mean m and standard deviation s, by which t
    errs in the same way. Shares of zeros and ones have intervals that allow for these, but for
    Student's.
    """
    if method == "hall" or (method != "t" and np.isin(values, _ENDS).all()):
        return False
    column = values[:, None]
    family = PairedFamily(column, np.ones_like(column))
    if not family.few_for_skewness.any():
        return False
    mean, n = float(family.means[0]), values.size
    if method != "logit" or n <= _FEW or not 0 < mean < 1:
        return True
    bend = 1.5 * values.std(ddof=1) * (2 * mean - 1) / (mean * (1 - mean))
    return bool(n <= COCHRAN * (family.skewness[0] + bend) ** 2)


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
        "few values may lack the rare ones that carry it. In `interval` and `band` take "
        "method='hall', which allows for skewness; where it does not matter, ignore "
        "CoverageWarning.",
        CoverageWarning,
    )
