"""How many rows of a computation are held at a time."""

from collections.abc import Iterator


def batches(total: int, width: int, held: int) -> Iterator[slice]:
    """Cut rows of so many values into slices that hold no more than `held` values, or one row."""
    rows = max(1, held // max(width, 1))
    return (slice(start, min(start + rows, total)) for start in range(0, total, rows))


def batch_sizes(total: int, width: int, held: int) -> list[int]:
    """Return the numbers of rows of `batches`."""
    return [rows.stop - rows.start for rows in batches(total, width, held)]
