"""Sphinx configuration. Nothing is downloaded during a build."""

import os
import sys
from functools import partial
from pathlib import Path

import matplotlib as mpl

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import gallery_links  # noqa: E402
import llms  # noqa: E402
import recorded  # noqa: E402
import source_tables  # noqa: E402
import verb_pages  # noqa: E402
from pictures import Picture, write_scripts  # noqa: E402

import prframe  # noqa: E402 - the path must first name the package beside these pages
from prframe.accessors import verbs  # noqa: E402

mpl.use("Agg")
os.environ.setdefault("POLARS_TABLE_WIDTH", "100")

project = "prframe"
author = "The prframe developers"
copyright = author
version = release = prframe.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
# Decision records and releases are for those who work on the code; the search does not find them.
exclude_patterns = ["_build", "adr", "release.md"]
default_role = "py:obj"

# Signatures show names and defaults; types and meanings stand in the docstrings.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = False
numpydoc_show_class_members = False

myst_heading_anchors = 3

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    # Pages import these modules.
    "ignore_pattern": r"rank_(experiments|figures|models|remarks)\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "run_stale_examples": True,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 60,
    "remove_config_comments": True,
    # Axes that a last line returns are shown as a picture, not in words as well.
    "ignore_repr_types": r"matplotlib\.(axes|figure|text)",
}

WIDE = [
    "evidence/coverage",
    "evidence/null",
    "evidence/tests",
    "gallery/plot_rank_learning",
    "gallery/plot_rank_learning_scale",
]

html_theme = "pydata_sphinx_theme"
html_title = f"prframe {version}"
html_static_path = ["_static"]
html_css_files = ["prframe.css"]
html_js_files = ["copy.js"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_use_index = html_domain_indices = False
html_theme_options = {
    "logo": {
        "text": f"prframe {version}",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
        "alt_text": "prframe, to the first page",
    },
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    # Pages with wide tables have the room of the contents beside them.
    "secondary_sidebar_items": {"**": ["page-toc"], **{page: [] for page in WIDE}},
    "footer_start": ["copyright"],
    "footer_end": [],
}
# A page without pages of its own beside it has nothing to list at its side.
html_sidebars = {"quickstart": [], "cite": [], "how_a_call_flows": [], "search": []}

# Words by which people look for a page, in whose title or text others may stand.
SEARCHED_AS = {
    "guide/intervals": [
        "confidence interval",
        "confidence intervals",
        "bootstrap",
        "standard error",
        "interval of ndcg",
    ],
    "guide/comparing": ["compare two runs", "compare systems", "significance test", "paired test"],
    "guide/comparing_classifiers": ["compare classifiers", "delong", "compare models"],
    "guide/designs": ["cluster", "power", "equivalence", "cross-validation", "folds"],
    "guide/bands": ["confidence band", "draw a band", "precision-recall curve"],
    "guide/significance": ["p-value", "average precision test", "better than chance"],
    "guide/metrics": ["ndcg", "average precision", "list of metrics"],
    "guide/trec": ["trec_eval", "qrels", "run file"],
    "guide/migration": ["scikit-learn", "ranx", "ir_measures"],
    "guide/five_tasks": ["yardstick"],
    "guide/lazy": ["pandas", "pyarrow", "lazy frame"],
    "guide/spark": ["pyspark", "databricks", "run on spark"],
    "guide/pictures": ["latex", "matplotlib", "altair"],
    "guide/missing": ["null", "nan", "missing scores"],
    "guide/ties": ["tied scores", "equal scores"],
    "cite": ["citation", "cite", "how to cite", "bibtex"],
}
# The pages of verbs are made from their list before Sphinx looks for pages.
verb_pages.write()


def verb_names() -> str:
    """Return the names of the verbs for a summary."""
    return "\n   ".join(verbs())


GENERATED = {
    ".. each verb": verb_pages.toctree,
    ".. names of verbs": verb_names,
    **{
        f"<!-- results: {name} -->": partial(recorded.page, name)
        for name in ("benchmarks", *recorded.PAGES)
    },
}


# The Markdown of pages as they are built.
READ: dict[str, str] = {}


def fill_in(_app: object, docname: str, source: list[str]) -> None:
    """Replace the marks in a page by what they stand for, and index it by words for the search."""
    if docname in SEARCHED_AS:
        entries = "".join(f"```{{index}} ! {words}\n```\n" for words in SEARCHED_AS[docname])
        title, _, text = source[0].partition("\n")
        source[0] = f"{title}\n\n{entries}{text}"
    if docname == "guide/sources":
        source[0] = source_tables.with_tables(source[0], source_tables.linked())
    for mark, make in GENERATED.items():
        if mark in source[0]:
            source[0] = source[0].replace(mark, make())
    source[0] = gallery_links.built(source[0], "../" * docname.count("/"))
    if docname in llms.PAGES:
        READ[docname] = source[0]


def files_beside(app: object, error: Exception | None) -> None:
    """Write the scripts of charts, and the reports that the guide links to, beside the pages."""
    if error is not None or app.builder.format != "html":
        return
    write_scripts(Path(app.outdir))
    llms.write(Path(app.outdir), READ)
    digits = prframe.datasets.load_digits()
    prframe.report(
        digits,
        over="query_id",
        item="item_id",
        n_pos="n_relevant",
        title="Six systems that search for images of digits",
        depth=15,
        output=Path(app.outdir) / "report-of-rankings.html",
    )
    prframe.report(
        digits.select("system", "score", "label", "n_relevant"),
        by="n_relevant",
        title="Six systems as classifiers of pairs of images",
        output=Path(app.outdir) / "report-of-classifiers.html",
    )


def setup(app: object) -> None:
    """Fill in pages as they are read, draw their pictures, and add other files in the end."""
    app.connect("source-read", fill_in)
    app.add_directive("picture", Picture)
    app.connect("build-finished", files_beside)
