"""From the caller's columns to the working columns, with every row-level check.

Working columns: ``by0, by1, ...`` (groups), ``key`` (an integer that sorts as the score does),
``positive``, and, if needed, ``score``, ``weight``, ``gain``, ``judged``, ``pooled``, ``item``,
``cluster``, ``n_pos``, ``n_neg``, ``row``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe import checks
from prframe._engine.arguments import WORKING, Arguments
from prframe._engine.frames import Seen, Source
from prframe.errors import ManyGradesWarning, PrframeError, UnretrievedWarning, warn
from prframe.typing import LabelValue

# This is the key of the score -inf, which stands for items that are not retrieved.
UNRETRIEVED = int(np.float64(-np.inf).view(np.int64)) ^ 0x7FFF_FFFF_FFFF_FFFF
_LARGEST_KEY = 2**63 - 2
# Decimals of so many digits are ranked by their units, whole numbers of 64 bits.
_DIGITS = 18


def sortable_keys(score: pl.Series, *, float32: bool) -> pl.Series:
    """Return Int64 keys in the order of the scores; equal scores, also -0.0 and 0.0, share one."""
    if score.dtype.is_integer() and not float32:
        _refuse_large(score)
        # The way through NumPy removes a sorted flag that may not be true.
        return pl.Series(score.cast(pl.Int64).fill_null(UNRETRIEVED).to_numpy())
    if _has_units(score.dtype) and not float32:
        return score.to_physical().cast(pl.Int64).fill_null(UNRETRIEVED)
    is_decimal = score.dtype == pl.Decimal and not float32
    numbers = as_floats(score) if is_decimal else score.cast(pl.Float64)
    # In the array nulls are NaNs.
    values = numbers.to_numpy() + 0.0
    values[np.isnan(values)] = -np.inf
    bits = (rounded(pl.Series(values)) if float32 else values).view(np.int64)
    if bits.min(initial=0) < 0:
        # The bits of floats below 0 sort the wrong way round as integers, so that all but the sign
        # are flipped.
        flip = bits >> 63
        flip &= 0x7FFF_FFFF_FFFF_FFFF
        bits ^= flip
    return pl.Series(bits)


def _has_units(score: pl.DataType) -> bool:
    """Return whether scores are decimals of few digits."""
    return isinstance(score, pl.Decimal) and (score.precision or _DIGITS + 1) <= _DIGITS


def threshold_key(threshold: float, score: pl.DataType, *, float32: bool) -> int:
    """Return the least key of a score that reaches the threshold, in the score's precision."""
    if (score.is_integer() or _has_units(score)) and not float32:
        scale = score.scale if isinstance(score, pl.Decimal) else 0
        units: int = ceil(Fraction(repr(threshold)) * 10**scale)
        return min(max(units, UNRETRIEVED + 1), _LARGEST_KEY + 1)
    number = pl.Series([threshold], dtype=pl.Float64)
    if score == pl.Float16:
        least = float(np.finfo(np.float16).min)
        number = number.clip(least).cast(pl.Float16).cast(pl.Float64)
    return int(sortable_keys(number, float32=float32 or score == pl.Float32).item())


def as_floats(score: pl.Series) -> pl.Series:
    """Return scores as 64-bit floats, which must tell them apart as the scores do."""
    numbers = score.cast(pl.Float64)
    again = numbers.cast(score.dtype, strict=False) if score.dtype.is_integer() else score
    is_decimal = score.dtype == pl.Decimal
    if (again != score).any() or (is_decimal and numbers.n_unique() < score.n_unique()):
        raise PrframeError(
            "scores are taken as 64-bit floats, which must hold them exactly; these cannot hold "
            f"integers beyond 2^53 or decimals of so many digits, such as {score.max()!r}. "
            "Subtract a constant from the scores, or rank them first, for example with "
            "rank('dense')."
        )
    return numbers


def rounded(numbers: pl.Series) -> NDArray[np.float64]:
    """Round to 32-bit floats; a finite score does not become -inf, so that it stays retrieved."""
    values = numbers.to_numpy()
    least = float(np.finfo(np.float32).min)
    with np.errstate(over="ignore"):
        rounded = np.where(values > -np.inf, np.maximum(values, least), values).astype(np.float32)
    return rounded.astype(np.float64) + 0.0


