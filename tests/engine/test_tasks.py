"""Threads that do work on arrays: the same numbers, never a wait for ever, and none is left."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import prframe
from prframe._engine import frames
from prframe._engine.pieces import Task, prefetched, results

N_GROUPS = 30


@pytest.fixture
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    set_threads(monkeypatch, request.param)
    return int(request.param)


def set_threads(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Let polars tell that it has so many threads."""
    monkeypatch.setattr(pl, "thread_pool_size", lambda: number)


@pytest.mark.parametrize("threads", [1, 2, 64], indirect=True)
def test_results_stand_in_order_and_only_the_work_is_done_by_a_thread(threads: int) -> None:
    callers, workers, begun, most = set(), set(), 0, 0

    def task(number: int) -> Task[int]:
        nonlocal begun, most
        callers.add(threading.get_ident())
        begun += 1
        most = max(most, begun)

        def work() -> int:
            workers.add(threading.get_ident())
            return 10 * number

        def finish(tens: int) -> int:
            nonlocal begun
            callers.add(threading.get_ident())
            begun -= 1
            return tens + 1

        return Task(work, finish).then(lambda value: -value)

    for n_tasks in (0, 1, 2, 7):
        values = list(results(map(task, range(n_tasks))))
        assert values == [-10 * number - 1 for number in range(n_tasks)]
    assert callers == {threading.get_ident()}
    assert (workers == callers) == (threads == 1)
    assert len(workers - callers) < 4
    assert most == min(threads, 2)


def stop(error: type[BaseException]) -> None:
    """Raise an error."""
    raise error("stopped")


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
@pytest.mark.parametrize("where", ["task", "work", "finish", "use"])
@pytest.mark.parametrize("threads", [1, 2], indirect=True)
@pytest.mark.usefixtures("threads")
def test_an_error_ends_the_work(where: str, error: type[BaseException]) -> None:
    begun: list[int] = []

    def tasks() -> Iterator[Task[int]]:
        for number in range(100):
            begun.append(number)
            failing = where if number == 3 else ""
            if failing == "task":
                stop(error)
            yield Task(
                lambda failing=failing: stop(error) if failing == "work" else None,
                lambda _, failing=failing: stop(error) if failing == "finish" else None,
            )

    def use() -> None:
        for nth, _ in enumerate(results(tasks())):
            if where == "use" and nth == 3:
                stop(error)

    before = threading.active_count()
    with pytest.raises(error, match="stopped"):
        use()
    assert len(begun) <= 5
    assert threading.active_count() <= before


def rows() -> pl.DataFrame:
    """Return grades, judgments, ties, weights and items that are not retrieved, in few groups."""
    rng = np.random.default_rng(8)
    sizes = rng.integers(2, 60, N_GROUPS)
    n, ends = sizes.sum(), np.cumsum(sizes)
    grade = rng.integers(0, 3, n) * (rng.random(n) < 0.4)
    grade[ends - 1], grade[ends - 2] = 2, 0
    score = np.round(rng.normal(size=n), 1)
    score[rng.random(n) < 0.1] = -np.inf
    return pl.DataFrame(
        {
            "group": np.repeat(np.arange(N_GROUPS), sizes),
            "score": score,
            "label": grade,
            "item": [f"d{i % 7}{i}" for i in range(n)],
            "judged": (grade > 0) | (rng.random(n) < 0.7),
            "weight": rng.random(n) + 0.5,
        }
    )


def test_items_are_made_in_order_at_most_one_ahead() -> None:
    made = 0

    def items(number: int) -> Iterator[int]:
        nonlocal made
        for item in range(number):
            made += 1
            yield item

    for number in (0, 1, 2, 7):
        made = 0
        for place, item in enumerate(prefetched(items(number))):
            assert item == place
            assert made <= place + 2
        assert made == number


def test_an_error_in_making_an_item_reaches_the_caller() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise KeyError("item")

    with pytest.raises(KeyError, match="item"):
        list(prefetched(items()))


CASES: dict[str, dict[str, Any]] = {
    "labels": {"metrics": ["AP", "RR", "P@3", "AUC"], "positive": 2},
    "grades": {"metrics": ["AP", "nDCG@5", "AP(rel=2)"]},
    "judgments": {"metrics": ["AP", "Bpref"], "judged": "judged"},
    "weights": {"metrics": ["AP", "AUC", "AUPRC"], "weight": "weight"},
    "names": {"metrics": ["AP", "nDCG@5"], "item": "item", "ties": "trec"},
    "order": {"metrics": ["AP", "RR"], "ties": "order"},
    "best": {"metrics": ["AP", "nDCG"], "ties": "best"},
}


