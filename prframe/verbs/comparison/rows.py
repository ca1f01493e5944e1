"""The models, pairs and options of comparisons, and their rows."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe import checks, hints
from prframe._engine.arguments import Arguments
from prframe.errors import ArgumentError, ManyPairsWarning, PrframeError, warn
from prframe.metrics import Metric
from prframe.stats import adjust_p_values
from prframe.stats._p_values import LEAST, check_alternative
from prframe.stats.intervals import Confidence
from prframe.stats.paired_values import LEAST_ALPHA, QUERY_TESTS, QueryTestName
from prframe.tie_policies import BLOCKS
from prframe.typing import Alternative, Columns, Schema
from prframe.verbs._groups import resamples
from prframe.verbs._predictions import COUNTS
from prframe.verbs._verb import Accepts, score_columns

JointCorrection: TypeAlias = Literal["bonferroni", "holm", "bh", "by", "max-t"]
Within: TypeAlias = Literal["by", "all"]
Test: TypeAlias = Literal[QueryTestName, "delong"]
IntervalKind: TypeAlias = Literal["auto", "t", "hall", "percentile"]
Incomplete: TypeAlias = Literal["raise", "pairwise", "common", "zero", "last"]

# This correction uses the joint distribution of all pairs.
JOINT = "max-t"
_P_VALUES = {"p_value", "p_adjusted", "p_equivalence"}
# So many pairs take seconds, and half a gigabyte.
_MANY = 20_000


@dataclass(frozen=True)
class Comparison:
    """The options that comparisons over queries and on the same items share."""

    wanted: dict[str, Metric]
    test: str
    alternative: Alternative
    correction: JointCorrection | None
    within: Within
    interval: str
    confidence_level: float
    n_resamples: int
    seed: int
    baseline: object
    equivalence: float | None
    power: float | None
    predicted: bool = False

    def rng(self) -> np.random.Generator:
        """Return the generator that every group, metric and test begins with."""
        return np.random.default_rng(self.seed)

    @property
    def takes_halls_interval(self) -> bool:
        """Whether intervals of mean differences are those of Hall's test."""
        return self.interval == "hall" or (self.interval, self.test) == ("auto", "hall")

    def confidence(self, metric_range: tuple[float, float]) -> Confidence:
        """Return level, sides and limits of an interval for a difference of a metric."""
        least, most = metric_range
        limits = (least - most, most - least)
        return Confidence(self.confidence_level, self.alternative, limits)

    def columns(self) -> dict[str, pl.DataType]:
        """Return the columns of the result but for the models."""
        floats = ["difference", "conf_low", "conf_high"]
        floats += [] if self.correction is None else ["p_adjusted"]
        floats += ["p_value", "effect_size", "mean_a", "mean_b", "statistic"]
        columns: dict[str, pl.DataType] = {"metric": pl.String()}
        columns |= dict.fromkeys(floats, pl.Float64())
        columns |= dict.fromkeys(("wins", "ties", "losses", "n"), pl.Int64())
        columns |= dict.fromkeys(("method", "test", "correction"), pl.String())
        columns |= {"n_family": pl.Int64(), "confidence_level": pl.Float64()}
        if self.alternative != "two-sided":
            columns["alternative"] = pl.String()
        errors = ["p_std_error", *(["p_adjusted_std_error"] if self.correction == JOINT else [])]
        columns |= dict.fromkeys(errors, pl.Float64())
        if self.predicted:
            columns |= {name: dtype for name, dtype in COUNTS.items() if name != "n"}
        if self.equivalence is not None:
            columns["p_equivalence"] = pl.Float64()
        if self.power is not None:
            columns |= {"detectable_difference": pl.Float64(), "n_needed": pl.Int64()}
        return columns

    def schema(self, args: Arguments) -> Callable[[Schema], Schema]:
        """Return the function from the caller's columns to all columns of the result."""
        columns = self.columns()
        metric = {"metric": columns.pop("metric")}
        models = with_models(args, columns)
        return lambda source: metric | dict(models(source))


@dataclass(frozen=True)
class Mode:
    """The options of comparisons over queries, or on the same items."""

    wording: str
    tests: tuple[str, ...]
    intervals: tuple[str, ...]
    incomplete: tuple[str, ...]
    remedy: str


OVER_QUERIES = Mode(
    wording="over groups of `over`",
    tests=tuple(QUERY_TESTS),
    intervals=("auto", "t", "hall"),
    incomplete=("raise", "pairwise", "common", "zero"),
    remedy="to compare on the same items pass over=None",
)
ON_ITEMS = Mode(
    wording="on the same items (over=None)",
    tests=("randomization", "bootstrap", "delong"),
    intervals=("auto", "percentile"),
    incomplete=("raise", "last", "common"),
    remedy="to compare over queries name them with over=",
)


