"""The statistics: arrays in, arrays or small result objects out."""

from prframe.stats.ap_moments import ap_null_moments
from prframe.stats.cascade import expected_cascade
from prframe.stats.segments import first_at_least
from prframe.stats.tied_precision import expected_precision, expected_precision_before
from prframe.stats.tied_ranks import (
    discount_sum,
    discount_sums,
    expected_reciprocal_rank,
    hit_probability,
)

__all__ = [
    "ap_null_moments",
    "discount_sum",
    "discount_sums",
    "expected_cascade",
    "expected_precision",
    "expected_precision_before",
    "expected_reciprocal_rank",
    "first_at_least",
    "hit_probability",
]
