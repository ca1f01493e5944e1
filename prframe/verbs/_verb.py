"""What verbs share: the decorator, the plan with its arguments and rows, and the way of a call."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import polars as pl

from prframe import checks, hints
from prframe._engine import arguments as arguments_module
from prframe._engine.arguments import Arguments
from prframe._engine.frame_kinds import kind_of, kinds
from prframe._engine.frames import Source, named, through
from prframe._engine.rows import in_groups, key_names
from prframe._engine.runs import Counting
from prframe.errors import (
    ArgumentError,
    CoverageWarning,
    PrframeError,
    UndefinedMetricWarning,
    UnknownMetricError,
    warn,
)
from prframe.tie_policies import ALL_TIES, Ties
from prframe.typing import Columns, Schema, Shared
from prframe.verbs._guards import (
    PooledRankings,
    warn_of,
    warn_of_nameless,
    warn_of_shared_items,
    warn_of_unlisted,
    warn_of_unretrieved,
)

if TYPE_CHECKING:
    from prframe.spark.groups import Counted, Steps


@dataclass(frozen=True)
class Accepts:
    """The shared arguments that a verb accepts, and what else its call has to say of itself."""

    verb: str
    # What the verb does with whole items if it takes no weight, for example "counts".
    whole_items: str = ""
    ties: Collection[Ties] = ALL_TIES
    # Who takes these policies only, if it is not the verb, and why it takes no others.
    taker: str = ""
    otherwise: str = ""
    # Why the verb takes no mean over rankings, and the remedy.
    one_ranking: str = ""
    # Calls of the verb to which this applies, if not all.
    where: str = ""
    # Whether clusters are of items, so that they and totals exclude each other.
    clusters_of_items: bool = False
    # Whether `over`, if the verb takes it, goes with the other options.
    has_mean: bool = True
    # Whether labels are grades alone, so that no row need be negative, and whether results count
    # hits, and have a value where there are no positives.
    uses_grades: bool = False
    counts_hits: bool = False
    # Whether rankings are compared with random ones, and the keys of rankings that are taken as
    # independent of each other.
    at_random: bool = False
    independent: Sequence[str] = ()
    # Why groups cannot be computed apart from each other, nothing if they can.
    undivided: str = ""
    # What must be kept of rows that are counted; None if each row is needed.
    counting: Counting | None = None

    def check(self, args: Arguments) -> None:
        """Refuse the arguments that the verb does not accept."""
        if self.whole_items and args.weight is not None:
            remedy = "leave it out"
            if self.whole_items in {"draws", "compares"}:
                remedy += ", or resample rows yourself and take quantiles of evaluate with weight="
            raise ArgumentError(
                f"{self.verb}{self.where} does not support `weight`, because it "
                f"{self.whole_items} whole items; {remedy}."
            )
        if self.one_ranking and args.policy.mean:
            raise ArgumentError(
                f"ties={args.ties!r} is a mean over rankings, {self.one_ranking} 'group', or the "
                "range from 'worst' to 'best'."
            )
        takes_ties(self.taker or self.verb, self.ties, args, self.where, self.otherwise)
        if self.clusters_of_items and args.cluster is not None and args.totals:
            raise ArgumentError(
                f"`{args.totals[0]}` counts items that are not listed, and so in no cluster; list "
                "them with a score of -inf."
            )


def takes_ties(
    taker: str, ties: Collection[Ties], args: Arguments, where: str = "", otherwise: str = ""
) -> None:
    """Refuse the tie policies that a verb, or a metric, does not take."""
    if args.ties not in ties:
        raise ArgumentError(
            f"{taker} takes ties={checks.listed(ties)}{where}; got {args.ties!r}{otherwise}."
        )


@dataclass(frozen=True)
class Plan(ABC):
    """The arguments of a call of a verb; a subclass adds the verb's own options."""

    args: Arguments

    @abstractmethod
    def accepts(self) -> Accepts:
        """Return the arguments that the verb accepts with these options."""

    def check(self) -> None:  # noqa: B027 - verbs without options of their own need no check
        """Refuse options of the verb that do not go together."""

    @abstractmethod
    def results(self, source: Source) -> pl.DataFrame:
        """Return the rows of the result, with the working names of the keys."""


