"""Intervals around a ROC curve from draws of the curve behind it."""

import numpy as np

from prframe.draws import INTERVAL_DRAWS
from prframe.stats._arrays import random_generator
from prframe.stats.curves import DrawnPath, RocPath, covering_rank, drawn_weights
from prframe.stats.rankings import cells_from_scores
from prframe.typing import Flags, Floats


def false_rate_band(
    scores: Floats, labels: Flags, recall: Floats, confidence_level: float, seed: int
) -> tuple[Floats, Floats]:
    """Return the ends of the interval for the false positive rate at each level of recall.

    They are quantiles of the draws of the Bayesian bootstrap from which the band around the PR
    curve is made, as many beyond either end. Beyond the recall of the retrieved items the rate
    is 1.
    """
    cells, _ = cells_from_scores(scores, labels)
    weights = drawn_weights(INTERVAL_DRAWS, random_generator(seed))
    log_rates = np.sort(DrawnPath(RocPath.of(cells), recall, weights).curves().log_fpr, axis=0)
    last = covering_rank((1 + confidence_level) / 2, len(log_rates))
    low, high = (np.exp(np.minimum(log_rates[row], 0.0)) for row in (-last, last - 1))
    return low, high
