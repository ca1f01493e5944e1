"""Scoring rules that maximise a rank statistic of two samples, with scikit-learn's manners."""

try:
    import sklearn as _sklearn  # noqa: F401 - only to see whether it is there
except ImportError as error:
    raise ImportError(
        "prframe.learn needs scikit-learn 1.6 or later: pip install 'prframe[learn]'."
    ) from error

from prframe.learn.ranker import RankStatisticRanker
from prframe.learn.rules import ParametricRule
from prframe.learn.selection import (
    PenalizedSelection,
    complexity_constant,
    complexity_penalty,
    select_ranker,
)
from prframe.learn.smoothed import SmoothedCriterion, smoothed_criterion

__all__ = [
    "ParametricRule",
    "PenalizedSelection",
    "RankStatisticRanker",
    "SmoothedCriterion",
    "complexity_constant",
    "complexity_penalty",
    "select_ranker",
    "smoothed_criterion",
]
