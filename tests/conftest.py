"""Shared fixtures and the profiles of Hypothesis."""

import os
import sys
from collections.abc import Iterator

import hypothesis
import pytest
from threadpoolctl import threadpool_limits

from tests.limits import pytest_runtest_call  # noqa: F401 - a hook

# Threads of OpenBLAS wait by counting, which on a busy machine takes many times the CPU time of
# the work. The variable is for libraries that are loaded later, and for processes that tests start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
threadpool_limits(limits=1, user_api="blas")

# The environment variable HYPOTHESIS_PROFILE chooses: `.ci/run` takes "ci".
hypothesis.settings.register_profile(
    "quick", max_examples=6, deadline=None, print_blob=True, derandomize=True
)
hypothesis.settings.register_profile(
    "ci", max_examples=60, deadline=None, print_blob=True, derandomize=True
)
hypothesis.settings.register_profile("thorough", max_examples=1000, deadline=None)
# `scripts/mutations.py` wants to know that a law fails, and not the simplest example.
hypothesis.settings.register_profile(
    "mutations",
    hypothesis.settings.get_profile("quick"),
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(autouse=True)
def figures_are_closed() -> Iterator[None]:
    """Close the figures of a test, so that none is left open for those after it."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
