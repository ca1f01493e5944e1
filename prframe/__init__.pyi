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
from .metrics import (
    AP as AP,
    AP11 as AP11,
    AUC as AUC,
    AUPRC as AUPRC,
    AUPRG as AUPRG,
    BEDROC as BEDROC,
    CATALOGUE as CATALOGUE,
    DCG as DCG,
    EF as EF,
    ERR as ERR,
    F1 as F1,
    MCC as MCC,
    RBP as RBP,
    RR as RR,
    BalancedAccuracy as BalancedAccuracy,
    Bpref as Bpref,
    F as F,
    IPrec as IPrec,
    Judged as Judged,
    Lift as Lift,
    MaxF1 as MaxF1,
    Metric as Metric,
    NumRel as NumRel,
    NumRelRet as NumRelRet,
    NumRet as NumRet,
    P as P,
    Prec as Prec,
    R as R,
    RelP as RelP,
    Rprec as Rprec,
    SetAP as SetAP,
    SetF as SetF,
    SetP as SetP,
    SetR as SetR,
    Specificity as Specificity,
    Success as Success,
    W as W,
    infAP as infAP,
    nDCG as nDCG,
    pAP as pAP,
    parse_metric as parse_metric,
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
