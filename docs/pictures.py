"""The directive ``picture``: code that draws, and what it draws on a light and a dark ground.

With the option ``interactive`` a chart answers to the pointer, by scripts that lie beside the pages.
"""

import ast
import json
import warnings
from hashlib import sha256
from pathlib import Path

import matplotlib.pyplot as plt
import polars as pl
from docutils import nodes
from docutils.parsers.rst import Directive, directives
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import prframe
from prframe import chart, plot

FOLDER = "guide/drawn"
# The scripts of Vega, which are written once, and a call of them that replaces a still.
SCRIPTS = "_static/vega.js"
_EMBED = """<script src="{scripts}"></script>
<script>vegaEmbed("#{name}", {specification}, {{actions: false}});</script>"""


class Picture(Directive):
    """Show code, and the picture that its last line returns, with the picture's own text."""

    has_content = True
    option_spec = {"interactive": directives.flag}  # noqa: RUF012 - docutils reads it

    def run(self) -> list[nodes.Node]:
        """Draw the picture twice, and return the code and both images or charts."""
        code = "\n".join(self.content)
        environment = self.state.document.settings.env
        folder = Path(environment.srcdir, FOLDER)
        folder.mkdir(exist_ok=True)
        shown = nodes.literal_block(code, code)
        shown["language"] = "python"
        images: list[nodes.Node] = []
        for dark, ground in ((False, "only-light"), (True, "only-dark")):
            name = f"{sha256(code.encode()).hexdigest()[:12]}-{ground}.svg"
            with plot.style(dark=dark), chart.style(dark=dark):
                plt.rcParams["svg.fonttype"] = "path"
                plt.rcParams["svg.hashsalt"] = "prframe"
                drawn = drawn_by(code)
                text = save(drawn, folder / name)
                image = nodes.image(uri=f"/{FOLDER}/{name}", alt=text, classes=[ground])
                images += self._chart(drawn, image) if "interactive" in self.options else [image]
        return [shown, *images]

    def _chart(self, drawn: object, image: nodes.image) -> list[nodes.Node]:
        """Return a still, in which a chart takes its place where scripts are run."""
        specification = json.dumps(drawn.to_dict()).replace("<", "\\u003c")  # type: ignore[attr-defined]
        name = f"chart-{sha256(specification.encode()).hexdigest()[:12]}"
        to_root = "../" * self.state.document.settings.env.docname.count("/")
        embed = _EMBED.format(scripts=to_root + SCRIPTS, name=name, specification=specification)
        place = nodes.container("", image, ids=[name], classes=image["classes"])
        return [place, nodes.raw("", embed, format="html")]


def write_scripts(folder: Path) -> None:
    """Write the scripts of Vega beside the pages, with their names kept to themselves."""
    import vl_convert  # noqa: PLC0415 - needed for charts alone

    bundle = vl_convert.javascript_bundle()
    (folder / SCRIPTS).write_text(f"(() => {{{bundle}}})();", encoding="utf-8")


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
