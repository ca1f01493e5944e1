"""The parts that every verb needs around its own work: arguments, the border, keys, warnings."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import polars as pl

from prframe import checks, hints
from prframe._engine import arguments as arguments_module
from prframe._engine.arguments import Arguments
from prframe._engine.frame_kinds import kind_of, kinds
from prframe._engine.frames import Source, named, through
from prframe._engine.rows import in_groups, key_names
from prframe.errors import (
    ArgumentError,
    CoverageWarning,
    UndefinedMetricWarning,
    UnknownMetricError,
    warn,
)
from prframe.typing import Columns, Schema
from prframe.verbs._guards import (
    PooledRankings,
    warn_of,
    warn_of_nameless,
    warn_of_shared_items,
    warn_of_unlisted,
    warn_of_unretrieved,
)
from prframe.verbs._plan import Plan, named_by_caller, steps_of

# The working column of how many standard errors ties at a jump may move an estimate. From one on
# intervals do not cover.
MOVED = "__moved"

P = ParamSpec("P")
T = TypeVar("T")

_SHARED = [
    field for field in fields(Arguments) if field.kw_only and field.metadata.get("shared", True)
]


def verb(function: Callable[P, T]) -> Callable[P, T]:
    """Write the shared arguments into a verb's signature and docstring, and check its calls.

    In the docstring ``{shared}`` stands for them, and ``{frames}`` for the kinds of frames. A
    frame of no known kind, and arguments that the verb does not have, are refused first of all.
    """
    signature = _with_shared(inspect.signature(function))
    known = list(signature.parameters)

    @wraps(function)
    def called(*args: P.args, **options: P.kwargs) -> T:
        frame = args[0] if args else options.get("frame")
        if args or frame is not None:
            kind_of(frame)
        hints.refuse_unknown(function.__name__, options, known)
        try:
            return function(*args, **options)
        except UnknownMetricError as error:
            if error.metric in named(frame)[1]:
                takes_values = "values" in known
                raise error.as_column(function.__name__, takes_values=takes_values) from None
            raise

    called.__signature__ = signature  # type: ignore[attr-defined]
    parameters = (arguments_module.__doc__ or "").partition("----------\n")[2].strip()
    text = (function.__doc__ or "").replace("{frames}", kinds())
    called.__doc__ = text.replace("{shared}", parameters.replace("\n", "\n    "))
    return called


def _with_shared(signature: inspect.Signature) -> inspect.Signature:
    """Return a verb's signature with the shared arguments before its own keywords."""
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
    return signature.replace(parameters=[*positional, *shared, *keywords])


def run(
    frame: object,
    plan: Plan,
    schema: "Schema | Callable[[Schema], Schema]",
    *,
    keys: Sequence[str] | None = None,
    guarded: bool = True,
) -> Any:
    """Carry out a plan whose columns are `schema`, after `keys`: the `by` columns unless given.

    `schema` may be a function of the caller's schema; `guarded` warns of rankings that are pooled.
    """
    args, accepts = plan.args, plan.accepts()
    accepts.check(args)
    plan.check()
    keys = args.keys if keys is None else keys
    # The columns that results summarise over are not among the columns of the result.
    roles = dict.fromkeys([key for key in args.keys if key not in keys], "over")
    frame, names = named(frame)
    guard = PooledRankings.of(frame, names, args)
    steps = steps_of(plan, keys) if kind_of(frame).is_elsewhere else None

    def result_schema(source: Source) -> Schema:
        args.check_types(source.schema, roles)
        columns = schema(source.schema) if callable(schema) else schema
        clash = [key for key in keys if key in columns]
        if clash:
            raise ArgumentError(
                f"`by` names {checks.listed(clash)}, which is also a column of the result; "
                "rename it."
            )
        return {key: source.schema[key] for key in keys} | dict(columns)

    def renamed(source: Source) -> pl.DataFrame:
        results = plan.results(source)
        if guarded:
            guard.warn(args.keys[: len(keys)] if keys else (), takes_over=accepts.has_mean)
            warn_of_nameless(source, roles)
        if accepts.at_random:
            warn_of_unlisted(source, frame, names, args)
        warn_of_unretrieved(source, names, args)
        warn_of_shared_items(frame, names, args, accepts.independent)
        warn_of(source, args, uses_grades=accepts.uses_grades, counts_hits=accepts.counts_hits)
        return named_by_caller(args, keys, results)

    models: dict[str, str] = {}
    if args.model is not None:
        models = {"model_a": args.model, "model_b": args.model}
    return through(frame, args.columns | roles, result_schema, renamed, copied=models, steps=steps)


