"""The parser of a command, and the options that several commands share."""

import argparse
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple, NoReturn

from prframe.commands.exits import USAGE, plain, translated_to_options
from prframe.hints import NOT_OFFERED

# The words that the verbs take; the verbs are not loaded before a command runs.
TIES = ("group", "order", "trec", "expected", "best", "worst")
MISSING = ("raise", "drop", "last")
DUPLICATES = ("raise", "best")
CORRECTIONS = ("bonferroni", "holm", "bh", "by")
TESTS = ("randomization", "t", "hall", "wilcoxon", "sign", "bootstrap", "delong")
JOINT_CORRECTIONS = (*CORRECTIONS, "max-t")
INCOMPLETE = ("raise", "pairwise", "common", "zero", "last")
ALTERNATIVES = ("two-sided", "less", "greater")
SEVERAL = "column of scores, or several, one for each model"
DESIGN = ("cluster", "prior", "resampling")
FORMATS = ("table", "csv", "jsonl", "parquet", "arrow")


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line after the usage, and whose options are never guessed."""

    _group: argparse._ArgumentGroup | None = None

    def __init__(self, **options: object) -> None:
        formatter = argparse.RawDescriptionHelpFormatter
        super().__init__(allow_abbrev=False, formatter_class=formatter, **options)  # type: ignore[arg-type]

    def section(self, title: str) -> None:
        """Put further arguments below a title in the help."""
        self._group = self.add_argument_group(title)

    def add_argument(self, *flags: str, **options: Any) -> argparse.Action:  # noqa: ANN401
        """Add an argument to the latest section."""
        add = super().add_argument if self._group is None else self._group.add_argument
        return add(*flags, **options)

    def error(self, message: str) -> NoReturn:
        """Write the usage and the message, and end with the code of errors of usage."""
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"prframe: error: {plain(message + self._hint(message))}\n")

    def _hint(self, message: str) -> str:
        """Return what to write in place of the first option that does not exist."""
        _, unrecognized, words = message.partition("unrecognized arguments: ")
        unknown = words.split()[0].partition("=")[0] if unrecognized else ""
        if unknown in {"--alpha", "--cutoff", "--threshold"}:
            return translated_to_options(f": {NOT_OFFERED[unknown[2:]]}", self.flags())
        flags = [flag for action in self._actions for flag in action.option_strings]
        close = get_close_matches(unknown, flags, n=1, cutoff=0.7)
        return f"; did you mean {close[0]}?" if close else ""

    def flags(self) -> dict[str, str]:
        """Return the option of each argument."""
        return {action.dest: ([*action.option_strings] or [""])[-1] for action in self._actions}

    def number(
        self, flag: str, kind: Callable[[str], object], metavar: str, text: str, **options: object
    ) -> None:
        """Add an option that takes a number, or what `kind` makes of a word."""
        self.add_argument(flag, type=kind, metavar=metavar, help=text, **options)

    def choice(
        self, flag: str, words: Sequence[str], text: str, default: str | None = None
    ) -> None:
        """Add an option that takes one of several words."""
        self.add_argument(flag, choices=words, default=default, help=text)

    def several(
        self, *flags: str, metavar: str, text: str, kind: Callable[[str], object] = str
    ) -> None:
        """Add an option that takes several words or numbers and may be repeated."""
        shown: Any = {"metavar": metavar, "help": text}
        self.add_argument(*flags, nargs="+", action="extend", default=[], type=kind, **shown)

    def flag(self, *flags: str, text: str) -> None:
        """Add an option without a value."""
        self.add_argument(*flags, action="store_true", help=text)


class Command(NamedTuple):
    """A command: what its help says, its options, and its run, which returns the exit code."""

    summary: str
    examples: str
    add_options: Callable[[Parser], None]
    run: Callable[[argparse.Namespace], int]


def extra_words(given: argparse.Namespace) -> list[str]:
    """Return all words but the first of each option that takes several."""
    lists = [value for name, value in vars(given).items() if name != "files"]
    words = [word for words in lists if isinstance(words, list) for word in words[1:]]
    return [word for word in words if isinstance(word, str)]


def add_input(parser: Parser, scores: str = "column of scores, a single one") -> None:
    """Add the files of qrels and runs, the frame in their place, and what is read of them."""
    parser.section("QRELS and RUN")
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="the qrels, then runs, in TREC format: paths, patterns in quotes, or - for standard "
        "input; gzip is recognised",
    )
    parser.flag("-c", "--complete", text="count all queries of the qrels, missing ones with 0")
    parser.flag("-J", "--judged-only", text="take documents without judgment out of the rankings")
    parser.number("-M", int, "DEPTH", "count so many documents of each ranking", dest="depth")
    twice = "what to do with a document that a ranking lists twice (default: raise)"
    parser.choice("--duplicates", DUPLICATES, twice)
    parser.flag("--exclude-self", text="leave out documents whose id is that of the query")
    parser.section("frames")
    parser.several(
        "--frame",
        metavar="FILE",
        text="CSV, JSON lines, Parquet or Arrow files in place of these, each a model by its "
        "name; patterns in quotes, or folders, whose files are one frame",
    )
    parser.several("--score", metavar="COLUMN", text=f"{scores} (default: score)")
    parser.add_argument("--label", metavar="COLUMN", help="column of labels (default: label)")
    parser.several("--by", metavar="COLUMN", text="columns of which each group has a result")
    parser.several("--over", metavar="COLUMN", text="columns to take means over, such as query_id")
    parser.add_argument("--item", metavar="COLUMN", help="column that names the items")
    parser.add_argument("--weight", metavar="COLUMN", help="column of weights")
    for flag, items in (("--n-pos", "positive"), ("--n-neg", "negative")):
        text = f"how many {items} items a ranking has, with those not listed: a column or a number"
        parser.number(flag, column_or_number, "COLUMN|N", text)
    parser.add_argument("--positive", metavar="LABEL", help="the positive label, such as yes or 2")
    parser.section("ranking")
    parser.number("-l", int, "LEVEL", "the least label that is positive", dest="level")
    parser.choice("--missing", MISSING, "what to do with missing scores (default: raise)")
    ties = "how tied scores are ranked (default: group; of QRELS and RUN trec, as trec_eval does)"
    parser.choice("--ties", TIES, ties)
    parser.section("method")


def add_by_query(parser: Parser) -> None:
    """Add the option for results of single queries."""
    parser.flag("-q", "--by-query", text="a result for each query, and no mean over them")


def add_predicted(parser: Parser) -> None:
    """Add the judgments of a machine."""
    text = "qrels of a machine for all queries, where humans have judged some; a column of --frame"
    parser.add_argument("--predicted", metavar="FILE|COLUMN", help=text)


def add_metrics(parser: Parser, default: str) -> None:
    """Add the metrics."""
    parser.several(
        *("-m", "--metrics"),
        metavar="METRIC",
        text="metrics such as AP, nDCG@10, map or P_5; stands behind the files "
        f"(default: {default})",
    )


def add_output(parser: Parser, *further: str) -> None:
    """Add the form of the output and its file."""
    parser.section("output")
    parser.add_argument(
        *("-f", "--format"),
        choices=(*FORMATS, *further),
        help="form of the output (default: by the name of the file, else table)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="file to write to")


def add_randomness(parser: Parser) -> None:
    """Add the seed and the number of draws."""
    parser.number("--seed", int, "N", "seed of random draws (default: 0)", default=0, dest="rng")
    parser.number("--n-resamples", int, "N", "number of random draws")


def add_test(parser: Parser) -> None:
    """Add the test of differences and its correction."""
    default = "randomization; t with --predicted"
    parser.choice("--test", TESTS, f"the test of differences (default: {default})")
    corrections = (*JOINT_CORRECTIONS, "none")
    parser.choice("--correction", corrections, "for several tests (default: holm)", "holm")


def test_options(given: argparse.Namespace) -> dict[str, Any]:
    """Return the test and its correction as arguments."""
    return {
        "test": given.test or ("t" if given.predicted else "randomization"),
        "correction": None if given.correction == "none" else given.correction,
    }


def add_confidence(parser: Parser) -> None:
    """Add the confidence level."""
    parser.number("--confidence-level", float, "LEVEL", "of intervals (default: 0.95)")


def add_method(parser: Parser) -> None:
    """Add the method of intervals, which the verb knows."""
    text = "how intervals are made (default: auto); hall is for means of skewed values"
    parser.add_argument("--method", metavar="METHOD", help=text)


def add_population(parser: Parser) -> None:
    """Add the column of clusters, and another share of positives."""
    parser.add_argument(
        "--cluster", metavar="COLUMN", help="column of clusters of --frame, drawn as a whole"
    )
    parser.number("--prior", float, "SHARE", "take this share of positives in place of the data's")


def add_design(parser: Parser) -> None:
    """Add the options of the population, and the dependence of folds."""
    add_population(parser)
    text = "for --over folds: cv, or the size of a test set divided by that of its training set"
    parser.number("--resampling", cv_or_ratio, "cv|RATIO", text)


# Messages of the parser name these: "invalid cv_or_ratio value: 'folds'".
def cv_or_ratio(word: str) -> str | float:
    """Return how folds were made."""
    return word if word == "cv" else float(word)


def column_or_number(word: str) -> str | int:
    """Return a total of items, or the name of its column."""
    return int(word) if word.isdecimal() else word


def flags_of(given: argparse.Namespace, *names: str) -> str:
    """Return the options of these names that were given."""
    found = given_only(given, *names)
    return ", ".join(given.flags[name] for name, value in found.items() if value is not False)


def given_only(given: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return those options that were given, so that verbs keep their own defaults."""
    options = {name: getattr(given, name) for name in names}
    return {name: value for name, value in options.items() if value not in (None, [])}
