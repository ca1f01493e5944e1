from .areas import auc_covariance as auc_covariance
from .compare import compare_rankings as compare_rankings
from .plan import ComparisonPlan as ComparisonPlan
from .rankings import PairedRankings as PairedRankings
from .tests import RankingComparison as RankingComparison, untested as untested