def score_columns(score: Columns) -> list[str]:
    """Return the columns of scores: one, or two or more different ones, a model each."""
    if isinstance(score, str):
        return [score]
    columns = checks.column_names("score", score, at_least=0)
    if len(columns) < 2:  # noqa: PLR2004
        raise ArgumentError(
            "`score` must name one column, or two or more different ones, a model each; got "
            f"{checks.brief(columns)}."
        )
    return columns


def grouped_over(args: Arguments, over: Columns) -> Arguments:
    """Return the arguments by which rows are grouped by the columns `over` as well."""
    columns = checks.column_names("over", over)
    shared = [column for column in columns if column in args.keys]
    if shared:
        raise ArgumentError(
            f"`over` and `by` both name {checks.listed(shared)}; a column is either kept apart or "
            "summarised over."
        )
    return replace(args, by=[*args.keys, *columns])


def positives_of(args: Arguments) -> str:
    """Name the positives in words."""
    graded = isinstance(args.positive, (bool, int, float))
    return "positives" if graded else f"label {checks.brief(args.positive)}"


def warn_undefined(
    columns: Sequence[str],
    rows: pl.DataFrame,
    args: Arguments,
    lacking: pl.Expr,
    lack: Sequence[str],
    *,
    each_row: bool = False,
) -> None:
    """Warn once of the groups with a row that is `lacking` a value, for lack of some things."""
    named = positives_of(args)
    # A label that occurs in no group is likely to be misspelt.
    is_named = named != "positives" and named in lack
    remedy = "; check lists the labels" if is_named else ""
    why = f"which have no {' or no '.join(lack)}"
    warn_null(columns, rows, args, lacking, why, remedy_in_all=remedy, each_row=each_row)


def why_bandless(least: int, positives: str, *, clusters: bool) -> str:
    """Return what groups without a band have too few of."""
    why = f"which have fewer than {least} {positives} or no negatives"
    return f"{why}, or fewer than {least} clusters that hold either" if clusters else why


def warn_null(
    columns: Sequence[str],
    rows: pl.DataFrame,
    args: Arguments,
    lacking: pl.Expr,
    why: str,
    *,
    remedy: str = "",
    remedy_in_all: str = "",
    each_row: bool = False,
) -> None:
    """Warn once of the groups with a row that is `lacking` a value, and say why."""
    if not rows.select(lacking.any()).item():
        return
    keys = key_names(args)
    groups = rows.select(*keys, lacking=lacking)
    if not each_row:
        groups = groups.group_by(keys or pl.lit(0), maintain_order=True).agg(pl.any("lacking"))
    bad = groups.filter("lacking")
    remedy += remedy_in_all if bad.height == groups.height else ""
    warn(
        f"{', '.join(columns)}: undefined, hence null, for {bad.height} of {groups.height} "
        f"groups, {why}{in_groups(bad.select(keys).rows())}{remedy}",
        UndefinedMetricWarning,
    )


def warn_of_coverage(rows: pl.DataFrame, keys: Sequence[str], names: str, text: str) -> None:
    """Warn once of some rows, with ``{names}``, those in a column, and ``{where}`` in a text."""
    if rows.height:
        in_words = ", ".join(rows[names].unique(maintain_order=True))
        where = in_groups(rows.select(keys).unique(maintain_order=True).rows()) if keys else ""
        warn(
            f"{text.format(names=in_words, where=where)}, ignore CoverageWarning.", CoverageWarning
        )


# How tied scores at a jump of phi move W, for `warn_of_coverage`.
TIES_AT_JUMPS = (
    "{names}: a block of equal scores lies at the jump of phi{where}, and all of it counts as "
    "above, or all as below; the estimate and its interval are off: "
)
