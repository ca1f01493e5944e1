from .best_threshold import best_threshold_interval as best_threshold_interval
from .ends import (
    Confidence as Confidence,
    acceleration as acceleration,
    bca_interval as bca_interval,
    before_correction as before_correction,
    beta_interval as beta_interval,
    logit_interval as logit_interval,
    percentile_interval as percentile_interval,
    sample_skewness as sample_skewness,
    spread as spread,
    wald_interval as wald_interval,
)
from .mean_bands import MeanBand as MeanBand, mean_band as mean_band
from .means import (
    IntervalEstimate as IntervalEstimate,
    mean_interval as mean_interval,
    proportion_interval as proportion_interval,
)
from .rankings import (
    POSTERIOR as POSTERIOR,
    posterior_replicates as posterior_replicates,
    ranking_interval as ranking_interval,
    ranking_intervals as ranking_intervals,
    suited_method as suited_method,
)
