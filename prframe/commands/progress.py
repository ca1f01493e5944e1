"""A line at the terminal that says what a command is at, once it has taken a while."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_PATIENCE_SECONDS = 2.0
_STEP_SECONDS = 0.5
_CLEAR = "\r\x1b[K"


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Show the name of a stage on standard error while it lasts, if that is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(name, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _show(name: str, done: threading.Event) -> None:
    """Write how long the stage has taken, until it is done."""
    start = time.monotonic()
    if done.wait(_PATIENCE_SECONDS):
        return
    while not done.wait(_STEP_SECONDS):
        sys.stderr.write(f"{_CLEAR}prframe: {name}, {time.monotonic() - start:.0f} s")
        sys.stderr.flush()
    sys.stderr.write(_CLEAR)
    sys.stderr.flush()
