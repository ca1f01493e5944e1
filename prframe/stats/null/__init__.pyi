from .average_precision.approximations import (
    ap_beta_logsf as ap_beta_logsf,
    ap_beta_quantile as ap_beta_quantile,
    ap_beta_sf as ap_beta_sf,
    ap_minimum as ap_minimum,
    ap_normal_logsf as ap_normal_logsf,
    ap_normal_sf as ap_normal_sf,
    beta_parameters as beta_parameters,
)
from .average_precision.counting import beyond as beyond
from .average_precision.distribution import APNull as APNull
from .average_precision.groups import Case as Case, Cases as Cases
from .average_precision.moments import ap_null_moments as ap_null_moments
from .average_precision.steps import APNullMethod as APNullMethod, Tail as Tail
from .base import (
    NullDistribution as NullDistribution,
    TailProbabilities as TailProbabilities,
    sided as sided,
)
from .hypergeometric import hypergeometric_topk as hypergeometric_topk
from .random_selection import (
    delta_moments as delta_moments,
    hit_rank_covariance as hit_rank_covariance,
    hit_rank_joint_pmf as hit_rank_joint_pmf,
    hit_rank_moments as hit_rank_moments,
    hit_rank_pmf as hit_rank_pmf,
    precision_null_moments as precision_null_moments,
    recall_null_moments as recall_null_moments,
    reciprocal_hit_rank_covariance as reciprocal_hit_rank_covariance,
    reciprocal_hit_rank_moments as reciprocal_hit_rank_moments,
)
from .sign_flips.distribution import (
    SignFlipMethod as SignFlipMethod,
    SignFlipNull as SignFlipNull,
    all_signs as all_signs,
    random_signs as random_signs,
)
from .sign_flips.sums import (
    sign_flip_p_values as sign_flip_p_values,
    without_single_precision as without_single_precision,
)
from .subset_sums.linear_rank import (
    LinearRankNull as LinearRankNull,
    RankNullMethod as RankNullMethod,
)
