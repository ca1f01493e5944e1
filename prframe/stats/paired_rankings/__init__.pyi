from .compare import ComparisonPlan as ComparisonPlan, compare_rankings as compare_rankings
from .rankings import PairedRankings as PairedRankings
from .tests import (
    RankingComparison as RankingComparison,
    auc_covariance as auc_covariance,
    untested as untested,
)
