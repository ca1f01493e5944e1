"""``prframe compare``: differences between runs with tests, and a gate for pipelines."""

import argparse
import math
from typing import TYPE_CHECKING, Any

from prframe.commands import inputs, options, outputs
from prframe.commands.exits import FAILED, OK, UsageError, say
from prframe.errors import PrframeError

if TYPE_CHECKING:
    import polars as pl

# These multiply the least p-value of several tests by their number.
_MULTIPLYING = ("bonferroni", "holm")
# Under these a model passes by lacking the queries or items at which it is poor.
_LENIENT = ("pairwise", "common")


def _add_options(parser: options.Parser) -> None:
    """Add the options of the command."""
    options.add_input(parser, options.SEVERAL)
    options.add_metrics(parser, "AP")
    parser.add_argument("--model", metavar="COLUMN", help="column of models (default: model)")
    parser.add_argument(
        "--baseline", metavar="NAME", help="compare with this one alone, and not every pair"
    )
    options.add_predicted(parser)
    options.add_test(parser)
    parser.choice(
        "--incomplete",
        options.INCOMPLETE,
        "queries or items that a model lacks (default: raise; of QRELS and RUN zero)",
    )
    parser.choice("--alternative", options.ALTERNATIVES, "of the test", "two-sided")
    equivalence = "add the p-value that the means differ by less than this"
    parser.number("--equivalence", float, "DIFFERENCE", equivalence)
    options.add_confidence(parser)
    options.add_design(parser)
    options.add_randomness(parser)
    parser.flag("--fail-if-worse", text="end with exit code 1 if one is worse than the baseline")
    parser.number("--margin", float, "DIFFERENCE", "with --fail-if-worse, a loss that is let pass")
    options.add_output(parser)


def _run(given: argparse.Namespace) -> int:
    """Compare, write the result, and fail if that was asked for."""
    _check(given)
    outputs.format_of(given)
    if not given.fail_if_worse:
        data = inputs.read(given)
        outputs.write(_compared(data, given), given, data.note)
        return OK
    from prframe.gates import losses, require_like_data

    with require_like_data():
        data = inputs.read(given)
        _require_baseline(given, data)
        result = _compared(data, given)
    outputs.write(result, given, data.note)
    if data.over:
        _warn_of_few_queries(result, given)
    worse = losses(result, given.margin or 0.0)
    for sentence in worse:
        say("failed", sentence)
    return FAILED if worse else OK


def _check(given: argparse.Namespace) -> None:
    """Refuse options of the gate that do not go together."""
    if given.margin is not None and not given.fail_if_worse:
        raise UsageError("--margin goes with --fail-if-worse")
    if given.margin is not None and not 0 <= given.margin < math.inf:
        raise UsageError(f"--margin must be a number of at least 0; got {given.margin:g}")
    if given.fail_if_worse and given.incomplete in _LENIENT:
        raise UsageError(
            f"--fail-if-worse takes no --incomplete {given.incomplete}, under which a model "
            "passes by lacking what it is poor at; take zero, or last on the same items"
        )
    if given.fail_if_worse and given.alternative == "greater":
        raise UsageError("--alternative greater can show no run to be worse; leave it out")
    if given.model and not given.frame:
        raise UsageError("--model names a column of --frame; QRELS and RUN have a model per run")
    if given.model and len(given.score) > 1:
        raise UsageError(
            "--model names a column of models, and --score a column for each; leave one out"
        )


def _compared(data: inputs.Rankings, given: argparse.Namespace) -> "pl.DataFrame":
    """Return a row for each pair and metric."""
    from prframe import compare

    model = _model(data, given)
    by = [column for column in data.by if column != model]
    result: Any = compare(
        data.frame,
        given.metrics or ["AP"],
        **data.score,
        model=model,
        by=by or None,
        over=data.over or None,
        baseline=given.baseline,
        **options.test_options(given),
        alternative=given.alternative,
        **options.given_only(given, "confidence_level", "n_resamples", "incomplete"),
        **options.given_only(given, "equivalence", *options.DESIGN),
        rng=given.rng,
        **data.options,
    )
    compared: pl.DataFrame = result.lazy().collect()
    return compared


def _require_baseline(given: argparse.Namespace, data: inputs.Rankings) -> None:
    """Refuse a gate that does not name what models are compared with."""
    names = data.models
    if not names:
        column = data.frame.lazy().select(_model(data, given)).unique().collect()
        names = column.to_series().sort().to_list()
    if not names:
        raise PrframeError("the gate cannot decide: there are no rows to compare.")
    if given.baseline is None and len(names) > 1:
        listed = ", ".join(map(str, names))
        raise UsageError(f"--fail-if-worse needs --baseline, one of: {listed}")


def _model(data: inputs.Rankings, given: argparse.Namespace) -> str | None:
    """Return the column of models; None if each has a column of scores."""
    return None if data.models else ("system" if not given.frame else given.model or "model")


def _warn_of_few_queries(result: "pl.DataFrame", given: argparse.Namespace) -> None:
    """Warn of a pair whose p-value is above the level whatever its values on so few queries."""
    from prframe.stats.paired_values import QUERY_TESTS

    if result.is_empty() or not QUERY_TESTS[result["test"][0]].by_signs:
        return
    row = result.row(result["n"].arg_min() or 0, named=True)
    factor = 2 if given.alternative == "two-sided" else 1
    n_tests = row["n_family"] if given.correction in _MULTIPLYING else 1
    least = min(1.0, n_tests * factor * 0.5 ** row["n"])
    alpha = 1 - row["confidence_level"]
    if least > alpha * (1 + 1e-12):
        needed = math.ceil(math.log2(n_tests * factor / alpha) - 1e-12)
        pair = "{model_a} and {model_b} in {metric}".format_map(row)
        name = f"the {row['test']} test" if n_tests == 1 else f"{n_tests} {row['test']} tests"
        queries = "1 query" if row["n"] == 1 else f"{row['n']} queries"
        say(
            "warning",
            f"--fail-if-worse cannot fail for {pair}: on {queries} the least p-value of "
            f"{name} is {least:.2g}, above {alpha:.2g}; it needs {needed} queries",
        )


COMPARE = options.Command(
    "compare runs, or models of a frame, pair by pair",
    """\
examples:
  prframe compare qrels old.run new.run -m AP nDCG@10
  prframe compare qrels runs/*.run --baseline bm25 --correction max-t
  prframe compare qrels old.run new.run -m AP --fail-if-worse --baseline old --margin 0.005
  prframe compare --frame scores.csv --score old new --over query_id -m AP
  prframe compare --frame monday.parquet tuesday.parquet --over query_id --baseline monday

--fail-if-worse ends with exit code 1 if a run lies below the --baseline by more than the margin,
and the test says that this is not chance: its adjusted p-value is at most 1 - confidence level.
Where nothing can be decided, as the data of the runs differ, the exit code is 65.
""",
    _add_options,
    _run,
)
