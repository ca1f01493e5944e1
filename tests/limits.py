"""A default test that takes far more than its share of time or memory fails.

A test that takes more than half a second is marked slow, or made smaller. The limits here are far above
that, and the time is the CPU time of this process, so that they hold on slow and on busy machines.
"""

import os
import sys
import time
from pathlib import Path

import hypothesis
import pytest

SECONDS, MEGABYTES = 3.0, 700.0
_MEMORY = Path("/proc/self")


def _peak(*, anew: bool = False) -> float:
    """Return the most memory of this process in megabytes, 0 where the system does not tell."""
    try:
        if anew:
            (_MEMORY / "clear_refs").write_text("5")
        lines = (_MEMORY / "status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def _is_judged(item: pytest.Item) -> bool:
    """Say whether a test is one of the default ones, and takes as long as it does by default."""
    if item.get_closest_marker("slow") or item.get_closest_marker("nightly") or sys.gettrace():
        return False
    # With another profile than the default one laws are tried on more examples.
    is_law = hypothesis.is_hypothesis_test(getattr(item, "obj", None))
    return not is_law or os.environ.get("HYPOTHESIS_PROFILE", "quick") == "quick"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item):
    modules, before = len(sys.modules), _peak(anew=True)
    begun = time.process_time()
    result = yield
    # The test that is the first to import a library pays for those after it.
    seconds = time.process_time() - begun if len(sys.modules) == modules else 0.0
    megabytes = _peak() - before if before else 0.0
    if _is_judged(item) and (seconds > SECONDS or megabytes > MEGABYTES):
        pytest.fail(
            f"a default test may take {SECONDS:g} s of CPU time and {MEGABYTES:g} MB; this one took "
            f"{seconds:.1f} s and {megabytes:.0f} MB. Make it smaller, or mark it slow.",
            pytrace=False,
        )
    return result
