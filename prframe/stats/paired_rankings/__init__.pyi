from .compare import compare_rankings as compare_rankings
from .delong import auc_covariance as auc_covariance
from .rankings import PairedRankings as PairedRankings
from .swaps import SwapDistribution as SwapDistribution
from .tests import (
    RankingComparison as RankingComparison,
    delong_comparison as delong_comparison,
    posterior_comparison_at as posterior_comparison_at,
    resampled_comparison as resampled_comparison,
)
from .top_k import FoundAlone as FoundAlone, found_alone as found_alone
