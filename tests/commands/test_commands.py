"""Every command says what its verb says, in every format, of every kind of input."""

import gzip
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import prframe
from prframe import trec
from prframe.commands import outputs
from tests.commands.shell import ENVIRONMENT, FRAME, process, run

READ = {
    "csv": lambda path: pl.read_csv(path, schema_overrides={"query_id": pl.String}),
    "jsonl": pl.read_ndjson,
    "parquet": pl.read_parquet,
    "arrow": pl.read_ipc,
}
RUNS = ["old.run", "new.run", "bad.run"]


# How runs in files are ranked.
TREC = {"item": "doc_id", "ties": "trec", "float32": True}


def joined(*runs: str, **chosen) -> pl.DataFrame:
    return trec.join(list(runs or RUNS), "qrels", queries="both", **chosen)


def table(text: str) -> list[list[str]]:
    """Return the cells of a table without spaces in them."""
    return [line.split() for line in text.splitlines()]


def read(path) -> pl.DataFrame:
    return READ[path.suffix[1:]](path)


def saved(capfdbinary, tmp_path, *words, suffix: str = "parquet") -> pl.DataFrame:
    """Run a command that writes a file, and read it."""
    path = tmp_path / f"result.{suffix}"
    done = run(capfdbinary, *words, "-o", path)
    assert (done.code, done.out) == (0, ""), done.err
    return read(path)


@pytest.mark.parametrize("kind", READ)
def test_formats_are_read_back(kind, capfdbinary, tmp_path) -> None:
    words = ["evaluate", "qrels", *RUNS, "-q", "-m", "AP", "nDCG@10"]
    expected = prframe.evaluate(joined(), ["AP", "nDCG@10"], by=["system", "query_id"], **TREC)
    result = saved(capfdbinary, tmp_path, *words, suffix=kind)
    assert result.columns == expected.columns
    assert result.equals(expected)
    # To standard output it is the same.
    assert run(capfdbinary, *words[:-2], "AP", "-f", "csv").out.startswith("system,query_id,AP\n")


@pytest.mark.slow
def test_binary_formats_to_standard_output() -> None:
    for name in ("parquet", "arrow"):
        words = [sys.executable, "-m", "prframe", "evaluate", "qrels", "old.run", "-f", name]
        done = subprocess.run(words, capture_output=True, check=True, env=ENVIRONMENT)
        assert READ[name](io.BytesIO(done.stdout)).height == 1


def test_small_and_missing_numbers_in_the_table() -> None:
    frame = pl.DataFrame(
        {
            "name": ["a\x1b[31m", "é" * 70, None],
            "p": [1e-9, 0.00012, None],
            "x": [float("inf"), float("nan"), 1e12],
            "n": [1, 20, 300],
        }
    )
    lines = outputs.table(frame).splitlines()
    assert lines == [
        f"{'name':<60}  {'p':>8}  {'x':>8}    n",
        "a\\x1b[31m" + " " * 51 + "  1.00e-09       inf    1",
        f"{'é' * 57}...    0.0001       nan   20",
        f"{'-':<60}  {'-':>8}  1.00e+12  300",
    ]


