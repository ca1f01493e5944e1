"""The directive ``picture``: code that draws, and what it draws on a light and a dark ground."""

import ast
import warnings
from hashlib import sha256
from pathlib import Path

import matplotlib.pyplot as plt
import polars as pl
from docutils import nodes
from docutils.parsers.rst import Directive
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import prframe
from prframe import chart, plot

FOLDER = "guide/drawn"


class Picture(Directive):
    """Show code, and the picture that its last line returns, with the picture's own text."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Draw the picture twice, and return the code and both images."""
        code = "\n".join(self.content)
        environment = self.state.document.settings.env
        folder = Path(environment.srcdir, FOLDER)
        folder.mkdir(exist_ok=True)
        shown = nodes.literal_block(code, code)
        shown["language"] = "python"
        images = []
        for dark, ground in ((False, "only-light"), (True, "only-dark")):
            name = f"{sha256(code.encode()).hexdigest()[:12]}-{ground}.svg"
            with plot.style(dark=dark), chart.style(dark=dark):
                plt.rcParams["svg.fonttype"] = "path"
                plt.rcParams["svg.hashsalt"] = "prframe"
                text = save(drawn_by(code), folder / name)
            images.append(nodes.image(uri=f"/{FOLDER}/{name}", alt=text, classes=[ground]))
        return [shown, *images]


def drawn_by(code: str) -> object:
    """Run code and return the value of its last line."""
    *before, last = ast.parse(code).body
    assert isinstance(last, ast.Expr)
    names = {"pl": pl, "prframe": prframe, "plot": plot, "chart": chart}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(ast.Module(before, []), "picture", "exec"), names)  # noqa: S102 - the pages are our own
        return eval(compile(ast.Expression(last.value), "picture", "eval"), names)  # noqa: S307


def save(drawn: object, path: Path) -> str:
    """Write a picture into a file, and return what it shows in words."""
    if isinstance(drawn, (Axes, Figure)):
        figure = drawn.get_figure(root=True) if isinstance(drawn, Axes) else drawn
        assert figure is not None
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
        return plot.alt_text(drawn)
    drawn.save(path)  # type: ignore[attr-defined]
    return chart.alt_text(drawn)  # type: ignore[arg-type]
