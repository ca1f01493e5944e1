"""``prframe check``: everything suspicious in the data."""

import argparse
import warnings

from prframe.commands import inputs, options, outputs
from prframe.commands.exits import FAILED, OK
from prframe.errors import PrframeError, PrframeWarning

SUMMARY = "report everything suspicious in the data"
EXAMPLES = """\
examples:
  prframe check qrels 'runs/*.run'
  prframe check --frame scores.csv --by query_id --strict

--strict ends with exit code 1 if there is an error or a warning.
"""


def add_options(parser: options.Parser) -> None:
    """Add the options of the command."""
    options.add_input(parser)
    options.add_predicted(parser)
    parser.several("-k", metavar="K", text="cut-offs that ties should not straddle (default: 10)")
    parser.flag("--strict", text="end with exit code 1 if there is an error or a warning")
    options.add_output(parser)


def run(given: argparse.Namespace) -> int:
    """Check, and write what there is."""
    outputs.format_of(given)
    options.cutoffs(given.k)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrframeWarning)
        data = inputs.read(given, every_query=True).require_one_model()
    import polars as pl

    from prframe import check

    result = check(data.frame, by=data.single or None, k=options.cutoffs(given.k), **data.options)
    findings = result.lazy().collect()
    if given.strict and findings.is_empty():
        raise PrframeError("--strict cannot decide: there are no rows to check.")
    if caught:
        of_files = [("file", "warning", 1, str(warning.message)) for warning in caught]
        told = pl.DataFrame(of_files, findings.schema, orient="row")
        is_error = findings["severity"] == "error"
        findings = pl.concat([findings.filter(is_error), told, findings.filter(~is_error)])
    outputs.write(findings, given, data.note)
    is_bad = findings["severity"].is_in(["error", "warning"]).any()
    return FAILED if given.strict and is_bad else OK