@pytest.mark.slow
def test_patterns_gzip_and_standard_input(capfdbinary) -> None:
    expected = run(capfdbinary, "evaluate", "qrels", "old.run").out
    assert run(capfdbinary, "evaluate", "qrels", "old.run.gz").out == expected
    assert run(capfdbinary, "evaluate", "qrels", "ol*.run").out == expected
    content = Path("old.run").read_bytes()
    assert process("evaluate", "qrels", "-", stdin=content).out == expected
    assert process("evaluate", "qrels", "-", stdin=gzip.compress(content)).out == expected
    of_all = run(capfdbinary, "evaluate", "qrels", "*.run").out
    assert [row[0] for row in table(of_all)] == ["system", "bad", "new", "old", "(ties:"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::prframe.NoPositivesWarning")
def test_queries_levels_depths_and_judgments(capfdbinary, tmp_path) -> None:
    lines = Path("old.run").read_text().splitlines(keepends=True)
    short = tmp_path / "short.run"
    short.write_text("".join(line for line in lines if not line.startswith("100 ")))
    shared = {"by": "system", "over": "query_id", "layout": "wide", "item": "doc_id"}
    for words, queries, chosen in (
        ([], "both", {}),
        (["-c"], "qrels", {}),
        (["-l", "2"], "both", {"positive": 2, "undefined": 0.0}),
    ):
        frame = trec.join(short, "qrels", queries=queries)
        expected = prframe.evaluate(frame, "AP", **shared, **chosen)["AP"].item()
        done = run(capfdbinary, "evaluate", "qrels", short, "-m", "AP", *words)
        shown = table(done.out)[1][1]
        assert shown == (f"{expected:.4f}" if expected else "-")
        assert ("undefined" in done.err) == (not expected)
    for words, chosen in ((["-M", "5"], {"depth": 5}), (["-J"], {"judged_only": True})):
        expected = trec.evaluate(short, "qrels", "map", **chosen)["map"].item()
        done = run(capfdbinary, "evaluate", "qrels", short, "-m", "map", *words)
        assert table(done.out)[1][1] == f"{expected:.4f}"


def test_intervals(capfdbinary, tmp_path) -> None:
    words = ["evaluate", "qrels", *RUNS, "--interval", "-m", "AP", "P@5"]
    options = {"by": "system", "over": "query_id", "method": "hall"} | TREC
    result = saved(capfdbinary, tmp_path, *words, "--confidence-level", "0.9", "--method", "hall")
    expected = prframe.interval(joined(), ["AP", "P@5"], **options, confidence_level=0.9)
    assert result.drop("n").equals(expected)
    assert result["n"].unique().to_list() == [12]


def test_skewed_means_are_warned_of_in_words_of_the_shell(capfdbinary) -> None:
    rare = pl.DataFrame({"query_id": range(20), "score": 1.0, "label": [1] * 2 + [0] * 18})
    rows = pl.concat([rare, rare.with_columns(score=pl.lit(0.5), label=pl.lit(1, dtype=pl.Int64))])
    rows.write_csv("rare.csv")
    words = ["evaluate", "--frame", "rare.csv", "--over", "query_id", "--interval", "-m", "AP"]
    done = run(capfdbinary, *words)
    assert "a few values decide 1 of 1 means: their intervals" in done.err
    assert "--method hall allows" in done.err
    assert "CoverageWarning" not in done.err


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        ([], {}),
        (["--by", "query"], {"by": "query"}),
        (["--over", "query"], {"over": "query"}),
        (["--over", "query", "-q"], {"by": "query"}),
    ],
)
@pytest.mark.filterwarnings("ignore::prframe.PooledRankingWarning")
def test_intervals_of_several_columns_of_scores(words, chosen, capfdbinary, tmp_path) -> None:
    frame = pl.read_csv("frame.csv").filter(pl.col("model") == "a")
    path = tmp_path / "wide.parquet"
    frame.write_parquet(path)
    words = ["evaluate", "--frame", path, "--interval", "-m", "AP", "AUC", *words]
    result = saved(capfdbinary, tmp_path, *words, "--score", "score", "other")
    keys = [chosen["by"]] if "by" in chosen else []
    assert sorted(result.columns[: len(keys) + 2]) == sorted([*keys, "model", "metric"])
    for score in ("score", "other"):
        found = result.filter(pl.col("model") == score).drop("model")
        assert found.equals(prframe.interval(frame, ["AP", "AUC"], score, **chosen, rng=0))
    assert result["model"].rle().len() == 2
    words = ["band", "--frame", path, "--score", "score", "other", *words[7:]]
    bands = saved(capfdbinary, tmp_path, *words, "--recall", "0.5")
    assert bands["model"].unique().sort().to_list() == ["other", "score"]


def test_a_warning_counts_all_columns_of_scores(capfdbinary, tmp_path) -> None:
    path = tmp_path / "empty.parquet"
    pl.DataFrame({"a": [1, 2], "b": [2, 1], "label": [0, 0]}).write_parquet(path)
    words = ["evaluate", "--frame", path, "--score", "a", "b", "--interval", "-m", "AP"]
    done = run(capfdbinary, *words)
    assert done.err.splitlines() == [
        "prframe: warning: AP: undefined, so null or NaN, for 2 of 2 groups, which have no positives, "
        "in groups 'a', 'b'"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "tsv", "jsonl", "parquet", "arrow", "stream"])
