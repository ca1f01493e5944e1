"""The warning that means are of few, skewed values, whose intervals miss them too often."""

from math import ceil

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from prframe._engine.rows import in_groups
from prframe.errors import CoverageWarning, warn
from prframe.stats import PairedFamily
from prframe.stats._units import UnitSums, units_of
from prframe.stats.paired_values import COCHRAN
from prframe.typing import Floats

_ENDS = (0.0, 1.0)
# Of so few values a logit is as bad as the values.
_FEW = 30
# A mean hangs on few values if so small a part of them makes up so much of what varies.
_PART, _MOST = 0.15, 5 / 6


def few_for_skewness(values: Floats, method: str, cluster: ArrayLike | None = None) -> bool:
    """Return whether a mean has too few values for their skewness and the method of its interval.

    The logit of more than 30 values has the skewness ``G + 1.5 s (2 m - 1) / (m (1 - m))`` of mean
    m and standard deviation s, by which t errs in the same way.
    """
    units = units_of(cluster, values.size)
    sample = UnitSums.of(values, units)
    if method == "hall" or (method != "t" and _is_share(sample)):
        return False
    if method == "logit" and _at_an_end(sample):
        return False
    family = PairedFamily(sample.sums[:, None], sample.sizes[:, None])
    if not (family.few_for_skewness.any() and _hangs_on_few(sample)):
        return False
    if method != "logit" or units.number <= _FEW or not 0 < sample.mean < 1:
        return True
    spread = sample.std_error * units.number**0.5
    bend = 1.5 * spread * (2 * sample.mean - 1) / (sample.mean * (1 - sample.mean))
    return bool(units.number <= COCHRAN * (family.skewness[0] + bend) ** 2)


def _hangs_on_few(sample: UnitSums) -> bool:
    """Tell whether a small part of the units makes up most of the sum of squares."""
    squares = np.sort((sample.sums - sample.mean * sample.sizes) ** 2)
    few = squares[-ceil(_PART * squares.size) :]
    return bool(few.sum() >= _MOST * squares.sum())


def _is_share(sample: UnitSums) -> bool:
    """Tell whether a mean is a share of units of one size: all values of each are 0, or 1."""
    size = sample.sizes.max(initial=1.0)
    return bool((sample.sizes == size).all() and np.isin(sample.sums / size, _ENDS).all())


def _at_an_end(sample: UnitSums) -> bool:
    """Return whether at least half of the units have nothing but zeros, or nothing but ones."""
    means = sample.sums / np.maximum(sample.sizes, 1)
    return bool(max(np.mean(means == end) for end in _ENDS) >= 0.5)  # noqa: PLR2004


def warn_of_skewed_values(
    means: pl.DataFrame, keys: list[str], kind: str, metric: str | None = None
) -> None:
    """Warn once of the means with the flag ``skewed``; `kind` is the word for them."""
    skewed = means.filter("skewed")
    if skewed.is_empty():
        return
    groups = skewed.select(keys).unique(maintain_order=True).rows()
    named = ""
    if metric is not None and means[metric].n_unique() > 1:
        named = f", of {', '.join(skewed[metric].unique(maintain_order=True))}"
    warn(
        f"few of the values carry {skewed.height} of {means.height} {kind}{named}"
        f"{in_groups(groups) if keys else ''}: their intervals may miss the mean too often, as "
        "few and skewed values may lack the rare ones that carry it. In `interval` and `band` "
        "take method='hall', which allows for skewness; where it does not matter, ignore "
        "CoverageWarning.",
        CoverageWarning,
    )
