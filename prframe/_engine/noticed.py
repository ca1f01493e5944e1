"""What is noticed of scores and labels while rows are prepared, and the warnings about it."""

import polars as pl

from prframe._engine.arguments import Arguments
from prframe._engine.frames import Seen
from prframe._engine.keys import UNRETRIEVED
from prframe.errors import ManyGradesWarning, UnretrievedWarning, warn

# So many of the labels are looked at, spread over all rows.
_LABELS = 1 << 10
# Judgments seldom have more grades, and of as many classes as columns there are at least so many.
_GRADES, _CLASSES = 5, 3


def notice(seen: Seen, rows: pl.DataFrame, score: pl.Series, label: pl.Series) -> None:
    """Note negatives of score -inf, and grades; `rows` have ``key`` and ``positive``."""
    is_number = label.dtype.is_numeric()
    # NumPy needs a part of the time that polars needs to begin.
    may_be = not seen.lost and score.dtype.is_float()
    if may_be and rows["key"].to_numpy().min(initial=0) == UNRETRIEVED:
        lost = (score == float("-inf")) & ~rows["positive"]
        seen.lost = bool((lost & (label <= 0) if is_number else lost).any())
    if is_number and not seen.grades:
        some = label.gather_every(max(1, label.len() // _LABELS)).to_list()
        seen.grades |= {max(grade, 0) for grade in {*some}}


def warn_of_lost(args: Arguments) -> None:
    """Warn of negatives that are not ranked."""
    warn(
        f"rows that are not positive have the `score` -inf, which stands for items that were not "
        f"retrieved, so that they are not ranked. If -inf is the logarithm of 0, clip "
        f"{args.score!r} from below, or say include_unretrieved=True in evaluate; if these items "
        "were not retrieved, drop them, or ignore UnretrievedWarning.",
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
            f"`label` {args.label!r} has {labels}{as_many}, and every one above 0 counts as "
            "positive. Of classes name the positive one, for example positive=[1]; of grades say "
            "the least positive one, for example positive=1, or ignore ManyGradesWarning.",
            ManyGradesWarning,
        )