def test_frames(kind, capfdbinary, tmp_path) -> None:
    path = tmp_path / f"frame.{kind}"
    frame = pl.read_csv(io.StringIO(FRAME), schema_overrides={"query": pl.String})
    if kind == "csv.gz":
        path.write_bytes(gzip.compress(FRAME.encode()))
    else:
        write = {
            "csv": frame.write_csv,
            "tsv": lambda file: frame.write_csv(file, separator="\t"),
            "jsonl": frame.write_ndjson,
            "parquet": frame.write_parquet,
            "arrow": frame.write_ipc,
            "stream": frame.write_ipc_stream,
        }[kind]
        write(path)
    words = ["--by", "model", "--over", "query", "-q", "-m", "AP", "AUC"]
    result = saved(capfdbinary, tmp_path, "evaluate", "--frame", path, *words)
    # An id is text, so that it keeps its zeros.
    assert result.equals(prframe.evaluate(frame, ["AP", "AUC"], by=["model", "query"]))
    if kind != "tsv":
        done = process("evaluate", "--frame", "-", *words, "-f", "csv", stdin=path.read_bytes())
        assert done.out == result.write_csv(), done.err


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Float64, pl.String])
def test_positive_labels_that_are_numbers(dtype, capfdbinary, tmp_path) -> None:
    rows = {"score": [4.0, 3.0, 2.0, 1.0], "label": [3, 2, 0, 2]}
    frame = pl.DataFrame(rows).with_columns(pl.col("label").cast(dtype))
    path = tmp_path / "graded.parquet"
    frame.write_parquet(path)
    words = ["evaluate", "--frame", path, "--positive", "2", "-m", "P@2", "AP"]
    result = saved(capfdbinary, tmp_path, *words)
    assert result.row(0) == (0.5, 0.5)
    misspelt = run(capfdbinary, *words[:3], "--positive", "two", "-m", "AP")
    assert misspelt.code == (0 if dtype == pl.String else 65)


def test_columns_of_frames(capfdbinary, tmp_path) -> None:
    frame = pl.read_csv("frame.csv").with_columns(
        pl.col("label").replace_strict({0: "no", 1: "yes"}).alias("truth"), weight=2
    )
    path = tmp_path / "named.parquet"
    frame.write_parquet(path)
    words = ["--score", "other", "--label", "truth", "--positive", "yes", "--weight", "weight"]
    words += ["--by", "query", "model", "--ties", "group"]
    result = saved(capfdbinary, tmp_path, "evaluate", "--frame", path, *words)
    expected = prframe.evaluate(
        frame, ["AP", "AUC"], "other", "truth", positive="yes", weight="weight",
        by=["query", "model"],
    )  # fmt: skip
    assert result.equals(expected)
    words = ["--score", "score", "other", "--over", "query", "model"]
    result = saved(capfdbinary, tmp_path, "evaluate", "--frame", path, *words)
    expected = prframe.evaluate(
        frame, ["AP", "AUC"], ["score", "other"], over=["query", "model"], layout="wide"
    )
    assert result.equals(expected)


@pytest.mark.parametrize("totals", [("5", "40"), ("n_pos", "n_neg")])
def test_totals_of_frames(totals, capfdbinary, tmp_path) -> None:
    frame = pl.read_csv("frame.csv").with_columns(n_pos=5, n_neg=40)
    path = tmp_path / "totals.parquet"
    frame.write_parquet(path)
    groups = {"by": "model", "over": "query", "n_pos": 5, "n_neg": 40}
    words = ["--frame", path, "--by", "model", "--over", "query"]
    words += ["--n-pos", totals[0], "--n-neg", totals[1]]
    evaluated = saved(capfdbinary, tmp_path, "evaluate", *words, "-m", "AP", "AUC")
    assert evaluated.equals(prframe.evaluate(frame, ["AP", "AUC"], layout="wide", **groups))
    tested = saved(capfdbinary, tmp_path, "test", *words)
    assert tested.equals(prframe.ap_test(frame, rng=0, **groups))


