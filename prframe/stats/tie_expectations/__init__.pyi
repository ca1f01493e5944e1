from .areas import gain_area as gain_area, mean_shortfall as mean_shortfall
from .average_precision import (
    expected_precision as expected_precision,
    expected_precision_before as expected_precision_before,
)
from .cascade import expected_cascade as expected_cascade
from .reciprocal_rank import (
    discount_sum as discount_sum,
    discount_sums as discount_sums,
    expected_reciprocal_rank as expected_reciprocal_rank,
    hit_probability as hit_probability,
    interpolated_discount_sum as interpolated_discount_sum,
)
from .segments import first_at_least as first_at_least
