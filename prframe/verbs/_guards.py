"""Guards against silent mistakes: rankings ranked together, labels of one class."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np
import polars as pl

from prframe import checks, hints
from prframe._engine.arguments import Arguments
from prframe._engine.frame_kinds import kind_of
from prframe._engine.frames import Source, source
from prframe._engine.rows import considered, in_groups, warn_of_grades, warn_of_lost
from prframe.errors import (
    EmptyFrameWarning,
    NoNegativesWarning,
    NoPositivesWarning,
    PooledRankingWarning,
    SharedItemsWarning,
    TiePolicyWarning,
    UnlistedItemsWarning,
    warn,
)

# Columns of these names tell rankings apart.
_KEYS = (
    *hints.QUERIES,
    *("search_id", "impression_id"),
    *("system", "run", "run_id", "model"),
    *hints.FOLDS,
    *hints.REPETITIONS,
)
# Names of columns that the package adds begin with this.
_OWN = "prframe "
# A column of this name tells which items were judged, as in what `prframe.trec.join` returns.
_JUDGED = "judged"
# A warning looks at so many rows, in stretches that begin anywhere; `check` looks at all of them.
_MOST_ROWS, _STRETCHES = 1 << 18, 512
# What is to be done about rows that are ranked together, where it is no argument of a verb.
_advice: ContextVar[str | None] = ContextVar("advice", default=None)


@contextmanager
def advising(advice: str | None) -> Iterator[None]:
    """Let verbs give a picture's advice on pooled rows, with ``{column}`` for the column."""
    token = _advice.set(advice)
    try:
        yield
    finally:
        _advice.reset(token)


@dataclass(frozen=True)
class PooledRankings:
    """The columns of a frame that tell rankings apart, by their names, and are not used."""

    frame: object
    columns: Sequence[str]
    args: Arguments
    advice: str | None = None

    @classmethod
    def of(cls, frame: object, names: Collection[str], args: Arguments) -> "PooledRankings":
        """Find the columns in a frame with columns of some names; rows elsewhere are left be."""
        if kind_of(frame).is_elsewhere:
            return cls(None, [], args)
        unused = [name for name in names if name.lower() in _KEYS and name not in args.columns]
        columns = sorted(unused, key=lambda name: _KEYS.index(name.lower()))
        return cls(frame, columns, args, _advice.get())

    def pooled(self, *, sampled: bool = False) -> dict[str, pl.DataFrame]:
        """Return the columns that vary within rankings, with the keys of these rankings."""
        rankings = {column: self._varying(column, sampled=sampled) for column in self.columns}
        return {column: keys for column, keys in rankings.items() if keys is not None}

    def _varying(self, column: str, *, sampled: bool) -> pl.DataFrame | None:
        """Return the keys of the groups in which a column takes several values, if any."""
        args, by = self.args, self.args.keys
        decides = bool(args.ignored) or args.missing == "drop" or args.weight is not None
        needed = [*by, column, *(args.columns if decides else ())]
        varies = pl.col(column).ne_missing(pl.col(column).first()).any().alias("varies")
        try:
            rows = source(self.frame, dict.fromkeys(needed, "by"))
            if rows.schema[column].is_nested():
                return None
            query = rows.lazy()
            if decides:
                query = query.filter(True, *considered(args, rows.schema))  # noqa: FBT003
            values = query.select(*by, column).collect()
            values = stretches(values) if sampled else values
            groups = values.group_by(by).agg(varies).sort(by) if by else values.select(varies)
            pooled = groups.filter("varies")
            return pooled.select(by) if pooled.height else None
        except Exception:  # noqa: BLE001 - whatever a column of the caller holds
            return None

    def warn(self, by: Sequence[str], *, takes_over: bool) -> None:
        """Warn once of the first column that varies within rankings."""
        for column, rankings in self.pooled(sampled=True).items():
            # Of a sample of the rows it is not known in how many groups more they differ.
            where = in_groups(rankings.head(checks.SHOWN).rows())
            where += " and others" if rankings.height > checks.SHOWN else ""
            warn(
                f"rows with different {column!r} were ranked together{where}. "
                f"{self._remedy(column, by, takes_over=takes_over)}. If they are one ranking, "
                "drop the column, or ignore PooledRankingWarning.",
                PooledRankingWarning,
            )
            return

    def _remedy(self, column: str, by: Sequence[str], *, takes_over: bool) -> str:
        """Return what to do so that a column tells rankings apart."""
        if self.advice is not None:
            return self.advice.format(column=repr(column))
        over = [key for key in self.args.keys if key not in by]
        # Columns that the package has added have no names that a caller could say.
        kept = [key for key in by if not key.startswith(_OWN)]
        mean = f", or over={_named([*over, column])} for the mean" if takes_over else ""
        return f"Use by={_named([*kept, column])} for one ranking each{mean}"


def warn_of_nameless(source: Source, roles: Mapping[str, str]) -> None:
    """Warn of rows whose group to summarise over is null, so that they are one."""
    for key, role in roles.items():
        if key in source.seen.nameless:
            warn(
                f"`{role}` {key!r} is null in some rows, which are taken as one group of their "
                "own; name the groups of these rows, or drop them. If they are one group, ignore "
                "PooledRankingWarning.",
                PooledRankingWarning,
            )


def warn_of_unretrieved(source: Source, names: Collection[str], args: Arguments) -> None:
    """Warn of negatives of score -inf, which no join has added: it has a column `judged`."""
    if source.seen.lost and _JUDGED not in names:
        warn_of_lost(args)


