"""The command ``prframe``: which command is meant, and its run from arguments to exit code."""

import shlex
import sys
from collections.abc import Sequence
from difflib import get_close_matches

import prframe
from prframe.commands import exits
from prframe.commands.compare import COMPARE
from prframe.commands.curves import BAND, CURVE
from prframe.commands.evaluate import EVALUATE
from prframe.commands.options import Parser
from prframe.commands.report import REPORT
from prframe.commands.test import CHECK, TEST

_COMMANDS = {
    "evaluate": EVALUATE,
    "compare": COMPARE,
    "curve": CURVE,
    "band": BAND,
    "test": TEST,
    "check": CHECK,
    "report": REPORT,
}
_DESCRIPTION = "Evaluate rankings: precision-recall metrics, curves, intervals and tests."
_EXIT_CODES = """\
exit codes: 0, and 1 if a gate failed (--fail-if-worse, --strict), 2 for errors of usage, 65 for
data that cannot be evaluated, 66 for files that cannot be read.

prframe COMMAND --help shows the options of a command.
"""
# What messages say of Python alone, and what they say in a shell.
_PHRASES = {
    "prframe.CATALOGUE has all metrics,": "There are metrics",
    " If these are several systems, name the columns that tell them apart with system=.": "",
    "Pass a dict, {name: run}, or files of other names.": "Rename a file, or change its tag.",
    " leave them out with ignore=[None],": "",
    ", or say include_unretrieved=True in evaluate": "",
    " or a numpy.random.Generator": "",
    " Name the column with judged=.": "",
    "simultaneous=False": "--pointwise",
    "pass over=None": "leave out --over",
}
_USAGE = """\
prframe {name} QRELS RUN... [OPTIONS]
       prframe {name} --frame FILE [OPTIONS]"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    return exits.exit_code(lambda: _run(words), lambda message: _translated(message, words))


def parser() -> Parser:
    """Return the parser of all commands."""
    whole = Parser(prog="prframe", description=_DESCRIPTION, epilog=_EXIT_CODES)
    whole.add_argument("--version", action="version", version=f"prframe {prframe.__version__}")
    commands = whole.add_subparsers(metavar="COMMAND", dest="command", parser_class=Parser)
    for name, command in _COMMANDS.items():
        command.add_options(commands.add_parser(name, help=command.summary))
    return whole


def _translated(message: str, words: Sequence[str]) -> str:
    """Return a message of a verb in the words of the command that was given."""
    if not words or words[0] not in _COMMANDS:
        return message
    command = Parser()
    _COMMANDS[words[0]].add_options(command)
    flags = command.flags() | {"qrels": "QRELS"}
    for python, shell in _PHRASES.items():
        message = message.replace(python, shell)
    if "shown" in flags:
        flags["depth"] = flags["shown"]
    if "--frame" in words:
        flags["data"] = "--frame"
    else:
        flags["positive"] = "-l"
        message = message.replace("; if negatives are not listed, give their number in n_neg=", "")
    return exits.translated_to_options(message, flags)


def _run(words: list[str]) -> int:
    """Parse the words of the command line and run their command."""
    name = words[0] if words else "--help"
    if name in _COMMANDS:
        # Only the parser of the command itself lets options stand between files.
        known = _COMMANDS[name]
        command = Parser(
            prog=f"prframe {name}",
            description=f"{known.summary[0].upper()}{known.summary[1:]}.",
            epilog=known.examples,
            usage=_USAGE.format(name=name),
        )
        known.add_options(command)
        # A report prints the words by which it was made.
        line = shlex.join(["prframe", *words])
        command.set_defaults(line=line, flags=command.flags())
        return known.run(command.parse_intermixed_args(words[1:]))
    whole = parser()
    if close := get_close_matches(name, _COMMANDS, n=1):
        whole.error(f"there is no command {name!r}; did you mean {close[0]!r}?")
    if name == "interval":
        whole.error("there is no command 'interval'; use evaluate --interval")
    if not name.startswith("-"):
        whole.error(f"there is no command {name!r}; the commands are {', '.join(_COMMANDS)}")
    if name not in {"-h", "--help", "--version"}:
        whole.error("a command is missing; as trec_eval: prframe evaluate QRELS RUN -f trec")
    whole.parse_args(words or ["--help"])
    return exits.OK
