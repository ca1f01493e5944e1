"""All metrics by their names, and lists of those that suit a purpose."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from prframe.metrics import classified, gains, partial, positions, retrieved, thresholds
from prframe.metrics.metric import Metric

if TYPE_CHECKING:
    from prframe.stats import CellStatistic

CATALOGUE: dict[str, Metric] = {
    value.name: value
    for module in (classified, gains, partial, positions, retrieved, thresholds)
    for value in vars(module).values()
    if isinstance(value, Metric)
}
CATALOGUE = dict(sorted(CATALOGUE.items(), key=lambda entry: (entry[0].lower(), entry[0])))


def with_cells(test: str | None = None) -> str:
    """List the metrics that are functions of the counts in cells, or those that a test is for."""
    return _forms_with(lambda _, statistic: test is None or statistic.of_two_samples)


def with_influence(*, graded: bool = True) -> str:
    """List the metrics that have a derivative by the weights of items.

    Without `graded` those of gains are left out, which labels other than 0 and 1 change.
    """
    return _forms_with(
        lambda metric, statistic: not (statistic.lacks_influence or (metric.graded and not graded))
    )


def at_any_prior() -> str:
    """List the metrics of one ranking that have a value whatever share is positive."""
    return _forms_with(lambda _, statistic: statistic.takes_prior or statistic.of_classes)


def _forms_with(accepts: "Callable[[Metric, CellStatistic], bool]") -> str:
    """List the metrics whose functions of counts suit."""
    return forms_that(
        lambda metric: not metric.without_cells and accepts(metric, metric.cell_statistic())
    )


def forms_that(suits: "Callable[[Metric], bool]") -> str:
    """List the metrics that suit, at all places where they may be taken."""
    places = [
        place
        for metric in CATALOGUE.values()
        for place in (metric, *(other for _, other in metric.instead))
    ]
    return _listed(
        [
            place.form + "[@k]" * (place.cutoff == "optional" and suits(place @ 1))
            for place in places
            if suits(place.example())
        ]
    )


def _listed(forms: Sequence[str]) -> str:
    """Write a list of metrics."""
    return " and ".join([", ".join(forms[:-1]), forms[-1]] if len(forms) > 1 else forms)
