"""``python -m benchmarks.far_tails``: far tails of AP of rare positives, and their CPU seconds.

Each row is one `APNull.logsf` in a process of its own, the first call without the import, and is
ended after a minute of CPU. To compare with another commit, run the same file with its package
first on PYTHONPATH.
"""

import json
import resource
import subprocess
import sys
import time

import numpy as np

from benchmarks.report import table
from prframe.stats import APNull

LIMIT = 60
_GROUPS = (
    (100_000, 100),
    (1_000_000, 30),
    (1_000_000, 100),
    (1_000_000, 200),
    (1_000_000, 1_000),
    (10_000_000, 100),
    (10_000_000, 1_000),
)
_VALUES = 0.0543, 0.0861, 0.1233, 0.1784, 0.3121, 0.607


def main() -> None:
    """Measure all rows, or one of them here if it is given."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(_measured(*json.loads(sys.argv[2]))))
        return
    rows = [
        [str(n), str(n_pos), str(ap), *_apart(n, n_pos, ap)]
        for n, n_pos in _GROUPS
        for ap in _VALUES
    ]
    print(table(["n", "n_pos", "AP", "log10 p", "CPU s", "method"], rows))


def _apart(n: int, n_pos: int, ap: float) -> list[str]:
    """Return the last columns of a row, measured in a process of its own."""
    command = sys.executable, "-m", __spec__.name, "--one", json.dumps([n, n_pos, ap])
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    found: list[str] = json.loads(done.stdout) if done.stdout else ["", f"> {LIMIT}", ""]
    return found


def _measured(n: int, n_pos: int, ap: float) -> list[str]:
    """Return the decimal logarithm of the tail, the CPU seconds it took, and the method."""
    null = APNull(n, n_pos)
    spent, (soft, hard) = time.process_time(), resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(spent) + LIMIT + 1, hard))
    log_tail = float(null.logsf(ap))
    seconds = time.process_time() - spent
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
    return [f"{log_tail / np.log(10):.3f}", f"{seconds:.2f}", str(null.tails(ap).method)]


if __name__ == "__main__":
    main()
