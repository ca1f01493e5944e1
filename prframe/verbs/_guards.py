"""Guards against silent mistakes: rows of several rankings that are ranked together."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import polars as pl

from prframe._engine.arguments import Arguments
from prframe._engine.frames import source
from prframe._engine.rows import considered, in_groups
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
    args : Arguments
        The arguments of the call.
    """

    frame: object
    columns: Sequence[str]
    args: Arguments

    @classmethod
    def of(cls, frame: object, names: Collection[str], args: Arguments) -> "PooledRankings":
        """Find the columns in a frame with columns of some names."""
        return cls(frame, [key for key in _KEYS if key in names and key not in args.columns], args)

    def pooled(self) -> dict[str, pl.DataFrame]:
        """Return the columns that vary within rankings, with the keys of these rankings."""
        varying = {}
        for column in self.columns:
            rankings = self._varying(column, ())
            if rankings is not None and self.args.keys:
                rankings = self._varying(column, self.args.keys)
            if rankings is not None:
                varying[column] = rankings
        return varying

    def _varying(self, column: str, by: Sequence[str]) -> pl.DataFrame | None:
        """Return the keys of the groups in which a column takes several values, if there are any.

        The caller has not asked for the column: one that cannot be read, or compared, is left be.
        """
        args = self.args
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
            grouped = query.group_by(by, maintain_order=True) if by else None
            groups = (query.select(varies) if grouped is None else grouped.agg(varies)).collect()
            pooled = groups.filter("varies")
            return pooled.select(by) if pooled.height else None
        except Exception:  # noqa: BLE001 - whatever a column of the caller holds
            return None

    def warn(self, by: Sequence[str], *, takes_over: bool) -> None:
        """Warn once of the first column that varies within rankings.

        `by` are the columns of `by`; other keys are those of `over`.
        """
        over = [key for key in self.args.keys if key not in by]
        for column, rankings in self.pooled().items():
            call = f"by={_named([*by, column])}"
            mean = f", for the mean over them over={_named([*over, column])}" if takes_over else ""
            if over:
                call, mean = f"over={_named([*over, column])}", ""
            warn(
                f"rows that differ in {column!r} are ranked together{in_groups(rankings.rows())}; "
                f"the column stands in neither `by` nor `over`. For a ranking each say {call}"
                f"{mean}; if they are one ranking, drop the column, or ignore "
                "PooledRankingWarning.",
                PooledRankingWarning,
            )
            return


def _named(columns: Sequence[str]) -> str:
    """Return one column, or a list of them, as it is written in a call."""
    return repr(columns[0]) if len(columns) == 1 else str(list(columns))
