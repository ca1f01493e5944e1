"""An executor that is killed in the middle changes no number."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.conftest import MODE, lacking


@pytest.mark.slow
@pytest.mark.skipif(MODE == "connect", reason="the executors are those of a classic session")
def test_killed_executors_change_no_number(tmp_path) -> None:
    if reason := lacking():
        pytest.skip(reason)
    script = Path(__file__).with_name("killed_worker.py")
    command = [sys.executable, str(script), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = ["range before equal", "range after equal"]
    assert done.stdout.splitlines() == lines, done.stdout + done.stderr
