"""Functions that workers call on whole partitions of rows."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

import polars as pl

from prframe.spark.border import read, written

if TYPE_CHECKING:
    import pyarrow as pa

Compute = Callable[[pl.DataFrame], pl.DataFrame]
Schema = Mapping[str, pl.DataType]

PART = "part"


@dataclass(frozen=True)
class OnRows:
    """A computation on the rows of a partition.

    Its rows have the columns `out`; if that is None, they are packed into one row of bytes.
    """

    like: pl.DataFrame
    compute: Compute
    out: Schema | None

    def __call__(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yield the rows of the result; a partition without rows has none."""
        rows = read(batches, self.like)
        if rows.height:
            result = computed(self.compute, rows)
            yield from written(_packed(result) if self.out is None else typed(result, self.out))


def computed(compute: Compute, rows: pl.DataFrame) -> pl.DataFrame:
    """Compute without warnings, which nobody would see where workers compute."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compute(rows)


def typed(rows: pl.DataFrame, out: Schema) -> pl.DataFrame:
    """Return the columns of the result in their order, with their exact dtypes."""
    return rows.select(pl.col(name).cast(dtype) for name, dtype in out.items())


def _packed(rows: pl.DataFrame) -> pl.DataFrame:
    """Return a single row, which holds all rows as bytes."""
    content = BytesIO()
    rows.write_ipc(content)
    return pl.DataFrame({PART: [content.getvalue()]})
