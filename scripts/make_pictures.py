"""Draw the pictures of the README: mean curves over 20 queries, and a report.

python scripts/make_pictures.py    # writes docs/_static/bands-{light,dark}.svg and report.png

The picture of the report needs playwright and chromium, and is left as it is without them.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

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


def picture_report(path: Path) -> None:
    """Show the top of a report in a browser, and keep what it shows."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - it may be absent

    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "report.html"
        prframe.report(
            prframe.datasets.load_digits(),
            over="query_id",
            item="item_id",
            n_pos="n_relevant",
            title="Six systems that search for images of digits",
            output=page,
        )
        browser = playwright.chromium.launch(
            executable_path=which("chromium"), args=["--no-sandbox"]
        )
        shown = browser.new_page(viewport={"width": 920, "height": 1000})
        shown.goto(page.as_uri())
        shown.wait_for_timeout(800)
        shown.screenshot(path=path)
        browser.close()


def main() -> int:
    """Compute the bands once and draw them on both grounds, and show a report."""
    if find_spec("playwright"):
        picture_report(FOLDER / "report.png")
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
