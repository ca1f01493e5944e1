"""``prframe test`` and ``prframe check``: tests against random ranking, and doubts of the data."""

import argparse
import warnings
from dataclasses import replace
from typing import Any

from prframe.commands import inputs, options, outputs
from prframe.commands.exits import FAILED, OK, UsageError
from prframe.errors import PrframeError, PrframeWarning, warn

# Larger whole numbers have no exact floats.
_MOST_ITEMS = 1 << 53
STATISTICS = ("ap", "top-k", "rank")


def _add_test_options(parser: options.Parser) -> None:
    """Add the options of tests."""
    options.add_input(parser)
    meaning = "average precision, hits among the first k, or the sum of ranks (default: ap)"
    parser.choice("--of", STATISTICS, meaning, "ap")
    parser.several("-k", metavar="K", text="cut-offs of --of top-k (default: 10)")
    parser.add_argument("--phi", metavar="NAME", help="what --of rank gives ranks (default: mww)")
    sides = "positives rank higher, lower, or either (default: greater; two-sided of --of rank)"
    parser.choice("--alternative", options.ALTERNATIVES, sides)
    parser.choice("--correction", options.CORRECTIONS, "for several tests (default: none)")
    dependence = "with --of ap, comonotone is valid however rankings depend (default: independent)"
    parser.choice("--dependence", ("independent", "comonotone"), dependence)
    items = "documents of the collection (default: those that are listed or judged)"
    parser.number("--n-items", int, "N", items)
    options.add_by_query(parser)
    options.add_randomness(parser)
    options.add_output(parser)


def _run_test(given: argparse.Namespace) -> int:
    """Test, and write the results."""
    _require_fitting(given)
    outputs.format_of(given)
    data = inputs.read(given).require_one_model()
    if not (given.frame or given.judged_only):
        data = _with_collection_size(data, given.n_items)
    result = _TESTS[given.of](data, given).lazy().collect()
    outputs.write(result, given, data.note)
    return OK


def _require_fitting(given: argparse.Namespace) -> None:
    """Refuse options of another statistic than the one that is tested."""
    of: dict[str, tuple[object, tuple[str, ...]]] = {
        "-k": (given.k, ("top-k",)),
        "--phi": (given.phi, ("rank",)),
        "--dependence": (given.dependence, ("ap",)),
    }
    for flag, (value, statistics) in of.items():
        if value and given.of not in statistics:
            raise UsageError(f"{flag} goes with --of {' or '.join(statistics)}")
    # Of files, the columns are refused as such; -q asks for each group, and for no mean.
    if given.frame and given.over and given.of != "ap" and not given.by_query:
        raise UsageError(
            f"--of {given.of} tests single groups and has no mean over columns; name the columns "
            "of --over with --by, which tests each group"
        )
    if given.n_items is not None and (given.frame or given.judged_only):
        raise UsageError("--n-items goes with QRELS and RUN, and neither with --frame nor with -J")
    if given.n_items is not None and not 1 <= given.n_items <= _MOST_ITEMS:
        raise UsageError(f"--n-items is a number from 1 to 2^53; got {given.n_items}")
    options.cutoffs(given.k)


def _with_collection_size(data: inputs.Rankings, n_items: int | None) -> inputs.Rankings:
    """Count the documents that are neither listed nor judged as negatives, or say that none is."""
    import polars as pl

    sizes = data.frame.group_by(data.single).len()["len"]
    fewest, most = sizes.min(), sizes.max()
    if n_items is None:
        numbers = f"{most}" if fewest == most else f"{fewest} to {most}"
        warn(
            f"random rankings are of the documents that are listed or judged, {numbers} for a "
            "query; --n-items names the number of documents of the collection that was searched",
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


def _ap(data: inputs.Rankings, given: argparse.Namespace) -> Any:  # noqa: ANN401 - a frame
    """Test AP, or its mean over queries."""
    from prframe import ap_test

    return ap_test(
        data.frame,
        **data.columns(by_query=given.by_query),
        **options.given_only(given, "alternative", "correction", "n_resamples", "dependence"),
        rng=given.rng,
        **data.options,
    )


def _top_k(data: inputs.Rankings, given: argparse.Namespace) -> Any:  # noqa: ANN401 - a frame
    """Test the hits among the first k of each ranking."""
    from prframe import topk_test

    chosen = options.given_only(given, "alternative", "correction")
    k = options.cutoffs(given.k)
    return topk_test(data.frame, by=data.single or None, k=k, **chosen, **data.options)


def _rank(data: inputs.Rankings, given: argparse.Namespace) -> Any:  # noqa: ANN401 - a frame
    """Test the ranks of the positives of each ranking."""
    from prframe import rank_test

    chosen = options.given_only(given, "alternative", "correction", "phi")
    return rank_test(data.frame, by=data.single or None, **chosen, **data.options)


_TESTS = {"ap": _ap, "top-k": _top_k, "rank": _rank}


def _add_check_options(parser: options.Parser) -> None:
    """Add the options of checks."""
    options.add_input(parser)
    options.add_predicted(parser)
    parser.several("-k", metavar="K", text="cut-offs that ties should not straddle (default: 10)")
    parser.flag("--strict", text="end with exit code 1 if there is an error or a warning")
    options.add_output(parser)


def _run_check(given: argparse.Namespace) -> int:
    """Check, and write what there is."""
    outputs.format_of(given)
    k = options.cutoffs(given.k)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrframeWarning)
        data = inputs.read(given, every_query=True).require_one_model()
    import polars as pl

    from prframe import check

    result = check(data.frame, by=data.single or None, k=k, **data.options)
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
  prframe test --frame scores.csv --by segment --of top-k -k 10 100
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
