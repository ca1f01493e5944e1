from .areas import auc_covariance as auc_covariance
from .compare import compare_rankings as compare_rankings
from .plan import OWN_TESTS as OWN_TESTS, ComparisonPlan as ComparisonPlan
from .rankings import PairedRankings as PairedRankings
from .swaps import SwapDistribution as SwapDistribution
from .tests import RankingComparison as RankingComparison, untested as untested
