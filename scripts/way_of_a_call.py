"""Print the way of a call through prframe: its deepest frames, and the modules that it enters.

python scripts/way_of_a_call.py evaluate ap_test compare

The frame is tiny, and the call has been made once before, so that nothing is imported on the way.
"""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import polars as pl

import prframe

ROOT = Path(prframe.__file__).parent
RUNS = pl.DataFrame(
    {
        "model": ["a"] * 6 + ["b"] * 6,
        "query": [1, 1, 1, 2, 2, 2] * 2,
        "score": [3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 1.0, 2.0, 3.0, 3.0, 1.0, 2.0],
        "label": [1, 0, 1, 0, 1, 0] * 2,
    }
)
ONE = RUNS.filter(model="a")
CALLS: dict[str, Callable[[], Any]] = {
    "evaluate": lambda: prframe.evaluate(ONE, "AP", by="query"),
    "curve": lambda: prframe.curve(ONE, by="query"),
    "ap_test": lambda: prframe.ap_test(ONE, by="query"),
    "interval": lambda: prframe.interval(ONE, "AP", by="query", rng=1),
    "compare": lambda: prframe.compare(RUNS, "AP", model="model", over="query"),
}


def way(call: Callable[[], Any]) -> tuple[list[str], set[str]]:
    """Return the functions of the deepest frames, and the modules that are entered."""
    deepest: list[str] = []
    modules: set[str] = set()

    def note(frame: FrameType | None, event: str, _: object) -> None:
        nonlocal deepest
        if event != "call":
            return
        stack: list[str] = []
        while frame is not None:
            file = Path(frame.f_code.co_filename)
            # Comprehensions are frames of their own in Python 3.11 only.
            if file.is_relative_to(ROOT) and not frame.f_code.co_name.startswith("<"):
                stack.append(f"{file.relative_to(ROOT)}: {frame.f_code.co_name}")
                modules.add(str(file.relative_to(ROOT)))
            frame = frame.f_back
        deepest = max(deepest, stack[::-1], key=len)

    call()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return deepest, modules


def main() -> None:
    """Print the ways of the calls that are named."""
    warnings.simplefilter("ignore")
    for name in sys.argv[1:] or CALLS:
        deepest, modules = way(CALLS[name])
        print(f"{name}: {len(deepest)} frames deep, {len(modules)} modules")
        print(*(f"  {place}" for place in deepest), sep="\n")


if __name__ == "__main__":
    main()
