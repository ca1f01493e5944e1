"""The fields of runs and qrels, and the rules by which a single line is read."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf
from typing import Literal

import polars as pl

from prframe import checks, hints

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
_LINE = re.compile(rb"[^\r\n]*(\r\n|\r|\n)?")
_ORDER = "If files are exchanged: in Python runs come first, in a shell qrels do."
_MEND = "Mend the line, or put # and a space in front of it to leave it out."
_COMMENT = (
    "Put a space behind the # if it is a comment, or change the id of the query, which must not "
    "begin with #."
)


class MalformedLineError(Exception):
    """A line cannot be read; the message says why, and `remedy` what to do."""

    def __init__(self, message: str, remedy: str = _MEND) -> None:
        super().__init__(message)
        self.remedy = remedy


def _value(name: str, value: str) -> str | int | float | None:
    """Read a field; a rank, which nothing depends on, may be no number."""
    if name == "rank":
        return int(value) if _WHOLE.fullmatch(value) and int(value) in _INT64 else None
    if name in {"place", "label"}:
        return _whole(name, value)
    return _number(name, value) if name == "score" else value


def _whole(name: str, value: str) -> int:
    """Read a whole number that fits into 64 bits, which may be written as 1.0."""
    if _REAL.fullmatch(value) and not _WHOLE.fullmatch(value):
        number = float(value)
        if number.is_integer() and abs(number) <= checks.LARGEST_COUNT:
            return int(number)
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
    """The fields of a kind of file, which `pattern` finds, and what further fields are."""

    kind: str
    pattern: str
    fields: str
    schema: dict[str, pl.DataType]
    extra: Literal["ignore", "raise"] = "raise"

    @property
    def columns(self) -> list[str]:
        """The columns that are read: all fields but the second."""
        return [name for name in self.schema if name != "unused"]

    @property
    def empty(self) -> pl.DataFrame:
        """The result for a file without rows."""
        return pl.DataFrame(schema={name: self.schema[name] for name in self.columns})

    def variant(self, block: bytes) -> tuple["Layout", int] | None:
        """Return the layout of the first row, if there is one, and where the rows begin."""
        for line in _LINE.finditer(block):
            fields = line[0].removeprefix(BOM).split()
            if fields and not fields[0].startswith(b"#"):
                words = [_read(field) for field in fields]
                if self is QRELS and _is_header(words):
                    return BEIR, line.end()
                is_place = len(words) == len(MS_MARCO.schema) and words[2] in {"0", "1"}
                return (MS_MARCO if self is RUN and is_place else self), 0
            if line.end() == len(block):
                break
        return None

    def parse(self, line: bytes) -> tuple[str | int | float | None, ...] | None:
        """Return the fields of a line; None if it is blank or a comment."""
        fields = line.removeprefix(BOM).split()
        if not fields:
            return None
        if fields[0].startswith(b"#"):
            self._refuse_row(line, fields)
            return None
        return self._parsed(line, fields)

    def _refuse_row(self, line: bytes, fields: list[bytes]) -> None:
        """Refuse a line that begins with # and reads like a row of a query such as #rain."""
        if fields[0] == b"#" or len(fields) != len(self.schema):
            return
        try:
            self._parsed(line, fields)
        except MalformedLineError:
            return
        raise MalformedLineError(
            f"a comment must not have the fields of {self.kind}, {self.fields!r}; got a line that "
            "begins with # and has them",
            _COMMENT,
        )

    def _parsed(self, line: bytes, fields: list[bytes]) -> tuple[str | int | float | None, ...]:
        """Return the values of the fields."""
        try:
            line.decode()
        except UnicodeDecodeError as error:
            raise MalformedLineError(f"the text must be UTF-8; got {error.reason}") from None
        size = len(self.schema)
        if len(fields) < size or (len(fields) > size and self.extra == "raise"):
            like, remedy = _resemblance(fields, self.kind)
            raise MalformedLineError(
                f"a line of {self.kind} must have {size} fields, {self.fields!r}; "
                f"got {len(fields)}{like}",
                remedy,
            )
        if len(fields) > size and "rank" in self.schema:
            # A document's id with a space in it would make its rank a score.
            _whole("rank", _read(fields[3]))
        if self is RESULTS and (name := _read(fields[0])) not in WORDS:
            value = _read(fields[2])
            _number(f"value of {name}", "0" if value in UNDEFINED else value)
        return tuple(
            _value(name, field.decode()) for name, field in zip(self.schema, fields, strict=False)
        )


def _is_header(words: Sequence[str]) -> bool:
    """Return whether these are the names of the columns of BEIR's qrels."""
    known = (hints.QUERIES, hints.DOCUMENT, LABEL)
    named = zip(words, known, strict=False)
    return len(words) == len(known) and all(word.lower() in names for word, names in named)


def _resemblance(fields: list[bytes], kind: str) -> tuple[str, str]:
    """Say which other kind of file has lines of such fields, if there is one, and what to do."""
    words, found, remedy = [_read(field) for field in fields], [], _ORDER
    if _is_header(words):
        found.append("qrels of BEIR (read_qrels)")
    elif len(words) >= len(RUN.schema) and _REAL.fullmatch(words[4]):
        found.append("a run (read_run)")
    elif len(words) == len(QRELS.schema) and _WHOLE.fullmatch(words[3]):
        found.append("qrels (read_qrels)")
    else:
        remedy = _MEND
    if remedy is _MEND and _is_result(words):
        if kind == "qrels" and _WHOLE.fullmatch(words[2]):
            header = "(only below BEIR's header, 'query-id corpus-id score', it may be missing),"
            found.append(f"qrels without the second field, often 0 {header}")
        found.append("the output of trec_eval (read_results)")
        if kind == "a run":
            found[-1] += ","
            found.append("a run of MS MARCO, 'query document rank', from rank 0 or 1")
    return f", as in {' or in '.join(found)}" if found else "", remedy


def _is_result(words: Sequence[str]) -> bool:
    """Return whether a line may be one that trec_eval prints."""
    return len(words) == len(RESULTS.schema) and bool(
        words[0] in WORDS or _REAL.fullmatch(words[2])
    )


def _read(field: bytes) -> str:
    """Return a field as text."""
    return field.decode(errors="replace")


# The names of labels in frames, of which the first one that a frame has counts.
LABEL = ("label", "relevance", "rel", "score")
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
MS_MARCO = Layout(
    "a run of MS MARCO",
    RUN.pattern,
    "query document rank",
    {"query_id": pl.String(), "doc_id": pl.String(), "place": pl.Int64()},
)
QRELS = Layout(
    "qrels",
    "*qrels*",
    "query iteration document label",
    {"query_id": pl.String(), "unused": pl.String(), "doc_id": pl.String(), "label": pl.Int64()},
)
BEIR = Layout(
    "qrels of BEIR",
    QRELS.pattern,
    "query document label",
    {name: dtype for name, dtype in QRELS.schema.items() if name != "unused"},
)
RESULTS = Layout(
    "the output of trec_eval",
    "*.results",
    "measure query value",
    {"metric": pl.String(), "query_id": pl.String(), "value": pl.String()},
)
