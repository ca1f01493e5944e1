"""How a command ends: exit codes, and warnings and errors in the words of the shell."""

import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from prframe.errors import ArgumentError, PrframeError, PrframeWarning

OK = 0
FAILED = 1
USAGE = 2
# These three codes are those of sysexits.h.
DATA = 65
NO_INPUT = 66
FAULT = 70
# Shells report a command that a signal ended as 128 plus the number of the signal.
INTERRUPTED = 128 + 2
CLOSED_PIPE = 128 + 13


class UsageError(Exception):
    """Arguments that do not go together."""


class NoInputError(Exception):
    """A file of the input that is missing or cannot be read."""


# An argument is `by`, by= or by='query_id', but nothing inside a call such as P(threshold=0.5),
# nor a part of a path.
_ARGUMENT = re.compile(
    r"[\w.]+\([^()]*\)|`(?P<quoted>\w+)`"
    r"|(?<![^\s(])(?P<name>\w+)=(?P<value>'[^']*'|\[[^\[\]]*\]|[\w.]*\w)?"
)
_WORD = re.compile(r"'([^']*)'|([^\s,'\[\]]+)")
# The first class that an error is an instance of decides.
_CODES: dict[type[Exception], int] = {
    UsageError: USAGE,
    NoInputError: NO_INPUT,
    ArgumentError: USAGE,
    PrframeError: DATA,
    PrframeWarning: DATA,
}


def plain(text: str) -> str:
    """Return text with escapes in place of characters that would control the terminal."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def say(kind: str, message: object) -> None:
    """Write a message as one line to standard error."""
    sys.stderr.write(f"prframe: {kind}: {plain(' '.join(str(message).split()))}\n")


def translated_to_options(message: str, flags: Mapping[str, str]) -> str:
    """Return a message in which arguments of verbs are called by their options."""

    def as_option(match: re.Match[str]) -> str:
        flag = flags.get(match["quoted"] or match["name"] or "")
        if flag is None:
            return match[0]
        words = [quoted or bare for quoted, bare in _WORD.findall(match["value"] or "")]
        return f"no {flag}" if words == ["None"] else f"{flag} {shlex.join(words)}".rstrip()

    message = re.sub(r"\bignore \w+Warning\b", "ignore this warning", message)
    # A number is the least positive label, and in a list a label.
    return _ARGUMENT.sub(as_option, re.sub(r"\bpositive=(?=\d)", "level=", message))


def exit_code(run: Callable[[], int], worded: Callable[[str], str] = str) -> int:
    """Run a command and return its exit code; `worded` translates the messages of verbs."""
    _replace_closed_streams()
    said = set()

    def say_warning(message: Warning | str, *_: object, **__: object) -> None:
        # A warning about several models is said once.
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
        discard_output()
        return CLOSED_PIPE
    except KeyboardInterrupt:
        discard_output()
        return INTERRUPTED
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - polars raises panics, which are no Exception
        return _report_foreign_error(error)
    return code


def _replace_closed_streams() -> None:
    """Open closed streams, which Python sets to None, as empty ones."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - until the end
            setattr(sys, name, nowhere)


def _failed(code: int, error: object) -> int:
    """Write an error, and return the exit code."""
    say("error", error)
    return code


def _report_foreign_error(error: BaseException) -> int:
    """Report an error of polars or of the system; any other one is a fault of prframe."""
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(
        error, (polars.exceptions.PolarsError, polars.exceptions.PanicException)
    ):
        return _failed(DATA, str(error).partition("\n")[0])
    if isinstance(error, OSError) and error.filename is not None:
        return _failed(NO_INPUT, f"{error.filename}: {error.strerror}")
    if isinstance(error, OSError):
        # Polars raises this for a compressed file that is cut short, and does not name the file.
        return _failed(DATA, error)
    sys.excepthook(type(error), error, error.__traceback__)
    return _failed(FAULT, "this is a fault of prframe; please report it with the lines above.")


def discard_output() -> None:
    """Redirect standard output, which the interpreter flushes when it ends, to nowhere."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