def warn_of_unlisted(rows: Source, frame: object, names: Collection[str], args: Arguments) -> None:
    """Warn that random rankings are of listed items alone, or of a pool, by a column `judged`."""
    if args.n_neg is not None:
        return
    if rows.seen.unlisted:
        warn(
            "n_pos= counts unlisted positives, but n_neg= is missing: the test takes all unlisted "
            "items for positive and has almost no power. Give the number of all negatives in "
            "n_neg=. If there are no other items, ignore UnlistedItemsWarning.",
            UnlistedItemsWarning,
        )
    elif _JUDGED in names and not kind_of(frame).is_elsewhere and _is_pool(frame):
        warn(
            "the test compares with random rankings of the listed rows only. Some are not judged, "
            "so the collection is probably larger: pass its number of negatives as n_neg=. If all "
            "items are listed, drop the column 'judged', or ignore UnlistedItemsWarning.",
            UnlistedItemsWarning,
        )


def _is_pool(frame: object) -> bool:
    """Return whether some rows are not judged; no, if the column cannot be read."""
    try:
        rows = source(frame, {_JUDGED: "by"})
        return rows.schema[_JUDGED] == pl.Boolean and not rows.whole()[_JUDGED].all()
    except Exception:  # noqa: BLE001 - whatever a column of the caller holds
        return False


def warn_of_shared_items(
    frame: object, names: Collection[str], args: Arguments, over: Sequence[str]
) -> None:
    """Warn that the rankings of a mean, whose keys end in those of `over`, share items."""
    known = (
        name
        for name in (*hints.DOCUMENT, "item", "item_id")
        if name in names and name not in args.columns
    )
    item = args.item or next(known, None)
    if item is None or not over or kind_of(frame).is_elsewhere:
        return
    try:
        kept = [key for key in args.keys if key not in over]
        rows = source(frame, dict.fromkeys([*args.keys, item], "by"))
        pairs = rows.lazy().unique([*args.keys, item])
        places = pairs.group_by(*kept, item).len("rankings")
        shared, total = places.select((pl.col("rankings") > 1).sum(), pl.len()).collect().row(0)
    except Exception:  # noqa: BLE001 - whatever a column of the caller holds
        return
    if shared:
        warn(
            f"{shared} of {total} items in {item!r} are in several rankings, but the test takes "
            "rankings as independent, so p may be too small. Use dependence='comonotone', which "
            "is always valid, or compare with a ranking by popularity. If no item is relevant to "
            "several queries, ignore SharedItemsWarning.",
            SharedItemsWarning,
        )


def stretches(rows: pl.DataFrame) -> pl.DataFrame:
    """Return all rows, or of many rows stretches that begin anywhere, the same in every call."""
    if rows.height <= _MOST_ROWS:
        return rows
    length = _MOST_ROWS // _STRETCHES
    begins = np.random.default_rng(0).integers(0, rows.height - length + 1, _STRETCHES)
    return pl.concat([rows.slice(begin, length) for begin in np.sort(begins)])


def warn_of(source: Source, args: Arguments, *, uses_grades: bool, counts_hits: bool) -> None:
    """Warn of what was noticed of the rows while they were ranked."""
    seen = source.seen
    if not (seen.rows or seen.read):
        n_rows = source.lazy().select(pl.len()).collect().item()
        left = f"none of {n_rows} rows counts" if n_rows else "the frame has no rows"
        warn(
            f"{left}, so that the result says nothing; see whether what was read or "
            "filtered is empty, or ignore EmptyFrameWarning.",
            EmptyFrameWarning,
        )
    if seen.rows and not seen.positives and args.n_pos is None and counts_hits:
        warn(
            f"no row is positive: no {args.label!r} {_positive_labels(args)}. Say which labels "
            "are positive with positive=; check lists the labels. If there are no positives, "
            "ignore NoPositivesWarning.",
            NoPositivesWarning,
        )
    if not uses_grades:
        warn_of_grades(seen, args)
    if seen.rows and not seen.negatives and args.n_neg is None and not uses_grades:
        number = "give their number in n_neg="
        remedy = f"If negatives are not listed, {number}"
        if source.schema.get(args.label) != pl.Boolean:
            remedy = f"Say which labels are positive, for example {_other_positives(args)}; if "
            remedy += f"negatives are not listed, {number}"
        warn(
            f"no row is negative: every {args.label!r} {_positive_labels(args)}, so precision is "
            f"1 at every threshold. {remedy}. If there are none, ignore NoNegativesWarning.",
            NoNegativesWarning,
        )
    if seen.tied:
        warn(seen.tied, TiePolicyWarning)


def _positive_labels(args: Arguments) -> str:
    """Say what makes labels positive."""
    if args.positive is True:
        return "is True or above 0"
    if isinstance(args.positive, (int, float)):
        return f"is at least {args.positive:g}"
    values = [args.positive] if isinstance(args.positive, str) else args.positive
    return f"is {checks.listed(values)}"


def _other_positives(args: Arguments) -> str:
    """Give examples of labels that may be the positive ones."""
    if isinstance(args.positive, (bool, int, float)):
        return "positive=2 for grades of at least 2"
    return "a single one of them in positive="


def _named(columns: Sequence[str]) -> str:
    """Return one column, or a list of them, as it is written in a call."""
    return repr(columns[0]) if len(columns) == 1 else str(list(columns))
