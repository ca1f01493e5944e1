"""The statistics: arrays in, arrays or small result objects out."""

from prframe.stats.curves.asymptotic import (
    PRInterval,
    pr_asymptotic_interval,
    pr_asymptotic_variance,
)
from prframe.stats.curves.bayesian_bootstrap import PRPosterior, pr_posterior
from prframe.stats.curves.difference import CurveDifference, pr_curve_difference
from prframe.stats.curves.precision_recall import pr_curve
from prframe.stats.curves.smoothed_bootstrap import PRBootstrap, pr_bootstrap
from prframe.stats.intervals.base import Confidence, IntervalEstimate, mean_interval
from prframe.stats.intervals.proportion import proportion_interval
from prframe.stats.intervals.rankings import ranking_interval
from prframe.stats.null.average_precision.approximations import (
    ap_beta_logsf,
    ap_beta_quantile,
    ap_beta_sf,
    ap_minimum,
    ap_normal_logsf,
    ap_normal_sf,
    beta_parameters,
)
from prframe.stats.null.average_precision.distribution import APNull
from prframe.stats.null.average_precision.moments import ap_null_moments
from prframe.stats.null.average_precision.shape import ap_null_shape
from prframe.stats.null.base import NullDistribution, TailProbabilities
from prframe.stats.null.random_selection import (
    delta_moments,
    hit_rank_covariance,
    hit_rank_moments,
    precision_null_moments,
    recall_null_moments,
)
from prframe.stats.null.sign_flips.distribution import SignFlipNull
from prframe.stats.null.subset_sums.linear_rank import LinearRankNull
from prframe.stats.null.top_k import hypergeometric_topk
from prframe.stats.paired_rankings.compare import compare_rankings
from prframe.stats.paired_rankings.delong import auc_covariance
from prframe.stats.paired_rankings.rankings import PairedRankings
from prframe.stats.paired_rankings.swaps import SwapDistribution
from prframe.stats.paired_rankings.tests import RankingComparison
from prframe.stats.paired_rankings.top_k import FoundAlone, found_alone
from prframe.stats.paired_values.counts_posterior import (
    paired_posterior_comparison,
    posterior_comparison,
)
from prframe.stats.paired_values.design import (
    detectable_difference,
    paired_t_power,
    queries_for_width,
    queries_needed,
)
from prframe.stats.paired_values.effect_sizes import (
    cliff_delta,
    cohen_dz,
    probability_of_superiority,
)
from prframe.stats.paired_values.family import PairedFamily, SampledTests
from prframe.stats.paired_values.multiplicity import adjust_p_values
from prframe.stats.paired_values.sample import (
    PairedSample,
    PairedTest,
    paired_differences,
    paired_sample,
)
from prframe.stats.paired_values.sampled_p_values import SampledPValue, sampled_p_value
from prframe.stats.paired_values.signed_rank_posterior import (
    SignedRankPosterior,
    signed_rank_posterior,
)
from prframe.stats.paired_values.tests import (
    paired_bootstrap_test,
    paired_randomization,
    paired_t_test,
    sign_test,
    signed_rank_test,
)
from prframe.stats.paired_values.tukey import tukey_randomization
from prframe.stats.rank_statistics.covariance import (
    RankCovariance,
    RankDifference,
    paired_rank_test,
    rank_covariance,
)
from prframe.stats.rank_statistics.roc import (
    concentration_radius,
    ranking_performance,
    roc_from_ranks,
)
from prframe.stats.rank_statistics.statistic import RankStatistic, rank_statistic
from prframe.stats.rankings.bootstrap import cluster_counts, ranking_bootstrap
from prframe.stats.rankings.cells import RankedCells, cells_from_scores
from prframe.stats.rankings.evaluators import CellEvaluator, Evaluator, InfluenceEvaluator
from prframe.stats.rankings.levels import ranking_levels
from prframe.stats.rankings.metric_base import CellStatistic
from prframe.stats.rankings.metrics import (
    AveragePrecision,
    PrecisionAt,
    PrecisionAtRecall,
    RecallAt,
    RocArea,
    TrapezoidArea,
)
from prframe.stats.score_functions.base import Jump, ScoreGeneratingFunction
from prframe.stats.score_functions.classical import (
    Logistic,
    Logrank,
    MannWhitneyWilcoxon,
    Median,
    VanDerWaerden,
)
from prframe.stats.score_functions.names import SCORE_GENERATING, CustomFunction, parse_phi
from prframe.stats.score_functions.ties import expected_score, mid_rank_score
from prframe.stats.score_functions.top_weighted import DCG, RTB, LocalAUC, PNormPush
from prframe.stats.tie_expectations.cascade import expected_cascade
from prframe.stats.tie_expectations.precision import expected_precision, expected_precision_before
from prframe.stats.tie_expectations.reciprocal_rank import (
    discount_sum,
    discount_sums,
    expected_reciprocal_rank,
    hit_probability,
)
from prframe.stats.tie_expectations.segments import first_at_least

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
