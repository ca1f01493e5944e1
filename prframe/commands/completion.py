"""``prframe completion``: scripts by which shells complete the commands and options."""

import argparse
import sys
from collections.abc import Iterator
from importlib import import_module

from prframe.commands import options
from prframe.commands.exits import OK, UsageError

SUMMARY = "write a script that completes commands and options in a shell"
EXAMPLES = """\
examples:
  eval "$(prframe completion bash)"         in ~/.bashrc
  eval "$(prframe completion zsh)"          in ~/.zshrc, after compinit
  prframe completion fish | source          in ~/.config/fish/config.fish
"""
SHELLS = ("bash", "zsh", "fish")


def add_options(parser: options.Parser) -> None:
    """Add the name of the shell."""
    parser.add_argument("shell", choices=SHELLS)


def run(given: argparse.Namespace) -> int:
    """Write the script of a shell."""
    try:
        shtab = import_module("shtab")
    except ImportError:
        message = "completion needs shtab: python -m pip install 'prframe[completion]'"
        raise UsageError(message) from None
    whole = given.all_commands()
    for action in _file_actions(whole):
        action.complete = shtab.FILE  # type: ignore[attr-defined]
    sys.stdout.write(shtab.complete(whole, given.shell))
    return OK


def _file_actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments of all commands that are files."""
    for action in parser._actions:  # noqa: SLF001 - there is no other way to ask for them
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for command in action.choices.values():
                yield from _file_actions(command)
        elif getattr(action, "complete", None) == "file":
            yield action
