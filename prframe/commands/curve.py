"""``prframe curve``: precision-recall curves."""

import argparse
from typing import Any

from prframe.commands import inputs, options, outputs
from prframe.commands.exits import OK

SUMMARY = "compute precision-recall curves"
EXAMPLES = """\
examples:
  prframe curve qrels bm25.run --interpolate
  prframe curve qrels bm25.run -q --recall 0.1 0.5 -f csv
  prframe curve --frame scores.csv --by model -o curves.parquet
"""
# The levels of trec_eval, 0, 0.1, ..., 1.
LEVELS = 11


def add_options(parser: options.Parser) -> None:
    """Add the options of the command."""
    options.add_input(parser)
    add_curve(parser)
    options.add_output(parser)


def add_curve(parser: options.Parser) -> None:
    """Add the options that say which curve is meant."""
    options.add_by_query(parser)
    parser.several(
        "--recall",
        metavar="LEVEL",
        text=f"levels of recall, or how many of them (of a mean curve {LEVELS} unless given)",
    )
    parser.flag("--interpolate", text="take the largest precision at that recall or beyond")


def run(given: argparse.Namespace) -> int:
    """Draw the curves, and write them."""
    outputs.format_of(given)
    options.levels(given.recall)
    data = inputs.read(given).require_one_model()
    from prframe import curve

    result: Any = curve(
        data.frame,
        **arguments(data, given),
        interpolate=given.interpolate,
        **data.options,
    )
    result = result.lazy().collect()
    outputs.write(result, given, data.note)
    return OK


def arguments(data: inputs.Rankings, given: argparse.Namespace) -> dict[str, Any]:
    """Return what a verb of curves is told of groups and levels."""
    columns = data.columns(by_query=given.by_query)
    default = LEVELS if "over" in columns else None
    recall = options.levels(given.recall) or default
    return columns if recall is None else columns | {"recall": recall}
