"""Bands and intervals: what is timed, here and elsewhere."""

from collections.abc import Callable

import polars as pl

import prframe
from benchmarks import rankings
from benchmarks.measurement import Answer
from benchmarks.tasks import Work, means


def band(kind: str, **size: int) -> Work:
    frame = rankings.shifted(**size)
    return Work(lambda: prframe.band(frame, by="group", kind=kind, rng=1), _width)


def interval(metrics: list[str], method: str, n_resamples: int, **size: int) -> Work:
    frame = rankings.shifted(**size)
    return Work(
        lambda: prframe.interval(
            frame, metrics, by="group", method=method, n_resamples=n_resamples, rng=1
        ),
        _width,
    )


def curve_floor(**size: int) -> Work:
    """Sort the same rows and compute AP."""
    frame = rankings.shifted(**size)
    return Work(lambda: prframe.evaluate(frame, "AP", by="group"), means)


def _width(found: pl.DataFrame) -> Answer:
    width = found["conf_high"] - found["conf_low"]
    return {"rows": found.height, "width": float(width.mean())}  # type: ignore[arg-type]


TASKS: dict[str, Callable[..., Work]] = {
    task.__name__: task for task in (band, curve_floor, interval)
}