def _refuse_large(score: pl.Series) -> None:
    """Require integers that have a key, and a key above them."""
    low, high = (cast("int | None", end) for end in (score.min(), score.max()))
    if low is None or high is None or (low > UNRETRIEVED and high <= _LARGEST_KEY):
        return
    raise PrframeError(
        f"integer scores must lie between {UNRETRIEVED + 1} and {_LARGEST_KEY}; "
        f"got {low} to {high}; scale them or cast them to a float."
    )


# Callers of `prepare` keep row numbers in this column.
ROW = f"{WORKING}row number"
# So many of the labels are looked at, spread over all rows.
_LABELS = 1 << 10
# Judgments seldom have more grades, and of as many classes as columns there are at least so many.
_GRADES, _CLASSES = 5, 3
_MEND = "mend or drop these rows"


def key_names(args: Arguments) -> list[str]:
    """Return the working names of the grouping columns."""
    return [f"by{i}" for i in range(len(args.keys))]


def prepare(batch: pl.DataFrame, args: Arguments, source: Source, *extra: str) -> pl.DataFrame:
    """Check a batch of the caller's rows and return the working columns, and `extra` ones."""
    if conditions := considered(args, batch.schema):
        batch = batch.filter(*conditions)
    # One query looks for all faults.
    faults = problems(args, batch.schema)
    has = batch.select_seq(fault.bad.any().alias(fault.kind) for fault in faults)
    for fault in faults:
        if has[fault.kind].item():
            fault.refuse(batch, args, source)
    key = sortable_keys(batch[args.score], float32=args.float32).alias("key")
    rows = batch.select_seq(_columns(batch, args, extra)).hstack([key])
    notice(source.seen, rows, batch[args.score], batch[args.label])
    return rows


def _columns(batch: pl.DataFrame, args: Arguments, extra: Sequence[str]) -> list[pl.Expr]:
    """Return the working columns but for the key."""
    columns = [
        pl.col(key).alias(name) for key, name in zip(args.keys, key_names(args), strict=True)
    ]
    columns.append(positive(args, batch.schema[args.label]))
    columns += [
        pl.col(column).alias(name)
        for name in ("n_pos", "n_neg")
        if isinstance(column := getattr(args, name), str)
    ]
    if args.item is not None:
        item = pl.col(args.item)
        # trec_eval compares names as text, byte by byte.
        columns.append((item.cast(pl.String) if args.policy.by_item else item).alias("item"))
    if args.weight is not None:
        columns.append(pl.col(args.weight).cast(pl.Float64).alias("weight"))
    if "gain" in extra:
        columns.append(pl.col(args.label).cast(pl.Float64).clip(0).alias("gain"))
    if "score" in extra:
        number = pl.lit(as_floats(batch[args.score]))
        if args.missing == "last":
            number = number.fill_nan(None).fill_null(float("-inf"))
        columns.append(number.alias("score"))
    if "judged" in extra and args.judged is not None:
        judged = pl.col(args.judged)
        below = (
            pl.col(args.label) < 0
            if batch.schema[args.label].is_numeric()
            else pl.lit(value=False)
        )
        columns += [judged.alias("judged"), (~judged & below).alias("pooled")]
    if args.cluster is not None:
        columns.append(pl.col(args.cluster).alias("cluster"))
    if "row" in extra:
        columns.append(pl.col(ROW).alias("row"))
    return columns


def labels_are_gains(label: pl.Series, args: Arguments) -> bool:
    """Return whether it is known that positives have a gain of 1 and other rows one of 0."""
    wanted = args.positive
    if not label.dtype.is_integer() or not isinstance(wanted, (bool, int, float)):
        return False
    return 0 < wanted <= 1 and cast("int", label.max() or 0) <= 1


def positive(args: Arguments, label: pl.DataType) -> pl.Expr:
    """Return the condition under which rows are positive."""
    column = pl.col(args.label)
    wanted = args.positive
    if label == pl.Boolean and wanted is True:
        mask = column
    elif isinstance(wanted, (bool, int, float)):
        grade = column.cast(pl.Float64) if label == pl.Boolean else column
        mask = grade > 0 if wanted is True else grade >= wanted
    else:
        mask = _equals_any(column, [wanted] if isinstance(wanted, str) else wanted)
    return mask.alias("positive")


