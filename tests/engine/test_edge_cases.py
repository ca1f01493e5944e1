"""Cases in which a first version was wrong."""

import math
import subprocess
import sys
from collections.abc import Callable
from math import inf, log2
from typing import Any

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.stats.tie_expectations import discount_sum

pytestmark = pytest.mark.filterwarnings("ignore::prframe.NoNegativesWarning")

SCORE = pl.col("score").pr
FOUR = pl.DataFrame({"score": [4.0, 3.0, 2.0, 1.0], "label": [1, 0, 1, 0]})
evaluate = prframe.evaluate


def test_expressions_of_a_part_of_the_rows() -> None:
    part = FOUR.tail(3)
    for metric, name in ((SCORE.auc, "AUC"), (SCORE.ndcg, "nDCG")):
        whole = getattr(pl.col("score").tail(3).pr, metric.__name__)(pl.col("label").tail(3))
        assert FOUR.select(whole).item() == pytest.approx(evaluate(part, name).item())


def test_a_label_that_is_one_value_for_all() -> None:
    assert FOUR.select(SCORE.ap(pl.lit(value=True))).item() == 1.0
    assert FOUR.select(SCORE.ap(pl.col("label").max())).item() == 1.0


@pytest.mark.parametrize("label", [None, 1, FOUR["label"]])
def test_a_label_that_is_no_column(label: object) -> None:
    with pytest.raises(prframe.PrframeError, match="`label` must be the name of a column"):
        SCORE.ap(label)


def test_ndcg_with_unlisted_positives_of_a_grade() -> None:
    graded = FOUR.with_columns(label=pl.Series([2, 0, 1, 0]))
    with pytest.raises(prframe.PrframeError, match="nDCG with graded labels"):
        evaluate(graded, "nDCG", positive=2, n_pos=2)
    alone = evaluate(graded, "nDCG").item()
    assert evaluate(graded, "nDCG", positive=2, n_pos=1).item() == alone
    assert evaluate(graded, "nDCG", positive=0).item() == alone


def test_ndcg_of_labels_equal_to_a_value_has_gains_of_one() -> None:
    turned = FOUR.with_columns(label=1 - pl.col("label"))
    assert evaluate(FOUR, "nDCG", positive=[0]).item() == evaluate(turned, "nDCG").item()


def test_ndcg_does_not_depend_on_other_groups() -> None:
    data = pl.DataFrame(
        {"g": [*"aabb"], "score": [2, 1, 2, 1], "label": [1, 0, 2, 0], "n": [2, 2, 1, 1]}
    )
    together = evaluate(data, "nDCG", by="g", n_pos="n")["nDCG"].to_list()
    alone = [evaluate(data.filter(g=g), "nDCG", n_pos="n").item() for g in "ab"]
    assert together == alone == [1 / (1 + 1 / log2(3)), 1.0]


def test_ndcg_with_very_many_unlisted_positives() -> None:
    value = evaluate(FOUR, "nDCG", n_pos=10**12).item()
    assert value == pytest.approx((1 + 1 / 2) / discount_sum([10**12])[0])


def test_discount_sums_of_large_cutoffs() -> None:
    k = 300_000
    direct = np.cumsum(1 / np.log2(np.arange(2, k + 2)))
    places = np.array([1, 65_536, 65_537, 100_000, k])
    np.testing.assert_allclose(discount_sum(places), direct[places - 1], rtol=1e-13)


def test_weighted_recall_ends_at_exactly_one() -> None:
    n = 100_000
    data = pl.DataFrame({"score": range(n, 0, -1), "label": [True] * n}).with_columns(
        w=pl.lit(0.3)
    )
    assert prframe.curve(data, weight="w")["recall"].max() == 1.0
    assert prframe.curve(data, weight="w", recall=1.0)["precision"].to_list() == [1.0]
    assert evaluate(data, "AP11", weight="w").item() == pytest.approx(1.0, abs=1e-9)


def test_weights_of_very_different_size() -> None:
    data = FOUR.with_columns(w=pl.Series([1e17, 1.0, 1.0, 1.0]))
    assert evaluate(data, "AUC", weight="w").item() == pytest.approx(1.0)


def test_counts_beyond_the_product_of_integers() -> None:
    data = pl.DataFrame({"score": [-inf], "label": [1]})
    assert evaluate(data, "AUC", n_pos=10**10, n_neg=10**10).item() == pytest.approx(0.5)


