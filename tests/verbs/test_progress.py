"""Work by groups: order of results, errors, interruption, and who sees progress."""

import io
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import prframe
from prframe.verbs import _groups
from prframe.verbs._groups import each_group, each_shape


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(pl, "thread_pool_size", lambda: request.param)
    return request.param


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
@pytest.mark.parametrize("threads", [1, 4], indirect=True)
def test_an_error_ends_the_work(threads: int, error: type[BaseException]) -> None:
    begun, before = [], threading.active_count()

    def compute(number: int) -> None:
        begun.append(number)
        time.sleep(0.02)
        if number == 5:
            raise error("in group 5")

    with pytest.raises(error, match="in group 5"):
        each_group(compute, range(100), "x")
    # On a busy machine some more groups begin before the error is noticed.
    assert len(begun) <= 20 + 10 * threads
    # A thread of another test may have ended meanwhile.
    assert threading.active_count() <= before


SHOWN = """
import time
import prframe
from prframe.verbs import _groups
_groups._PATIENCE_SECONDS = 0.2
_groups.each_group(lambda _: time.sleep(0.1), range(12), "band")
print("done", flush=True)
"""


@pytest.mark.slow
def test_a_real_terminal() -> None:
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    subprocess.run([sys.executable, "-c", SHOWN], stdout=theirs, stderr=theirs, check=True)
    os.close(theirs)
    screen = b""
    # At the end of the terminal Linux raises and others return nothing.
    try:
        while part := os.read(ours, 65536):
            screen += part
    except OSError:
        pass
    os.close(ours)
    *shown, last = screen.decode().removesuffix("done\r\n").split("\r")
    assert any("band:" in line and "/12 [" in line for line in shown)
    assert not shown[-1].strip()
    assert not last


DRAWING = """
import sys, threading, time
import numpy as np, polars as pl, prframe
rng = np.random.default_rng(0)
n = 4000
frame = pl.DataFrame({"g": np.arange(n) % 4, "a": rng.normal(size=n), "label": rng.random(n) < 0.3})
frame = frame.with_columns(b=pl.Series(rng.normal(size=n)), score="a")
print("begun", flush=True)
try:
    CALL
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
LONG = "n_resamples=10_000_000"
CALLS = {
    "compare": f"frame.pr.compare('AP', ['a', 'b'], over=None, by='g', test='bootstrap', {LONG})",
    "band": f"frame.pr.band(by='g', {LONG})",
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_draws_end_where_the_user_interrupts(call: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", DRAWING.replace("CALL", call)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        assert process.communicate(timeout=60)[0] == "interrupted\n"
        assert time.monotonic() - begun < 20


def test_too_many_draws_are_refused() -> None:
    frame = pl.DataFrame({"score": [1.0, 2.0], "label": [0, 1]})
    for ask in (frame.pr.interval, frame.pr.compare):
        with pytest.raises(prframe.ArgumentError, match="must be at most 100,000,000, of which"):
            ask("AP", n_resamples=100_000_000_000)
    with pytest.raises(prframe.ArgumentError, match="must be at most 100,000,000, of which"):
        frame.pr.band(n_resamples=100_000_000_000)


def test_tests_of_ap_show_progress_that_changes_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"q": np.arange(300) % 10, "score": rng.normal(size=300).round(1)})
    frame = frame.with_columns(label=pl.Series(rng.random(300) < 0.3))
    expected = frame.pr.ap_test(by="q", alternative="two-sided")
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(_groups, "_PATIENCE_SECONDS", 0.0)
    shown = frame.pr.ap_test(by="q", alternative="two-sided")
    assert_frame_equal(shown, expected, rel_tol=1e-9)
    assert "ap_test:" in stream.getvalue()


def test_groups_of_one_shape_share_their_work() -> None:
    computed = []

    def compute(number: int) -> int:
        computed.append(number)
        return -(number % 3)

    found = each_shape(compute, range(12), lambda number: number % 3, "test")
    assert found == [-(number % 3) for number in range(12)]
    assert sorted(computed) == [0, 1, 2]


@pytest.mark.parametrize(
    "call",
    [
        lambda frame, **by: prframe.interval(frame, ["AP", "AUC", "P@1"], rng=0, **by),
        lambda frame, **by: prframe.interval(frame, ["MaxF1", "R(threshold=1.5)"], rng=0, **by),
        lambda frame, **by: prframe.interval(frame, "AP", method="percentile", rng=0, **by),
        lambda frame, **by: prframe.interval(frame, "AP", cluster="item", rng=0, **by),
        lambda frame, **by: prframe.rank_test(frame, phi="logrank", **by),
        lambda frame, **by: prframe.band(frame, recall=[0.5], n_resamples=200, rng=0, **by),
    ],
)
@pytest.mark.filterwarnings("ignore::prframe.PrframeWarning")
def test_shared_work_changes_no_result(call) -> None:
    """Groups of the same counts, of others, of tied scores, and of one class."""
    labels = ["1100110", "1100110", "0011011", "1111111", "0000000", "0011011"]
    frame = pl.DataFrame(
        {
            "g": np.repeat(np.arange(6), 7),
            "item": np.tile(np.arange(7) // 2, 6),
            "score": np.concatenate([np.arange(7.0) // (1 + (g > 3)) + g / 10 for g in range(6)]),
            "label": [int(label) for group in labels for label in group],
        }
    )
    together = call(frame, by="g")
    alone = [call(frame.filter(g=g), by="g") for g in range(6)]
    assert_frame_equal(together, pl.concat(alone))
