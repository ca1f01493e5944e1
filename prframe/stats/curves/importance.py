"""Importance weights of bootstrap samples whose labels are drawn with another prevalence.

A sample of n items with k positives has the likelihood ratio
``gamma = (p / p~)^k ((1 - p) / (1 - p~))^(n - k)``. Samples without positives or without negatives
are not drawn, so both probabilities are conditional on a sample of both classes.
"""

import numpy as np

from prframe.typing import Floats, Integers

# Effective resamples are few if they are fewer than this number, or than this part of all.
_FEW, _FEW_PART = 100, 0.1


def log_weights(n_pos: Integers, n: int, prevalence: float, drawn: float) -> Floats:
    """Return log gamma of samples that are drawn with another prevalence."""
    ratio = np.log(prevalence / drawn), np.log1p(-prevalence) - np.log1p(-drawn)
    normaliser = _log_both_classes(n, drawn) - _log_both_classes(n, prevalence)
    return np.asarray(n_pos * ratio[0] + (n - n_pos) * ratio[1] + normaliser)


def _log_both_classes(n: int, prevalence: float) -> float:
    """Return the logarithm of the probability that n items include both classes."""
    none, all_ = np.exp(n * np.log1p(-prevalence)), np.exp(n * np.log(prevalence))
    return float(np.log1p(-none - all_))


def normalised(logs: Floats) -> Floats:
    """Return the weights divided by their sum."""
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def effective_sample_size(weights: Floats) -> float:
    """Return ``(sum w)^2 / sum w^2`` of normalised weights, which cannot overflow."""
    return float(1 / (weights**2).sum())


def is_concentrated(weights: Floats) -> bool:
    """Tell whether a few resamples carry most of the weight, which equal weights never do."""
    least = max(_FEW, _FEW_PART * weights.size)
    return bool((weights != weights[0]).any()) and effective_sample_size(weights) < least
