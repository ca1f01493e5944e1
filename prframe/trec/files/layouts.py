"""The fields of runs and qrels, and the rules by which a single line is read."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import isinf
from typing import Literal

import polars as pl

from prframe import checks

BOM = b"\xef\xbb\xbf"
# The values of these measures of trec_eval are words.
WORDS = ("runid", "relstring")
# What C prints for a value that is no number.
UNDEFINED = ("nan", "-nan")

# The number of digits is bounded, because Python refuses to read numbers of thousands of digits.
_WHOLE = re.compile(r"[+-]?[0-9]{1,99}", re.ASCII)
_REAL = re.compile(
    r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf(inity)?)", re.ASCII | re.IGNORECASE
)
_INT64 = range(-(2**63), 2**63)


class MalformedLineError(Exception):
    """A line cannot be read; the message says why."""


def _text(name: str, value: str) -> str:  # noqa: ARG001 - has the shape of its sisters
    """Return a field as it is."""
    return value


def _whole(name: str, value: str) -> int:
    """Read a whole number that fits into 64 bits."""
    if _WHOLE.fullmatch(value):
        if int(value) in _INT64:
            return int(value)
        raise MalformedLineError(f"the {name} must fit into 64 bits; got {checks.brief(value)}")
    raise MalformedLineError(f"the {name} must be a whole number; got {checks.brief(value)}")


def _number(name: str, value: str) -> float:
    """Read a number, which may be infinite but not NaN."""
    if _REAL.fullmatch(value):
        if isinf(float(value)) and any(letter.isdigit() for letter in value):
            raise MalformedLineError(
                f"the {name} must fit into a 64-bit float; got {checks.brief(value)}"
            )
        return float(value)
    raise MalformedLineError(f"the {name} must be a number; got {checks.brief(value)}")


@dataclass(frozen=True)
class Layout:
    """The fields of a kind of file, and whether further fields are ignored or an error.

    `pattern` matches the names that such files often have.
    """

    kind: str
    pattern: str
    fields: str
    schema: dict[str, pl.DataType]
    extra: Literal["ignore", "raise"]

    @property
    def columns(self) -> list[str]:
        """The columns of the result: all fields but the second."""
        return [name for name in self.schema if name != "unused"]

    @property
    def empty(self) -> pl.DataFrame:
        """The result for a file without rows."""
        return pl.DataFrame(schema={name: self.schema[name] for name in self.columns})

    def parse(self, line: bytes) -> tuple[str | int | float, ...] | None:
        """Return the fields of a line; None if it is blank or a comment."""
        fields = line.removeprefix(BOM).split()
        if not fields or fields[0].startswith(b"#"):
            return None
        try:
            line.decode()
        except UnicodeDecodeError as error:
            raise MalformedLineError(f"the text must be UTF-8; got {error.reason}") from None
        size = len(self.schema)
        if len(fields) < size or (len(fields) > size and self.extra == "raise"):
            raise MalformedLineError(
                f"a line of {self.kind} must have {size} fields, {self.fields!r}; "
                f"got {len(fields)}{_resemblance(fields, self.kind)}"
            )
        return tuple(
            _PARSERS[dtype](name, field.decode())
            for (name, dtype), field in zip(self.schema.items(), fields, strict=False)
        )


@dataclass(frozen=True)
class ResultsLayout(Layout):
    """The fields of the output of trec_eval, whose values are numbers but for a few measures."""

    def parse(self, line: bytes) -> tuple[str | int | float, ...] | None:
        """Return the fields of a line; None if it is blank or a comment."""
        row = super().parse(line)
        if row is not None and row[0] not in WORDS and row[2] not in UNDEFINED:
            _number(f"value of {row[0]}", str(row[2]))
        return row


def _resemblance(fields: list[bytes], kind: str) -> str:
    """Say which other kind of file has lines of such fields, if there is one."""
    if len(fields) >= len(RUN.schema) and _REAL.fullmatch(_read(fields[4])):
        order = "first in join (second in a shell)"
        return f", as in a run, which read_run reads and which comes {order}"
    if len(fields) == len(QRELS.schema) and _WHOLE.fullmatch(_read(fields[3])):
        order = "second in join (first in a shell)"
        return f", as in qrels, which read_qrels reads and which come {order}"
    is_result = len(fields) == len(RESULTS.schema) and (
        _read(fields[0]) in WORDS or _REAL.fullmatch(_read(fields[2]))
    )
    if is_result and kind == "qrels" and _WHOLE.fullmatch(_read(fields[2])):
        return (
            ", as where the iteration, the second field, often 0, is missing, or in the output of "
            "trec_eval, which read_results reads"
        )
    return ", as in the output of trec_eval, which read_results reads" if is_result else ""


def _read(field: bytes) -> str:
    """Return a field as text."""
    return field.decode(errors="replace")


_PARSERS: dict[pl.DataType, Callable[[str, str], str | int | float]] = {
    pl.String(): _text,
    pl.Int64(): _whole,
    pl.Float64(): _number,
}
RUN = Layout(
    "a run",
    "*.run",
    "query Q0 document rank score tag",
    {
        "query_id": pl.String(),
        "unused": pl.String(),
        "doc_id": pl.String(),
        "rank": pl.Int64(),
        "score": pl.Float64(),
        "system": pl.String(),
    },
    "ignore",
)
QRELS = Layout(
    "qrels",
    "*qrels*",
    "query iteration document label",
    {
        "query_id": pl.String(),
        "unused": pl.String(),
        "doc_id": pl.String(),
        "label": pl.Int64(),
    },
    "raise",
)
RESULTS = ResultsLayout(
    "the output of trec_eval",
    "*.results",
    "measure query value",
    {"metric": pl.String(), "query_id": pl.String(), "value": pl.String()},
    "raise",
)
