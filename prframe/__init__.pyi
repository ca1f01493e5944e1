from . import (
    chart as chart,
    datasets as datasets,
    expressions as expressions,
    learn as learn,
    plot as plot,
    reports as reports,
    stats as stats,
    tables as tables,
    trec as trec,
    vlfeat as vlfeat,
)
from .errors import (
    ArgumentError as ArgumentError,
    CoverageWarning as CoverageWarning,
    DependentFoldsWarning as DependentFoldsWarning,
    EffectiveSampleSizeWarning as EffectiveSampleSizeWarning,
    EmptyFrameWarning as EmptyFrameWarning,
    GateError as GateError,
    ManyGradesWarning as ManyGradesWarning,
    ManyPairsWarning as ManyPairsWarning,
    MissingColumnError as MissingColumnError,
    MissingQueriesWarning as MissingQueriesWarning,
    NoCutoffWarning as NoCutoffWarning,
    NoNegativesWarning as NoNegativesWarning,
    NoPositivesWarning as NoPositivesWarning,
    NormalizationWarning as NormalizationWarning,
    PooledRankingWarning as PooledRankingWarning,
    PrframeError as PrframeError,
    PrframeWarning as PrframeWarning,
    RankOrderWarning as RankOrderWarning,
    SharedItemsWarning as SharedItemsWarning,
    SkewedDifferencesWarning as SkewedDifferencesWarning,
    TiePolicyWarning as TiePolicyWarning,
    UndefinedMetricWarning as UndefinedMetricWarning,
    UnknownMetricError as UnknownMetricError,
    UnlistedItemsWarning as UnlistedItemsWarning,
    UnmatchedIdsWarning as UnmatchedIdsWarning,
    UnretrievedWarning as UnretrievedWarning,
)
from .gates import gate as gate
from .metrics.metric import Metric as Metric
from .metrics.names import CATALOGUE as CATALOGUE, parse_metric as parse_metric
from .metrics.positions import (
    BEDROC as BEDROC,
    DCG as DCG,
    EF as EF,
    ERR as ERR,
    F1 as F1,
    RBP as RBP,
    RR as RR,
    Bpref as Bpref,
    F as F,
    Judged as Judged,
    Lift as Lift,
    P as P,
    R as R,
    RelP as RelP,
    Rprec as Rprec,
    Success as Success,
    nDCG as nDCG,
)
from .metrics.sets import (
    MCC as MCC,
    BalancedAccuracy as BalancedAccuracy,
    NumRel as NumRel,
    NumRelRet as NumRelRet,
    NumRet as NumRet,
    SetAP as SetAP,
    SetF as SetF,
    SetP as SetP,
    SetR as SetR,
    Specificity as Specificity,
)
from .metrics.thresholds import (
    AP as AP,
    AP11 as AP11,
    AUC as AUC,
    AUPRC as AUPRC,
    AUPRG as AUPRG,
    IPrec as IPrec,
    MaxF1 as MaxF1,
    Prec as Prec,
    W as W,
    infAP as infAP,
    pAP as pAP,
    pAUC as pAUC,
)
from .reports import report as report
from .verbs.against_chance.ap_test import ap_test as ap_test
from .verbs.against_chance.rank_test import rank_test as rank_test
from .verbs.against_chance.topk_test import topk_test as topk_test
from .verbs.check import check as check
from .verbs.comparison.compare import compare as compare
from .verbs.comparison.curves import compare_curves as compare_curves
from .verbs.curves.band import band as band
from .verbs.curves.curve import curve as curve, roc as roc
from .verbs.evaluate import evaluate as evaluate
from .verbs.intervals.interval import interval as interval

__version__: str
