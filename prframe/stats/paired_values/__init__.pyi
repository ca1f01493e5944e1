from .counts_posterior import (
    paired_posterior_comparison as paired_posterior_comparison,
    posterior_comparison as posterior_comparison,
)
from .design import (
    LEAST_ALPHA as LEAST_ALPHA,
    detectable_difference as detectable_difference,
    paired_t_power as paired_t_power,
    queries_for_width as queries_for_width,
    queries_needed as queries_needed,
)
from .family import (
    COCHRAN as COCHRAN,
    PairedFamily as PairedFamily,
    SampledTests as SampledTests,
)
from .multiplicity import adjust_p_values as adjust_p_values
from .query_tests import (
    QUERY_TESTS as QUERY_TESTS,
    QueryTest as QueryTest,
    QueryTestName as QueryTestName,
    QueryTestOptions as QueryTestOptions,
    hall_skewness as hall_skewness,
    paired_randomization as paired_randomization,
    paired_t_test as paired_t_test,
)
from .sample import (
    PairedTest as PairedTest,
    cohen_dz as cohen_dz,
    cohen_dz_of_columns as cohen_dz_of_columns,
    paired_differences as paired_differences,
    paired_sample as paired_sample,
    rounded_differences as rounded_differences,
)
