"""The process that is measured: ``python -m benchmarks.child TASK OPTIONS LATER``.

It prints one line of JSON, a `Measurement`. Importing prframe and a peer, and making the data, come
before the first call; what a package loads only when it is first used is part of that call.
"""

import importlib
import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.fresh import Measurement
from benchmarks.tasks import Work


def main() -> None:
    task, options, later = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
    module, _, name = task.partition(".")
    # Some cases have groups without positives on purpose; peers warn of their own affairs.
    warnings.simplefilter("ignore")
    try:
        work = getattr(importlib.import_module(f"benchmarks.{module}"), name)(**options)
        measurement = measure(work, later)
    except (ImportError, FileNotFoundError) as error:
        measurement = Measurement(skipped=str(error))
    print(json.dumps(asdict(measurement)))


def measure(work: Work, later: int) -> Measurement:
    """Time the calls; the answer is taken after the first, so that one result is held at most."""
    # The largest resident memory begins anew, which Linux alone can do. Elsewhere it includes
    # what making the data took.
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    ready = megabytes()
    first, result = timed(work.call)
    peak = megabytes()
    answer = work.answer(result)
    del result
    calls = [first, *(timed(work.call)[0] for _ in range(later))]
    seconds, cpu = zip(*calls, strict=True)
    return Measurement(seconds[0], seconds[1:], ready, peak, megabytes(), cpu, answer)


def timed(call: Callable[[], Any]) -> tuple[tuple[float, float], Any]:
    """Return the seconds that a call takes, those of CPU time, and its result."""
    start, cpu = time.perf_counter(), time.process_time()
    result = call()
    return (time.perf_counter() - start, time.process_time() - cpu), result


def megabytes() -> float:
    """Return the largest resident memory, in 10^6 bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


if __name__ == "__main__":
    main()
