"""From the caller's columns to the working columns, with every row-level check.

The working columns are ``by0, by1, ...`` (groups), ``key`` (an integer that sorts as the score
does), ``positive``, and, if they are needed, ``score``, ``weight``, ``gain``, ``judged``,
``pooled``, ``item``, ``cluster``, ``n_pos``, ``n_neg``, ``row``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import polars as pl

from prframe import checks
from prframe._engine.arguments import WORKING, Arguments
from prframe._engine.frames import Source
from prframe._engine.keys import as_thresholds, sortable_keys
from prframe._engine.noticed import notice
from prframe.errors import PrframeError
from prframe.typing import LabelValue

# Callers of `prepare` keep row numbers in this column.
ROW = f"{WORKING}row number"


def key_names(args: Arguments) -> list[str]:
    """Return the working names of the grouping columns."""
    return [f"by{i}" for i in range(len(args.keys))]


def prepare(batch: pl.DataFrame, args: Arguments, source: Source, *extra: str) -> pl.DataFrame:
    """Check a batch of the caller's rows and return the working columns.

    `extra` names optional ones: ``"score"``, ``"gain"``, ``"judged"`` (with ``"pooled"``) and
    ``"row"``.
    """
    if conditions := considered(args, batch.schema):
        batch = batch.filter(*conditions)
    _refuse_faults(batch, args, source)
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
        number = pl.lit(as_thresholds(batch[args.score]))
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
    key = sortable_keys(batch[args.score], float32=args.float32).alias("key")
    rows = batch.select_seq(columns).hstack([key])
    notice(source.seen, rows, batch[args.score], batch[args.label])
    return rows


def labels_are_gains(label: pl.Series, args: Arguments) -> bool:
    """Tell whether it is known that positives have a gain of 1 and other rows one of 0."""
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
    """A fault that no row may have: its name, its condition, and the message about it."""

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
    more = len(names) - len(shown)
    return f", in groups {shown}" + (f" and {more} more" if more else "")


def _refuse_faults(batch: pl.DataFrame, args: Arguments, source: Source) -> None:
    """Raise an error about the first fault of the batch; one query looks for all of them."""
    faults = problems(args, batch.schema)
    has = batch.select_seq(fault.bad.any().alias(fault.kind) for fault in faults)
    for fault in faults:
        if has[fault.kind].item():
            fault.refuse(batch, args, source)


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
        faults.append(
            Problem(
                "infinite_label",
                pl.col(args.label).is_infinite(),
                f"`label` {args.label!r} must be finite",
                "mend or drop these rows",
            )
        )
    if args.missing == "raise":
        faults.append(
            Problem(
                "missing_score",
                is_missing(pl.col(args.score), schema[args.score]),
                f"`score` {args.score!r} must not contain nulls or NaN",
                "leave them out with missing='drop', "
                "or take them as not retrieved with missing='last'",
            )
        )
    if args.weight is not None:
        weight = pl.col(args.weight).cast(pl.Float64)
        faults.append(
            Problem(
                "bad_weight",
                ~(weight.is_finite() & (weight >= 0)).fill_null(value=False),
                f"`weight` {args.weight!r} must be finite numbers >= 0",
                "mend or drop these rows",
            )
        )
    if args.judged is not None:
        judged = pl.col(args.judged)
        relevant = positive(args, schema[args.label])
        if schema[args.label].is_numeric():
            relevant |= pl.col(args.label) > 0
        faults.append(
            Problem(
                "bad_judged",
                judged.is_null() | (~judged & relevant),
                f"`judged` {args.judged!r} must be True or False, and True for relevant items",
                "mend these rows",
            )
        )
    for name, why in (("cluster", ", which would be one cluster"), ("model", "")):
        column = getattr(args, name)
        if column is not None:
            faults.append(
                Problem(
                    f"missing_{name}",
                    is_missing(pl.col(column), schema[column]),
                    f"`{name}` {column!r} must not contain nulls or NaN{why}",
                    f"name these {name}s, or drop the rows",
                )
            )
    if args.policy.by_item or args.model is not None:
        use = f" with ties={args.ties!r}" if args.model is None else ", by which rows are matched"
        faults.append(
            Problem(
                "missing_item",
                pl.col(args.item or "").is_null(),
                f"`item` {args.item!r} must not contain nulls{use}",
                "name these items, or drop the rows",
            )
        )
    return faults + _bad_totals(args)


def _bad_totals(args: Arguments) -> list[Problem]:
    """Return the faults that no column of totals may have."""
    faults = []
    for name in ("n_pos", "n_neg"):
        column = getattr(args, name)
        if isinstance(column, str):
            total = pl.col(column).cast(pl.Float64)
            whole = total.is_between(0, checks.LARGEST_COUNT) & (total == total.floor())
            faults.append(
                Problem(
                    f"bad_{name}",
                    ~whole.fill_null(value=False),
                    f"`{name}` {column!r} must be whole numbers >= 0",
                    "give every row of a group the same total",
                )
            )
    return faults


def computed(table: pl.DataFrame, *columns: str | pl.Expr, **named: pl.Expr) -> pl.DataFrame:
    """Return columns that are computed row by row, so that a row's result depends on it alone.

    polars treats a column of one row like a number, and so it does with a column that it has
    stored as one repeated value. It divides by a number by multiplying with its reciprocal. Such a
    quotient may differ in the last place from that of the same two numbers in other columns, and
    from the correct one: 3 / 10 comes out as .30000000000000004.
    """
    rows = pl.concat([table, table]) if table.height == 1 else table
    # Columns that are taken apart from their table hold their values one by one.
    return pl.DataFrame(rows.get_columns()).select(*columns, **named).head(table.height)