def check_options(asked: Comparison, args: Arguments, incomplete: object, mode: Mode) -> None:
    """Refuse options that are not known, or have no meaning in this mode."""
    check_alternative(asked.alternative)
    checks.one_of("within", asked.within, get_args(Within))
    if asked.correction is not None:
        checks.one_of("correction", asked.correction, get_args(JointCorrection))
    known = {
        "test": (asked.test, mode.tests),
        "interval": (asked.interval, mode.intervals),
        "incomplete": (incomplete, mode.incomplete),
    }
    for name, (value, options) in known.items():
        if not checks.is_one_of(value, options):
            elsewhere = name == "test" and checks.is_one_of(value, get_args(Test))
            raise ArgumentError(
                f"`{name}` {mode.wording} must be one of {checks.listed(options)}; "
                f"got {checks.brief(value)}{f'; {mode.remedy}' if elsewhere else ''}."
                f"{hints.did_you_mean(value, options)}"
            )
    if args.cluster is not None and mode is OVER_QUERIES:
        _refuse_first(
            {
                f"test={asked.test!r}": not QUERY_TESTS[asked.test].clusters,
                "`power`": asked.power is not None,
            },
            "{} treats queries as independent and does not support `cluster`; leave one of them "
            "out.",
        )
    # As a float 1 - 0.95 is slightly above 0.05.
    alpha = round(1 - asked.confidence_level, 12)
    if asked.power is not None and not asked.power > alpha >= LEAST_ALPHA:
        raise ArgumentError(
            f"`power` must be above the level of the test, 1 - confidence_level = {alpha:.3g}, "
            f"and that at least {LEAST_ALPHA:g}; got power={asked.power:g}."
        )
    if asked.correction == JOINT:
        _check_joint(asked, args, mode)
    if asked.test == "bootstrap" or asked.correction == JOINT or mode is ON_ITEMS:
        resamples(asked.n_resamples, asked.confidence_level)


def _refuse_first(given: Mapping[str, bool], message: str) -> None:
    """Refuse the first option that is given."""
    if names := [name for name, is_given in given.items() if is_given]:
        raise ArgumentError(message.format(names[0]))


def check_resampled(asked: Comparison, args: Arguments) -> None:
    """Refuse options that would treat folds as independent."""
    must = "`resampling` corrects Student's t for folds, which {} does not support: "
    _refuse_first({f"test={asked.test!r}": asked.test != "t"}, f"{must}say test='t'.")
    others = {
        f"interval={asked.interval!r}": asked.interval not in {"auto", "t"},
        "`power`": asked.power is not None,
        "`cluster`": args.cluster is not None,
    }
    _refuse_first(others, f"{must}leave that out.")


def _check_joint(asked: Comparison, args: Arguments, mode: Mode) -> None:
    """Refuse the joint correction where the joint distribution is not known."""
    if mode is ON_ITEMS or asked.test != "randomization":
        raise ArgumentError(
            f"correction={asked.correction!r} is the joint distribution of "
            "test='randomization' over queries; take 'holm' with other tests."
        )
    if asked.within == "all" and args.keys:
        raise ArgumentError(
            "correction='max-t' knows the joint distribution within a group of `by`: say "
            "within='by'; 'holm' is for all rows."
        )


def check_of_items(asked: Comparison, undefined: object, resampling: object) -> None:
    """Refuse options that have a meaning over queries only."""
    message = "{} is for comparisons over queries; leave it out."
    _refuse_first(
        {"`equivalence`": asked.equivalence is not None},
        f"{message} Two models are equivalent within a margin, at the level .05, if the interval "
        "of their difference with confidence_level=0.9 lies within it.",
    )
    others = {"power": asked.power, "resampling": resampling, "undefined": undefined}
    _refuse_first({f"`{name}`": value is not None for name, value in others.items()}, message)


# A block holds the columns of all pairs for one metric of one group; absent columns are null.
Column: TypeAlias = Sequence[Any] | NDArray[Any]
Block: TypeAlias = Mapping[str, Column]


def comparison_rows(
    asked: Comparison,
    models: pl.Series,
    pairs: Sequence[tuple[int, int]],
    groups: Sequence[tuple[pl.DataFrame, Mapping[str, Block]]],
) -> pl.DataFrame:
    """Return a row per group, metric and pair, with p-values adjusted."""
    sides = {f"model_{'ab'[side]}": models[[pair[side] for pair in pairs]] for side in (0, 1)}
    dtypes = asked.columns()
    floats = [name for name, dtype in dtypes.items() if dtype == pl.Float64()]
    del dtypes["metric"]
    parts = []
    for number, (head, blocks) in enumerate(groups):
        for metric, block in blocks.items():
            columns = {
                name: pl.Series(block.get(name, [None] * len(pairs)), dtype=dtype, strict=False)
                for name, dtype in dtypes.items()
            }
            table = pl.DataFrame(sides | columns).with_columns(
                metric=pl.lit(metric), group=pl.lit(number)
            )
            parts.append(head.join(table, how="cross") if head.width else table)
    rows = pl.concat(parts).with_columns(pl.col(floats).fill_nan(None))
    rows = rows.with_columns(pl.col([name for name in floats if name in _P_VALUES]).clip(LEAST))
    facts = {
        "test": pl.lit(asked.test),
        "correction": pl.lit(asked.correction, dtype=pl.String),
        "n_family": pl.lit(None, dtype=pl.Int64),
        "confidence_level": pl.lit(asked.confidence_level),
    }
    if "alternative" in dtypes:
        facts["alternative"] = pl.lit(asked.alternative)
    if (method := asked.correction) is not None:
        p_value = pl.col("p_value")
        family = "group" if asked.within == "by" else pl.lit(0)
        facts["n_family"] = p_value.count().over(family)
        # A joint distribution has adjusted them already.
        if method != JOINT:
            adjusted = p_value.map_batches(
                lambda p: pl.Series(adjust_p_values(p.to_numpy(), method)),
                return_dtype=pl.Float64,
            )
            facts["p_adjusted"] = adjusted.over(family).fill_nan(None)
    return rows.with_columns(**facts).drop("group")


