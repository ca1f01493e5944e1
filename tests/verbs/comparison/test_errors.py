"""What `compare` over queries refuses, with its full message."""

from typing import Any

import polars as pl
import pytest

import prframe
from prframe.stats.paired_values import QUERY_TESTS
from tests.compared_runs import runs
from tests.stats.paired_values import oracle
from tests.verbs.names import NUMBERED

DATA = runs().with_columns(half=pl.col("query_id") > "q005", cluster=pl.col("item"))
LACKING = DATA.filter(~((pl.col("model") == "z") & (pl.col("query_id") < "q002")))
COLUMNS = "'query_id', 'item', 'score', 'label', 'model', 'half', 'cluster'"
TESTS_OVER = ", ".join(map(repr, sorted(oracle.TESTS)))
INDEPENDENT = [name for name, test in QUERY_TESTS.items() if not test.clusters]
EACH_ONCE = (
    "`baseline` must name one model or more, each once, and leave one to compare with; got {}."
)
JOINT = (
    "correction={!r} is the joint distribution of test='randomization' over queries; take 'holm' with "
    "other tests."
)
CLUSTERED = (
    "{} treats queries as independent and does not support `cluster`; leave one of them out."
)
SAME = (
    "`cluster` 'cluster' must be one value, and no null, for each group of `over`{}; mend these "
    "rows, or, if numbers begin anew in each 'cluster', name it in `over` too."
)

# Options that are refused, whatever the rows are.
DRAWN: list[dict[str, Any]] = [{"test": "bootstrap"}, {"correction": "max-t"}]
OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"over": 3}, f"`over` must be a column name or a list of them; got 3.{NUMBERED}"),
    ({"over": ["q", 3]}, f"`over[1]` must be the name of a column, a string; got 3.{NUMBERED}"),
    ({"over": []}, "`over` must be a column name or a list of them; got []."),
    ({"over": ["item", "item"]}, "`over` names a column twice: ['item', 'item']."),
    ({"over": "model"}, "`model` and `over` both name 'model'; models are compared over queries."),
    (
        {"by": "query_id"},
        "`over` and `by` both name 'query_id'; a column is either kept apart or summarised over.",
    ),
    ({"by": "model"}, "`model` and `by` both name 'model'; models are compared within a group."),
    (
        {"model": "modell"},
        "`model` names the column 'modell', which the frame does not have; its columns are "
        f"{COLUMNS}. Did you mean 'model'?",
    ),
    (
        {"cluster": "topic"},
        f"`cluster` names the column 'topic', which the frame does not have; its columns are {COLUMNS}.",
    ),
    ({"score": 3}, f"`score` must be a column name or a list of them; got 3.{NUMBERED}"),
    (
        {"score": ["score"]},
        "`score` must name one column, or two or more different ones, a model each; got ['score'].",
    ),
    (
        {"score": ["score", "item"], "model": "model"},
        "`score` names a column for each model, and `model` a column that tells them; leave one "
        "of them out.",
    ),
    ({"test": "welch"}, f"`test` over groups of `over` must be one of {TESTS_OVER}; got 'welch'."),
    (
        {"test": "delong"},
        f"`test` over groups of `over` must be one of {TESTS_OVER}; got 'delong'; to compare on the same items pass over=None.",
    ),
    (
        {"alternative": "more"},
        "`alternative` must be one of 'greater', 'less', 'two-sided'; got 'more'.",
    ),
    (
        {"correction": "fdr"},
        "`correction` must be one of 'bh', 'bonferroni', 'by', 'holm', 'max-t'; got 'fdr'. Did you mean 'bh'?",
    ),
    ({"within": "query"}, "`within` must be one of 'all', 'by'; got 'query'."),
    (
        {"interval": "wald"},
        "`interval` over groups of `over` must be one of 'auto', 'hall', 't'; got 'wald'.",
    ),
    ({"confidence_level": 95}, "`confidence_level` must be a number > 0 and < 1; got 95."),
    ({"n_resamples": 0}, "`n_resamples` must be a whole number >= 1; got 0."),
    *(
        (
            {"n_resamples": 39, **drawn},
            "`n_resamples` must be at least 40 for confidence_level=0.95, so that some lie beyond "
            "either end; got 39.",
        )
        for drawn in DRAWN
    ),
    ({"test": ["t"]}, f"`test` over groups of `over` must be one of {TESTS_OVER}; got ['t']."),
    (
        {"power": 0.05},
        "`power` must be above the level of the test, 1 - confidence_level = 0.05, and that at "
        "least 1e-07; got power=0.05.",
    ),
    ({"undefined": float("nan")}, "`undefined` must be a finite number; got nan."),
    ({"rng": "x"}, "`rng` must be a whole number >= 0 or a numpy.random.Generator; got 'x'."),
    (
        {"incomplete": "last"},
        "`incomplete` over groups of `over` must be one of 'common', 'pairwise', 'raise', 'zero'; "
        "got 'last'.",
    ),
    ({"correction": "max-t", "test": "wilcoxon"}, JOINT.format("max-t")),
    (
        {"correction": "max-t", "by": "half"},
        "correction='max-t' knows the joint distribution within a group of `by`: say within='by'; "
        "'holm' is for all rows.",
    ),
    *(
        ({"cluster": "cluster", "test": test}, CLUSTERED.format(f"test='{test}'"))
        for test in INDEPENDENT
    ),
    ({"cluster": "cluster", "power": 0.8}, CLUSTERED.format("`power`")),
    ({"by": "n"}, "`by` names 'n', which is also a column of the result; rename it."),
]


