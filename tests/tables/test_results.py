"""Tables of results."""

import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from prframe import tables
from prframe.tables.table import escaped
from tests.refusals import refusals
from tests.tables.cases import HOSTILE, comparison, intervals

MODELS = ["x", "y", "z"]
PAIRS = comparison(MODELS, {("x", "y"), ("x", "z")})


def raised(marks: str, pairs: pl.DataFrame = PAIRS, **options: object) -> list[str]:
    table = tables.results(intervals(MODELS), pairs, marks, **options)  # type: ignore[arg-type]
    return [line.cells[0].marks for line in table.lines]


def test_marks() -> None:
    assert raised("beats") == ["bc", "", ""]
    assert raised("letters") == ["a", "b", "b"]
    assert raised("dagger", baseline="y") == ["†", "", ""]
    assert raised("dagger", baseline="x") == ["", "‡", "‡"]
    with_x = PAIRS.filter(pl.col("model_a") == "x")
    assert raised("dagger", with_x) == ["", "‡", "‡"]
    assert raised("beats", alpha=0.01) == ["", "", ""]


def test_the_best_is_the_largest_as_printed() -> None:
    means = intervals(MODELS).with_columns(estimate=pl.Series([0.5, 0.4999, 0.49]))
    best = lambda places: [  # noqa: E731
        line.cells[0].is_best for line in tables.results(means, places=places).lines
    ]
    assert best(3) == [True, True, False]
    assert best(4) == [True, False, False]


def test_captions_tell_what_was_done() -> None:
    means = intervals(MODELS).with_columns(confidence_level=0.9)
    pairs = PAIRS.with_columns(test=pl.lit("t"), correction=pl.lit("holm"), n_family=3)
    assert tables.results(means, pairs, "letters", ties="expected").caption == (
        "Estimates with 90% confidence intervals by the method logit. The largest value of each "
        "column is bold. Values of a column that share no superscript differ significantly (paired "
        "t-test, Holm's correction, family of 3, alpha = 0.05, n = 50). Means over the orders of "
        "ties."
    )
    assert tables.results(intervals(MODELS), PAIRS).caption == (
        "Estimates with confidence intervals by the method logit. The largest value of each column "
        "is bold. Superscripts name the systems that a value is significantly larger than "
        "(method randomization-exact, alpha = 0.05, n = 50)."
    )
    assert tables.results(intervals(MODELS)).caption == (
        "Estimates with confidence intervals by the method logit. The largest value of each column "
        "is bold."
    )


def test_the_numbers_as_a_frame() -> None:
    frame = tables.results(intervals(MODELS), PAIRS).to_frame()
    assert frame.columns == [
        *("key", "system", "metric", "estimate", "conf_low", "conf_high", "marks", "best"),
    ]
    assert frame["system"].to_list() == MODELS
    assert frame["marks"].to_list() == ["bc", "", ""]
    table = tables.results(intervals(MODELS).to_pandas(), PAIRS.to_pandas())
    assert isinstance(table.to_frame(), pd.DataFrame)


def test_markdown() -> None:
    table = tables.results(intervals(["a|b", "x_y"]), comparison(["a|b", "x_y"], {("a|b", "x_y")}))
    assert table.to_markdown() == (
        "|   | System | AP |\n"
        "| --- | --- | ---: |\n"
        "| a | a\\|b | **0.900**<sup>b</sup> \\[0.880, 0.920\\] |\n"
        "| b | x\\_y | 0.890 \\[0.870, 0.910\\] |\n"
        "\n"
        "Estimates with confidence intervals by the method logit. The largest value of each column is "
        "bold. Superscripts name the systems that a value is significantly larger than "
        "(method randomization-exact, alpha = 0.05, n = 50).\n"
    )
    assert str(table) == table.to_markdown()


