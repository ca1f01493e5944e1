"""The arguments that every verb takes, which are checked once.

Parameters
----------
score, label : str
    Columns of the scores (larger is better; ``-inf`` = not retrieved) and of the labels.
by : str or list of str, optional
    One result per distinct combination of these columns, null included. Default: one group.
weight : str, optional
    Column of weights >= 0. A row of weight 2 counts as two rows.
ties : {policies}
{meanings}
float32 : bool
    Compare scores as 32-bit floats, as trec_eval 9 does.
item : str, optional
    Column that names the items; none may occur twice in a group.
positive : True, number, str or list
    Which labels are positive. True: `True`, or a number above 0. A number g: labels >= g. A
    string or a list: labels equal to it, or to one of its values.
ignore : label value or list, optional
    Leave out rows with these labels; ``[None]`` for unlabelled rows.
missing : {"raise", "drop", "last"}
    Rows whose score is null or NaN: an error, left out, or counted as not retrieved.
n_pos, n_neg : int or str, optional
    Totals including items that are not listed (of weights, if there are any): a number, or a
    column that is constant within each group.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, get_args

import polars as pl

from prframe import checks, hints
from prframe.errors import ArgumentError, PrframeError
from prframe.tie_policies import (
    ALL_TIES,
    POLICIES,
    WITHOUT_LABELS,
    TiePolicy,
    Ties,
    described,
    listed_in_braces,
)
from prframe.typing import Columns, LabelValue, Missing, Positive

if TYPE_CHECKING:
    from collections.abc import Mapping

__doc__ = (__doc__ or "").replace("{policies}", listed_in_braces(ALL_TIES))
__doc__ = __doc__.replace("{meanings}", described(" " * 4))

TEXT = (pl.String, pl.Categorical, pl.Enum)
# The names of columns that are added to those of the caller begin with this.
WORKING = "prframe: "
# These arguments may name a column.
_OPTIONAL = ("weight", "item", "judged", "cluster", "model", "predicted")
# These arguments say how items are ranked, and which of them count.
_OF_RANKINGS = ("score", "label", "weight", "ties", "float32", "item", "positive", "ignore")


@dataclass(frozen=True)
class Arguments:
    """The shared arguments of one call; see the module's text for their meaning."""

    score: str = "score"
    label: str = "label"
    _: KW_ONLY
    by: Columns | None = None
    weight: str | None = None
    ties: Ties = "group"
    float32: bool = False
    item: str | None = None
    positive: Positive = True
    ignore: LabelValue | Sequence[LabelValue | None] | None = None
    missing: Missing = "raise"
    n_pos: int | str | None = None
    n_neg: int | str | None = None
    # The arguments below are of some verbs only.
    judged: str | None = None
    cluster: str | None = None
    # The labels, or values, of a machine, where those of humans may be null.
    predicted: str | None = None
    # Models that are compared are named by a column, or each has a column of scores.
    model: str | None = None
    further_scores: tuple[str, ...] = ()
    # Precomputed values: pairs of an argument and the column that it names.
    at_hand: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Check everything that can be checked without a frame."""
        checks.one_of("ties", self.ties, ALL_TIES)
        checks.flag("float32", self.float32)
        checks.one_of("missing", self.missing, get_args(Missing))
        if self.by is not None:
            object.__setattr__(self, "by", checks.column_names("by", self.by, at_least=0))
        for name, given in self._named():
            column = checks.column_name(name, given)
            if column.startswith(WORKING):
                raise ArgumentError(
                    f"`{name}` must not begin with {WORKING!r}, as working columns do; got "
                    f"{column!r}; rename the column."
                )
        self._check_ties()
        for name in ("n_pos", "n_neg"):
            total = getattr(self, name)
            if total is not None and not isinstance(total, str):
                number = checks.whole_number(name, total, at_least=0)
                object.__setattr__(self, name, number)
        for name in ("positive", "ignore"):
            object.__setattr__(self, name, _label_values(name, getattr(self, name)))

    def _check_ties(self) -> None:
        """Require the items or the absence of weights that the tie policy needs."""
        if self.policy.by_item and self.item is None:
            raise ArgumentError(
                f"ties={self.ties!r} orders tied items by their names; name their column with "
                "item=."
            )
        if self.weight is not None and self.ties not in WITHOUT_LABELS:
            *others, last = map(repr, WITHOUT_LABELS)
            raise ArgumentError(
                f"ties={self.ties!r} orders whole items and takes no `weight`; "
                f"use {', '.join(others)} or {last}, or repeat rows."
            )

    def with_values(
        self, columns: Sequence[tuple[str, str]], also_refused: Sequence[str] = ()
    ) -> "Arguments":
        """Return the arguments of a call with precomputed values, by argument and column.

        Arguments that say how items are ranked are refused, and with them those that the values
        make superfluous.
        """
        plain = type(self)()
        for name in (*_OF_RANKINGS, *also_refused):
            several = name == "score" and self.further_scores
            if several or getattr(self, name) != getattr(plain, name):
                raise ArgumentError(
                    f"`{name}` says how items are ranked and which count; precomputed values "
                    f"({columns[0][0]}=) are asked for neither, so leave it out."
                )
        if self.missing == "last":
            raise ArgumentError(
                "missing='last' is for scores; precomputed values that are missing are refused, "
                "or left out with missing='drop'."
            )
        return replace(self, at_hand=tuple(columns))

    @cached_property
    def policy(self) -> TiePolicy:
        """The tie policy."""
        return POLICIES[self.ties]

    @property
    def totals(self) -> list[str]:
        """The names of the totals that are given."""
        given = {"n_pos": self.n_pos, "n_neg": self.n_neg}
        return [name for name, total in given.items() if total is not None]

    def _named(self) -> list[tuple[str, object]]:
        """Return the arguments that name one column each, with the columns."""
        named: list[tuple[str, object]] = [("score", self.score), ("label", self.label)]
        named += self.at_hand
        named += [(f"score[{i}]", score) for i, score in enumerate(self.further_scores, start=1)]
        named += [(f"by[{i}]", key) for i, key in enumerate(self.keys)]
        optional = [(name, getattr(self, name)) for name in _OPTIONAL]
        named += [(name, column) for name, column in optional if column is not None]
        totals = (("n_pos", self.n_pos), ("n_neg", self.n_neg))
        return named + [(name, total) for name, total in totals if isinstance(total, str)]

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The grouping columns."""
        if self.by is None:
            return ()
        return (self.by,) if isinstance(self.by, str) else tuple(self.by)

    @cached_property
    def columns(self) -> dict[str, str]:
        """The arguments by the columns of the frame that they name."""
        wanted = {self.score: "score", self.label: "label"}
        if self.at_hand:
            wanted = {column: argument for argument, column in self.at_hand}
        wanted |= dict.fromkeys(self.further_scores, "score")
        for name in (*_OPTIONAL, "n_pos", "n_neg"):
            column = getattr(self, name)
            if isinstance(column, str):
                wanted[column] = name
        return wanted | dict.fromkeys(self.keys, "by")

    @cached_property
    def ignored(self) -> tuple[LabelValue | None, ...]:
        """The label values to leave out."""
        if self.ignore is None:
            return ()
        if isinstance(self.ignore, (str, bool, int, float)):
            return (self.ignore,)
        return tuple(self.ignore)

    def check_types(
        self, schema: "Mapping[str, pl.DataType]", roles: "Mapping[str, str] | None" = None
    ) -> None:
        """Require dtypes that arguments need; `roles` name arguments of keys other than `by`."""
        self._check_numbers(schema)
        if self.judged is not None and schema[self.judged] != pl.Boolean:
            raise PrframeError(
                f"`judged` must be boolean; {self.judged!r} is {schema[self.judged]}."
            )
        if not self.at_hand:
            self._check_item(schema)
            for label in filter(None, (self.label, self.predicted)):
                # Where there are two judges, a column of nulls has an error of its own.
                if self.predicted is None or schema[label] != pl.Null:
                    replace(self, label=label).check_label(schema[label])
        grouping = [((roles or {}).get(key, "by"), key) for key in self.keys]
        for name in ("cluster", "model"):
            column = getattr(self, name)
            grouping += [] if column is None else [(name, column)]
        for name, key in grouping:
            if schema[key].is_nested() or schema[key].is_object():
                raise PrframeError(
                    f"`{name}` must name columns of plain values; {key!r} is {schema[key]}."
                )

    def _check_numbers(self, schema: "Mapping[str, pl.DataType]") -> None:
        """Require numbers where columns of numbers are named."""
        scores = () if self.at_hand else (self.score, *self.further_scores)
        numeric = [*self.at_hand, *(("score", score) for score in scores)]
        for name in ("weight", "n_pos", "n_neg"):
            column = getattr(self, name)
            numeric += [(name, column)] if isinstance(column, str) else []
        for name, column in numeric:
            if self.predicted is None or schema[column] != pl.Null:
                require_number(name, column, schema[column])

    def _check_item(self, schema: "Mapping[str, pl.DataType]") -> None:
        """Require items that can be sorted, where they have to be."""
        if self.item is None:
            return
        item, use = schema[self.item], ""
        if self.model is not None:
            use = " by which rows are matched"
        elif self.policy.by_item:
            use = f" with ties={self.ties!r}"
        # Where items only have to differ, lists and bytes may name them.
        if item.is_object() or (use and (item.is_nested() or item == pl.Binary)):
            raise PrframeError(
                f"`item` must hold text or plain values{use}; {self.item!r} is {item}."
            )

    def check_label(self, dtype: pl.DataType) -> None:
        """Require labels that `positive` and `ignore` can be compared with."""
        text = dtype in TEXT
        if not (text or dtype.is_numeric() or dtype == pl.Boolean):
            raise PrframeError(
                f"`label` must be boolean, numeric or string; {self.label!r} is {dtype}."
            )
        if text and isinstance(self.positive, (bool, int, float)):
            example = "yes" if isinstance(self.positive, bool) else str(self.positive)
            raise PrframeError(
                f"`label` {self.label!r} holds strings: "
                f"name the positive ones, as in positive={example!r}, or cast them to numbers."
            )
        if self.positive is False:
            raise ArgumentError(
                "`positive` must be True, a number (labels at least as large), or values to be "
                "equal to; got False. For labels equal to False say positive=[False]."
            )
        wanted = [self.positive] if isinstance(self.positive, str) else self.positive
        alike = isinstance(wanted, (bool, int, float)) or all(
            isinstance(value, str) == text for value in wanted
        )
        if not alike:
            raise PrframeError(
                f"`positive` must hold values like the {dtype} labels of {self.label!r}; "
                f"got {checks.brief(self.positive)}."
            )
        for value in self.ignored:
            if value is not None and isinstance(value, str) != text:
                raise PrframeError(
                    f"`ignore` must hold values like the {dtype} labels of {self.label!r}; "
                    f"got {value!r}."
                )