@dataclass(frozen=True)
class TwoStepPlan(Plan):
    """A plan whose rows follow from those that are computed of each group alone."""

    @abstractmethod
    def of_groups(self, source: Source) -> pl.DataFrame:
        """Return the rows that are computed of each group alone."""

    @abstractmethod
    def of_all(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of the result, given those of all groups."""

    def looks_at_all(self) -> bool:
        """Return whether rows of the result depend on several groups."""
        return True

    def results(self, source: Source) -> pl.DataFrame:
        """Return the rows of the result, with the working names of the keys."""
        return self.of_all(self.of_groups(source))


def named_by_caller(args: Arguments, keys: Sequence[str], results: pl.DataFrame) -> pl.DataFrame:
    """Return results with the caller's names of the keys."""
    if not keys and not args.keys:
        return results
    working = key_names(args)
    # Columns that are no part of the result may have the name of a key.
    rest = results.drop([key for key in keys if key not in working], strict=False)
    return rest.rename(dict(zip(working, keys, strict=False)))


# How a plan is carried out on rows that lie in many places, in no order.


def steps_of(plan: Plan, keys: Sequence[str]) -> "Steps":
    """Return the steps of a plan whose result has the columns `keys` first, or refuse it."""
    from prframe.spark.groups import Steps

    args = plan.args
    _refuse(plan)
    counting = None if _needs_rows(plan) else plan.accepts().counting
    counted = None if counting is None else _counted(plan, counting)
    finish = partial(named_by_caller, args, keys)
    whole = partial(_then, finish, partial(_of_rows, plan.results))
    if args.at_hand:
        # A row is a value of a whole ranking, so that one worker can hold all of them.
        return Steps((), partial(_of_rows, Source.whole), whole)
    if isinstance(plan, TwoStepPlan) and plan.looks_at_all():
        of_all = partial(_then, finish, plan.of_all)
        return Steps(args.keys, partial(_of_rows, plan.of_groups), of_all, counted)
    return Steps(args.keys, whole, counted=counted)


def _refuse(plan: Plan) -> None:
    """Refuse what needs the order of the rows, or all of them at once."""
    args = plan.args
    if args.policy.ordered and not args.policy.then:
        raise PrframeError(
            f"ties={args.ties!r} keeps the input order, and the rows of a Spark frame have none; "
            "take 'group', or order tied items by their names with ties='trec' and item=."
        )
    if reason := plan.accepts().undivided:
        raise PrframeError(
            f"{reason}, which is not done on Spark; pass these rows to polars, for example with "
            "polars.from_arrow(frame.toArrow())."
        )
    if args.keys or args.at_hand:
        return
    if reason := _needs_rows(plan):
        raise PrframeError(
            f"all rows are one ranking, and {reason}, so that one worker would have to hold all "
            "of them; name groups with by=, or pass the rows to polars, for example with "
            "polars.scan_parquet of files that Spark has written."
        )


def _needs_rows(plan: Plan) -> str:
    """Return why each row of a ranking is needed, nothing if rows may be counted."""
    args, accepts = plan.args, plan.accepts()
    if accepts.counting is None:
        return f"{accepts.verb} needs each of them"
    if args.further_scores:
        return "each column of scores has an order of its own"
    if args.weight is not None:
        return "weights are added up in order of rank"
    if args.item is not None:
        return "items are compared with all others"
    return ""


def _counted(plan: Plan, counting: Counting) -> "Counted":
    """Return how rows are counted for a plan."""
    from prframe.spark.groups import Counted

    args, keys = plan.args, key_names(plan.args)
    return Counted(
        keys=keys,
        score=args.score,
        same=dict(zip(keys, args.keys, strict=True)),
        runs=partial(_runs, counting, args),
    )


def _runs(counting: Counting, args: Arguments, rows: pl.DataFrame) -> pl.DataFrame:
    return counting.runs(_source(rows), args)


def _of_rows(
    compute: Callable[[Source], pl.DataFrame], rows: pl.DataFrame, runs: pl.DataFrame | None = None
) -> pl.DataFrame:
    return compute(_source(rows, runs))


def _source(rows: pl.DataFrame, runs: pl.DataFrame | None = None) -> Source:
    """Return a source of rows as Spark brings them together: from many places, in no order."""
    return Source(rows, scattered=True, runs=runs)


def _then(
    last: Callable[[pl.DataFrame], pl.DataFrame],
    first: Callable[..., pl.DataFrame],
    *rows: pl.DataFrame,
) -> pl.DataFrame:
    return last(first(*rows))


P = ParamSpec("P")
T = TypeVar("T")

_SHARED = [field for field in fields(Arguments) if field.name in Shared.__annotations__]


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
    is_one = not keys and groups.height == 1
    of_all = "the rows" if is_one else f"{bad.height} of {groups.height} groups"
    remedy += remedy_in_all if bad.height == groups.height else ""
    warn(
        f"{', '.join(columns)}: undefined, so null or NaN, for {of_all}, "
        f"{why}{in_groups(bad.select(keys).rows())}{remedy}",
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