class Reader(HTMLParser):
    """Collects the tags and the text of each row header."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.inside = ("scope", "row") in attrs
        if self.inside:
            self.names.append("")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.names[-1] += data


def test_hostile_names_are_text_in_html() -> None:
    table = tables.results(intervals(HOSTILE, ["<img>"]), comparison(HOSTILE, metrics=["<img>"]))
    reader = Reader()
    reader.feed(table.to_html())
    assert reader.names == HOSTILE
    assert reader.tags == {
        *("table", "caption", "thead", "tbody", "tr", "th", "td", "b", "small"),
    }
    assert table._repr_html_() == table.to_html()


@pytest.mark.slow
def test_great_tables() -> None:
    pytest.importorskip("great_tables", reason="great_tables is not installed")
    pairs = comparison(["<script>", "y"], {("<script>", "y")}, ["<i>"])
    page = tables.results(intervals(["<script>", "y"], ["<i>"]), pairs).gt().as_raw_html()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "<i>" not in page
    assert "<b>0.900</b><sup>b</sup>" in page


def test_escaping() -> None:
    assert escaped(r"\&%$#_{}~^") == (
        r"\textbackslash{}\&\%\$\#\_\{\}\textasciitilde{}\textasciicircum{}"
    )
    assert escaped("λ 日 é\n") == r"\ensuremath{\lambda} \prframesign{日}{[U+65E5]} é "


def why_no_tex(engine: str) -> str | None:
    if shutil.which(engine) is None or shutil.which("kpsewhich") is None:
        return f"{engine} is not on the path"
    search = shutil.which("kpsewhich") or ""
    done = subprocess.run([search, "booktabs.sty"], capture_output=True, text=True, check=False)
    return None if done.stdout.strip() else "this TeX has no booktabs"


def compiled(engine: str, table: tables.Table, folder: Path, preamble: str) -> None:
    """Require that a real TeX ends without an error."""
    text = "\n".join(
        [
            rf"\documentclass{{article}}{preamble}\usepackage{{booktabs}}\begin{{document}}",
            table.to_latex(label="tab:x"),
            r"Table \ref{tab:x}.\end{document}",
        ]
    )
    (folder / "page.tex").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [engine, "-interaction=nonstopmode", "-halt-on-error", "page.tex"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    log = (folder / "page.log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, log[-3000:]
    assert (folder / "page.pdf").stat().st_size > 0


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["pdflatex", "lualatex"])
@pytest.mark.parametrize("marks", ["beats", "letters", "dagger"])
def test_a_real_tex_compiles_hostile_names(engine: str, marks: str, tmp_path: Path) -> None:
    if reason := why_no_tex(engine):
        pytest.skip(reason)
    names = [*HOSTILE, "".join(map(chr, range(0x250)))]
    pairs = comparison(names, {(names[0], names[-1])}, ["AP", "P_%@5"])
    table = tables.results(
        intervals(names, ["AP", "P_%@5"]),
        pairs,
        marks,  # type: ignore[arg-type]
        baseline=HOSTILE[0],
    )
    for preamble in ("", r"\usepackage[T1]{fontenc}"):
        compiled(engine, table, tmp_path, preamble)


test_messages = refusals(
    {
        "`interval` must have a column of groups, which names the systems; got none. Pass by=.": lambda: (
            tables.results(intervals(MODELS).drop("system"))
        ),
        "`interval` must have one row per metric and value of 'system'; some have more.": lambda: (
            tables.results(pl.concat([intervals(MODELS)] * 2))
        ),
        "`compare` must have the systems of `interval`; it lacks 'w'.": lambda: tables.results(
            intervals([*MODELS, "w"]), PAIRS
        ),
        "`compare` must have the metrics of `interval`; it lacks 'RR'. Compare it too, or leave "
        "it out of the intervals.": lambda: tables.results(intervals(MODELS, ["RR"]), PAIRS),
        "`baseline` must name the system that daggers compare with.": lambda: tables.results(
            intervals(MODELS), PAIRS, "dagger"
        ),
        "`baseline` must be one of 'x', 'y', 'z'; got 'w'.": lambda: tables.results(
            intervals(MODELS), PAIRS, "dagger", baseline="w"
        ),
        "`places` must be at most 15; got 20.": lambda: tables.results(
            intervals(MODELS), places=20
        ),
    }
)


def test_an_end_may_be_infinite() -> None:
    """Retrieving all items may be as good as the best threshold of few of them."""
    rng = np.random.default_rng(0)
    label = rng.random(60) < 0.5
    frame = pl.DataFrame({"score": rng.normal(size=60), "label": label, "system": "a"})
    table = tables.results(frame.pr.interval("MaxF1", by="system", rng=1))
    # A larger threshold is no better.
    assert table.to_markdown().count("**") == 2
    assert "bold, except of thresholds." in table.to_latex()
    assert " \\[\u2212\u221e, " in table.to_markdown()
    assert r"{[}\ensuremath{-}\ensuremath{\infty}, " in table.to_latex()


def test_groups_of_several_columns() -> None:
    rows = pl.DataFrame(
        {
            "model": ["a", "a", "b", None],
            "segment": [1, 2, 1, 2],
            "metric": "AP",
            "estimate": [0.1, 0.4, 0.3, 0.2],
            "conf_low": 0.0,
            "conf_high": 1.0,
        }
    )
    names = [line.name for line in tables.results(rows).lines]
    assert names == ["a, 2", "b, 1", "null, 2", "a, 1"]
    lists = rows.group_by(["model", "segment"], maintain_order=True).agg(
        AP=pl.col("estimate").first()
    )
    assert [line.name for line in tables.results(lists).lines] == names