def require_number(name: str, column: str, dtype: pl.DataType) -> None:
    """Require that the column which an argument names holds numbers."""
    if not dtype.is_numeric():
        hint = hints.of_dtype(dtype) if name == "score" else ""
        raise PrframeError(f"`{name}` must be numeric; {column!r} is {dtype}.{hint}")


def _is_missing(value: object) -> bool:
    """Tell whether a label is NaN, or what pandas has in its place."""
    is_nan = isinstance(value, float) and value != value  # noqa: PLR0124 - NaN alone does so
    return is_nan or type(value).__name__ in {"NAType", "NaTType"}


def _label_values(name: str, values: object) -> object:
    """Return a label value, or a list of them, in plain Python."""
    values = checks.unpacked(checks.plain(values))
    if name == "ignore" and _is_missing(values):
        return [None]
    if name == "positive" and _is_missing(values):
        raise ArgumentError("`positive` must not be NaN, which no label is equal to or above.")
    if isinstance(values, (str, bool, int, float)) or (values is None and name == "ignore"):
        return values
    if isinstance(values, (list, tuple, set, frozenset)) and values:
        listed = [checks.plain(value) for value in values]
        if name == "ignore":
            listed = [None if _is_missing(value) else value for value in listed]
        if all(value is None or isinstance(value, (str, bool, int, float)) for value in listed):
            return listed
    raise ArgumentError(
        f"`{name}` must be a label value or a list of them; got {checks.brief(values)}."
    )
