"""Agreement with trec_eval: query by query through its Python wheel, and with its own suite.

The collections are not part of the repository. Their tests run where the directory
`PRFRAME_TEST_DATA` (or `shared/data` beside the repository) holds them, and are skipped elsewhere;
a made-up run and its judgments take the same way through files, join and metrics everywhere.
"""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import prframe
from prframe import trec

pytrec_eval = pytest.importorskip("pytrec_eval", reason="compares with trec_eval's wheel")

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
DATA = Path(os.environ.get("PRFRAME_TEST_DATA", BESIDE))
SYSTEMS = ["bm25", "bm25flat", "qld", "tfidf", "lsa", "binary", "random"]
CUTOFFS = [5, 10, 15, 20, 30, 100, 200, 500, 1000]
# Every metric of the catalogue that the wheel has too, by its names there.
NAMES = [
    *("map", "Rprec", "bpref", "recip_rank", "infAP", "11pt_avg", "ndcg"),
    *("set_P", "set_recall", "set_map", "set_F", "num_ret", "num_rel", "num_rel_ret"),
    *(f"iprec_at_recall_{i / 10:.2f}" for i in range(11)),
    *(
        f"{name}_{k}"
        for name in ("P", "recall", "map_cut", "ndcg_cut", "relative_P")
        for k in CUTOFFS
    ),
    *("success_1", "success_5", "success_10"),
]
MEASURES = {
    *("map", "Rprec", "bpref", "recip_rank", "infAP", "11pt_avg", "ndcg", "iprec_at_recall"),
    *("set_P", "set_recall", "set_map", "set_F", "num_ret", "num_rel", "num_rel_ret"),
    *("P", "recall", "map_cut", "ndcg_cut", "relative_P", "success"),
}
OPTIONS = {
    "by": "query_id",
    "item": "doc_id",
    "judged": "judged",
    "ties": "trec",
    "float32": True,
    "undefined": 0.0,
}


def data(name: str) -> Path:
    """Return a collection's directory, or skip."""
    path = DATA / name
    if not path.is_dir():
        pytest.skip(
            f"needs the collection {name}, which is not part of the repository; "
            "PRFRAME_TEST_DATA names the directory that holds it"
        )
    return path


def nested(frame: pl.DataFrame, value: str) -> dict[str, dict[str, float]]:
    """Return query -> document -> value."""
    found: dict[str, dict[str, float]] = {}
    for query, document, number in frame.select("query_id", "doc_id", value).iter_rows():
        found.setdefault(query, {})[document] = number
    return found


def agree(run: pl.DataFrame, qrels: pl.DataFrame, tolerance: float = 1e-9) -> None:
    """Compare every metric for every query of the run."""
    theirs = pytrec_eval.RelevanceEvaluator(nested(qrels, "label"), MEASURES).evaluate(
        nested(run, "score")
    )
    joined = trec.join(run, qrels, queries="both")
    ours = prframe.evaluate(joined, NAMES, **OPTIONS)
    assert ours["query_id"].to_list() == list(theirs)
    got = ours.select(NAMES).to_numpy()
    want = np.array([[theirs[query][name] for name in NAMES] for query in theirs])
    off = np.argwhere(~np.isclose(got, want, rtol=0, atol=tolerance))
    assert not off.size, [
        (ours["query_id"][int(i)], NAMES[j], got[i, j], want[i, j]) for i, j in off[:5]
    ]


@pytest.mark.shared
@pytest.mark.parametrize("system", SYSTEMS)
def test_vaswani_query_by_query(system: str) -> None:
    path = data("vaswani")
    run = trec.read_run(path / f"run.{system}.txt.gz")
    assert run["query_id"].n_unique() == 93
    agree(run, trec.read_qrels(path / "qrels.txt"))


@pytest.mark.shared
def test_the_suite_of_trec_eval() -> None:
    path = data("trec_eval")
    lines = (path / "out.test.a").read_text().splitlines()
    want = {name: value for name, _, value in (line.split() for line in lines)}
    run = trec.read_run(path / "results.test")
    joined = trec.join(run, trec.read_qrels(path / "qrels.test"), queries="both")
    # Version 10, which wrote these results, rounds levels of recall otherwise than version 9.
    levels = {f"iprec_at_recall_{i / 10:.2f}": f'IPrec(levels="v10")@{i / 10}' for i in range(11)}
    ours = {"11pt_avg": 'AP11(levels="v10")', "rbp": "RBP(p=0.9)"}
    asked = {name: name for name in NAMES} | levels | ours
    options = {name: value for name, value in OPTIONS.items() if name != "by"}
    found = prframe.evaluate(
        joined, list(asked.values()), over="query_id", geometric_mean=True, **options
    )
    rows = {row["metric"]: row for row in found.to_dicts()}
    for name, text in asked.items():
        # trec_eval adds counts up.
        times = rows[text]["n"] if name.startswith("num") else 1
        assert f"{rows[text]['mean'] * times:.4f}" == f"{float(want[name]):.4f}", name
    for name in ("map", "bpref"):
        assert f"{rows[name]['geometric_mean']:.4f}" == want[f"gm_{name}"]
    unjudged = prframe.evaluate(
        joined, ["Judged@5", "Judged@10", "Judged@20"], over="query_id", **options
    )
    for metric, mean in unjudged.select("metric", "mean").iter_rows():
        assert f"{1 - mean:.4f}" == want[f"unj_{metric.partition('@')[2]}"]


RUN = """\
q1 Q0 d10 1 9.5 made-up
q1\tQ0\td9\t2\t 8.25\tmade-up
q1 Q0 d2 3 8.25 made-up
q1 Q0 d3 4 8.2500001 made-up
q1 Q0 d4 5 1e-3 made-up
q1 Q0 d5 6 -2 made-up
q1 Q0 d6 7 -2 made-up
q2 Q0 d1 1 3 made-up
q2 Q0 d10 2 3 made-up
q2 Q0 d2 3 3 made-up
q2 Q0 d9 4 3 made-up
q3 Q0 d1 1 1 made-up
q4 Q0 d1 1 1 made-up
q4 Q0 d2 2 0 made-up
"""
QRELS = """\
q1 0 d9 1
q1 0 d2 0
q1 0 d3 2
q1 0 d5 -1
q1 0 d6 3
q1 0 d77 1
q1 0 d78 0
q2 0 d1 1
q2 0 d2 1
q2 0 d10 0
q3 0 d1 0
q4 0 d2 1
q5 0 d1 1
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Files of a made-up run and its judgments."""
    run, qrels = tmp_path / "made-up.run", tmp_path / "made-up.qrels"
    run.write_text(RUN)
    qrels.write_text(QRELS)
    return run, qrels


def test_a_made_up_pair_query_by_query(files: tuple[Path, Path]) -> None:
    run, qrels = files
    agree(trec.read_run(run), trec.read_qrels(qrels))


def test_scores_that_differ_in_float64_alone(files: tuple[Path, Path]) -> None:
    joined = trec.join(trec.read_run(files[0]), trec.read_qrels(files[1]), queries="both")
    # 8.25 and 8.2500001 are one 32-bit float: d9 stands before d3 by its name.
    single, double = (
        prframe.evaluate(joined, ["P(rel=2)@2", "RR(rel=2)"], **OPTIONS | {"float32": float32})
        for float32 in (True, False)
    )
    assert single.row(0) == ("q1", 0.0, 1 / 3)
    assert double.row(0) == ("q1", 0.5, 0.5)
