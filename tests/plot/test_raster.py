"""What is drawn of a long curve covers the pixels of the whole curve."""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from scipy.ndimage import maximum_filter

import prframe
from prframe import plot


def long_curve(size: int) -> pl.DataFrame:
    rng = np.random.default_rng(size)
    label = rng.random(size) < 0.2
    score = np.where(label, rng.normal(1, 1, size), rng.normal(0, 1, size))
    return prframe.curve(pl.DataFrame({"score": score, "label": label}))


def raster(ax: Axes) -> np.ndarray:
    """Return which pixels of a picture are drawn on, without frame and labels."""
    ax.set_axis_off()
    ax.get_figure().canvas.draw()
    return np.asarray(ax.get_figure().canvas.buffer_rgba())[..., :3].min(axis=2) < 200


def drawn(curve: pl.DataFrame, *, whole: bool) -> tuple[np.ndarray, int]:
    figure, ax = plt.subplots(figsize=(4, 4), dpi=150)
    plot.curve(curve, legend=None, ax=ax)
    (line,) = ax.get_lines()
    line.set(linewidth=1, color="black", antialiased=False)
    points = len(line.get_xdata())
    if whole:
        # Step for step, with the conventional opening point left out.
        rows = curve.filter(pl.col("k") > 0)
        x = np.concatenate([[0.0], rows["recall"]])
        y = np.concatenate([rows["precision"][:1], rows["precision"]])
        line.set_data(x, y)
    pixels = raster(ax)
    plt.close(figure)
    return pixels, points


@pytest.mark.parametrize("size", [50_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_every_pixel_is_within_one_of_the_whole_drawing(size: int) -> None:
    curve = long_curve(size)
    thinned, points = drawn(curve, whole=False)
    full, _ = drawn(curve, whole=True)
    assert points < 4 * 1200 + 10
    assert full.sum() > 300
    assert not (thinned & ~maximum_filter(full, 3)).any()
    assert not (full & ~maximum_filter(thinned, 3)).any()