def considered(args: Arguments, schema: pl.Schema) -> list[pl.Expr]:
    """Return the conditions for rows to count: not ignored, not dropped, not of weight 0."""
    conditions = []
    if args.ignored:
        conditions.append(~_equals_any(pl.col(args.label), args.ignored))
    if None in args.ignored:
        conditions.append(~is_missing(pl.col(args.label), schema[args.label]))
    if args.missing == "drop":
        conditions.append(~is_missing(pl.col(args.score), schema[args.score]))
    if args.weight is not None:
        conditions.append(pl.col(args.weight).ne_missing(0))
    return conditions


def _equals_any(column: pl.Expr, values: Sequence[LabelValue | None]) -> pl.Expr:
    """Return whether labels are equal to one of the values, None being equal to null."""
    if any(isinstance(value, str) for value in values):
        column = column.cast(pl.String)
    return pl.any_horizontal(
        pl.lit(value=False),
        *(column.is_null() if value is None else column.eq_missing(value) for value in values),
    )


def is_missing(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return whether values are null or NaN."""
    return column.is_null() | column.is_nan() if dtype.is_float() else column.is_null()


@dataclass(frozen=True)
class Problem:
    """A fault that no row may have, and the message about it."""

    kind: str
    bad: pl.Expr
    must: str
    remedy: str

    def refuse(self, batch: pl.DataFrame, args: Arguments, source: Source) -> None:
        """Raise an error if the batch has such rows, with their number in the whole frame."""
        if not batch.select(self.bad.any()).item():
            return
        rows = source.lazy().filter(True, *considered(args, source.schema))  # noqa: FBT003
        # Rows that name no model are not looked for by their model.
        unnamed = self.kind == "missing_model"
        keys = [key for key in args.keys if not (unnamed and key == args.model)]
        total, groups = pl.collect_all(
            [
                rows.select(pl.len()),
                rows.filter(self.bad).group_by(keys or pl.lit(0), maintain_order=True).len(),
            ]
        )
        names = groups.select(keys).rows()
        raise PrframeError(
            f"{self.must}: {groups['len'].sum()} of {total.item()} rows"
            f"{in_groups(names)}; {self.remedy}."
        )


def in_groups(names: Sequence[tuple[object, ...]]) -> str:
    """Name the first groups, if there are groups."""
    if not names or not names[0]:
        return ""
    shown = [name[0] if len(name) == 1 else name for name in names[: checks.SHOWN]]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return f", in groups {checks.listed(shown, in_order=True)}{more}"


def problems(args: Arguments, schema: pl.Schema) -> list[Problem]:
    """Return the faults that no row may have."""
    faults = [
        Problem(
            "missing_label",
            is_missing(pl.col(args.label), schema[args.label]),
            f"`label` {args.label!r} must not contain nulls or NaN",
            "drop these rows, leave them out with ignore=[None], or, if unlabelled means "
            "not relevant, fill them with 0 or the label of negatives",
        )
    ]
    if schema[args.label].is_float():
        infinite = pl.col(args.label).is_infinite()
        must = f"`label` {args.label!r} must be finite"
        faults.append(Problem("infinite_label", infinite, must, _MEND))
    if args.missing == "raise":
        missing = is_missing(pl.col(args.score), schema[args.score])
        must = f"`score` {args.score!r} must not contain nulls or NaN"
        remedy = (
            "leave them out with missing='drop', or take them as not retrieved with missing='last'"
        )
        faults.append(Problem("missing_score", missing, must, remedy))
    return [*faults, *_of_other_columns(args, schema)]


def _of_other_columns(args: Arguments, schema: pl.Schema) -> Iterator[Problem]:
    """Yield the faults of weights, judgments, names and totals."""
    if args.weight is not None:
        weight = pl.col(args.weight).cast(pl.Float64)
        bad = ~(weight.is_finite() & (weight >= 0)).fill_null(value=False)
        must = f"`weight` {args.weight!r} must be finite numbers >= 0"
        yield Problem("bad_weight", bad, must, _MEND)
    if args.judged is not None:
        judged = pl.col(args.judged)
        relevant = positive(args, schema[args.label])
        if schema[args.label].is_numeric():
            relevant |= pl.col(args.label) > 0
        yield Problem(
            "bad_judged",
            judged.is_null() | (~judged & relevant),
            f"`judged` {args.judged!r} must be True or False, and True for relevant items",
            "mend these rows",
        )
    for name, why in (("cluster", ", which would be one cluster"), ("model", "")):
        column = getattr(args, name)
        if column is not None:
            missing = is_missing(pl.col(column), schema[column])
            must = f"`{name}` {column!r} must not contain nulls or NaN{why}"
            yield Problem(
                f"missing_{name}", missing, must, f"name these {name}s, or drop the rows"
            )
    if args.policy.by_item or args.model is not None:
        use = f" with ties={args.ties!r}" if args.model is None else ", by which rows are matched"
        must = f"`item` {args.item!r} must not contain nulls{use}"
        remedy = "name these items, or drop the rows"
        yield Problem("missing_item", pl.col(args.item or "").is_null(), must, remedy)
    for name in ("n_pos", "n_neg"):
        column = getattr(args, name)
        if isinstance(column, str):
            yield bad_total(name, column, "give every row of a group the same total")


def bad_total(name: str, column: str, remedy: str) -> Problem:
    """Return the fault of totals that are no whole numbers."""
    total = pl.col(column).cast(pl.Float64)
    whole = total.is_between(0, checks.LARGEST_COUNT) & (total == total.floor())
    must = f"`{name}` {column!r} must be whole numbers >= 0"
    return Problem(f"bad_{name}", ~whole.fill_null(value=False), must, remedy)


def notice(seen: Seen, rows: pl.DataFrame, score: pl.Series, label: pl.Series) -> None:
    """Note negatives of score -inf, and grades; `rows` have ``key`` and ``positive``."""
    is_number = label.dtype.is_numeric()
    # NumPy needs a part of the time that polars needs to begin.
    may_be = not seen.lost and score.dtype.is_float()
    if may_be and rows["key"].to_numpy().min(initial=0) == UNRETRIEVED:
        lost = (score == float("-inf")) & ~rows["positive"]
        seen.lost = bool((lost & (label <= 0) if is_number else lost).any())
    if is_number and not seen.grades:
        some = label.to_numpy()[:: max(1, label.len() // _LABELS)].tolist()
        seen.grades |= {max(grade, 0) for grade in {*some}}


def warn_of_lost(args: Arguments) -> None:
    """Warn of negatives that are not ranked."""
    warn(
        "rows that are not positive have the `score` -inf, so they count as not retrieved. If "
        f"they were retrieved, and -inf is the logarithm of 0, clip {args.score!r} from below, or "
        "say include_unretrieved=True in evaluate. If not, drop them, or ignore "
        "UnretrievedWarning.",
        UnretrievedWarning,
    )


def warn_of_grades(seen: Seen, args: Arguments) -> None:
    """Warn of many grades, or of classes, that all count as positive."""
    if args.positive is not True:
        return
    number, n_scores = len(seen.grades), 1 + len(args.further_scores)
    labels = f"more than {_GRADES} values" if number > _GRADES else f"{number} values"
    # Of many rankings, such as queries, the columns are systems.
    are_classes = not args.keys and number == n_scores >= _CLASSES
    are_classes = are_classes and max(seen.grades) - min(seen.grades) < number
    if number > _GRADES or are_classes:
        as_many = ", as many as there are columns of scores" * are_classes
        warn(
            f"`label` {args.label!r} has {labels}{as_many}, and all above 0 count as positive. "
            "If they are scores, score= and label= are swapped. If they are classes, name the "
            "positive one, for example positive=[1]; if grades, the lowest positive one, for "
            "example positive=1. Otherwise ignore ManyGradesWarning.",
            ManyGradesWarning,
        )


def computed(table: pl.DataFrame, *columns: str | pl.Expr, **named: pl.Expr) -> pl.DataFrame:
    """Return columns that are computed row by row, so that a row's result depends on it alone.

    polars divides by a column of one row or one repeated value by multiplying with the
    reciprocal: 3 / 10 comes out as .30000000000000004.
    """
    rows = pl.concat([table, table]) if table.height == 1 else table
    # Columns that are taken apart from their table hold their values one by one.
    return pl.DataFrame(rows.get_columns()).select(*columns, **named).head(table.height)
