"""Metrics of one ranking in a population with another share of positives."""

from prframe import checks
from prframe.errors import ArgumentError
from prframe.metrics import Metric, at_any_prior
from prframe.stats.rankings import AtPrior, CellStatistic


def at_prior(metric: Metric, prior: float | None) -> CellStatistic:
    """Return a metric as a function of cells, at a share of positives if one is given.

    Raises
    ------
    PrframeError
        The metric counts ranks.
    """
    statistic = metric.cell_statistic()
    if prior is None or statistic.of_classes:
        return statistic
    if not statistic.takes_prior:
        raise ArgumentError(
            f"`prior` has no meaning for {metric} of one ranking, as it counts ranks, at which "
            f"the population has other items; it is for {at_any_prior()}; leave `prior` out."
        )
    return AtPrior(statistic, prior)


def prior_of(value: object) -> float | None:
    """Require a share of positives for inference, or none."""
    return None if value is None else float(checks.number("prior", value, above=0, below=1))
