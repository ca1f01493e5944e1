"""The totals of groups: how many items and positives each has, counted or as the caller says."""

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe import checks
from prframe._engine.keys import UNRETRIEVED, threshold_key
from prframe._engine.pieces import Piece
from prframe._engine.rows import in_groups, key_names
from prframe.errors import PrframeError
from prframe.metrics.quantities import above_name
from prframe.typing import Floats, Integers

_LARGEST_SUM = 1e100


def group_totals(
    piece: Piece, weights: Mapping[str, Integers | Floats] | None = None
) -> pl.DataFrame:
    """Return the totals of each group, with its keys, checked; `weights` replace counts."""
    positive = piece.positive
    n_pos = piece.counts(positive)
    seen = piece.ranking.source.seen
    n_items = piece.n_items
    seen.rows |= positive.size > 0
    n_positives = n_pos.sum()
    seen.positives |= bool(n_positives > 0)
    seen.negatives |= bool(n_positives < n_items.sum())
    counts: dict[str, Integers | Floats] = {
        "n": n_items if piece.all_ranked else piece.counts(retrieved(piece)),
        "present_pos": n_pos,
        "present_neg": n_items - n_pos,
    }
    if weights is None:
        weights = {above_name(t): items_above(piece, t) for t in piece.ranking.thresholds}
    above = weights.keys() - counts.keys()
    counts |= weights
    args = piece.ranking.args
    for name in ("n_pos", "n_neg"):
        if getattr(args, name) is None:
            counts[name] = counts[f"present_{name[2:]}"]
    aggregates = _given_totals(piece)
    seen.nameless |= {
        key
        for key, name in zip(args.keys, key_names(args), strict=True)
        if piece.keys[name].null_count()
    }
    keys = piece.aggregate(**aggregates) if aggregates else piece.keys
    columns = [pl.Series(name, values) for name, values in counts.items()]
    groups = _checked(pl.DataFrame([*keys.iter_columns(), *columns]), piece)
    names = [*key_names(args), "n", "n_pos", "n_neg", "present_pos"]
    totals = pl.DataFrame([groups[name] for name in [*names, *sorted(above)]])
    if args.n_pos is not None:
        seen.unlisted |= bool((totals["n_pos"] > totals["present_pos"]).any())
    if seen.totals is not None:
        seen.totals.append(totals)
    return totals


def items_above(piece: Piece, threshold: float) -> Integers:
    """Count the items of each group whose score reaches a threshold."""
    return piece.counts(reaching(piece, threshold))


def reaching(piece: Piece, threshold: float) -> NDArray[np.bool_]:
    """Return which rows have a score that reaches a threshold."""
    return np.asarray(piece.rows["key"].to_numpy() >= least_key(piece, threshold))


def least_key(piece: Piece, threshold: float) -> int:
    """Return the least key of a score that reaches a threshold."""
    args, schema = piece.ranking.args, piece.ranking.source.schema
    return threshold_key(threshold, schema[args.score], float32=args.float32)


def retrieved(piece: Piece) -> NDArray[np.bool_]:
    """Return which rows are retrieved."""
    return piece.rows["key"].to_numpy() > UNRETRIEVED


def _given_totals(piece: Piece) -> dict[str, pl.Expr]:
    """Return the aggregates of the columns that say more of a group than its rows do."""
    args = piece.ranking.args
    totals: dict[str, pl.Expr] = {}
    for name in ("n_pos", "n_neg"):
        if isinstance(getattr(args, name), str):
            totals |= {name: pl.col(name).first(), f"{name}_values": pl.col(name).n_unique()}
    if args.item is not None and not piece.ranking.source.distinct:
        totals["repeated"] = pl.len() - pl.col("item").n_unique()
    return totals


def _checked(groups: pl.DataFrame, piece: Piece) -> pl.DataFrame:
    """Settle n_pos and n_neg, and refuse groups whose totals or items contradict each other."""
    args = piece.ranking.args
    number = pl.Int64 if args.weight is None else pl.Float64
    if "repeated" in groups.columns:
        bad = groups.filter(pl.col("repeated") > 0)
        got = pl.lit(f"{bad['repeated'].sum()} rows too many")
        must = f"`item` {args.item!r} must name each item once"
        remedy = "drop the duplicates, or name the columns that keep rankings apart with by="
        _refuse_groups(bad, piece, must, got, remedy)
    if args.weight is not None:
        total = pl.col("present_pos") + pl.col("present_neg")
        # Products of two sums must be floats.
        is_usual = (total == 0) | total.is_between(1 / _LARGEST_SUM, _LARGEST_SUM)
        must = f"`weight` {args.weight!r} must add up to a number from 1e-100 to 1e100"
        remedy = "divide all weights by the same number"
        _refuse_groups(groups.filter(~is_usual), piece, must, total, remedy)
    totals = {}
    for name, present in (("n_pos", "present_pos"), ("n_neg", "present_neg")):
        given = getattr(args, name)
        if given is not None:
            total = pl.col(name) if isinstance(given, str) else pl.lit(given)
            totals[name] = total.cast(number)
            _refuse_wrong_totals(groups.with_columns(total.alias(name)), piece, name, present)
    if not totals:
        return groups
    groups = groups.with_columns(**totals)
    if args.weight is None:
        both = pl.col("n_pos") + pl.col("n_neg")
        must = "`n_pos` and `n_neg` must add up to 2^53 at most, beyond which floats round"
        remedy = "give smaller totals"
        _refuse_groups(groups.filter(both > checks.LARGEST_COUNT), piece, must, both, remedy)
    return groups


def _refuse_wrong_totals(groups: pl.DataFrame, piece: Piece, name: str, present: str) -> None:
    """Refuse groups whose given total of a class varies or is below what is present."""
    given = getattr(piece.ranking.args, name)
    if isinstance(given, str):
        values = pl.col(f"{name}_values")
        got = pl.format("{} different values", values)
        must = f"`{name}` {given!r} must be constant within a group"
        remedy = "name the column of queries in by= or over=, or give a ranking one total"
        _refuse_groups(groups.filter(values > 1), piece, must, got, remedy)
    below = groups.filter(pl.col(name) < pl.col(present))
    got = pl.format("{} given, {} present", name, present)
    must, remedy = f"`{name}` must be at least what is present", "count what is listed as well"
    _refuse_groups(below, piece, must, got, remedy)


def _refuse_groups(bad: pl.DataFrame, piece: Piece, must: str, got: pl.Expr, remedy: str) -> None:
    """Raise if any group is bad: what must hold, what was got, what to do."""
    if bad.height:
        # Of several chunks some may be empty, which polars does not expect when it formats.
        first = bad.head(1).rechunk().select(got).item()
        where = in_groups(bad.select(key_names(piece.ranking.args)).rows())
        raise PrframeError(f"{must}: {first}{where}; {remedy}.")