@pytest.mark.filterwarnings("ignore::prframe.SkewedDifferencesWarning")
def test_compare(capfdbinary, tmp_path) -> None:
    words = ["compare", "qrels", *RUNS, "-m", "AP", "--correction", "max-t", "--seed", "3"]
    shared = {"model": "system", "over": "query_id"} | TREC
    result = saved(capfdbinary, tmp_path, *words, "--n-resamples", "200")
    expected = prframe.compare(
        joined(), "AP", correction="max-t", n_resamples=200, rng=3, **shared
    )
    assert result.equals(expected)
    words = ["compare", "qrels", *RUNS, "--test", "t", "--correction", "none"]
    result = saved(capfdbinary, tmp_path, *words, "--baseline", "old")
    expected = prframe.compare(
        joined(), "AP", test="t", correction=None, baseline="old", rng=0, **shared
    )
    assert result.equals(expected)


def test_compare_models_of_a_frame(capfdbinary, tmp_path) -> None:
    frame = pl.read_csv("frame.csv")
    expected = prframe.compare(frame, "AP", over="query", rng=0)
    words = ["compare", "--frame", "frame.csv", "--over", "query"]
    result = saved(capfdbinary, tmp_path, *words)
    assert result.equals(expected)
    of_columns = saved(capfdbinary, tmp_path, *words, "--by", "model", "--score", "score", "other")
    assert of_columns.columns[:4] == ["model", "metric", "model_a", "model_b"]


def test_draws_are_the_same_in_every_call(capfdbinary) -> None:
    words = [
        "evaluate",
        "--frame",
        "frame.csv",
        "--by",
        "model",
        "query",
        "--interval",
        "-f",
        "csv",
    ]
    first, again, other = (
        run(capfdbinary, *words, "-m", "AP", *seed).out
        for seed in ([], ["--seed", "0"], ["--seed", "1"])
    )
    assert first == again != other


def test_curves_and_bands(capfdbinary, tmp_path) -> None:
    shared = {"by": "system", "over": "query_id"} | TREC
    words = ["qrels", *RUNS, "--interpolate"]
    result = saved(capfdbinary, tmp_path, "curve", *words)
    assert result.equals(prframe.curve(joined(), recall=11, interpolate=True, **shared))
    result = saved(capfdbinary, tmp_path, "band", *words, "--recall", "0.1", "0.5", "--seed", "2")
    expected = prframe.band(joined(), recall=[0.1, 0.5], interpolate=True, rng=2, **shared)
    assert result.equals(expected)
    frame = pl.read_csv("frame.csv")
    words = ["--frame", "frame.csv", "--by", "model", "query"]
    result = saved(capfdbinary, tmp_path, "curve", *words)
    assert result.cast({"query": pl.Int64}).equals(prframe.curve(frame, by=["model", "query"]))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::prframe.SharedItemsWarning")
def test_tests(capfdbinary, tmp_path) -> None:
    rankings = {"by": ["system", "query_id"]} | TREC
    words = ["test", "qrels", *RUNS]
    # The command says by itself that the files are a pool.
    pool = joined().drop("judged")
    result = saved(capfdbinary, tmp_path, *words)
    with pytest.warns(prframe.SharedItemsWarning):
        expected = prframe.ap_test(pool, by="system", over="query_id", rng=0, **TREC)
    assert result.equals(expected)
    result = saved(capfdbinary, tmp_path, *words, "-q", "--correction", "holm")
    assert result.equals(prframe.ap_test(pool, correction="holm", rng=0, **rankings))


def test_tests_of_each_query_of_a_frame(capfdbinary, tmp_path) -> None:
    words = ["test", "--frame", "frame.csv", "--by", "model"]
    each = saved(capfdbinary, tmp_path, *words, "query")
    assert each.height == each.select("model", "query").n_unique() > 1
    by_query = saved(capfdbinary, tmp_path, *words, "--over", "query", "-q")
    assert by_query.equals(each)


def test_check(capfdbinary, tmp_path) -> None:
    result = saved(capfdbinary, tmp_path, "check", "qrels", *RUNS, "-k", "3")
    expected = prframe.check(joined(), by=["system", "query_id"], k=3, **TREC)
    assert result.equals(expected)


def test_strict_checks_fail(capfdbinary, tmp_path) -> None:
    words = ["check", "--frame", "frame.csv", "--by", "model", "query"]
    assert run(capfdbinary, *words).code == 0
    assert run(capfdbinary, *words, "--strict").code == 0
    path = tmp_path / "bad.csv"
    path.write_text(FRAME.replace("3,1,1", ",1,1"))
    words[2] = str(path)
    assert run(capfdbinary, *words).code == 0
    done = run(capfdbinary, *words, "--strict")
    assert (done.code, table(done.out)[1][:3]) == (1, ["missing_score", "error", "1"])


