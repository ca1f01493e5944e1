from .base import (
    WORDS as WORDS,
    Jump as Jump,
    ScoreGeneratingFunction as ScoreGeneratingFunction,
    expected_score as expected_score,
    mean_score as mean_score,
    mid_rank_score as mid_rank_score,
)
from .functions import (
    DCG as DCG,
    RTB as RTB,
    LocalAUC as LocalAUC,
    Logistic as Logistic,
    Logrank as Logrank,
    MannWhitneyWilcoxon as MannWhitneyWilcoxon,
    Median as Median,
    PNormPush as PNormPush,
    VanDerWaerden as VanDerWaerden,
)
from .names import (
    SCORE_GENERATING as SCORE_GENERATING,
    CustomFunction as CustomFunction,
    Phi as Phi,
    parse_phi as parse_phi,
)
