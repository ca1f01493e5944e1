"""``prframe band``: confidence bands of precision-recall curves."""

import argparse

from prframe.commands import inputs, options, outputs
from prframe.commands.curve import add_curve, arguments
from prframe.commands.exits import OK

SUMMARY = "compute confidence bands of precision-recall curves"
EXAMPLES = """\
examples:
  prframe band qrels bm25.run --recall 11
  prframe band --frame scores.csv --by model --recall 0.1 0.5 0.9 --seed 1
"""


def add_options(parser: options.Parser) -> None:
    """Add the options of the command."""
    options.add_input(parser)
    add_curve(parser)
    parser.flag("--pointwise", text="cover the curve at each level by itself, not at all at once")
    options.add_method(parser)
    options.add_confidence(parser)
    options.add_population(parser)
    options.add_randomness(parser)
    options.add_output(parser)


def run(given: argparse.Namespace) -> int:
    """Draw the bands, and write them; the verb shows how far it is by itself."""
    outputs.format_of(given)
    options.levels(given.recall)
    data = inputs.read(given).require_one_model()
    from prframe import band

    result = band(
        data.frame,
        **arguments(data, given),
        simultaneous=not given.pointwise,
        **options.given_only(
            given, "method", "confidence_level", "n_resamples", "cluster", "prior"
        ),
        interpolate=given.interpolate,
        rng=given.rng,
        **data.options,
    )
    outputs.write(result, given, data.note)
    return OK
