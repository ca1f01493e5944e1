"""Runs what is to be measured, each in a process of its own.

This program imports neither polars nor prframe: Linux counts the memory of the process that
starts another towards the peak of the one that is started.
"""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

Answer: TypeAlias = dict[str, float]
ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Measurement:
    """Seconds and megabytes (10^6 bytes) of one process, or the reason why there are none."""

    first: float = 0.0
    later: tuple[float, ...] = ()
    ready: float = 0.0
    """The resident memory just before the first call."""
    peak: float = 0.0
    """The largest resident memory from there until just after the first call."""
    peak_later: float = 0.0
    """The largest resident memory from there until the end."""
    cpu: tuple[float, ...] = ()
    """Seconds of CPU time of each call, the first one included."""
    answer: Answer = field(default_factory=dict)
    """What the result boils down to, to see that two ways agree."""
    skipped: str = ""
    """Why nothing was measured."""


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