@pytest.mark.filterwarnings("ignore::prframe.CoverageWarning")
def test_options_of_the_design(capfdbinary, tmp_path) -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "a": rng.normal(size=240),
            "b": rng.normal(size=240),
            "label": rng.random(240) < 0.4,
            "fold": np.arange(240) % 6,
        }
    )
    path = tmp_path / "frame.parquet"
    frame.write_parquet(path)
    read_in = ["--frame", path, "-m", "AP"]
    compared = ["compare", *read_in, "--score", "a", "b"]
    scores = {"score": ["a", "b"]}
    cases = [
        (["--cluster", "fold"], {"cluster": "fold", "over": None}),
        (
            ["--over", "fold", "--test", "t", "--resampling", "cv"],
            {"over": "fold", "test": "t", "resampling": "cv"},
        ),
        (
            ["--over", "fold", "--test", "t", "--resampling", "0.2", "--prior", "0.1"],
            {"over": "fold", "test": "t", "resampling": 0.2, "prior": 0.1},
        ),
    ]
    for words, chosen in cases:
        result = saved(capfdbinary, tmp_path, *compared, *words)
        assert result.equals(prframe.compare(frame, "AP", **scores, **chosen, rng=0))
    words = ["evaluate", *read_in, "--score", "a", "--interval", "--cluster", "fold"]
    result = saved(capfdbinary, tmp_path, *words)
    assert result.equals(prframe.interval(frame, "AP", score="a", cluster="fold", rng=0))
    row = pl.int_range(pl.len())
    queries = frame.drop("fold").with_columns(query=row // 8, user=row // 48)
    queries.write_parquet(path)
    words = ["evaluate", *read_in, "--score", "a", "--interval", "--over", "query"]
    result = saved(capfdbinary, tmp_path, *words, "--cluster", "user")
    expected = prframe.interval(queries, "AP", score="a", over="query", cluster="user")
    assert result.equals(expected)
    words = ["band", "--frame", path, "--score", "a", "--over", "query", "--cluster", "user"]
    result = saved(capfdbinary, tmp_path, *words)
    options = {"score": "a", "over": "query", "cluster": "user", "recall": 11, "rng": 0}
    assert result.equals(prframe.band(queries, **options))
    frame.write_parquet(path)
    words = ["band", "--frame", path, "--score", "a", "--cluster", "fold", "--prior", "0.1"]
    result = saved(capfdbinary, tmp_path, *words)
    expected = prframe.band(frame, score="a", cluster="fold", prior=0.1, rng=0)
    assert result.equals(expected)
    done = run(capfdbinary, *compared, "--over", "fold", "--resampling", "folds")
    assert done.code == 2
    assert "argument --resampling: invalid cv_or_ratio value: 'folds'" in done.err
    words = ["evaluate", *read_in, "--score", "a", "--over", "fold", "--prior", "0.1"]
    result = saved(capfdbinary, tmp_path, *words)
    expected = prframe.evaluate(frame, "AP", score="a", over="fold", prior=0.1, layout="wide")
    assert result.equals(expected)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::prframe.SharedItemsWarning")
def test_random_rankings_of_the_collection(capfdbinary, tmp_path) -> None:
    """Qrels with and without the documents that are not relevant give the same test."""
    lines = Path("qrels").read_text().splitlines(keepends=True)
    (tmp_path / "relevant").write_text("".join(line for line in lines if line.endswith(" 1\n")))
    told = "random rankings are of the documents that are listed or judged, {} for a query; "
    results = []
    for qrels, numbers in (("qrels", "30 to 36"), (tmp_path / "relevant", "20 to 21")):
        words = ["test", qrels, "old.run", "-f", "csv"]
        done = run(capfdbinary, *words)
        assert done.err.startswith(f"prframe: warning: {told.format(numbers)}pass the size ")
        assert done.err.count("random rankings are of") == 1
        results.append(done.out)
        done = run(capfdbinary, *words, "--n-items", "1000")
        assert done.err.count("\n") == 1
        assert "are in several rankings, but" in done.err
        assert not run(capfdbinary, *words, "--n-items", "1000", "--dependence", "comonotone").err
        results.append(done.out)
    judged, of_collection, relevant, of_collection_again = results
    assert judged != relevant
    assert of_collection == of_collection_again
    whole = joined("old.run").with_columns(
        n_neg=(1000 - (pl.col("label") > 0).sum()).over("system", "query_id")
    )
    with pytest.warns(prframe.SharedItemsWarning):
        expected = prframe.ap_test(
            whole, by="system", over="query_id", n_neg="n_neg", rng=0, **TREC
        )
    assert of_collection == expected.write_csv()


def test_negatives_of_the_collection(capfdbinary) -> None:
    done = run(capfdbinary, "test", "qrels", "old.run", "-q", "--n-items", "500", "-f", "csv")
    assert not done.err
    assert pl.read_csv(done.out.encode())["n"].to_list() == [500] * 12


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ["qrels", "old.run", "--n-items", "35"],
            65,
            "--n-items is the number of documents of the collection, at least the 36 that are "
            "listed or judged for a query; got 35.",
        ),
        (["--frame", "frame.csv", "--n-items", "99"], 2, "--n-items goes with QRELS and RUN"),
        (["qrels", "old.run", "-J", "--n-items", "99"], 2, "--n-items goes with QRELS and RUN"),
    ],
)
def test_wrong_numbers_of_the_collection(capfdbinary, words, code, message) -> None:
    done = run(capfdbinary, "test", *words)
    assert done.code == code
    assert message in done.err


