"""Runs what is to be measured, each in a process of its own.

This program imports neither polars nor prframe: Linux counts the memory of the process that
starts another towards the peak of the one that is started.
"""

import json
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

Answer: TypeAlias = dict[str, float]


@dataclass(frozen=True)
class Measurement:
    """Seconds and megabytes (10^6 bytes) of one process, or the reason why there are none.

    Attributes
    ----------
    first, later : float, tuple of float
        Seconds of the first call in the process, and of those after it.
    cpu : tuple of float
        Seconds of CPU time of each call, the first one included.
    ready, peak, peak_later : float
        The resident memory just before the first call, and the largest from there until just
        after it and until the end.
    others : float
        How many CPUs other programs kept busy meanwhile, on average.
    answer : dict
        What the result boils down to, to see that two ways agree.
    skipped : str
        Why nothing was measured.
    """

    first: float = 0.0
    later: tuple[float, ...] = ()
    ready: float = 0.0
    peak: float = 0.0
    peak_later: float = 0.0
    others: float = 0.0
    cpu: tuple[float, ...] = ()
    answer: Answer = field(default_factory=dict)
    skipped: str = ""


ROOT = Path(__file__).resolve().parents[1]
_MEMORY = (
    "import resource, sys; "
    "unit = 1 if sys.platform == 'darwin' else 1024; "
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6)"
)


def compile_modules() -> None:
    """Compile what Python would otherwise compile within the first process that imports it."""
    _python("-m", "compileall", "-q", "prframe", "benchmarks")


def run_task(
    task: str, options: dict[str, Any], later: int, limit: float | None = None
) -> Measurement:
    """Run a task in a fresh process, which is ended after `limit` seconds."""
    command = "-m", "benchmarks.child", task, json.dumps(options), str(later)
    try:
        output = _python(*command, limit=limit)
    except subprocess.TimeoutExpired:
        return Measurement(skipped=f"more than {limit:g} seconds")
    found = json.loads(output.splitlines()[-1])
    lists = {name: tuple(found[name]) for name in ("later", "cpu")}
    return Measurement(**{**found, **lists})


def run_statement(statement: str) -> Measurement:
    """Time a whole process that runs one statement; a second one tells the memory."""
    start = time.perf_counter()
    _python("-c", statement)
    seconds = time.perf_counter() - start
    return Measurement(seconds, peak=float(_python("-c", f"{statement}; {_MEMORY}")))


def run_module(name: str, *arguments: str) -> str:
    """Return what a module of these prints."""
    return _python("-m", name, *arguments)


def _python(*arguments: str, limit: float | None = None) -> str:
    """Run Python from the root of the repository; return what it prints."""
    command = (sys.executable, *arguments)
    done = subprocess.run(  # noqa: S603
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=limit
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)} failed:\n{done.stderr}")
    return done.stdout
