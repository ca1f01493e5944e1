"""Precision-recall evaluation of rankings, where the data already is.

Importing prframe registers ``.pr`` on polars frames, lazy frames and expressions, and on pandas
frames. The functions here are the typed interface behind it.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from prframe import accessors as _namespaces
from prframe.errors import (
    EffectiveSampleSizeWarning,
    MissingColumnError,
    PrframeError,
    UndefinedMetricWarning,
    UnmatchedIdsWarning,
)

if TYPE_CHECKING:
    from prframe import (
        datasets,
        expressions,
        learn as learn,  # not in __all__, which must do without scikit-learn
        stats,
        trec,
    )
    from prframe.metrics import (
        AP,
        AP11,
        AUC,
        AUPRC,
        BEDROC,
        CATALOGUE,
        DCG,
        EF,
        ERR,
        F1,
        RBP,
        RR,
        Bpref,
        IPrec,
        Judged,
        Lift,
        MaxF1,
        Metric,
        NumRel,
        NumRelRet,
        NumRet,
        P,
        Prec,
        R,
        RelP,
        Rprec,
        SetAP,
        SetF,
        SetP,
        SetR,
        Success,
        W,
        infAP,
        nDCG,
        parse_metric,
    )
    from prframe.verbs.ap_test import ap_test
    from prframe.verbs.band import band
    from prframe.verbs.check import check
    from prframe.verbs.comparison.compare import compare
    from prframe.verbs.comparison.curves import compare_curves
    from prframe.verbs.curve import curve, roc
    from prframe.verbs.evaluate import evaluate
    from prframe.verbs.interval import interval
    from prframe.verbs.rank_test import rank_test
    from prframe.verbs.topk_test import topk_test

__version__ = "0.1.0"

__all__ = [
    "AP",
    "AP11",
    "AUC",
    "AUPRC",
    "BEDROC",
    "CATALOGUE",
    "DCG",
    "EF",
    "ERR",
    "F1",
    "RBP",
    "RR",
    "Bpref",
    "EffectiveSampleSizeWarning",
    "IPrec",
    "Judged",
    "Lift",
    "MaxF1",
    "Metric",
    "MissingColumnError",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "Prec",
    "PrframeError",
    "R",
    "RelP",
    "Rprec",
    "SetAP",
    "SetF",
    "SetP",
    "SetR",
    "Success",
    "UndefinedMetricWarning",
    "UnmatchedIdsWarning",
    "W",
    "ap_test",
    "band",
    "check",
    "compare",
    "compare_curves",
    "curve",
    "datasets",
    "evaluate",
    "expressions",
    "infAP",
    "interval",
    "nDCG",
    "parse_metric",
    "rank_test",
    "roc",
    "stats",
    "topk_test",
    "trec",
]

_VERBS = frozenset(
    {
        "ap_test",
        "band",
        "check",
        "compare",
        "compare_curves",
        "curve",
        "evaluate",
        "interval",
        "rank_test",
        "roc",
        "topk_test",
    }
)
_MODULES = frozenset({"datasets", "expressions", "learn", "stats", "trec"})

_namespaces.register()

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load what is asked for; loading NumPy and the rest at once would double the import."""
        if name in _MODULES:
            return _import_module(f"prframe.{name}")
        if name in __all__:
            return getattr(
                _import_module("prframe.verbs" if name in _VERBS else "prframe.metrics"), name
            )
        raise AttributeError(f"module 'prframe' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted([*__all__, "__version__", "learn"])
