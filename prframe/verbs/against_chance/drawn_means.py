"""When draws say more of a mean AP than what is computed."""

from math import exp, sqrt
from typing import TypeAlias

from prframe.stats.null import Cases

# An estimate is compared with draws if so many of them are expected to be as good, and no more
# numbers have to be drawn, which takes some seconds.
_EXPECTED, _MOST_NUMBERS = 10, 10**8
# It gives way to draws that are further off than so many standard errors.
_SURELY = 4

# The logarithm of a p-value, and its method.
Test: TypeAlias = tuple[float, str]


def are_asked(cases: Cases, test: Test | None, n_resamples: int) -> bool:
    """Tell whether draws may say more of a mean than what is computed, if anything is.

    They say more than a bound, down to the least p-value that they give, and they check estimates.
    """
    if test is None:
        return True
    log_p, method = test
    expected = exp(log_p) * (n_resamples + 1)
    if method == "estimate":
        return expected >= _EXPECTED and n_resamples * cases.cost <= _MOST_NUMBERS
    return method == "bound" and expected >= 1


def confirm(test: Test | None, drawn: float, n_resamples: int) -> bool:
    """Tell whether the share of draws differs from an estimate by no more than chance does."""
    if test is None or test[1] != "estimate":
        return False
    p = exp(test[0])
    error = sqrt(max(p, drawn) / (n_resamples + 1))
    return abs(p - drawn) <= _SURELY * error
