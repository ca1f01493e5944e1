"""What is said of the first guesses of people who come from other libraries."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import prframe
from prframe import hints
from prframe.accessors import _PICTURES, verbs

ROWS = pl.DataFrame({"qid": [1, 1], "rel": [1, 0], "y_score": [2.0, 1.0], "AP": [0.5, 0.6]})
GOOD = pl.DataFrame({"query_id": [1, 1], "label": [1, 0], "score": [2.0, 1.0]})


@pytest.mark.parametrize(
    ("verb", "given", "sentences"),
    [
        ("interval", {"seed": 0}, "Write rng= for seed=."),
        ("interval", {"random_state": 0}, "Write rng= for random_state=."),
        ("band", {"n_boot": 500}, "Write n_resamples= for n_boot=."),
        ("interval", {"ci": 95}, "Write confidence_level= for ci=."),
        ("evaluate", {"groupby": "segment"}, "Write by= for groupby=."),
        ("evaluate", {"qid": "query_id"}, "Write by= for qid=."),
        ("evaluate", {"pos_label": "yes"}, "Write positive= for pos_label=."),
        ("evaluate", {"sample_weight": "w"}, "Write weight= for sample_weight=."),
        ("curve", {"y_true": "y"}, "Write label= for y_true=."),
        ("curve", {"points": 11}, "Write recall= for points=."),
        ("compare", {"stat_test": "t"}, "Write test= for stat_test=."),
        ("compare", {"margin": 0.02}, "Write equivalence= for margin=."),
        ("compare_curves", {"id": "doc"}, "Write item= for id=."),
        (
            "band",
            {"resampling": "cv"},
            "There is no resampling=: bands know no correction of dependent folds; at one level of "
            "recall interval(..., 'Prec@0.5', resampling='cv') has an interval that does.",
        ),
        (
            "compare_curves",
            {"resampling": "cv"},
            "There is no resampling=: bands know no correction of dependent folds; at one level of "
            "recall compare(..., 'Prec@0.5', resampling='cv', test='t') has an interval that does.",
        ),
        *(
            (
                verb,
                {"over": "query_id"},
                "There is no over=: the test is of one ranking; by= has a row for each, whose "
                "p-values correction= adjusts, and ap_test(frame, over=...) tests a mean over "
                "rankings, that of AP.",
            )
            for verb in ("rank_test", "topk_test")
        ),
        ("curve", {"tie": "group"}, "Did you mean 'ties'?"),
        ("interval", {"n_resample": 9}, "Did you mean 'n_resamples'?"),
        (
            "roc",
            {"descending": False},
            "There is no descending=: the largest score is the best one; give distances with the "
            "opposite sign.",
        ),
        (
            "compare",
            {"alpha": 0.05},
            "There is no alpha=: a confidence_level= of 0.95 leaves out 0.05, and p-values are "
            "columns of the result.",
        ),
        (
            "evaluate",
            {"k": 10},
            "There is no k=: a cut-off stands in the name of a metric, for example 'nDCG@10'.",
        ),
        (
            "ap_test",
            {"depth": 10},
            "There is no depth=: the rows are what is retrieved; keep the first ones of each "
            "ranking, and give n_pos= and n_neg= for all that there are.",
        ),
    ],
)
def test_arguments_of_other_libraries(verb: str, given: dict[str, object], sentences: str) -> None:
    [name] = given
    metrics = ("AP",) if verb in {"evaluate", "interval", "compare"} else ()
    with pytest.raises(TypeError) as caught:
        getattr(prframe, verb)(GOOD, *metrics, **given)
    start = f"{verb}() got an unexpected keyword argument {name!r}. "
    assert str(caught.value) == start + sentences


def test_several_arguments_in_one_message() -> None:
    with pytest.raises(TypeError) as caught:
        GOOD.pr.interval("AP", n_boot=2000, random_state=0, nonsense=1)
    assert str(caught.value) == (
        "interval() got unexpected arguments 'n_boot', 'random_state', 'nonsense'. "
        "Write n_resamples= for n_boot=. Write rng= for random_state=."
    )


def test_a_verb_is_not_sent_to_an_argument_that_it_lacks() -> None:
    with pytest.raises(TypeError, match=r"argument 'seed'\.$"):
        prframe.evaluate(GOOD, "AP", seed=0)


def test_synonyms_are_those_of_one_argument() -> None:
    words = [word for theirs in hints.SYNONYMS.values() for word in theirs]
    assert len(set(words)) == len(words)
    assert all(word == word.lower() for word in words)
    assert not set(words) & set(hints.NOT_OFFERED)


@pytest.mark.parametrize(
    ("call", "end"),
    [
        (lambda: prframe.evaluate(ROWS, "AP"), "Name the column with score='y_score'."),
        (lambda: prframe.evaluate(ROWS, "AP", "y_score"), "Name the column with label='rel'."),
        (
            lambda: prframe.evaluate(ROWS, "AP", "y_score", "rel", by="query_id"),
            "Did you mean 'qid'?",
        ),
        (lambda: prframe.evaluate(GOOD, "AP", by="qid"), "Did you mean 'query_id'?"),
        (lambda: prframe.evaluate(GOOD, "AP", "scroe"), "Did you mean 'score'?"),
        (lambda: prframe.evaluate(GOOD, "AP", item="item"), "Name the column with item=."),
    ],
)
def test_columns_that_may_be_meant(call, end: str) -> None:
    with pytest.raises(prframe.MissingColumnError) as caught:
        call()
    assert str(caught.value).endswith(end)


@pytest.mark.parametrize(
    ("frame", "given", "way"),
    [
        (
            np.array([1, 0]),
            "numpy.ndarray",
            " Arrays are given as a dict of columns, such as {'score': scores, 'label': labels}.",
        ),
        (
            [1, 0],
            "list",
            " Arrays are given as a dict of columns, such as {'score': scores, 'label': labels}. "
            "Values of a metric at hand are such a column, too, as in interval({'query_id': "
            "queries, 'AP': values}, values='AP', over='query_id').",
        ),
        (
            "rows.parquet",
            "str",
            " Read the file, for example with polars.scan_parquet or prframe.trec.read_run.",
        ),
        (
            Path("rows.parquet"),
            "pathlib.PosixPath",
            " Read the file, for example with polars.scan_parquet or prframe.trec.read_run.",
        ),
        (
            {"q1": {"d1": 1}},
            "dict",
            " A dict of columns is a frame; prframe.trec.join makes one of a run and judgments by "
            "query.",
        ),
        (
            GOOD.group_by("query_id"),
            "polars.GroupBy",
            " Pass the frame itself and name its keys in by=.",
        ),
        (None, "NoneType", ""),
        (3.0, "float", ""),
    ],
    ids=["array", "list", "path", "Path", "dict of queries", "group", "None", "number"],
)
def test_what_is_no_frame(frame: object, given: str, way: str) -> None:
    with pytest.raises(prframe.PrframeError, match=r"^the frame must be a polars") as caught:
        prframe.evaluate(frame, [0.5, 0.6], "AP")
    assert str(caught.value).endswith(f" interface; got {given}.{way}")
    with pytest.raises(prframe.PrframeError, match=r"^the frame must be a polars"):
        prframe.curve(frame=frame)


def test_a_metric_is_no_function_of_arrays() -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        prframe.P([1, 0], [2.0, 1.0])
    assert str(caught.value) == (
        "P is a metric and no function of arrays; evaluate({'score': scores, 'label': labels}, "
        "'P@10') computes it, and of the columns of a frame evaluate(frame, ...)."
    )
    with pytest.raises(prframe.PrframeError, match=r"^AUC is a metric and no function of arrays"):
        prframe.AUC(np.array([1, 0]))


@pytest.mark.parametrize(
    ("options", "end"),
    [
        (
            {"score": pl.col("score").log()},
            " Make it a column first, for example with with_columns.",
        ),
        ({"by": pl.col("query_id")}, " Make it a column first, for example with with_columns."),
        ({"by": ["a", pl.col("b")]}, " Make it a column first, for example with with_columns."),
        ({"label": np.array([1, 0])}, " Make it a column of the frame and give its name."),
        ({"label": 3}, "by frame.columns = frame.columns.astype(str)."),
    ],
)
def test_expressions_and_arrays_for_columns(options: dict[str, object], end: str) -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        prframe.evaluate(GOOD, "AP", **options)
    assert str(caught.value).endswith(end)


def test_several_columns_of_scores() -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        prframe.curve(GOOD, score=["a", "b"])
    assert str(caught.value) == (
        "`score` must be the name of a column, a string; got ['a', 'b']. Put the columns of models "
        "into one, with unpivot in polars or melt in pandas, and name the new column of models in "
        "by=."
    )


def test_lists_of_scores() -> None:
    rows = GOOD.group_by("query_id").agg("score", "label")
    with pytest.raises(prframe.PrframeError) as caught:
        prframe.evaluate(rows, "AP", by="query_id")
    assert str(caught.value) == (
        "`score` must be numeric; 'score' is List(Float64). Give each item a row, for example with "
        "explode; of several classes take one."
    )


def test_a_column_is_no_metric() -> None:
    for verb in (prframe.evaluate, prframe.compare, prframe.interval):
        for frame in (GOOD, GOOD.to_pandas(), GOOD.to_arrow(), GOOD.lazy()):
            with pytest.raises(prframe.PrframeError) as caught:
                verb(frame, "query_id", "AP")
            assert str(caught.value) == (
                "'query_id' is a column of the frame and not a metric; the metrics come after the "
                f"frame, for example {verb.__name__}(frame, 'AP'), and columns are named by "
                "score=, label= and by=."
                + " Values of metrics at hand are named by values=."
                * (verb != prframe.evaluate)
            )


def test_arrays_as_a_dict_of_columns() -> None:
    arrays = {"score": np.array([3.0, 2.0, 1.0]), "label": np.array([1, 0, 1])}
    result = prframe.evaluate(arrays, "AP")
    assert isinstance(result, pl.DataFrame)
    assert result["AP"].item() == pytest.approx((1 + 2 / 3) / 2)
    series = {"score": pd.Series([3.0, 2.0, 1.0]), "label": pl.Series([1, 0, 1])}
    assert prframe.evaluate(series, "AP").equals(result)
    with pytest.raises(prframe.PrframeError, match="cannot be read into polars"):
        prframe.evaluate(arrays | {"label": [1, 0]}, "AP")
    with pytest.raises(prframe.PrframeError, match="`score` must be numeric"):
        prframe.evaluate(arrays | {"score": np.ones((3, 2))}, "AP")
    with pytest.raises(prframe.MissingColumnError, match="its columns are 'scores', 'label'"):
        prframe.evaluate({"scores": [1], "label": [1]}, "AP")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("ap_null", " Did you mean 'APNull'?"), ("zzz", ""), ("adjust_pvalues", None)],
)
def test_names_that_the_statistics_do_not_have(name: str, meant: str | None) -> None:
    meant = " Did you mean 'adjust_p_values'?" if meant is None else meant
    with pytest.raises(AttributeError) as caught:
        getattr(prframe.stats, name)
    assert str(caught.value) == (
        f"module 'prframe.stats' has no attribute {name!r}.{meant} All statistics are names of "
        "prframe.stats itself, which dir(prframe.stats) lists; its modules are not public."
    )


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("band", " prframe.{0}.curve draws the result of prframe.band."),
        (
            "compare",
            " prframe.{0}.interval, prframe.{0}.matrix and prframe.{0}.groups draw the result of "
            "prframe.compare.",
        ),
        ("rocs", " Did you mean 'roc'?"),
        ("zzz", ""),
    ],
)
@pytest.mark.parametrize(("door", "library"), [("plot", "matplotlib"), ("chart", "altair")])
def test_names_that_pictures_do_not_have(door: str, library: str, name: str, end: str) -> None:
    pytest.importorskip(library, reason=f"{library} is not installed")
    with pytest.raises(AttributeError) as caught:
        getattr(getattr(prframe, door), name)
    start = f"module 'prframe.{door}' has no attribute {name!r}."
    assert str(caught.value) == start + end.format(door)


def test_pictures_of_verbs_are_those_that_frames_offer() -> None:
    assert set(hints._PICTURES) <= set(verbs())
    pictures = {picture for drawn in hints._PICTURES.values() for picture in drawn}
    assert pictures <= set(_PICTURES)


@pytest.mark.parametrize(
    ("call", "end"),
    [
        (
            lambda: prframe.interval(GOOD, "AP", test="t"),
            "There is no test=: an interval has a method=; compare() has tests of two models.",
        ),
        (
            lambda: prframe.interval(GOOD, "AP", over="query_id", undefined=0),
            "There is no undefined=: take the values of evaluate(..., undefined=0), by group, and "
            "name their column in values=.",
        ),
        (
            lambda: prframe.interval(GOOD, "AP", strata="query_id"),
            "There is no strata=: by= has a row for each stratum.",
        ),
        (lambda: prframe.interval(GOOD, "AP", prevalence=0.1), "Write prior= for prevalence=."),
        (lambda: prframe.evaluate(GOOD, "P@5", min_rel=2), "Write positive= for min_rel=."),
        (
            lambda: prframe.evaluate(GOOD, "nDCG", cutoff=10),
            "There is no cutoff=: a cut-off stands in the name of a metric, for example 'nDCG@10'.",
        ),
        (
            lambda: prframe.evaluate(GOOD, "AP", per_query=True),
            "There is no per_query=: by= has a row for each query, and over= the mean of all, for "
            "example by='query_id'.",
        ),
        (
            lambda: prframe.evaluate(GOOD, "AP", qrels=GOOD),
            "There is no qrels=: prframe.trec.join(run, qrels) makes a frame of both, and "
            "prframe.trec.evaluate(run, qrels) has trec_eval's measures.",
        ),
        (
            lambda: prframe.evaluate(GOOD, "AP", verbose=True),
            "There is no verbose=: long work shows its progress by itself where a person watches.",
        ),
        (
            lambda: prframe.evaluate(GOOD, "AP", as_dict=True),
            "There is no as_dict=: the result is a frame of the kind that was given, with methods "
            "to make others.",
        ),
        (
            lambda: prframe.compare(GOOD, "AP", correction="fdr_bh"),
            "got 'fdr_bh'. Write correction='bh'.",
        ),
        (
            lambda: prframe.compare(GOOD, "AP", correction="BY"),
            "got 'BY'. Write correction='by'.",
        ),
        (
            lambda: prframe.compare(GOOD, "AP", correction="none"),
            "got 'none'. Without a correction say correction=None.",
        ),
        (
            lambda: prframe.ap_test(GOOD, alternative="right"),
            "got 'right'. Write alternative='greater'.",
        ),
        (
            lambda: prframe.interval(GOOD, "AP", score=[0.1, 0.2]),
            "got [0.1, 0.2]. Make it a column of the frame and give its name.",
        ),
        (
            lambda: prframe.plot.curve([0.1, 0.2]),
            "`result` must be a result of curve(); got list. Make one of scores and labels by "
            "prframe.curve({'score': scores, 'label': labels}).",
        ),
        (
            lambda: prframe.roc_auc_score,
            "module 'prframe' has no attribute 'roc_auc_score'. The call is "
            "prframe.evaluate(frame, 'AUC') with score= and label= for the columns.",
        ),
        (
            lambda: prframe.table,
            "module 'prframe' has no attribute 'table'. The call is "
            "prframe.tables.results(result).",
        ),
    ],
)
def test_the_call_that_is_meant(call: Callable[[], object], end: str) -> None:
    with pytest.raises((prframe.PrframeError, TypeError, AttributeError)) as caught:
        call()
    assert str(caught.value).endswith(end)


def test_methods_that_a_table_does_not_have() -> None:
    rows = pl.DataFrame({"score": range(20), "label": [0, 1] * 10, "model": ["a"] * 20})
    table = prframe.tables.results(rows.pr.interval("AP", by="model", rng=1))
    with pytest.raises(AttributeError) as caught:
        table.to_md()
    assert str(caught.value) == (
        "a Table has no 'to_md'; it has to_frame, to_html, to_latex, to_markdown, gt. Did you mean "
        "'to_markdown'?"
    )
    assert not hasattr(table, "__nonsense__")
