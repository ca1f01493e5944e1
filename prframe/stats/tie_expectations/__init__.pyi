from .sums import (
    discount_sum as discount_sum,
    discount_sums as discount_sums,
    expected_cascade as expected_cascade,
    expected_precision as expected_precision,
    expected_precision_before as expected_precision_before,
    expected_reciprocal_rank as expected_reciprocal_rank,
    gain_area as gain_area,
    hit_probability as hit_probability,
    interpolated_discount_sum as interpolated_discount_sum,
    mean_shortfall as mean_shortfall,
)
