"""A default test that takes far more than its share fails, and no other one does."""

import time
from types import SimpleNamespace

import hypothesis
import pytest

from tests import limits


def run(monkeypatch, *, seconds=0.0, megabytes=0.0, marker=None, obj=None) -> None:
    """Run a test that takes so much."""
    clock, peak = iter([5.0, 5.0 + seconds]), iter([300.0, 300.0 + megabytes])
    with monkeypatch.context() as patched:
        patched.setattr(time, "process_time", lambda: next(clock))
        patched.setattr(limits, "_peak", lambda **_: next(peak))
        patched.setattr(limits.sys, "gettrace", lambda: None)
        test = limits.pytest_runtest_call(
            SimpleNamespace(get_closest_marker=lambda _: marker, obj=obj)
        )
        next(test)
        with pytest.raises(StopIteration):
            test.send(None)


@pytest.mark.parametrize("taken", [{"seconds": 3.04}, {"megabytes": 900}])
def test_more_than_the_limit_fails(monkeypatch, taken) -> None:
    with pytest.raises(pytest.fail.Exception) as caught:
        run(monkeypatch, **taken)
    seconds, megabytes = ("3.0", "0") if "seconds" in taken else ("0.0", "900")
    assert str(caught.value) == (
        "a default test may take 3 s of CPU time and 700 MB; this one took "
        f"{seconds} s and {megabytes} MB. Make it smaller, or mark it slow."
    )


def test_less_and_slow_tests_pass(monkeypatch) -> None:
    run(monkeypatch, seconds=1.9, megabytes=600)
    run(monkeypatch, seconds=9, marker="slow")


def test_laws_with_more_examples_pass(monkeypatch) -> None:
    law = hypothesis.given(hypothesis.strategies.integers())(lambda _: None)
    monkeypatch.setenv("HYPOTHESIS_PROFILE", "quick")
    with pytest.raises(pytest.fail.Exception):
        run(monkeypatch, seconds=9, obj=law)
    monkeypatch.setenv("HYPOTHESIS_PROFILE", "ci")
    run(monkeypatch, seconds=9, obj=law)
    with pytest.raises(pytest.fail.Exception):
        run(monkeypatch, seconds=9)


def test_memory_is_measured() -> None:
    if not limits._peak(anew=True):
        pytest.skip("this system does not tell the memory of a process")
    before = limits._peak(anew=True)
    held = bytearray(b"x") * (100 << 20)
    assert limits._peak() - before > 50
    del held
