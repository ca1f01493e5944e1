"""Find the columns of a frame by their names: query, document, score, label, system."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from prframe import checks
from prframe._engine.frame_kinds import kind_of
from prframe.errors import ArgumentError, MissingColumnError, PrframeError
from prframe.hints import DOCUMENT, QUERY
from prframe.trec.layouts import LABEL
from prframe.typing import Columns

# Of each list the first name that a frame has counts.
SCORE, RANK = ("score",), "rank"
SYSTEM = ("system", "run", "tag", "run_id")
TEXT = (pl.String, pl.Categorical, pl.Enum)
RESULT = ("query_id", "doc_id", "score", "label", "judged")


@dataclass(frozen=True)
class Roles:
    """The columns of a run or of qrels; `value` is the score or the label, `rank` is unused."""

    query: str
    document: str
    value: str
    systems: tuple[str, ...] = ()
    rank: str | None = None

    @property
    def columns(self) -> dict[str, str]:
        """The role of each needed column; columns of systems are kept like those of `by`."""
        needed = {self.query: "query", self.document: "document", self.value: "value"}
        needed |= {} if self.rank is None else {self.rank: "rank"}
        return needed | dict.fromkeys(self.systems, "by")


def rank_of(frame: object, names: Sequence[str]) -> str | None:
    """Return the column of ranks of a run, if there is one of numbers that is at hand."""
    kind = kind_of(frame)
    if RANK not in names or kind.is_elsewhere:
        return None
    try:
        schema = kind.enter(frame, {RANK: "rank"}, {}, {})[0].collect_schema()
    except Exception:  # noqa: BLE001 - whatever a column that is not asked for holds
        return None
    return RANK if schema[RANK].is_numeric() else None


def refuse_exchanged(run: Sequence[str], qrels: Sequence[str]) -> None:
    """Require columns of a run first and columns of qrels second."""
    labels = {*LABEL[:-1]}
    is_run = "score" in qrels and not labels & {*qrels}
    if is_run and ("rank" in qrels or ("score" not in run and labels & {*run})):
        raise PrframeError(
            "the run comes first, and the qrels second; these look swapped: the second has a "
            "'score', and no label. Exchange them."
        )


def of_qrels(names: Sequence[str]) -> Roles:
    """Find the columns of qrels."""
    return Roles(
        find("qrels", "query", QUERY, names),
        find("qrels", "document", DOCUMENT, names),
        find("qrels", "label", LABEL, names),
    )


def of_run(names: Sequence[str], system: Columns | None, rank: str | None = None) -> Roles:
    """Find the columns of a run; whether a recognised system column is text is checked later."""
    if system is None:
        systems = [name for name in SYSTEM if name in names][:1]
    else:
        systems = list(checks.column_names("system", system, at_least=0))
        checks.columns_exist(dict.fromkeys(systems, "system"), names)
        if clash := [name for name in systems if name in RESULT]:
            raise ArgumentError(
                f"`system` names {checks.listed(clash)}, which is also a column of the result; "
                "rename it."
            )
    return Roles(
        find("run", "query", QUERY, names),
        find("run", "document", DOCUMENT, names),
        find("run", "score", SCORE, names),
        tuple(systems),
        rank if rank not in systems else None,
    )


def find(frame: str, role: str, accepted: Sequence[str], names: Sequence[str]) -> str:
    """Return the first accepted name that the frame has."""
    for name in accepted:
        if name in names:
            return name
    quoted = ", ".join(map(repr, accepted))
    options = f"one of {quoted}" if len(accepted) > 1 else quoted
    raise MissingColumnError(
        f"the {frame} must have a column for the {role}, named {options}; "
        f"its columns are {', '.join(map(repr, names))}. Rename the column that it is."
    )


def id_dtype(
    role: str, of_run: tuple[str, pl.DataType], of_qrels: tuple[str, pl.DataType]
) -> pl.DataType:
    """Return the dtype of ids in the result: String for text, else the integer type of the run."""
    run, qrels = (pl.String() if dtype in TEXT else dtype for _, dtype in (of_run, of_qrels))
    if all(dtype in (pl.String, pl.Null) for dtype in (run, qrels)):
        return pl.String()
    if all(dtype.is_integer() or dtype == pl.Null for dtype in (run, qrels)):
        return run if run.is_integer() else qrels
    raise PrframeError(
        f"the {role} ids of run and qrels must both be strings or both be integers; "
        f"{of_run[0]!r} of the run is {run}, {of_qrels[0]!r} of the qrels is {qrels}. "
        "Cast one of them."
    )


def text_systems(roles: Roles, schema: pl.Schema, *, named: bool) -> list[str]:
    """Return the system columns: those that were named, or the recognised one if it is text."""
    return [name for name in roles.systems if named or schema[name] in TEXT]


def refuse(rows: pl.DataFrame, bad: pl.Expr, must: str, remedy: str) -> None:
    """Raise an error that counts the bad rows, if there are any."""
    count = rows.select(bad.sum()).item()
    if count:
        raise PrframeError(f"{must}: {count} of {rows.height} rows; {remedy}.")


def refuse_large(rows: pl.DataFrame, column: str, what: str) -> None:
    """Require integers that 64-bit floats can tell apart."""
    if rows.schema[column].is_integer():
        largest = checks.LARGEST_COUNT
        outside = ~pl.col(column).is_between(-largest, largest)
        refuse(rows, outside, f"{what} must lie between -2^53 and 2^53", "scale the scores")


def examples(rows: Iterable[object]) -> str:
    """Return rows as a quoted list."""
    return ", ".join(map(repr, rows))
