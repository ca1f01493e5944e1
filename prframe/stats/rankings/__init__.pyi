from .bootstrap import (
    cluster_counts as cluster_counts,
    multiplicities as multiplicities,
    ranking_bootstrap as ranking_bootstrap,
)
from .cells import (
    RankedCells as RankedCells,
    cells_from_hits as cells_from_hits,
    cells_from_scores as cells_from_scores,
    least_precision as least_precision,
    local_precision as local_precision,
    pure_top as pure_top,
    share_above as share_above,
    weight_of_negatives as weight_of_negatives,
)
from .classes import (
    ClassScores as ClassScores,
    both_classes as both_classes,
    positives_at as positives_at,
    recall_levels as recall_levels,
    two_classes as two_classes,
)
from .drawn_curves import DrawnCurves as DrawnCurves
from .levels import (
    CellEvaluator as CellEvaluator,
    checked_levels as checked_levels,
    joint_levels as joint_levels,
    joint_ranks as joint_ranks,
    mid_ranks as mid_ranks,
    ranking_levels as ranking_levels,
)
from .metrics.areas import (
    AveragePrecision as AveragePrecision,
    Bedroc as Bedroc,
    PrecisionAtRecall as PrecisionAtRecall,
    RocArea as RocArea,
    TrapezoidArea as TrapezoidArea,
)
from .metrics.base import (
    AtPrior as AtPrior,
    CellStatistic as CellStatistic,
    Influence as Influence,
)
from .metrics.discounted import (
    AveragePrecisionAt as AveragePrecisionAt,
    DiscountedGain as DiscountedGain,
    LinearRankMean as LinearRankMean,
    RankBiasedPrecision as RankBiasedPrecision,
    ReciprocalRank as ReciprocalRank,
    SuccessAt as SuccessAt,
)
from .metrics.partial import (
    GainArea as GainArea,
    LargestF1 as LargestF1,
    PartialAveragePrecision as PartialAveragePrecision,
    PartialRocArea as PartialRocArea,
    RecallAtPrecision as RecallAtPrecision,
)
from .metrics.retrieved import SetStatistic as SetStatistic
from .metrics.top import (
    Enrichment as Enrichment,
    F1At as F1At,
    FAt as FAt,
    LiftAt as LiftAt,
    PrecisionAt as PrecisionAt,
    RecallAt as RecallAt,
    RelativePrecisionAt as RelativePrecisionAt,
    RPrecision as RPrecision,
)
