"""How a command ends: exit codes, and errors in the words of the shell, on one line each."""

import os
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from prframe.errors import ArgumentError, PrframeError, PrframeWarning

OK = 0
FAILED = 1
USAGE = 2
# These three are those of sysexits.h, where data errors, missing input and faults have them.
DATA = 65
NO_INPUT = 66
FAULT = 70
# Shells give a command that a signal ended 128 and the number of the signal.
INTERRUPTED = 128 + 2
CLOSED_PIPE = 128 + 13


class UsageError(Exception):
    """Arguments that do not go together."""


class NoInputError(Exception):
    """A file of the input that is missing or cannot be read."""


# Files whose rows are read while they are used; damage may show only then.
BEING_READ: list[str] = []

# What stands in parentheses behind a name is a call, or a metric such as P(threshold=0.5). In
# front of an argument there is a space, so that paths and ids are left as they are.
_ARGUMENT = re.compile(
    r"[\w.]+\([^()]*\)|`(?P<quoted>\w+)`"
    r"|(?<![^\s(])(?P<name>\w+)=(?P<value>'[^']*'|\[[^\[\]]*\]|[\w.]*\w)?"
)
# A number is the least label that is positive, and in a list a label.
_LEAST_LABEL = re.compile(r"\bpositive=(?=\d)")
# A shell has no classes of warnings to tell Python to ignore.
_IGNORED = re.compile(r"\bignore \w+Warning\b")
# The first class that an error is an instance of decides.
_CODES: dict[type[Exception], int] = {
    UsageError: USAGE,
    NoInputError: NO_INPUT,
    ArgumentError: USAGE,
    PrframeError: DATA,
    PrframeWarning: DATA,
}


def plain(text: str) -> str:
    """Return text without what would control the terminal, as names of runs may hold anything."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def say(kind: str, message: object) -> None:
    """Write a message as one line to standard error."""
    sys.stderr.write(f"prframe: {kind}: {plain(' '.join(str(message).split()))}\n")


def in_shell_words(message: str, flags: Mapping[str, str]) -> str:
    """Return a message in which arguments that have an option are called by that option.

    Parameters
    ----------
    message : str
        A message that names arguments as in ``by=``, ``test='t'`` or, between backticks, ``by``.
    flags : mapping
        The option of each argument.
    """

    def translated(match: re.Match[str]) -> str:
        flag = flags.get(match["quoted"] or match["name"] or "")
        if flag is None:
            return match[0]
        value = match["value"] or ""
        # Quotation marks mean the same in shells.
        words = value.strip("[]").replace(", ", " ")
        return f"no {flag}" if value == "None" else f"{flag} {words}".rstrip()

    message = _LEAST_LABEL.sub("level=", _IGNORED.sub("ignore this warning", message))
    return _ARGUMENT.sub(translated, message)


def exit_code(run: Callable[[], int], worded: Callable[[str], str] = str) -> int:
    """Run a command and return its exit code, with its warnings and errors a line each.

    `worded` puts what verbs say into the words of the shell.
    """
    _replace_closed_streams()
    BEING_READ.clear()

    said = set()

    def say_warning(message: Warning | str, *_: object, **__: object) -> None:
        """Write a warning as one line, in place of Python's two with the line of code."""
        # What is true of each of several models is said once.
        if (text := worded(str(message))) not in said:
            said.add(text)
            say("warning", text)

    try:
        with warnings.catch_warnings():
            warnings.showwarning = say_warning
            if not sys.warnoptions:
                warnings.simplefilter("always", PrframeWarning)
            code = run()
            sys.stdout.flush()
    except tuple(_CODES) as error:
        code = next(code for kind, code in _CODES.items() if isinstance(error, kind))
        is_of_verbs = isinstance(error, (PrframeError, PrframeWarning))
        return _failed(code, worded(str(error)) if is_of_verbs else error)
    except BrokenPipeError:
        forget_output()
        return CLOSED_PIPE
    except KeyboardInterrupt:
        forget_output()
        return INTERRUPTED
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - the last one who can say what happened
        return _of_others(error)
    return code


def _replace_closed_streams() -> None:
    """Let what is written to a closed stream, for which Python has None, go nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the end
            setattr(sys, name, nowhere)


def _failed(code: int, error: object) -> int:
    """Write an error, and return the exit code."""
    say("error", error)
    return code


def _of_others(error: BaseException) -> int:
    """Say what another library found wrong with the input; anything else is a fault of our own."""
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(
        error, (polars.exceptions.PolarsError, polars.exceptions.PanicException)
    ):
        first = str(error).partition("\n")[0]
        names = (
            f"{', '.join(BEING_READ)}, which may be damaged or encrypted: " if BEING_READ else ""
        )
        return _failed(DATA, names + first)
    if isinstance(error, OSError) and error.filename is not None:
        return _failed(NO_INPUT, f"{error.filename}: {error.strerror}")
    if isinstance(error, OSError):
        # Polars raises this for a compressed file that is cut short, and does not name the file.
        return _failed(DATA, error)
    sys.excepthook(type(error), error, error.__traceback__)
    return _failed(FAULT, "this is a fault of prframe; please report it with the lines above.")


def forget_output() -> None:
    """Let the interpreter, which flushes standard output when it ends, write to nowhere."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