def not_in_our_threads(function: Any) -> Any:
    """Return the function, which fails in a thread of our own."""

    def call(*given: Any, **named: Any) -> Any:
        assert not threading.current_thread().name.startswith("prframe")
        return function(*given, **named)

    return call


def assert_same_in_threads(
    verb: Callable[..., Any], options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compare with one thread, for several numbers of these and sizes of pieces."""
    data = rows()
    set_threads(monkeypatch, 1)
    expected = verb(data, **options)
    for size in (40, 1 << 20):
        monkeypatch.setattr(frames, "_SLICE_ROWS", size)
        monkeypatch.setattr(frames, "_BATCH_ROWS", size)
        for number in (1, 2, 3):
            set_threads(monkeypatch, number)
            with monkeypatch.context() as patch:
                for kind, name in ((pl.LazyFrame, "collect"), (pl.Series, "__init__")):
                    patch.setattr(kind, name, not_in_our_threads(getattr(kind, name)))
                assert verb(data, **options).equals(expected)
            assert_frame_equal(verb(data.lazy(), **options).collect(), expected, check_exact=True)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_values_do_not_depend_on_threads_and_these_ask_nothing_of_polars(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_same_in_threads(prframe.evaluate, {"by": "group", **CASES[case]}, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{}, {"recall": [0.0, 0.5, 1.0]}, {"weight": "weight"}], ids=str
)
def test_curves_do_not_depend_on_threads_and_these_ask_nothing_of_polars(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for verb in (prframe.curve, prframe.roc):
        if verb is prframe.curve or "recall" not in options:
            assert_same_in_threads(verb, {"by": "group", **options}, monkeypatch)


INSIDE = """
import polars as pl, prframe
from prframe._engine import frames, lists, pieces
frames._SLICE_ROWS = frames._BATCH_ROWS = lists._ROWS = 5
# Threads are used even where polars has one thread, which then is the most likely to wait.
pieces.pl.thread_pool_size = lambda: 2
rows = pl.DataFrame(
    {
        "outer": [0] * 32 + [1] * 32,
        "g": [number // 8 for number in range(64)],
        "score": range(64),
        "label": [True, False] * 32,
    }
)

def evaluated(frame):
    return prframe.evaluate(frame, ["AP", "nDCG@3"], by="g")

def mean(columns):
    return evaluated(pl.DataFrame(dict(zip(["g", "score", "label"], columns))))["AP"].mean()

value = pl.map_batches(
    ["g", "score", "label"], mean, return_dtype=pl.Float64, returns_scalar=True
)
ap = pl.col("score").pr.ap("label")
values = [value.alias(str(number)) for number in range(8)]
for _ in range(4):
    expected = evaluated(rows)["AP"].mean()
    selected = rows.select(values)
    assert selected.row(0) == (expected,) * 8, selected
    grouped = rows.group_by("outer", maintain_order=True).agg(value, ap.alias("ap"))
    assert grouped.height == 2
    mapped = rows.group_by("outer", maintain_order=True).map_groups(evaluated)
    assert mapped.equals(evaluated(rows))
    for engine in ("in-memory", "streaming"):
        lazy = rows.lazy().group_by("outer").agg(values + [ap.alias("ap")])
        assert lazy.collect(engine=engine).height == 2
        batches = rows.lazy().map_batches(evaluated, schema=evaluated(rows).schema)
        joined = pl.concat([batches, batches, batches.pipe(lambda frame: frame)])
        assert joined.collect(engine=engine).height == 24
    lazies = [rows.lazy().pr.evaluate("AP", by="g") for _ in range(4)]
    assert {frame.height for frame in pl.collect_all(lazies)} == {8}
    columns = rows.group_by("g").agg(ap.alias(str(number)) for number in range(4))
    assert columns.height == 8
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", ["1", "2"])
def test_verbs_do_not_wait_for_ever_where_polars_calls_them(number: str) -> None:
    environment = {**os.environ, "POLARS_MAX_THREADS": number}
    subprocess.run([sys.executable, "-c", INSIDE], check=True, timeout=60, env=environment)


INTERRUPTED = """
import os, signal, threading, time
import polars as pl
from prframe._engine.pieces import Task, results
pl.thread_pool_size = lambda: 2
begun = []
def work():
    begun.append(0)
    if len(begun) == 3:
        os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.2)
try:
    list(results(Task(work, str) for _ in range(500)))
except KeyboardInterrupt:
    print(threading.active_count(), "thread after", len(begun), "tasks")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_the_user_can_interrupt_the_work() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout == "1 thread after 3 tasks\n"
