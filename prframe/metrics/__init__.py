"""The catalogue of metrics: every metric is a value.

A new metric takes one constant, in the module of its kind (`thresholds`, `positions` or
`sets`), and one naive definition in the tests' oracle. The list in the error
message, the docs table and the shared tests derive from `CATALOGUE`.
"""

from prframe.metrics.aliases import in_trec_eval
from prframe.metrics.metric import Metric
from prframe.metrics.names import (
    CATALOGUE,
    forms_that,
    parse_metric,
    with_cells,
)

__all__ = [
    "CATALOGUE",
    "Metric",
    "forms_that",
    "in_trec_eval",
    "parse_metric",
    "with_cells",
]
