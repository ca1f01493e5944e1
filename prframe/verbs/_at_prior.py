"""Metrics of one ranking in a population with another share of positives."""

from prframe import checks
from prframe.errors import ArgumentError
from prframe.metrics import Metric
from prframe.stats.rankings import AtPrior, CellStatistic


def at_prior(metric: Metric, prior: float | None) -> CellStatistic:
    """Return a metric as a function of cells, at a share of positives if one is given."""
    statistic = metric.cell_statistic()
    if prior is None:
        return statistic
    if metric.k is not None and metric.cutoff == "optional":
        raise ArgumentError(
            f"`prior` has no meaning for the first k of one ranking, as the population has other "
            f"items there; got {metric}; leave the cut-off or `prior` out."
        )
    return AtPrior(statistic, prior)


def prior_of(value: object) -> float | None:
    """Require a share of positives for inference, or none."""
    return None if value is None else float(checks.number("prior", value, above=0, below=1))
