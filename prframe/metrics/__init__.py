"""The catalogue of metrics: every metric is a value.

A new metric takes one constant, in the module of its kind (`thresholds`, `positions`, `gains`,
`sets` or `partial`), and one naive definition in the tests' oracle. The list in the error
message, the docs table and the shared tests derive from `CATALOGUE`.
"""

from prframe.metrics.aliases import ALIASES, CUT_ALIASES, in_trec_eval
from prframe.metrics.gains import DCG, ERR, nDCG
from prframe.metrics.metric import Metric, Parameter, Term
from prframe.metrics.names import (
    CATALOGUE,
    at_any_prior,
    forms_that,
    parse_metric,
    with_cells,
    with_influence,
)
from prframe.metrics.partial import AUPRG, pAP, pAUC
from prframe.metrics.positions import (
    BEDROC,
    EF,
    F1,
    RBP,
    RR,
    Bpref,
    F,
    Judged,
    Lift,
    P,
    R,
    RelP,
    Rprec,
    Success,
)
from prframe.metrics.sets import (
    MCC,
    BalancedAccuracy,
    NumRel,
    NumRelRet,
    NumRet,
    SetAP,
    SetF,
    SetP,
    SetR,
    Specificity,
)
from prframe.metrics.thresholds import AP, AP11, AUC, AUPRC, IPrec, MaxF1, Prec, W, infAP

__all__ = [
    "ALIASES",
    "AP",
    "AP11",
    "AUC",
    "AUPRC",
    "AUPRG",
    "BEDROC",
    "CATALOGUE",
    "CUT_ALIASES",
    "DCG",
    "EF",
    "ERR",
    "F1",
    "MCC",
    "RBP",
    "RR",
    "BalancedAccuracy",
    "Bpref",
    "F",
    "IPrec",
    "Judged",
    "Lift",
    "MaxF1",
    "Metric",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "Parameter",
    "Prec",
    "R",
    "RelP",
    "Rprec",
    "SetAP",
    "SetF",
    "SetP",
    "SetR",
    "Specificity",
    "Success",
    "Term",
    "W",
    "at_any_prior",
    "forms_that",
    "in_trec_eval",
    "infAP",
    "nDCG",
    "pAP",
    "pAUC",
    "parse_metric",
    "with_cells",
    "with_influence",
]
