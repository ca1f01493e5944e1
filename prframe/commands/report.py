"""``prframe report``: a page of results."""

import argparse
from pathlib import PurePath
from typing import Any

import prframe
from prframe.commands import files, inputs, options
from prframe.commands.exits import OK, UsageError

# The options that `prframe.report` has no argument for.
_REFUSED = ("complete", "judged_only", "depth", "weight", "n_neg", "missing")


def _add_options(parser: options.Parser) -> None:
    """Add the options of the command."""
    options.add_input(parser, options.SEVERAL)
    options.add_metrics(parser, "AP nDCG@10 P@10; of classifiers AP AUC")
    parser.add_argument(
        "--model", metavar="COLUMN", help="column of models (default: model, system or run)"
    )
    thresholds = "scores, for the table of thresholds of classifiers"
    parser.several("--thresholds", metavar="SCORE", text=thresholds, kind=float)
    for flag, what in (("--queries", "queries"), ("--texts", "documents")):
        text = f"texts of {what}: an id, a tab and a text on each line"
        parser.add_argument(flag, metavar="FILE", help=text)
    shown = "items that are shown of each ranking (default: 20)"
    parser.number("--depth", int, "N", shown, dest="shown")
    options.add_predicted(parser)
    options.add_test(parser)
    options.add_confidence(parser)
    parser.add_argument("--title", metavar="TEXT", help="the title of the page")
    parser.number("--seed", int, "N", "seed of random draws (default: 0)", default=0)
    parser.section("output")
    parser.add_argument("-o", "--output", metavar="FILE", help="the page to write")


def _run(given: argparse.Namespace) -> int:
    """Write the page."""
    if given.output is None:
        raise UsageError("a report needs a file: name it with -o, as in -o report.html")
    if flags := options.flags_of(given, *_REFUSED):
        raise UsageError(f"a report takes no {flags}")
    if given.predicted and given.frame:
        raise UsageError("a report takes --predicted with QRELS and RUN alone")
    inputs.refuse_to_overwrite(given, filter(None, [given.queries, given.texts]))
    data, chosen = _frame_arguments(given) if given.frame else _file_arguments(given)
    ending = PurePath(given.output).suffix
    if ending not in ("", ".html", ".htm"):
        raise UsageError(f"a report is HTML, and {ending} is none of its endings; write .html")
    try:
        prframe.report(data, **chosen, output=given.output, seed=given.seed)
    except OSError as error:
        if error.filename != given.output:
            raise
        raise UsageError(f"cannot write {given.output}: {error.strerror}") from None
    return OK


def _file_arguments(given: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """Return the paths of the runs, and the arguments that go with them."""
    qrels, runs = inputs.trec_files(given)
    chosen = _shared_options(given) | inputs.join_options(given)
    chosen |= options.given_only(given, "ties", "predicted")
    if given.level is not None:
        chosen["positive"] = given.level
    return runs, chosen | {"qrels": qrels}


def _shared_options(given: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments that go with files as well as with frames."""
    chosen = options.given_only(given, "metrics", "title", "confidence_level", "thresholds")
    chosen |= options.test_options(given)
    if given.shown is not None:
        chosen["depth"] = given.shown
    texts = {"queries": given.queries, "texts": given.texts}
    chosen |= {name: _texts(path) for name, path in texts.items() if path is not None}
    chosen["notes"] = {"command": given.line}
    return chosen


def _texts(path: str) -> dict[str, str]:
    """Return the texts of a file by their ids."""
    texts = {}
    with files.open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            name, tab, text = line.rstrip("\r\n").partition("\t")
            if not tab and name.strip():
                raise UsageError(f"{path}, line {number}: there is no tab between id and text")
            if tab:
                texts[name] = text
    return texts


def _frame_arguments(given: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """Return the rows of the frame, and the arguments that go with it."""
    data = inputs.read(given)
    chosen = (
        _shared_options(given)
        | options.given_only(given, "model", "by")
        | data.options
        | data.score
    )
    if data.over:
        chosen["over"] = data.over
    frame = data.frame.collect()
    for texts, column in (("queries", next(iter(data.over), None)), ("texts", given.item)):
        if texts in chosen and column in frame.columns and frame.schema[column].is_integer():
            chosen[texts] = {int(name): text for name, text in chosen[texts].items()}
    return frame, chosen


REPORT = options.Command(
    "write a page of results as HTML",
    """\
examples:
  prframe report qrels 'runs/*.run' -o report.html
  prframe report --frame scores.parquet --model system --over query_id -o report.html
  prframe report --frame scores.parquet --by segment -o report.html
""",
    _add_options,
    _run,
)
