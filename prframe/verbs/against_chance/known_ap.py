"""Precomputed average precisions: a row is a ranking whose AP, positives and items are known."""

from dataclasses import dataclass

import polars as pl

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import Problem, in_groups, is_missing, key_names
from prframe.errors import ArgumentError, PrframeError, UnlistedItemsWarning, warn
from prframe.stats import ap_minimum
from prframe.verbs._precomputed_values import shared_keys

# AP may exceed 1 by the rounding of sums.
_LARGEST = 1 + 1e-9
# Precomputed AP is mostly rounded to three decimals or more.
_ROUNDED = 5e-4


@dataclass(frozen=True)
class KnownAP:
    """The column of AP, and that or the number of items, None if `n_neg` is given instead."""

    ap: str
    n: int | str | None

    def arguments(self, args: Arguments) -> Arguments:
        """Return the arguments of the call with the precomputed columns."""
        if args.n_pos is None or (self.n is None) == (args.n_neg is None):
            raise ArgumentError(
                "with `ap`, give the number of positives of each ranking in n_pos=, and either "
                "that of items in n= or that of negatives in n_neg=."
            )
        n = checks.plain(self.n)
        if not (n is None or isinstance(n, str)):
            checks.whole_number("n", n, at_least=1)
        columns = [("ap", self.ap)] + ([("n", n)] if isinstance(n, str) else [])
        return args.with_values(columns)

    def rows(self, source: Source, args: Arguments) -> pl.DataFrame:
        """Return the rankings with the working names of keys, `n`, `n_pos`, `depth` and `ap`."""
        data = source.whole()
        source.seen.read = data.height > 0
        schema = data.schema
        if args.missing == "drop":
            data = data.filter(~is_missing(pl.col(self.ap), schema[self.ap]))
        for fault in self._faults(args, schema):
            fault.refuse(data, args, source)
        # A ranking without positives has no AP, whatever stands in its place.
        ap = pl.col(self.ap).cast(pl.Float64).clip(upper_bound=1)
        ap = pl.when(_total(args.n_pos) > 0).then(ap)
        pairs = zip(args.keys, key_names(args), strict=True)
        rows = data.select(
            *(pl.col(key).alias(name) for key, name in pairs),
            self._n(args).cast(pl.Int64).alias("n"),
            _total(args.n_pos).cast(pl.Int64).alias("n_pos"),
            ap=ap.fill_nan(None),
        )
        names = key_names(args)
        if names and (shared := shared_keys(rows, names, checks.listed(args.keys))):
            raise PrframeError(
                f"a row is a ranking, and {shared}; test the mean of these rankings with over=, "
                "or name in over= or by= what tells them apart."
            )
        _warn_of_impossible(rows, args)
        empty = pl.lit(None, dtype=pl.List(pl.UInt32))
        return rows.with_columns(pl.col("n").alias("depth"), sizes=empty)

    def _n(self, args: Arguments) -> pl.Expr:
        """Return the number of items."""
        return _total(args.n_pos) + _total(args.n_neg) if self.n is None else _total(self.n)

    def _faults(self, args: Arguments, schema: pl.Schema) -> list[Problem]:
        """Return the faults that no row may have."""
        n, n_pos, ap = self._n(args), _total(args.n_pos), pl.col(self.ap)
        missing = is_missing(ap, schema[self.ap])
        totals = {"n_pos": args.n_pos, "n_neg": args.n_neg, "n": self.n}
        return [
            *(
                Problem(
                    f"bad_{name}",
                    ~_is_whole(_total(total)).fill_null(value=False),
                    f"`{name}` {total!r} must be whole numbers >= 0",
                    "mend or drop these rows",
                )
                for name, total in totals.items()
                if isinstance(total, str)
            ),
            Problem(
                "bad_n",
                (n < n_pos) | (n < 1),
                "`n` must be at least 1, and at least `n_pos`",
                "see whether n and n_pos are exchanged",
            ),
            Problem(
                "missing_ap",
                missing & (n_pos > 0),
                f"`ap` {self.ap!r} must not be null or NaN where there are positives",
                "mend these rows, or leave them out with missing='drop'",
            ),
            Problem(
                "bad_ap",
                ~missing & ~ap.is_between(0, _LARGEST),
                f"`ap` {self.ap!r} must lie between 0 and 1",
                "mend or drop these rows",
            ),
        ]


def _total(total: int | str | None) -> pl.Expr:
    """Return a total, which is a number or a column."""
    # Sums of small integers would overflow.
    return pl.col(total).cast(pl.Float64) if isinstance(total, str) else pl.lit(total)


def _is_whole(total: pl.Expr) -> pl.Expr:
    """Return whether numbers are whole and can be counted to."""
    number = total.cast(pl.Float64)
    return number.is_between(0, checks.LARGEST_COUNT) & (number == number.floor())


def _warn_of_impossible(rows: pl.DataFrame, args: Arguments) -> None:
    """Warn once of AP that no ranking of so many items and positives has, ties or not."""
    ranked = rows.filter(pl.col("ap").is_not_null())
    n, n_pos, ap = (ranked[name].to_numpy() for name in ("n", "n_pos", "ap"))
    least = ap_minimum(n, n_pos) if ap.size else ap
    # The second best ranking has one negative before the last positive.
    second = 1 - 1 / (n_pos * (n_pos + 1.0))
    off = (ap == 0) | (ap < least - _ROUNDED) | ((ap > second + _ROUNDED) & (ap < 1 - _ROUNDED))
    if off.any():
        first = ranked.filter(off).row(0, named=True)
        where = in_groups(ranked.filter(off).select(key_names(args)).rows())
        warn(
            f"no ranking of n items with n_pos positives has the `ap` of {off.sum()} of "
            f"{off.size} rankings, such as {first['ap']:g} of {first['n']} items with "
            f"{first['n_pos']} positives{where}: lists that are cut off may have, or n and n_pos "
            "count others. Give AP of all items; where it does not matter, ignore "
            "UnlistedItemsWarning.",
            UnlistedItemsWarning,
        )
