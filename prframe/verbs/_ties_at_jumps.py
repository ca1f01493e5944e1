"""The warning that ties at a jump of a score-generating function put estimates off."""

import polars as pl

from prframe._engine.rows import in_groups
from prframe.errors import CoverageWarning, warn

# The working column of how many standard errors ties at a jump may move an estimate, and from how
# many on intervals do not cover.
MOVED, _MATTERS = "__moved", 1.0


def warn_of_ties_at_jumps(rows: pl.DataFrame, keys: list[str], named: str, told: str) -> None:
    """Warn once of the estimates that blocks of ties at a jump may move too far.

    `rows` has a row for each estimate, with the keys of its group and the column ``__moved``, and
    in the column `named` what is estimated; `told` says how often intervals cover, and what to do.
    """
    off = rows.filter(pl.col(MOVED) > _MATTERS)
    if off.is_empty():
        return
    names = ", ".join(off[named].unique(maintain_order=True))
    groups = off.select(keys).unique(maintain_order=True).rows()
    warn(
        f"{names}: a block of equal scores lies at the jump of phi{in_groups(groups)}, and all "
        f"of it counts as above, or all as below; the estimate and its interval are off: {told}, "
        "ignore CoverageWarning.",
        CoverageWarning,
    )
