"""``prframe check``: everything suspicious in the data."""

import argparse
import re
import warnings
from typing import TYPE_CHECKING

from prframe.commands import inputs, options, outputs
from prframe.commands.exits import FAILED, OK
from prframe.commands.terminal import stage
from prframe.errors import PrframeWarning

if TYPE_CHECKING:
    import polars as pl

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
    parser.several("-k", metavar="K", text="cut-offs that ties should not straddle (default: 10)")
    parser.flag("--strict", text="end with exit code 1 if there is an error or a warning")
    options.add_output(parser)


def run(given: argparse.Namespace) -> int:
    """Check, and write what there is."""
    outputs.format_of(given)
    options.cutoffs(given.k)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrframeWarning)
        data = inputs.rankings(given, every_query=True).of_one_model()
    import polars as pl

    from prframe import check

    with stage("checking"):
        result = check(
            data.frame, by=data.single or None, k=options.cutoffs(given.k), **data.options
        )
        findings = result.lazy().collect()
    if not given.frame:
        of_files = pl.DataFrame(_of_files(data.frame, caught), findings.schema, orient="row")
        is_error = findings["severity"] == "error"
        findings = pl.concat([findings.filter(is_error), of_files, findings.filter(~is_error)])
    outputs.write(findings, given, data.note)
    is_bad = findings["severity"].is_in(["error", "warning"]).any()
    return FAILED if given.strict and is_bad else OK


def _of_files(
    joined: "pl.DataFrame", caught: list[warnings.WarningMessage]
) -> list[tuple[str, str, int, str]]:
    """Return as findings what was warned of files, and documents that are the query itself."""
    import polars as pl

    found = [
        (
            _snake(warning.category.__name__.removesuffix("Warning")),
            "warning",
            1,
            str(warning.message),
        )
        for warning in caught
    ]
    is_self = pl.col("query_id").cast(pl.String) == pl.col("doc_id").cast(pl.String)
    own = joined.filter(is_self, pl.col("score") > -float("inf"))
    if own.height:
        example = f"document {own['doc_id'][0]!r}; --exclude-self leaves such rows out"
        found.append(("query_as_document", "warning", own.height, example))
    return found


def _snake(name: str) -> str:
    """Return the name of a class as findings are called."""
    return re.sub(r"(?<=.)([A-Z])", r"_\1", name).lower()
