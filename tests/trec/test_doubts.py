"""Warnings about files that are likely to be a mistake: one of each kind and call."""

import unicodedata
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.trec import evaluate, join, read_run

FRAMES = {
    "polars": lambda run: run,
    "pandas": lambda run: run.to_pandas(),
    "lazy": lambda run: run.lazy(),
    "arrow": lambda run: run.to_arrow(),
}


def said(run: object, qrels: object, **options: object) -> list[str]:
    """Return the warnings of a join, and see that one filter silences each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        joined = join(run, qrels, **options)
        if isinstance(joined, pl.LazyFrame):
            joined.collect()
    with warnings.catch_warnings():
        for warning in caught:
            warnings.simplefilter("ignore", warning.category)
        join(run, qrels, **options)
    return [str(warning.message) for warning in caught]


def ranked(ranks: list, scores: list, queries: list | None = None) -> pl.DataFrame:
    number = len(ranks)
    return pl.DataFrame(
        {
            "query_id": queries or ["1"] * number,
            "doc_id": [f"d{i}" for i in range(number)],
            "rank": ranks,
            "score": scores,
        }
    )


QRELS = {"1": {"d0": 1}, "2": {"d0": 1, "d2": 1}}
CONTRADICTION = (
    "the ranks of the run contradict its scores, which alone decide: for query '1' rank {} has the "
    "score {}, and rank {} the score {}. If the ranks are right, write their negatives as scores."
)


@pytest.mark.parametrize("kind", FRAMES)
def test_ranks_that_contradict_scores(kind: str) -> None:
    run = FRAMES[kind](ranked([1, 2, 3], [0.1, 0.2, 0.3]))
    assert said(run, QRELS) == [CONTRADICTION.format(1, 0.1, 2, 0.2)]
    turned = FRAMES[kind](ranked([3, 2, 1], [0.1, 0.1, 0.05]))
    assert said(turned, QRELS) == [CONTRADICTION.format(2, 0.1, 1, 0.05)]


@pytest.mark.parametrize(
    "run",
    [
        # The next query, whose documents have lower scores, and a score that float32 rounds.
        ranked([1, 2, 1, 2], [4.0, 3.0, 2.0, 1.0], ["1", "1", "2", "2"]),
        ranked([2, 1, 3], [2.0, 3.0, 1.0]),
        ranked([1, None, 3], [3.0, 9.0, 1.0]),
        ranked([], []).cast({"doc_id": pl.String}),
    ],
)
@pytest.mark.filterwarnings("ignore::prframe.UnmatchedIdsWarning")
def test_ranks_that_do_not(run: pl.DataFrame) -> None:
    join(run, QRELS)


def test_ranks_far_down() -> None:
    rng = np.random.default_rng(0)
    ranks, scores = list(range(1, 51)), sorted(rng.random(50).tolist(), reverse=True)
    scores[33:35] = scores[34:32:-1]
    (message,) = said(ranked(ranks, scores), QRELS)
    assert "rank 34 has" in message


def test_ranks_of_files(tmp_path: Path) -> None:
    lines = [f"1 Q0 d{i} {i + 1} {i}.5 t\n" for i in range(3)]
    for name in ("a.run", "b.run"):
        (tmp_path / name).write_text("".join(lines))
    paths = [tmp_path / "a.run", tmp_path / "b.run"]
    assert said(paths, QRELS) == [CONTRADICTION.format(1, 0.5, 2, 1.5)]
    assert said({"x": paths[0], "y": ranked([1], [1.0])}, QRELS) == [
        CONTRADICTION.format(1, 0.5, 2, 1.5)
    ]
    with pytest.warns(prframe.RankOrderWarning):
        evaluate(read_run(paths[0]), QRELS, "map")


def test_ids_in_several_forms_of_unicode() -> None:
    composed, decomposed = (unicodedata.normalize(form, "é1") for form in ("NFC", "NFD"))
    message = (
        "1 ids of {} occur in several forms of Unicode, such as {}, and count as different. "
        "Normalise them, for example with str.normalize('NFC')."
    )
    names = f"{composed!a} and {decomposed!a}"
    run = {"1": {decomposed: 2.0, "d0": 1.0}}
    assert said(run, {"1": {composed: 1, "d0": 0}}) == [message.format("documents", names)]
    # Twice in the run, of which one is judged; and the same in the qrels.
    twice = {"1": {composed: 2.0, decomposed: 1.0}}
    assert said(twice, {"1": {composed: 1}}) == [message.format("documents", names)]
    assert said({"1": {"d0": 1.0}}, {"1": {composed: 1, decomposed: 0, "d0": 1}}) == [
        message.format("documents", names)
    ]
    queries = {"d0": {"d0": 1.0}, decomposed: {"d0": 1.0}}
    assert said(queries, {"d0": {"d0": 1}, composed: {"d0": 1}}) == [
        message.format("queries", names)
    ]
    assert said({"1": {composed: 2.0}}, {"1": {composed: 1, "ö": 1}}) == []
    assert said({1: {3: 2.0}}, {1: {3: 1}}) == []


def test_a_system_of_which_no_document_is_judged() -> None:
    runs = {"a": {"1": {"d0": 1.0}}, "b": {"1": {"x": 1.0}}}
    assert said(runs, QRELS) == [
        "1 of 2 systems have no document of a query in common with the qrels: 'b'"
    ]
    assert said({"b": runs["b"]}, QRELS) == [
        "run and qrels have no document of a query in common: the run has 'x', the qrels have "
        "'d0', 'd0'"
    ]
