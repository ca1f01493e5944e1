"""Put the rows of several files together, so that their systems stay apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from prframe import checks
from prframe.errors import PrframeError
from prframe.trec.files.paths import Path, file_stem


@dataclass(frozen=True)
class Part:
    """Rows with a column ``system``, and the file that they come from, if there is one."""

    rows: pl.DataFrame
    path: Path | None = None

    def renamed(self) -> "Part":
        """Return the part as a system that is named after its file."""
        if self.path is None or self.rows["system"].n_unique() > 1:
            raise _alike(self.rows["system"].unique())
        return Part(self.rows.with_columns(pl.lit(file_stem(self.path)).alias("system")))


def together(parts: Sequence[Part], *keys: str) -> pl.DataFrame:
    """Return the rows of all parts.

    Parts that share a system and the values of the keys cannot be one system. Each of them is a
    system of its own, named after its file.
    """
    shared = _sharing(parts, keys)
    named = [part.renamed() if i in shared else part for i, part in enumerate(parts)]
    if still_shared := _sharing(named, keys):
        raise _alike(pl.concat(named[i].rows["system"] for i in still_shared).unique())
    return pl.concat([part.rows for part in named], how="diagonal_relaxed")


def _alike(systems: pl.Series) -> PrframeError:
    """Return the error about systems that cannot be told apart."""
    return PrframeError(
        "the runs must have names of their own; several of them that have a query in common are "
        f"named {checks.listed(systems.head(checks.SHOWN))}. "
        "Pass a dict, {name: run}, or files of other names."
    )


def _sharing(parts: Sequence[Part], keys: Sequence[str]) -> set[int]:
    """Return the numbers of the parts that have a system and a value of the keys in common."""
    if len(parts) == 1:
        return set()
    rows = pl.concat(
        [
            part.rows.select(pl.lit(i).alias("part"), "system", *keys).unique()
            for i, part in enumerate(parts)
        ],
        how="vertical_relaxed",
    )
    shared = rows.filter(pl.struct("system", *keys).is_duplicated())
    return set(shared["part"])
