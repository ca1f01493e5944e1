"""Values of folds or splits, whose training sets overlap."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import polars as pl

from prframe import checks, hints
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import considered, in_groups
from prframe.errors import ArgumentError, DependentFoldsWarning, PrframeError, warn

Resampling: TypeAlias = Literal["cv"]

# A cross-validation of more folds is mostly a repeated one whose folds are numbered throughout.
_MOST_FOLDS = 20
_NUMBER_ANEW = (
    "Of a repeated cross-validation over= names the column of repetitions before that of folds, "
    "which are numbered anew in each: split i of repeated k-fold is fold i % k of repetition "
    "i // k"
)


def warn_of_folds(over: Sequence[str]) -> None:
    """Warn if one of the columns is called like those of folds or splits."""
    known = (*hints.FOLDS, *hints.REPETITIONS)
    if folds := [column for column in over if column.lower() in known]:
        warn(
            f"the values of {folds[0]!r} are taken as independent; those of folds or splits of "
            "the same data are not, as their training sets overlap. In `interval`, and `compare` "
            "with test='t', say resampling='cv' for the folds of a cross-validation, whose "
            "repetitions have a column of their own before that of folds, or the size of a test "
            "set divided by that of its training set; bands of mean curves know no such "
            "correction. Where the values are independent, rename the column or ignore "
            "DependentFoldsWarning.",
            DependentFoldsWarning,
        )


def check_resampling(resampling: object, over: Sequence[str]) -> float | Resampling | None:
    """Return the resampling; warn if it corrects for no folds and `over` names folds."""
    if resampling is None:
        warn_of_folds(over)
        return None
    if isinstance(resampling, str):
        if resampling != "cv":
            raise ArgumentError(
                "`resampling` must be 'cv', for the folds of a cross-validation, or the size of "
                f"a test set divided by that of its training set; got {resampling!r}."
            )
        named = [column for column in over if column.lower() in hints.FOLDS]
        if named and over[-1] not in named:
            raise ArgumentError(
                f"resampling='cv' takes the last column of `over` as that of folds, {over[-1]!r} "
                f"here; put {named[0]!r} last."
            )
        return "cv"
    return float(checks.number("resampling", resampling, above=0))


def refuse_items_of_several_folds(
    source: Source, args: Arguments, over: Sequence[str], resampling: float | Resampling | None
) -> None:
    """Require that a cross-validation tests an item once, if items have names."""
    if resampling != "cv" or args.item is None or args.at_hand:
        return
    *repetition, fold = over
    if args.item == fold:
        return
    models = [] if args.model is None else [args.model]
    # The column of items may be one of those that tell groups or repetitions apart.
    keys = list(dict.fromkeys([*args.keys, *models, *repetition, args.item]))
    rows = source.lazy().filter(True, *considered(args, source.schema))  # noqa: FBT003
    tested = rows.group_by(keys).agg(pl.col(fold).n_unique())
    several = tested.filter(pl.col(fold) > 1).select(pl.len(), pl.col(fold).max()).collect()
    count, most = several.row(0)
    if count:
        raise PrframeError(
            f"resampling='cv' takes each value of {fold!r} as a fold of one cross-validation, in "
            f"which an item is tested once, but {count:,} items are in up to {most} folds. "
            f"{_NUMBER_ANEW}."
        )


def test_train_ratio(
    resampling: float | Resampling | None, folds: pl.DataFrame, over: Sequence[str]
) -> float:
    """Return the size of a test set divided by that of its training set, given a row per value."""
    if isinstance(resampling, float):
        return resampling
    if resampling != "cv":
        return 0.0
    *repetition, fold = folds.columns
    number = folds[fold].n_unique()
    sizes = folds.group_by(repetition or pl.lit(0), maintain_order=True).agg(pl.len())
    odd = sizes.filter(pl.col("len") != number)
    if odd.height:
        names = in_groups(odd.select(repetition).rows())
        raise PrframeError(
            f"resampling='cv' needs every fold of {over[-1]!r} in each repetition: there are "
            f"{number} folds in all, but {odd['len'][0]}{names}; name the columns of repetitions "
            "before that of folds in over=, and number folds anew in each."
        )
    if number < 2:  # noqa: PLR2004
        raise PrframeError(
            f"resampling='cv' needs two folds or more; {over[-1]!r} names {number}."
        )
    if number > _MOST_FOLDS or over[-1].lower() in hints.REPETITIONS:
        warn(
            f"resampling='cv' takes the {number} values of {over[-1]!r} as folds of one "
            f"cross-validation. {_NUMBER_ANEW}.",
            DependentFoldsWarning,
        )
    return 1 / (number - 1)
