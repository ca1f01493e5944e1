"""Folds in `compare` and `interval`, and equivalence, against the functions of arrays."""

import warnings

import numpy as np
import polars as pl
import pytest
from scipy import stats

import prframe
from prframe.errors import PrframeError
from prframe.stats import mean_interval, paired_t_test

RNG = np.random.default_rng(3)
FOLDS = pl.DataFrame(
    {
        "repetition": np.repeat(np.arange(3), 5),
        "fold": np.tile(np.arange(5), 3),
        "a": RNG.normal(0.8, 0.02, 15),
        "b": RNG.normal(0.79, 0.02, 15),
    }
)
ARRAYS = FOLDS["a"].to_numpy(), FOLDS["b"].to_numpy()


def compared(frame=FOLDS, **options):
    options = {"over": ["repetition", "fold"], "resampling": "cv", "test": "t"} | options
    return prframe.compare(frame, values=["a", "b"], **options)


@pytest.mark.parametrize(("resampling", "ratio"), [("cv", 1 / 4), (0.5, 0.5)])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_compare_corrects_t_and_interval(resampling, ratio, alternative):
    row = compared(resampling=resampling, alternative=alternative).row(0, named=True)
    test = paired_t_test(*ARRAYS, test_train_ratio=ratio, alternative=alternative)
    assert row["p_value"] == pytest.approx(test.p_value, rel=1e-12)
    assert row["statistic"] == pytest.approx(test.statistic, rel=1e-12)
    if alternative == "two-sided":
        interval = mean_interval(ARRAYS[0] - ARRAYS[1], "t", test_train_ratio=ratio)
        ends = [row["conf_low"], row["conf_high"]]
        assert ends == pytest.approx([interval.low, interval.high], rel=1e-12)


@pytest.mark.parametrize("method", ["auto", "t", "logit"])
def test_interval_corrects_the_variance(method):
    options = {"over": ["repetition", "fold"], "method": method}
    row = prframe.interval(FOLDS, values="a", resampling="cv", **options).row(0, named=True)
    known = "t" if method == "auto" else method
    expected = mean_interval(ARRAYS[0], known, test_train_ratio=1 / 4)
    assert [row["std_error"], row["conf_low"], row["conf_high"]] == pytest.approx(
        [expected.std_error, expected.low, expected.high], rel=1e-12
    )


def test_a_column_called_fold_warns_unless_its_resampling_is_named():
    with pytest.warns(prframe.DependentFoldsWarning, match="resampling='cv'"):
        compared(resampling=None)
    with pytest.warns(prframe.DependentFoldsWarning, match="training sets"):
        prframe.interval(FOLDS, values="a", over=["repetition", "fold"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compared()
        prframe.interval(FOLDS, values="a", over=["repetition", "fold"], resampling=0.25)
        compared(FOLDS.rename({"fold": "query_id"}), over=["repetition", "query_id"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "randomization"}, "say test='t'"),
        ({"interval": "hall"}, "interval='hall' does not support"),
        ({"power": 0.8}, "`power` does not support"),
        ({"cluster": "repetition"}, "`cluster` does not support"),
        ({"resampling": "bootstrap"}, "`resampling` must be 'cv', for the folds"),
        ({"over": ["fold", "repetition"]}, "put 'fold' last"),
        ({"resampling": 0}, "`resampling` must be"),
        ({"frame": FOLDS[:-1]}, "needs every fold"),
    ],
)
def test_what_does_not_go_with_folds_is_refused(options, message):
    with pytest.raises(PrframeError, match=message):
        compared(**options)


def test_folds_must_be_complete_and_several():
    with pytest.raises(PrframeError, match="needs every fold of 'fold' in each repetition"):
        compared(FOLDS[1:])
    with pytest.raises(PrframeError, match="two folds or more"):
        compared(FOLDS.filter(fold=0), over=["repetition", "fold"])
    with pytest.raises(PrframeError, match="whose column stands in over="):
        prframe.interval(FOLDS, "AP", resampling="cv")
    with pytest.raises(PrframeError, match="takes values as independent"):
        prframe.interval(FOLDS, values="a", over="fold", method="bca", resampling="cv")


@pytest.mark.parametrize("margin", [0.01, 0.05])
def test_equivalence_adds_the_p_value_of_two_one_sided_tests(margin):
    differences = ARRAYS[0] - ARRAYS[1]

    def expected(ratio):
        error = np.sqrt((1 / differences.size + ratio) * differences.var(ddof=1))
        return stats.t.sf((margin - abs(differences.mean())) / error, differences.size - 1)

    row = compared(equivalence=margin).row(0, named=True)
    assert row["p_equivalence"] == pytest.approx(expected(1 / 4), rel=1e-10)
    queries = FOLDS.rename({"repetition": "day", "fold": "query_id"})
    plain = compared(queries, over=["day", "query_id"], resampling=None, equivalence=margin)
    assert plain["p_equivalence"][0] == pytest.approx(expected(0), rel=1e-10)


def test_many_folds_of_one_cross_validation_warn():
    flat = FOLDS.with_columns(fold=pl.int_range(15))
    many = pl.concat([flat, flat.with_columns(pl.col("fold") + 15)])
    with pytest.warns(prframe.DependentFoldsWarning, match="takes the 30 values of 'fold' as"):
        compared(many, over="fold")
    with pytest.warns(
        prframe.DependentFoldsWarning, match=r"the 15 values of 'split' as folds.*\.$"
    ):
        compared(flat.rename({"fold": "split"}), over="split")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compared(flat, over="fold")
