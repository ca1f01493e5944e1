"""trec_eval's numbers from the functions in C of the wheel, in a process of its own.

For some queries that have few documents left, such as with -J, these functions read memory that
they have not set: what they do then depends on the calls before, and now and then they never end,
or a signal ends them. In a new process there are no calls before, and one that fails so is begun again.
"""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

Nested = dict[str, dict[str, float]]
_SECONDS, _TRIES = 60, 3


def values(judged: Nested, scored: Nested, measures: set[str], level: int, flag: bool) -> Nested:
    """Return the values by query and measure; the flag is that of -J."""
    given = json.dumps([judged, scored, sorted(measures), level, flag])
    for _ in range(_TRIES):
        try:
            done = subprocess.run(
                [sys.executable, str(Path(__file__))],
                input=given,
                capture_output=True,
                text=True,
                check=False,
                timeout=_SECONDS,
            )
        except subprocess.TimeoutExpired:
            continue
        # The code of a process that a signal ended is negative.
        if done.returncode >= 0:
            done.check_returncode()
            return json.loads(done.stdout)
    pytest.skip("the wheel of pytrec_eval does not end on these queries")


def _main() -> None:
    # Tests that compare with the wheel are skipped where it is not installed.
    pytrec_eval = import_module("pytrec_eval")
    judged, scored, measures, level, flag = json.load(sys.stdin)
    evaluator = pytrec_eval.RelevanceEvaluator(
        judged, set(measures), relevance_level=level, judged_docs_only_flag=flag
    )
    json.dump(evaluator.evaluate(scored), sys.stdout)


if __name__ == "__main__":
    _main()
