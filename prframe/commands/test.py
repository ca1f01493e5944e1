"""``prframe test`` and ``prframe check``: tests against random ranking, and doubts of the data."""

import argparse
import warnings
from dataclasses import replace

from prframe.commands import inputs, options, outputs
from prframe.commands.exits import FAILED, OK, UsageError
from prframe.errors import PrframeError, PrframeWarning, warn

# Larger whole numbers have no exact floats.
_MOST_ITEMS = 1 << 53


def _add_test_options(parser: options.Parser) -> None:
    """Add the options of tests."""
    options.add_input(parser)
    sides = "positives rank higher, lower, or either (default: greater)"
    parser.choice("--alternative", options.ALTERNATIVES, sides)
    parser.choice("--correction", options.CORRECTIONS, "for several tests (default: none)")
    dependence = "comonotone is valid however rankings depend (default: independent)"
    parser.choice("--dependence", ("independent", "comonotone"), dependence)
    items = "documents of the collection (default: those that are listed or judged)"
    parser.number("--n-items", int, "N", items)
    options.add_by_query(parser)
    options.add_randomness(parser)
    options.add_output(parser)


def _run_test(given: argparse.Namespace) -> int:
    """Test, and write the results."""
    if given.n_items is not None and (given.frame or given.judged_only):
        raise UsageError("--n-items goes with QRELS and RUN, and neither with --frame nor with -J")
    if given.n_items is not None and not 1 <= given.n_items <= _MOST_ITEMS:
        raise UsageError(f"--n-items is a number from 1 to 2^53; got {given.n_items}")
    outputs.format_of(given)
    data = inputs.read(given).in_rows()
    if not (given.frame or given.judged_only):
        data = _with_collection_size(data, given.n_items)
    from prframe import ap_test

    result = ap_test(
        data.frame,
        **data.columns(by_query=given.by_query),
        **options.given_only(given, "alternative", "correction", "n_resamples", "dependence"),
        rng=given.rng,
        **data.options,
    )
    outputs.write(result, given, data.note)
    return OK


def _with_collection_size(data: inputs.Rankings, n_items: int | None) -> inputs.Rankings:
    """Count the documents that are neither listed nor judged as negatives, or say that none is."""
    import polars as pl

    sizes = data.frame.group_by(data.single).len()["len"]
    fewest, most = sizes.min(), sizes.max()
    if n_items is None:
        numbers = f"{most}" if fewest == most else f"{fewest} to {most}"
        warn(
            f"random rankings are of the documents that are listed or judged, {numbers} for a "
            "query; pass the size of the collection as --n-items",
            PrframeWarning,
        )
        # By this column the verbs would say so too.
        return replace(data, frame=data.frame.drop("judged"))
    if n_items < most:
        raise PrframeError(
            "--n-items is the number of documents of the collection, at least the "
            f"{most} that are listed or judged for a query; got {n_items}."
        )
    level = data.options.get("positive")
    positive = pl.col("label") > 0 if level is None else pl.col("label") >= level
    n_neg = (n_items - positive.sum()).over(data.single).alias("n_neg")
    return replace(
        data, frame=data.frame.with_columns(n_neg), options=data.options | {"n_neg": "n_neg"}
    )


def _add_check_options(parser: options.Parser) -> None:
    """Add the options of checks."""
    options.add_input(parser)
    options.add_predicted(parser)
    text = "cut-offs that ties should not straddle (default: 10)"
    parser.several("-k", metavar="K", text=text, kind=int)
    parser.flag("--strict", text="end with exit code 1 if there is an error or a warning")
    options.add_output(parser)


def _run_check(given: argparse.Namespace) -> int:
    """Check, and write what there is."""
    outputs.format_of(given)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrframeWarning)
        data = inputs.read(given, every_query=True).in_rows()
    import polars as pl

    from prframe import check

    result = check(data.frame, by=data.single or None, k=given.k or 10, **data.options)
    findings = result.lazy().collect()
    if given.strict and findings.is_empty():
        raise PrframeError("--strict cannot decide: there are no rows to check.")
    of_files = [("file", "warning", 1, str(warning.message)) for warning in caught]
    told = pl.DataFrame(of_files, findings.schema, orient="row")
    is_error = findings["severity"] == "error"
    findings = pl.concat([findings.filter(is_error), told, findings.filter(~is_error)])
    outputs.write(findings, given, data.note)
    is_bad = findings["severity"].is_in(["error", "warning"]).any()
    return FAILED if given.strict and is_bad else OK


TEST = options.Command(
    "test rankings against random ranking",
    """\
examples:
  prframe test qrels bm25.run                       the mean of AP over queries
  prframe test qrels bm25.run -q --correction holm  AP of each query
  prframe test qrels bm25.run --n-items 528155      of all documents of the collection
  prframe test --frame scores.csv --by segment
""",
    _add_test_options,
    _run_test,
)
CHECK = options.Command(
    "report everything suspicious in the data",
    """\
examples:
  prframe check qrels 'runs/*.run'
  prframe check --frame scores.csv --by query_id --strict

--strict ends with exit code 1 if there is an error or a warning.
""",
    _add_check_options,
    _run_check,
)
