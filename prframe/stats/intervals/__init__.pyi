from .confidence import Confidence as Confidence
from .ends import (
    acceleration as acceleration,
    bca_interval as bca_interval,
    beta_interval as beta_interval,
    defined as defined,
    degrees_of_freedom as degrees_of_freedom,
    logit_interval as logit_interval,
    percentile_interval as percentile_interval,
    spread as spread,
    wald_interval as wald_interval,
)
from .mean_bands import MeanBand as MeanBand, mean_band as mean_band
from .means import IntervalEstimate as IntervalEstimate, mean_interval as mean_interval
from .posterior_draws import posterior_replicates as posterior_replicates
from .proportion import proportion_interval as proportion_interval
from .rankings import (
    POSTERIOR as POSTERIOR,
    ranking_interval as ranking_interval,
    suited_method as suited_method,
)
from .shared_items import (
    influence_of_few as influence_of_few,
    shared_item_variance as shared_item_variance,
)
