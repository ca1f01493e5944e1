"""Draw the picture of the README and of the landing page: mean curves over 20 queries.

python scripts/make_pictures.py    # writes docs/_static/bands-light.svg and bands-dark.svg
"""

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import polars as pl

import prframe

FOLDER = Path(__file__).parent.parent / "docs" / "_static"


SYSTEMS = ["pixels", "thumbnail", "binary"]


def draw(bands: pl.DataFrame, *, dark: bool) -> plt.Figure:
    """Draw a panel per system on a light or a dark ground."""
    with prframe.plot.style(dark=dark):
        plt.rcParams.update({"svg.fonttype": "path", "svg.hashsalt": "prframe"})
        return prframe.plot.curve(bands, facet="system")


def main() -> int:
    """Compute the bands once and draw them on both grounds."""
    digits = prframe.datasets.load_digits().filter(pl.col("system").is_in(SYSTEMS))
    queries = digits["query_id"].unique(maintain_order=True).gather_every(10)
    few = digits.filter(pl.col("query_id").is_in(queries.implode()))
    bands = few.pr.band(by="system", over="query_id", n_pos="n_relevant", recall=51, rng=1)
    for ground, dark in (("light", False), ("dark", True)):
        path = FOLDER / f"bands-{ground}.svg"
        draw(bands, dark=dark).savefig(path, metadata={"Date": None})
        print(path.name, path.stat().st_size, "bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
