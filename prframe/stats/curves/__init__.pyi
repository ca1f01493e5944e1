from .asymptotic import (
    PRInterval as PRInterval,
    pr_asymptotic_band as pr_asymptotic_band,
    pr_asymptotic_interval as pr_asymptotic_interval,
    pr_asymptotic_variance as pr_asymptotic_variance,
    pr_limit_process as pr_limit_process,
)
from .bands import (
    clusters_of_either_class as clusters_of_either_class,
    covering_rank as covering_rank,
)
from .bayesian_bootstrap import (
    PRPosterior as PRPosterior,
    posterior_of as posterior_of,
    posterior_of_clusters as posterior_of_clusters,
    pr_posterior as pr_posterior,
)
from .difference import (
    LEAST_POSITIVES as LEAST_POSITIVES,
    BandPlan as BandPlan,
    CurveDifference as CurveDifference,
    curve_difference as curve_difference,
    has_band as has_band,
    pr_curve_difference as pr_curve_difference,
)
from .drawn.gamma_walks import Weights as Weights, drawn_weights as drawn_weights
from .drawn.paths import DrawnPath as DrawnPath
from .drawn.roc_path import RocPath as RocPath
from .precision_recall import (
    LEVELS_TWICE as LEVELS_TWICE,
    band_levels as band_levels,
    cells_of_classes as cells_of_classes,
    empirical_precision as empirical_precision,
    even_levels as even_levels,
    pr_curve as pr_curve,
    precision_at_prior as precision_at_prior,
    range_ends as range_ends,
    spaced_levels as spaced_levels,
)
from .smoothed_bootstrap import PRBootstrap as PRBootstrap, pr_bootstrap as pr_bootstrap