@pytest.mark.parametrize(
    "scores", [[1.0, None, -inf], [1.0, -inf, None], [1.0, -inf, float("nan")]]
)
def test_missing_scores_have_the_threshold_of_unretrieved_ones(scores: list[float | None]) -> None:
    data = pl.DataFrame({"score": scores, "label": [1, 0, 1]})
    curve = prframe.curve(data, missing="last", include_unretrieved=True)
    assert curve["threshold"].to_list() == [inf, 1.0, -inf]


def test_infinite_labels_are_refused() -> None:
    data = pl.DataFrame({"score": [2.0, 1.0], "label": [inf, 1.0]})
    with pytest.raises(prframe.PrframeError, match="`label` 'label' must be finite: 1 of 2 rows"):
        evaluate(data, "nDCG")


def test_a_sorted_flag_that_is_not_true() -> None:
    data = pl.DataFrame({"score": [3, 1, 2], "label": [1, 0, 0]})
    flagged = data.with_columns(pl.col("score").set_sorted())
    assert evaluate(flagged, "AUC").item() == 1.0


def test_rows_of_weight_0_are_not_there() -> None:
    data = FOUR.with_columns(w=pl.Series([1.0, 1.0, 1.0, 0.0]), label=pl.Series([1, 0, 1, None]))
    assert evaluate(data, "AP", weight="w").item() == evaluate(FOUR.head(3), "AP").item()


def test_a_key_named_as_a_working_column() -> None:
    for name in ("row", "key", "run", "by0", "group", "positive", "lacking", "size"):
        data = FOUR.with_columns(pl.Series(name, [1, 1, 2, 2]))
        assert prframe.curve(data, by=name, order="input")[name].to_list() == [1, 1, 2, 2]
        assert evaluate(data, "AP", by=name)["AP"].to_list() == [1.0, 1.0]


def test_check_sees_what_the_verbs_see() -> None:
    big = pl.DataFrame({"score": [2**60, 2**60 + 1], "label": [0, 1]})
    assert prframe.check(big, k=1)["kind"].to_list() == ["label_values"]
    with pytest.warns(prframe.EmptyFrameWarning):
        assert prframe.check(FOUR.clear()).is_empty()


def test_frames_that_cannot_be_read() -> None:
    import pandas as pd

    mixed = pd.DataFrame(
        {"score": [1.0, 2.0], "label": [1, 0], "q": pd.Series([1, "a"], dtype=object)}
    )
    told = r"the frame cannot be read into polars: column 'q', of dtype object: "
    with pytest.raises(prframe.PrframeError, match=told):
        evaluate(mixed, "AP", by="q")


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_numbers_that_polars_has_no_dtype_for(dtype) -> None:
    import pandas as pd

    arrays = {"score": np.array([1, 2], dtype), "label": np.array([1, 0])}
    taken = "Scores are integers, floats or decimals."
    told = (
        f"the frame cannot be read into polars: column 'score', of dtype {np.dtype(dtype)}: "
        rf"Unsupported numpy type \d+\. {taken}"
    )
    with pytest.raises(prframe.PrframeError, match=told):
        evaluate(pd.DataFrame(arrays), "AP")
    with pytest.raises(prframe.PrframeError) as caught:
        evaluate(arrays, "AP")
    assert str(caught.value) == f"`score` must be numeric; 'score' is Object. {taken}"
    exchanged = pd.DataFrame({"score": arrays["label"], "label": arrays["score"]})
    with pytest.raises(prframe.PrframeError, match=r"Labels are booleans, numbers or text\.$"):
        evaluate(exchanged, "AP")


def test_columns_of_several_levels_are_answered_with_a_remedy() -> None:
    import pandas as pd

    frame = pd.DataFrame({("model", "score"): [2.0, 1.0], ("model", "label"): [1, 0]})
    remedy = r"frame\.columns = frame\.columns\.map\('_'\.join\)\.$"
    with pytest.raises(prframe.MissingColumnError, match=remedy):
        evaluate(frame, "AP")
    with pytest.raises(prframe.PrframeError, match=remedy):
        evaluate(frame, "AP", label=("model", "label"))
    frame.columns = frame.columns.map("_".join)
    assert evaluate(frame, "AP", "model_score", "model_label")["AP"].item() == 1


@pytest.mark.parametrize("value", [math.nan, np.float64("nan")])
def test_no_label_is_nan(value) -> None:
    with pytest.raises(prframe.ArgumentError, match="`positive` must not be NaN"):
        evaluate(FOUR, "AP", positive=value)


