"""Guards against silent mistakes: rows of several rankings that are ranked together."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import polars as pl

from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source, source
from prframe._engine.rows import in_groups
from prframe.errors import PooledRankingWarning, warn

# Columns of these names tell rankings apart.
_KEYS = ("query_id", "qid", "query", "topic", "system", "run", "model", "fold")


@dataclass(frozen=True)
class PooledRankings:
    """The columns that tell rankings apart, by their names, and are not used.

    Attributes
    ----------
    frame : object
        The caller's frame.
    columns : sequence of str
        The columns.
    by : sequence of str
        The columns by which rankings are kept apart.
    """

    frame: object
    columns: Sequence[str]
    by: Sequence[str]

    @classmethod
    def of(cls, frame: object, names: Collection[str], args: Arguments) -> "PooledRankings":
        """Find the columns in a frame with columns of some names."""
        unused = [key for key in _KEYS if key in names and key not in args.columns]
        return cls(frame, unused, args.keys)

    def pooled(self) -> dict[str, pl.DataFrame]:
        """Return the columns that vary within rankings, with the keys of these rankings."""
        varying = self._varying(self.columns, ())
        return self._varying(list(varying), self.by) if varying and self.by else varying

    def _varying(self, columns: Sequence[str], by: Sequence[str]) -> dict[str, pl.DataFrame]:
        """Return which of some columns take several values within groups, and in which groups."""
        if not columns:
            return {}
        rows = source(self.frame, dict.fromkeys([*by, *columns], "by"))
        names = [name for name in columns if not rows.schema[name].is_nested()]
        groups = _groups(rows, names, by)
        return {
            name: varying.select(by)
            for name in names
            if not (varying := groups.filter(pl.col(f"varies {name}"))).is_empty()
        }

    def warn(self, *, takes_over: bool) -> None:
        """Warn once of the first column that varies within rankings."""
        for column, rankings in self.pooled().items():
            keys = [*self.by, column]
            call = repr(column) if len(keys) == 1 else str(keys)
            mean = f", for the mean over them over={column!r}" if takes_over else ""
            warn(
                f"rows that differ in {column!r} are ranked together{in_groups(rankings.rows())}; "
                f"the column stands in neither `by` nor `over`. For a ranking each say by={call}"
                f"{mean}; if they are one ranking, drop the column, or ignore "
                "PooledRankingWarning.",
                PooledRankingWarning,
            )
            return


def _groups(rows: Source, names: Sequence[str], by: Sequence[str]) -> pl.DataFrame:
    """Return for each group whether columns take several values."""
    varies = [
        pl.col(name).ne_missing(pl.col(name).first()).any().alias(f"varies {name}")
        for name in names
    ]
    query = rows.lazy()
    groups = query.group_by(by, maintain_order=True).agg(varies) if by else query.select(varies)
    return groups.collect()
