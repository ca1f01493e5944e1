"""``prframe curve`` and ``prframe band``: precision-recall curves, and their confidence bands."""

import argparse
from typing import Any

from prframe.commands import inputs, options, outputs
from prframe.commands.exits import OK

# The levels of trec_eval, 0, 0.1, ..., 1.
LEVELS = 11


def _add_curve(parser: options.Parser) -> None:
    """Add the input, and the options that say which curve is meant."""
    options.add_input(parser)
    options.add_by_query(parser)
    parser.several(
        "--recall",
        metavar="LEVEL",
        text=f"levels of recall, or how many of them (of a mean curve {LEVELS} unless given)",
        kind=float,
    )
    parser.flag("--interpolate", text="take the largest precision at that recall or beyond")


def _add_curve_options(parser: options.Parser) -> None:
    """Add the options of curves."""
    _add_curve(parser)
    options.add_output(parser)


def _add_band_options(parser: options.Parser) -> None:
    """Add the options of bands."""
    _add_curve(parser)
    parser.flag("--pointwise", text="cover the curve at each level by itself, not at all at once")
    options.add_method(parser)
    options.add_confidence(parser)
    options.add_population(parser)
    options.add_randomness(parser)
    options.add_output(parser)


def _draw(given: argparse.Namespace) -> int:
    """Draw the curves or bands, and write them; `band` shows how far it is by itself."""
    outputs.format_of(given)
    recall: Any = given.recall
    if len(recall) == 1 and recall[0] > 1 and recall[0].is_integer():
        recall = int(recall[0])
    data = inputs.read(given).in_rows()
    import prframe

    chosen: dict[str, Any] = data.columns(by_query=given.by_query)
    if recall or "over" in chosen:
        chosen["recall"] = recall or LEVELS
    verb: Any = prframe.curve
    if "pointwise" in given:
        verb = prframe.band
        names = ("method", "confidence_level", "n_resamples", "cluster", "prior", "rng")
        chosen |= options.given_only(given, *names) | {"simultaneous": not given.pointwise}
    result = verb(data.frame, **chosen, interpolate=given.interpolate, **data.options)
    outputs.write(result, given, data.note)
    return OK


CURVE = options.Command(
    "compute precision-recall curves",
    """\
examples:
  prframe curve qrels bm25.run --interpolate
  prframe curve qrels bm25.run -q --recall 0.1 0.5 -f csv
  prframe curve --frame scores.csv --by model -o curves.parquet
""",
    _add_curve_options,
    _draw,
)
BAND = options.Command(
    "compute confidence bands of precision-recall curves",
    """\
examples:
  prframe band qrels bm25.run --recall 11
  prframe band --frame scores.csv --by model --recall 0.1 0.5 0.9 --seed 1
""",
    _add_band_options,
    _draw,
)