def test_dtypes_of_keys_are_refused_by_the_argument_that_names_them() -> None:
    lists = FOUR.with_columns(q=pl.concat_list(pl.lit(1)), model=pl.lit("a"))
    for call in (
        lambda: evaluate(lists, "AP", over="q"),
        lambda: prframe.interval(lists, "AP", over="q"),
        lambda: prframe.compare(lists, "AP", over="q"),
        lambda: prframe.ap_test(lists, over="q"),
    ):
        with pytest.raises(prframe.PrframeError, match="`over` must name columns of plain values"):
            call()


_THINGS = pl.Series("thing", [object(), object()], dtype=pl.Object)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda frame: evaluate(frame, "AP", item="thing"),
            "`item` must hold text or plain values",
        ),
        (
            lambda frame: evaluate(frame, "AP", item="thing", ties="trec"),
            "`item` must hold text or plain values with ties='trec'",
        ),
        (
            lambda frame: prframe.compare(frame, "AP", model="m", item="thing", over=None),
            "`item` must hold text or plain values by which rows are matched",
        ),
        (
            lambda frame: prframe.check(frame, item="thing"),
            "`item` must hold text or plain values",
        ),
        (
            lambda frame: evaluate(frame, "AP", by="thing"),
            "`by` must name columns of plain values",
        ),
        (
            lambda frame: evaluate(frame, "AP", over="thing"),
            "`over` must name columns of plain values",
        ),
        (
            lambda frame: prframe.compare(frame, "AP", model="thing", over="m"),
            "`model` must name columns of plain values",
        ),
    ],
)
@pytest.mark.parametrize("lazy", [False, True])
def test_python_objects_name_nothing(
    call: Callable[[Any], object], message: str, *, lazy: bool
) -> None:
    """Polars can neither group nor sort them, and panics."""
    frame = FOUR.head(2).with_columns(_THINGS, m=pl.Series(["a", "b"]))
    with pytest.raises(prframe.PrframeError) as error:
        call(frame.lazy() if lazy else frame)
    assert str(error.value) == f"{message}; 'thing' is Object."


@pytest.mark.parametrize("values", [["a", "b", "c", "d"], [4, 3, 2, 1], [b"a", b"b", b"c", b"d"]])
def test_objects_of_pandas_that_are_plain(values: list[object]) -> None:
    import pandas as pd

    frame = FOUR.to_pandas().assign(item=pd.Series(values, dtype=object))
    assert frame["item"].dtype == object
    expected = evaluate(FOUR, "AP").item()
    assert evaluate(frame, "AP", item="item")["AP"].item() == expected
    assert len(evaluate(frame, "P@1", by="item")) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "import prframe, importlib.util; importlib.util.find_spec('pandas'); import pandas as pd; "
        "assert hasattr(pd.DataFrame, 'pr')",
        "import prframe, pandas as pd; assert type(pd.__loader__).__module__ != 'prframe.accessors'",
        "import sys; sys.modules['pandas'] = None; import prframe, polars as pl; "
        "pl.DataFrame({'score': [1.0, 0.5], 'label': [1, 0]}).pr.evaluate('AP')",
    ],
)
def test_the_accessor_survives_what_others_do_to_imports(code: str) -> None:
    for options in ([], ["-OO"]):
        command = [sys.executable, *options, "-W", "error", "-c", code]
        subprocess.run(command, check=True, capture_output=True)


