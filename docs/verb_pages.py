"""A page of the reference for each verb: its docstring, a picture of its result, and where to read on."""

from pathlib import Path
from textwrap import indent

from prframe.accessors import verbs

FOLDER = Path(__file__).parent / "reference" / "verbs"

# For each verb: what it is for, pages of the guide, and code whose last line is a picture.
ALL = "digits = prframe.datasets.load_digits()\n"
TWO = f"""{ALL}two = digits.filter(pl.col("system").is_in(["pixels", "binary"]))
"""
ONE = TWO + 'query = two.filter(query_id="q0038")\n'
ABOUT = {
    "evaluate": (
        "metrics, one row per group",
        ["metrics", "trec", "ties", "missing"],
        TWO + 'two.pr.plot.queries("pixels", "binary", metric="AP", n_pos="n_relevant")',
    ),
    "curve": (
        "precision-recall curves, one row per threshold",
        ["ties", "bands"],
        ONE + 'query.pr.plot.curve(by="system")',
    ),
    "roc": (
        "ROC curves, one row per threshold",
        ["rank_statistics"],
        ONE + 'query.pr.plot.roc(by="system")',
    ),
    "interval": (
        "confidence intervals for metrics, or for their means over queries",
        ["intervals"],
        ALL + 'digits.pr.plot.interval(["AP", "P@10"], by="system", over="query_id")',
    ),
    "compare": (
        "which of several models is better: differences, intervals, tests, effect sizes",
        ["comparing", "comparing_classifiers", "designs"],
        ALL + 'digits.pr.plot.matrix(metric="AP", model="system", n_pos="n_relevant", rng=1)',
    ),
    "band": (
        "confidence bands around precision-recall curves",
        ["bands"],
        TWO + 'two.pr.plot.band(by="system", over="query_id", recall=21, rng=1)',
    ),
    "compare_curves": (
        "confidence bands for the difference of two precision-recall curves",
        ["bands", "comparing"],
        TWO
        + 'two.pr.plot.curve_difference(model="system", over="query_id", n_pos="n_relevant", recall=21, rng=1)',
    ),
    "ap_test": (
        "a test of average precision, or of its mean over queries, against chance",
        ["significance", "copairs"],
        TWO + 'poor = digits.filter(system="ink", query_id="q0038")\nprframe.plot.ap_null(poor)',
    ),
    "rank_test": (
        "tests by linear rank statistics (AUC, local AUC, p-norm push, DCG), with intervals",
        ["rank_statistics"],
        ALL + 'plot.scores(digits.filter(system="ink", query_id="q0038"))',
    ),
    "topk_test": (
        "a test against chance and an interval for precision or recall at k",
        ["topk"],
        "",
    ),
    "check": (
        "a report on what is suspicious in the data",
        ["warnings", "ties", "missing"],
        "",
    ),
}


def write() -> None:
    """Write the pages; a file that would stay as it is keeps its date."""
    FOLDER.mkdir(exist_ok=True)
    for name in verbs():
        path, text = FOLDER / f"{name}.rst", page(name)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def page(name: str) -> str:
    """Return the page of a verb."""
    what, guides, drawn = ABOUT[name]
    links = ", ".join(f":doc:`/guide/{guide}`" for guide in guides)
    parts = [
        f"{name}\n{'=' * len(name)}",
        f"{what[0].upper()}{what[1:]}. The guide has more: {links}.",
        ".. currentmodule:: prframe",
        f".. autofunction:: {name}",
    ]
    if drawn:
        parts += [".. rubric:: Picture", ".. picture::\n\n" + indent(drawn, "   ")]
    return "\n\n".join(parts) + "\n"


def toctree() -> str:
    """Return the list of the pages, in the order in which the guide needs them."""
    names = [*ABOUT]
    assert set(names) == set(verbs()), "ABOUT must have a row for each verb"
    rows = "\n".join(f"   * - :func:`{name}`\n     - {ABOUT[name][0]}" for name in names)
    pages = "\n".join(f"   verbs/{name}" for name in names)
    return f".. list-table::\n   :widths: 25 75\n\n{rows}\n\n.. toctree::\n   :hidden:\n\n{pages}"