@pytest.mark.slow
def test_output_in_ascii_alone(tmp_path) -> None:
    frame = tmp_path / "frame.csv"
    frame.write_text(FRAME.replace(",a,", ",ä,"))
    done = process(
        "evaluate", "--frame", frame, "--by", "model", "query", LC_ALL="C", PYTHONUTF8="0",
        PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="ascii",
    )  # fmt: skip
    assert done.code == 0
    assert "\\xe4" in done.out


def test_a_table_is_no_picture(capfdbinary) -> None:
    done = run(capfdbinary, "evaluate", "qrels", "old.run", "-m", "AP", "-o", "table.png")
    assert done.code == 2
    assert "prframe report writes a page with pictures" in done.err
    assert not Path("table.png").exists()


@pytest.mark.parametrize("ending", [".json", ".gz"])
def test_endings_of_no_format(ending, capfdbinary) -> None:
    words = ["evaluate", "qrels", "old.run", "-m", "AP", "-o", f"table{ending}"]
    done = run(capfdbinary, *words)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"prframe: error: {ending} is the ending of no table; the endings are .csv, .jsonl, "
        ".ndjson, .parquet, .arrow, .feather, .ipc, .txt, or choose with -f; prframe report "
        "writes a page with pictures\n"
    )
    assert not Path(f"table{ending}").exists()


def files_of(folder: Path, judged: str, *runs: str) -> list[Path]:
    """Write qrels and runs, whose lines stand behind one another."""
    paths = [folder / "judged", *(folder / f"run{i}" for i in range(len(runs)))]
    for path, text in zip(paths, (judged, *runs), strict=True):
        path.write_text("".join(f"{line}\n" for line in text.split("; ")))
    return paths


JUDGED = "1 0 a 1; 1 0 b 0; 2 0 a 1; 3 0 a 1"
FULL = "1 Q0 a 1 2 full; 2 Q0 b 1 2 full; 2 Q0 a 2 1 full; 3 Q0 a 1 1 full"
PART = "1 Q0 b 1 2 part; 1 Q0 a 2 1 part"
LACKS = (
    "prframe: warning: 1 of 2 runs lack judged queries, which count as 0 in their means: 'part' "
    "lacks 2 of 3\n"
)