def test_bedroc_puts_what_is_not_retrieved_below() -> None:
    data = pl.DataFrame({"score": [1.0] * 5 + [-inf] * 2, "label": [0] * 5 + [1] * 2})
    assert prframe.evaluate(data, "BEDROC(alpha=1)").item() == pytest.approx(0.0, abs=1e-12)
    # For a small alpha it tends to AUC.
    steady = pl.DataFrame({"score": [4.0, 3.0, 2.0, 1.0], "label": [1, 0, 1, 0]})
    assert prframe.evaluate(steady, "BEDROC(alpha=0.01)").item() == pytest.approx(0.75, abs=1e-2)
    large = pl.DataFrame({"score": range(100_000), "label": [1, 0] * 50_000})
    # The same sum in exact arithmetic: positives at ranks 2, 4, ..., of N.
    n, alpha = 100_000, 0.01
    found = math.fsum(math.exp(-alpha * rank / n) for rank in range(2, n + 1, 2))
    best = math.fsum(math.exp(-alpha * rank / n) for rank in range(1, n // 2 + 1))
    worst = math.fsum(math.exp(-alpha * rank / n) for rank in range(n // 2 + 1, n + 1))
    want = (found - worst) / (best - worst)
    assert prframe.evaluate(large, "BEDROC(alpha=0.01)").item() == pytest.approx(want, abs=1e-8)


def test_the_smallest_fraction_is_one_item() -> None:
    data = pl.DataFrame({"score": [2.0, 1.0], "label": [1, 0]})
    assert prframe.evaluate(data, "EF(fraction=1e-12)").item() == 2.0


def test_exponential_gains_stay_numbers() -> None:
    data = pl.DataFrame({"score": [1.0], "label": [2000]})
    with pytest.raises(prframe.PrframeError, match=r"takes labels up to 1000; got 2000; 2\^label"):
        prframe.evaluate(data, 'nDCG(gain="exp")')
    below = pl.DataFrame({"score": [1.0, -inf], "label": [1, 2000]})
    with pytest.raises(prframe.PrframeError, match="got 2000"):
        prframe.evaluate(below, 'nDCG(gain="exp")')
    assert prframe.evaluate(data.with_columns(label=3), "ERR(top=1000)").item() < 1e-300


@pytest.mark.filterwarnings("ignore::prframe.NoPositivesWarning")
def test_judgments_of_graded_items_do_not_depend_on_other_metrics() -> None:
    data = pl.DataFrame({"score": [1.0, 1.0], "label": [1, 0], "judged": [True, True]})
    for metrics in (["Judged@1"], ["Judged@1", "nDCG"]):
        values = prframe.evaluate(data, metrics, ties="best", positive=2, undefined=0)
        assert values["Judged@1"].item() == 1.0
    with pytest.raises(prframe.PrframeError, match="True for relevant items: 1 of 2 rows"):
        prframe.evaluate(data.with_columns(judged=pl.col("label") == 0), "Judged@1", positive=2)


def test_large_scores_as_32_bit_floats() -> None:
    data = pl.DataFrame(
        {"score": [1e39, 3.4028234e38, -1e39, -3.5e38], "label": [1, 0, 1, 0], "doc": [*"abcd"]}
    )
    # As in trec_eval 1e39 is infinite; -1e39 stays retrieved, and ties with -3.5e38.
    row = prframe.evaluate(
        data, ["RR", "NumRet", "AP"], ties="trec", item="doc", float32=True
    ).row(0)
    assert row == pytest.approx((1.0, 4.0, (1 + 2 / 4) / 2))


@pytest.mark.slow
def test_a_block_of_a_million_items_with_many_relevant_ones() -> None:
    n, n_pos = 1_000_000, 100_000
    data = pl.DataFrame({"score": 1.0, "label": [1] * n_pos + [0] * (n - n_pos)})
    # Each item stops a reader with probability 1/160: 1/rank of the first stop.
    stop = n_pos / n / 16
    want = -math.log(stop) * stop / (1 - stop)
    assert prframe.evaluate(data, "ERR").item() == pytest.approx(want, rel=1e-3)
    assert prframe.ERR.at_random(n, n_pos) == pytest.approx(want, rel=1e-3)
    assert prframe.RR.at_random(10**9, 10**6) == pytest.approx(6.915e-3, rel=1e-2)


def test_the_range_of_ties_counts_totals_and_rounding() -> None:
    data = pl.DataFrame({"score": [1.0, 1.0, 0.5], "label": [0, 1, 0]})
    ranges = prframe.check(data, k=[1, 1], n_pos=100).filter(kind="tie_range")["example"].to_list()
    assert ranges[0].startswith("AP: 0.005 apart on average")
    close = pl.DataFrame({"score": [1 + 1e-9, 1.0, None], "label": [0, 1, 0]})
    kinds = prframe.check(close, k=1, float32=True)["kind"].to_list()
    assert "tie_at_cutoff" in kinds
    assert "tied_score" in kinds
    assert "tie_at_cutoff" not in prframe.check(close, k=1)["kind"].to_list()


def test_what_groups_lack_is_said() -> None:
    data = pl.DataFrame({"q": [1, 1, 2], "score": [2.0, 1.0, 1.0], "label": [1, 0, 0]})
    with pytest.warns(prframe.UndefinedMetricWarning) as caught:
        prframe.evaluate(data, ["AP", "AP(rel=2)", "AUC", "nDCG"], by="q")
    assert "which have no positives or no labels >= 2 or no negatives or no gains above 0" in str(
        caught[0].message
    )
