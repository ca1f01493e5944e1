"""The verbs: what can be asked of a frame."""

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

__all__ = [
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
]
