from .covariance import (
    RankCovariance as RankCovariance,
    RankDifference as RankDifference,
    paired_rank_test as paired_rank_test,
    rank_covariance as rank_covariance,
    rank_difference as rank_difference,
)
from .roc import (
    RocDistances as RocDistances,
    concentration_radius as concentration_radius,
    ranking_performance as ranking_performance,
    roc_distances as roc_distances,
    roc_from_ranks as roc_from_ranks,
)
from .statistic import (
    RankStatistic as RankStatistic,
    rank_null as rank_null,
    rank_statistic as rank_statistic,
)
