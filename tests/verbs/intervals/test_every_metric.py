"""How often intervals cover the metrics that are known by their values alone."""

import numpy as np
import polars as pl
import pytest

import prframe

pytestmark = pytest.mark.filterwarnings("ignore:fewer than 40 clusters:prframe.CoverageWarning")

OF_POPULATION = [
    *("pAUC(max_fpr=0.2)", "pAP", "AUPRG", "R(at_precision=0.6)", "P(threshold=1)"),
    *("F1(threshold=1)", "BalancedAccuracy(threshold=1)", "MCC(threshold=1)"),
]
# The value of these depends on the number of items.
OF_SAMPLES = ["nDCG", "nDCG@10", "RR", "RBP", "AP@20", "W"]


def draw(runs: int, n: int, seed: int) -> pl.DataFrame:
    """Return binormal samples, a fifth of which is positive."""
    rng = np.random.default_rng(seed)
    label = rng.random(runs * n) < 0.2
    score = rng.normal(size=runs * n) + 1.2 * label
    return pl.DataFrame({"score": score, "label": label, "run": np.repeat(np.arange(runs), n)})


@pytest.mark.nightly
def test_coverage() -> None:
    runs, n = 200, 300
    truth = prframe.evaluate(draw(1, 1_000_000, 1), OF_POPULATION).to_dicts()[0]
    many = prframe.evaluate(draw(3000, n, 2), OF_SAMPLES, by="run").select(OF_SAMPLES)
    truth |= many.mean().to_dicts()[0]
    rows = prframe.interval(draw(runs, n, 3), list(truth), by="run", rng=1)
    for name, value in truth.items():
        row = rows.filter(metric=name)
        covered = (row["conf_low"] <= value) & (row["conf_high"] >= value)
        # Three standard errors of 200 samples are .046.
        assert covered.mean() > 0.95 - 0.047, name


def test_whole_scores_and_thresholds_between_them() -> None:
    data = pl.DataFrame({"score": [3, 2, 1, 0], "label": [1, 0, 1, 0]})
    asked = ["P(threshold=1.5)", "P(threshold=2)", "R(threshold=-7)", "P(threshold=9)"]
    narrow = data.with_columns(pl.col("score").cast(pl.Float32))
    for given, options in ((data, {}), (narrow, {"float32": True})):
        with pytest.warns(prframe.UndefinedMetricWarning, match="at least 9"):
            assert prframe.evaluate(given, asked, **options).row(0) == (0.5, 0.5, 1.0, None)


def test_models_are_compared_at_a_threshold() -> None:
    data = draw(1, 80, 5).with_columns(other=pl.col("score").round().cast(pl.Int64))
    names = ["MCC(threshold=0.5)", "P(threshold=0.5)", "AP", "nDCG@5"]
    labelled = data.with_columns(pl.col("label").cast(pl.Int64))
    options = {"score": ["score", "other"], "over": None, "n_resamples": 200, "rng": 1}
    rows = prframe.compare(labelled, names, **options)
    for side, column in (("mean_a", "score"), ("mean_b", "other")):
        values = prframe.evaluate(labelled, names, column).row(0)
        assert rows[side].to_list() == pytest.approx(values)
