"""The parts that every verb needs around its own work: arguments, the border, keys, warnings."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, ParamSpec, TypeVar

import polars as pl

from prframe import checks
from prframe._engine import arguments as arguments_module
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source, kinds, through
from prframe._engine.rows import in_groups, key_names
from prframe.errors import PrframeError, UndefinedMetricWarning, warn
from prframe.typing import Columns, Schema
from prframe.verbs._plan import Plan

P = ParamSpec("P")
T = TypeVar("T")

_SHARED = [
    field for field in fields(Arguments) if field.kw_only and field.metadata.get("shared", True)
]


def verb(function: Callable[P, T]) -> Callable[P, T]:
    """Write the shared arguments into a verb's signature and docstring.

    In the docstring ``{shared}`` stands for them, and ``{frames}`` for the kinds of frames.
    """
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    positional = [p for p in own if p.kind is not p.KEYWORD_ONLY]
    keywords = [p for p in own if p.kind is p.KEYWORD_ONLY]
    shared = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=field.type,
        )
        for field in _SHARED
    ]
    function.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*positional, *shared, *keywords]
    )
    parameters = (arguments_module.__doc__ or "").partition("----------\n")[2].strip()
    text = (function.__doc__ or "").replace("{frames}", kinds())
    function.__doc__ = text.replace("{shared}", parameters.replace("\n", "\n    "))
    return function


def arguments(
    name: str, score: str, label: str, shared: Any, *, judged: str | None = None
) -> Arguments:
    """Check the shared arguments of a call."""
    known = [field.name for field in _SHARED]
    for given in shared:
        if given not in known:
            hint = checks.did_you_mean(given, known)
            raise TypeError(f"{name}() got an unexpected keyword argument {given!r}.{hint}")
    return Arguments(score, label, judged=judged, **shared)


def run(
    frame: object,
    plan: Plan,
    schema: "Schema | Callable[[Schema], Schema]",
    *,
    keys: Sequence[str] | None = None,
) -> Any:
    """Carry out a plan whose columns are `schema`, after `keys`: the `by` columns unless given.

    `schema` may be a function of the dtypes of the caller's columns.
    """
    args = plan.args
    plan.accepts().check(args)
    plan.check()
    keys = args.keys if keys is None else keys

    def result_schema(source: Source) -> Schema:
        args.check_types(source.schema)
        columns = schema(source.schema) if callable(schema) else schema
        clash = [key for key in keys if key in columns]
        if clash:
            raise PrframeError(
                f"`by` names {checks.listed(clash)}, which is also a column of the result; "
                "rename it."
            )
        return {key: source.schema[key] for key in keys} | dict(columns)

    def renamed(source: Source) -> pl.DataFrame:
        return plan.results(source).rename(dict(zip(key_names(args), keys, strict=False)))

    names: dict[str, str] = {}
    if args.model is not None:
        names = {"model_a": args.model, "model_b": args.model}
    # The columns that results summarise over are not among the columns of the result.
    columns = args.columns | {key: "over" for key in args.keys if key not in keys}
    return through(frame, columns, result_schema, renamed, copied=names)


def grouped_over(args: Arguments, over: Columns) -> Arguments:
    """Return the arguments by which rows are grouped by the columns `over` as well."""
    if not isinstance(over, (str, list, tuple)) or not over:
        raise PrframeError(
            f"`over` must be a column name or a list of them; got {checks.brief(over)}."
        )
    columns = [over] if isinstance(over, str) else list(over)
    if len(set(map(str, columns))) < len(columns):
        raise PrframeError(f"`over` names a column twice: {checks.brief(columns)}.")
    shared = [column for column in columns if column in args.keys]
    if shared:
        raise PrframeError(
            f"`over` and `by` both name {checks.listed(shared)}; a column is either kept apart or "
            "summarised over."
        )
    return replace(args, by=[*args.keys, *columns])


def positives_of(args: Arguments) -> str:
    """Name the positives in words."""
    graded = isinstance(args.positive, (bool, int, float))
    return "positives" if graded else f"label {checks.brief(args.positive)}"


def warn_undefined(
    columns: Sequence[str], groups: pl.DataFrame, args: Arguments, lack: Sequence[str]
) -> None:
    """Warn once of groups in which columns are undefined.

    `groups` has a row per group and a column ``lacking``; `lack` names the things that they may
    lack.
    """
    warn_null(columns, groups, args, f"which have no {' or no '.join(lack)}")


def warn_null(
    columns: Sequence[str], groups: pl.DataFrame, args: Arguments, why: str, remedy: str = ""
) -> None:
    """Warn once of the groups ``lacking`` a value, with the reason and the remedy."""
    bad = groups.filter("lacking")
    if bad.height:
        names = in_groups(bad.select(key_names(args)).rows())
        warn(
            f"{', '.join(columns)}: undefined, hence null, for {bad.height} of {groups.height} "
            f"groups, {why}{names}{remedy}",
            UndefinedMetricWarning,
        )