@pytest.mark.parametrize(("options", "message"), OPTIONS, ids=[str(o) for o, _ in OPTIONS])
def test_options(options: dict[str, Any], message: str) -> None:
    frame = DATA.rename({"half": "n"}) if options.get("by") == "n" else DATA
    with pytest.raises(prframe.PrframeError) as caught:
        prframe.compare(frame, **{"metrics": "AP", **options})
    assert str(caught.value) == message


ROWS: list[tuple[pl.DataFrame, dict[str, Any], str]] = [
    (DATA, {"baseline": "w"}, "`baseline` must name models out of ['x', 'y', 'z']; got 'w'."),
    (
        DATA.with_columns(pl.format("model-{}", "model").alias("model")),
        {"baseline": ["model-x", "mode-y"]},
        "`baseline` must name models out of ['model-x', 'model-y', 'model-z']; got 'mode-y'. Did "
        "you mean 'model-y'?",
    ),
    (DATA, {"baseline": ["x", "x"]}, EACH_ONCE.format("['x', 'x']")),
    (DATA, {"baseline": ["x", "y", "z"]}, EACH_ONCE.format("['x', 'y', 'z']")),
    (DATA, {"baseline": []}, EACH_ONCE.format("[]")),
    (DATA.filter(model="x"), {}, "a comparison takes two models or more; got 'x' alone."),
    (
        DATA.with_columns(model=pl.when(pl.col("model") != "z").then("model")),
        {},
        "`model` 'model' must not contain nulls or NaN: 120 rows; name these models, or drop the rows.",
    ),
    (
        LACKING,
        {},
        "of the 12 groups of `over` 'z' lacks 2, in groups 'q000', 'q001'; count the missing as 0 with incomplete='zero', or leave them "
        "out with 'pairwise' (what two models have in common) or 'common' (what all have).",
    ),
    (
        DATA,
        {"cluster": "cluster"},
        SAME.format(", in groups 'q000', 'q001', 'q002', 'q003', 'q004' and 7 more"),
    ),
    (
        DATA.with_columns(cluster=pl.when(pl.col("query_id") > "q003").then(1)),
        {"cluster": "cluster"},
        SAME.format(", in groups 'q000', 'q001', 'q002', 'q003'"),
    ),
]


@pytest.mark.parametrize(("frame", "options", "message"), ROWS, ids=range(len(ROWS)))
@pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")
def test_rows(frame: pl.DataFrame, options: dict[str, Any], message: str) -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        prframe.compare(frame, "AP", **options)
    assert str(caught.value) == message
    plan = prframe.compare(frame.lazy(), "AP", **options)
    with pytest.raises(prframe.PrframeError) as caught:
        plan.collect()
    assert str(caught.value) == message