def test_a_judged_query_that_a_run_lacks_counts_0(capfdbinary, tmp_path) -> None:
    files = files_of(tmp_path, JUDGED, FULL, PART)
    done = run(capfdbinary, "evaluate", *files, "-m", "AP")
    assert table(done.out)[1:3] == [["full", "0.8333", "3"], ["part", "0.1667", "1"]]
    assert done.err == LACKS
    compared = saved(capfdbinary, tmp_path, "compare", *files)
    assert compared.select("mean_a", "mean_b", "n").row(0) == pytest.approx((5 / 6, 1 / 6, 3))
    # Of single queries there is no mean, and -f trec does what its flags say.
    assert not run(capfdbinary, "evaluate", *files, "-q").err
    lines = run(capfdbinary, "evaluate", *files, "-m", "map", "-f", "trec")
    assert [line.split()[-1] for line in lines.out.splitlines()] == [
        "full",
        "0.8333",
        "part",
        "0.5000",
    ]
    lines = run(capfdbinary, "evaluate", *files, "-m", "map", "-f", "trec", "-c")
    assert [line.split()[-1] for line in lines.out.splitlines()] == [
        "full",
        "0.8333",
        "part",
        "0.1667",
    ]
    single = table(run(capfdbinary, "evaluate", files[0], files[2], "-m", "AP").out)
    assert single[1] == ["part", "0.5000", "1"]
    own_rule = run(capfdbinary, "compare", *files, "--incomplete", "raise")
    assert own_rule.code == 65
    gate = ["--fail-if-worse", "--baseline", "full"]
    assert run(capfdbinary, "compare", *files, *gate).code == 65


def test_checks_of_files(capfdbinary, tmp_path) -> None:
    wrong = "1 Q0 b 1 1 part; 1 Q0 a 2 2 part"
    done = run(capfdbinary, "check", *files_of(tmp_path, JUDGED, FULL, wrong), "-f", "csv")
    rows = {row["kind"]: row for row in pl.read_csv(io.StringIO(done.out)).to_dicts()}
    assert rows["nothing_retrieved"]["count"] == 2
    assert rows["file"]["example"].startswith("the ranks of the run contradict its scores")
    assert not done.err


@pytest.mark.parametrize("command", ["evaluate", "compare", "curve", "band", "test", "check"])
def test_ties_in_files_are_those_of_trec_eval(command: str, capfdbinary, tmp_path) -> None:
    tied = "; ".join(f"1 Q0 {doc} 1 2.0 TAG" for doc in "abcd")
    judged = "1 0 a 0; 1 0 b 0; 1 0 c 0; 1 0 d 1"
    files = files_of(tmp_path, judged, tied.replace("TAG", "x"), tied.replace("TAG", "y"))
    done = run(capfdbinary, command, *files)
    assert done.out.splitlines()[-1] == "(ties: trec)"
    done = run(capfdbinary, command, *files, "--ties", "group")
    assert done.out.splitlines()[-1] == "(ties: group)"
    if command == "evaluate":
        assert table(run(capfdbinary, command, *files, "-m", "AP").out)[1][1] == "1.0000"
        # 32-bit floats cannot tell these apart.
        close = "1 Q0 d 1 1.00000001 x; 1 Q0 a 1 1.00000002 x"
        files = files_of(tmp_path, judged, close)
        for words in (["-m", "AP"], ["-m", "map", "-f", "trec"]):
            assert "1.0000" in run(capfdbinary, command, *files, *words).out


def test_interpolated_curves_begin_as_iprec_at_0(capfdbinary, tmp_path) -> None:
    files = files_of(tmp_path, "1 0 a 1; 1 0 b 0", "1 Q0 b 1 2 x; 1 Q0 a 2 1 x")
    for command in ("curve", "band"):
        row = table(run(capfdbinary, command, *files, "--interpolate").out)[1]
        assert row[1:3] == ["0.0000", "0.5000"]


def test_tables_in_latex(capfdbinary) -> None:
    words = ["evaluate", "qrels", *RUNS, "-m", "AP", "P@5", "-f", "latex"]
    means = prframe.evaluate(joined(), ["AP", "P@5"], by="system", over="query_id", **TREC)
    expected = prframe.tables.results(means, ties="trec").to_latex()
    assert run(capfdbinary, *words).out == expected
    assert "Estimates without intervals." in expected
    of_intervals = run(capfdbinary, *words, "--interval", "--method", "hall").out
    options = {"by": "system", "over": "query_id", "method": "hall", "rng": 0} | TREC
    enclosed = prframe.interval(joined(), ["AP", "P@5"], **options)
    assert of_intervals == prframe.tables.results(enclosed, ties="trec").to_latex()
    done = run(capfdbinary, *words, "-q")
    assert (done.code, done.err) == (
        2,
        "prframe: error: -f latex is a table of means; leave out -q\n",
    )
    of_frame = run(
        capfdbinary, "evaluate", "--frame", "frame.csv", "--by", "model", "--over", "query", "-f",
        "latex",
    )  # fmt: skip
    assert of_frame.code == 0
    assert of_frame.out.count("\\\\\n") == 3