def no_rows(asked: Comparison, keys: Sequence[str]) -> pl.DataFrame:
    """Return the result of no data."""
    return pl.DataFrame(schema=[*keys, "model_a", "model_b", *asked.columns()])


def model_arguments(
    score: Columns,
    label: str,
    shared: Any,  # noqa: ANN401
    *,
    model: str | None = None,
    cluster: str | None = None,
    judged: str | None = None,
) -> Arguments:
    """Check the shared arguments of a verb that compares models, and those that name models."""
    scores = [score] if isinstance(score, str) else _scores(score, model)
    args = Arguments(scores[0], label, judged=judged, **shared)
    column = None if len(scores) > 1 else "model" if model is None else model
    if column in args.keys:
        raise ArgumentError(
            f"`model` and `by` both name {column!r}; models are compared within a group."
        )
    return replace(args, cluster=cluster, model=column, further_scores=tuple(scores[1:]))


def require_items(name: str, args: Arguments) -> None:
    """Refuse rows of models that cannot be matched."""
    if not args.further_scores and args.item is None:
        raise ArgumentError(
            f"{name} matches the rows of models by their items; name their column with item=, or "
            "give the score columns of all models, as in score=['new', 'old']. To compare over "
            "queries name their column with over=."
        )


def on_same_items(name: str) -> Accepts:
    """Return the arguments under which each model ranks the same items."""
    return Accepts(
        name,
        whole_items="compares",
        ties=BLOCKS,
        clusters_of_items=True,
        undivided="a comparison on the same items (no over=) matches the models of all groups",
    )


def _scores(score: Columns, model: str | None) -> list[str]:
    """Return the columns of scores, two or more, which alone tell the models apart."""
    scores = score_columns(score)
    if model is not None:
        raise ArgumentError(
            "`score` names a column for each model, and `model` a column that tells them; "
            "leave one of them out."
        )
    return scores


def with_models(args: Arguments, columns: Schema) -> Callable[[Schema], Schema]:
    """Put the columns ``model_a`` and ``model_b`` before those of a result."""

    def schema(source: Schema) -> Schema:
        dtype = pl.String() if args.model is None else source[args.model]
        return {"model_a": dtype, "model_b": dtype} | dict(columns)

    return schema


def model_pairs(models: Sequence[Any], baseline: object) -> list[tuple[int, int]]:
    """Return the pairs: every pair of models, or each other model with every baseline."""
    if not models:
        return []
    if len(models) == 1:
        raise PrframeError(f"a comparison takes two models or more; got {models[0]!r} alone.")
    if baseline is None:
        pairs = list(combinations(range(len(models)), 2))
        if len(pairs) > _MANY:
            warn(
                f"all {len(pairs):,} pairs of {len(models):,} models are compared, which takes "
                "time and memory; name in baseline= the ones to compare with, or ignore "
                "ManyPairsWarning.",
                ManyPairsWarning,
            )
        return pairs
    baseline = checks.plain(baseline) if np.ndim(cast("Any", baseline)) == 0 else baseline
    several = isinstance(baseline, Iterable) and not isinstance(baseline, (str, bytes))
    listed = list(cast("Iterable[object]", baseline)) if several else [baseline]
    plain = [checks.plain(name) for name in listed]
    known = set(models)
    for name in plain:
        # pandas.NA has no truth value that a list could look for.
        if not isinstance(name, Hashable) or name not in known:
            hint = hints.did_you_mean(name, models)
            shown = checks.brief(list(models))
            raise PrframeError(f"`baseline` must name models out of {shown}; got {name!r}.{hint}")
    if not plain or len(set(plain)) == len(models) or len(set(plain)) < len(plain):
        raise PrframeError(
            "`baseline` must name one model or more, each once, and leave one to compare with; "
            f"got {checks.brief(baseline)}."
        )
    others = [i for i, name in enumerate(models) if name not in plain]
    return [(other, models.index(name)) for name in plain for other in others]
