"""References of the null of AP that were computed before, so that the study asks the package alone.

A reference has nothing of the package's tails in it, and takes seconds to minutes. It is kept with
the value of AP at which it holds, and is computed again where that value has moved.
"""

import csv
from collections.abc import Sequence
from math import isclose
from pathlib import Path

from benchmarks.null_reference import Reference
from benchmarks.null_steps import Shape

FILE = Path(__file__).parent / "null_references.csv"
_HEADER = ("what", "ap", "log_p", "error", "source")


def name_of(shape: Shape, kind: str) -> str:
    """Return what a ranking is called in the file."""
    return f"{shape.n} {shape.n_pos} {kind}"


class Kept:
    """The references of a file, which grows by what is computed."""

    def __init__(self, file: Path = FILE, *, anew: bool = False) -> None:
        """Read the file; with `anew` nothing of it is used, and what comes stands behind it."""
        self._file = file
        self._known: dict[str, list[tuple[float, Reference]]] = {}
        if file.exists() and not anew:
            with file.open(newline="") as lines:
                for row in csv.DictReader(lines):
                    known = Reference(float(row["log_p"]), float(row["error"]), row["source"])
                    self._known.setdefault(row["what"], []).append((float(row["ap"]), known))

    def find(self, what: str, values: Sequence[float]) -> list[Reference] | None:
        """Return the references of all values of a ranking, the last of each; None if one is missing."""
        found = [
            [known for ap, known in self._known.get(what, []) if isclose(ap, value, rel_tol=1e-12)]
            for value in values
        ]
        return [some[-1] for some in found] if all(found) else None

    def keep(self, what: str, values: Sequence[float], known: Sequence[Reference]) -> None:
        """Write the references of values of a ranking at the end of the file."""
        is_new = not self._file.exists()
        with self._file.open("a", newline="") as lines:
            writer = csv.writer(lines, lineterminator="\n")
            if is_new:
                writer.writerow(_HEADER)
            for value, one in zip(values, known, strict=True):
                row = (what, repr(float(value)), f"{one.log_p:.10g}", f"{one.error:.3g}")
                writer.writerow((*row, one.source))
