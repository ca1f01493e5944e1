"""The statistics: arrays in, arrays or small result objects out."""

from prframe.stats.ap_fits import (
    ap_beta_logsf,
    ap_beta_quantile,
    ap_beta_sf,
    ap_minimum,
    ap_normal_logsf,
    ap_normal_sf,
    beta_parameters,
)
from prframe.stats.ap_moments import ap_null_moments
from prframe.stats.ap_null import APNull
from prframe.stats.ap_shape import ap_null_shape
from prframe.stats.cascade import expected_cascade
from prframe.stats.cell_bootstrap import cluster_counts, ranking_bootstrap
from prframe.stats.cell_statistic import CellStatistic
from prframe.stats.cell_statistics import (
    AveragePrecision,
    PrecisionAt,
    PrecisionAtRecall,
    RecallAt,
    RocArea,
    TrapezoidArea,
)
from prframe.stats.classical_scores import (
    Logistic,
    Logrank,
    MannWhitneyWilcoxon,
    Median,
    VanDerWaerden,
)
from prframe.stats.compare_rankings import compare_rankings
from prframe.stats.curve_comparison import CurveDifference, pr_curve_difference
from prframe.stats.effect_sizes import cliff_delta, cohen_dz, probability_of_superiority
from prframe.stats.intervals import Confidence, IntervalEstimate, mean_interval
from prframe.stats.label_permutations import tukey_randomization
from prframe.stats.linear_rank_null import LinearRankNull
from prframe.stats.multiplicity import adjust_p_values
from prframe.stats.null_distribution import NullDistribution, TailProbabilities
from prframe.stats.paired_auc import auc_covariance
from prframe.stats.paired_design import (
    detectable_difference,
    paired_t_power,
    queries_for_width,
    queries_needed,
)
from prframe.stats.paired_family import PairedFamily, SampledTests
from prframe.stats.paired_ranking_tests import RankingComparison
from prframe.stats.paired_rankings import PairedRankings
from prframe.stats.paired_sample import PairedSample, PairedTest, paired_differences, paired_sample
from prframe.stats.paired_swaps import SwapDistribution
from prframe.stats.paired_tests import (
    paired_bootstrap_test,
    paired_randomization,
    paired_t_test,
    sign_test,
    signed_rank_test,
)
from prframe.stats.paired_top import FoundAlone, found_alone
from prframe.stats.posterior import paired_posterior_comparison, posterior_comparison
from prframe.stats.pr_asymptotic import PRInterval, pr_asymptotic_interval, pr_asymptotic_variance
from prframe.stats.pr_bootstrap import PRBootstrap, pr_bootstrap
from prframe.stats.pr_curve import pr_curve
from prframe.stats.pr_posterior import PRPosterior, pr_posterior
from prframe.stats.proportions import proportion_interval
from prframe.stats.random_selection import (
    delta_moments,
    hit_rank_covariance,
    hit_rank_moments,
    precision_null_moments,
    recall_null_moments,
)
from prframe.stats.rank_comparison import (
    RankCovariance,
    RankDifference,
    paired_rank_test,
    rank_covariance,
)
from prframe.stats.rank_statistics import RankStatistic, rank_statistic
from prframe.stats.ranked_cells import RankedCells, cells_from_scores
from prframe.stats.ranking_evaluator import CellEvaluator, Evaluator, InfluenceEvaluator
from prframe.stats.ranking_intervals import ranking_interval
from prframe.stats.ranking_levels import ranking_levels
from prframe.stats.ranking_scores import DCG, RTB, LocalAUC, PNormPush
from prframe.stats.roc_identities import concentration_radius, ranking_performance, roc_from_ranks
from prframe.stats.sampled_p_values import SampledPValue, sampled_p_value
from prframe.stats.score_generating import Jump, ScoreGeneratingFunction
from prframe.stats.score_generating_names import SCORE_GENERATING, CustomFunction, parse_phi
from prframe.stats.segments import first_at_least
from prframe.stats.sign_flips import SignFlipNull
from prframe.stats.signed_rank_posterior import SignedRankPosterior, signed_rank_posterior
from prframe.stats.tied_precision import expected_precision, expected_precision_before
from prframe.stats.tied_ranks import (
    discount_sum,
    discount_sums,
    expected_reciprocal_rank,
    hit_probability,
)
from prframe.stats.tied_scores import expected_score, mid_rank_score
from prframe.stats.topk import hypergeometric_topk

__all__ = [
    "DCG",
    "RTB",
    "SCORE_GENERATING",
    "APNull",
    "AveragePrecision",
    "CellEvaluator",
    "CellStatistic",
    "Confidence",
    "CurveDifference",
    "CustomFunction",
    "Evaluator",
    "FoundAlone",
    "InfluenceEvaluator",
    "IntervalEstimate",
    "Jump",
    "LinearRankNull",
    "LocalAUC",
    "Logistic",
    "Logrank",
    "MannWhitneyWilcoxon",
    "Median",
    "NullDistribution",
    "PNormPush",
    "PRBootstrap",
    "PRInterval",
    "PRPosterior",
    "PairedFamily",
    "PairedRankings",
    "PairedSample",
    "PairedTest",
    "PrecisionAt",
    "PrecisionAtRecall",
    "RankCovariance",
    "RankDifference",
    "RankStatistic",
    "RankedCells",
    "RankingComparison",
    "RecallAt",
    "RocArea",
    "SampledPValue",
    "SampledTests",
    "ScoreGeneratingFunction",
    "SignFlipNull",
    "SignedRankPosterior",
    "SwapDistribution",
    "TailProbabilities",
    "TrapezoidArea",
    "VanDerWaerden",
    "adjust_p_values",
    "ap_beta_logsf",
    "ap_beta_quantile",
    "ap_beta_sf",
    "ap_minimum",
    "ap_normal_logsf",
    "ap_normal_sf",
    "ap_null_moments",
    "ap_null_shape",
    "auc_covariance",
    "beta_parameters",
    "cells_from_scores",
    "cliff_delta",
    "cluster_counts",
    "cohen_dz",
    "compare_rankings",
    "concentration_radius",
    "delta_moments",
    "detectable_difference",
    "discount_sum",
    "discount_sums",
    "expected_cascade",
    "expected_precision",
    "expected_precision_before",
    "expected_reciprocal_rank",
    "expected_score",
    "first_at_least",
    "found_alone",
    "hit_probability",
    "hit_rank_covariance",
    "hit_rank_moments",
    "hypergeometric_topk",
    "mean_interval",
    "mid_rank_score",
    "paired_bootstrap_test",
    "paired_differences",
    "paired_posterior_comparison",
    "paired_randomization",
    "paired_rank_test",
    "paired_sample",
    "paired_t_power",
    "paired_t_test",
    "parse_phi",
    "posterior_comparison",
    "pr_asymptotic_interval",
    "pr_asymptotic_variance",
    "pr_bootstrap",
    "pr_curve",
    "pr_curve_difference",
    "pr_posterior",
    "precision_null_moments",
    "probability_of_superiority",
    "proportion_interval",
    "queries_for_width",
    "queries_needed",
    "rank_covariance",
    "rank_statistic",
    "ranking_bootstrap",
    "ranking_interval",
    "ranking_levels",
    "ranking_performance",
    "recall_null_moments",
    "roc_from_ranks",
    "sampled_p_value",
    "sign_test",
    "signed_rank_posterior",
    "signed_rank_test",
    "tukey_randomization",
]
