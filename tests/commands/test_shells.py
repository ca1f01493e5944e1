"""Completion as a person has it: keys that are typed into a shell at a terminal."""

import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.commands.shell import ENVIRONMENT, process

pty = pytest.importorskip("pty", reason="there are no terminals of this kind here")

# Shells want a terminal that controls them.
OWN_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""
# What each shell reads when it starts: a command that shows its words, and the completion.
STARTS = {
    "bash": (
        ["bash", "--rcfile", "start", "-i"],
        "start",
        'PS1="READY> "\nprframe() { echo "[$*]"; }\neval "$SCRIPT"\n',
    ),
    "zsh": (
        ["zsh", "-i"],
        ".zshrc",
        'PS1="READY> "\nprframe() { echo "[$*]" }\n'
        'autoload -Uz compinit && compinit -u\neval "$SCRIPT"\n',
    ),
    "fish": (
        ["fish", "-i"],
        ".config/fish/config.fish",
        'set -g fish_greeting\nfunction fish_prompt; echo "READY> "; end\n'
        'function prframe; echo "[$argv]"; end\necho $SCRIPT | source\n',
    ),
}
# What is typed, and what the shell then shows.
TYPED = [
    ("prframe ev\t", "evaluate"),
    ("--tie\t", "--ties"),
    ("exp\t", "expected"),
    ("--frame fra\t", "frame.csv"),
    ("\n", "[evaluate --ties expected --frame frame.csv]"),
]


class Terminal:
    """A shell at a terminal."""

    def __init__(self, words: list[str], home: Path, script: str) -> None:
        self._end, terminal = pty.openpty()
        environment = {"HOME": str(home), "ZDOTDIR": str(home), "TERM": "xterm", "SCRIPT": script}
        self.process = subprocess.Popen(
            [sys.executable, "-c", OWN_TERMINAL, *words],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=ENVIRONMENT | environment,
            start_new_session=True,
        )
        os.close(terminal)

    def type(self, keys: str) -> None:
        os.write(self._end, keys.encode())

    def wait_for(self, text: str, seconds: float = 30) -> None:
        """Read until the shell has written a text."""
        written, end = b"", time.monotonic() + seconds
        while text.encode() not in written:
            assert time.monotonic() < end, f"{text!r} did not come after {written!r}"
            if select.select([self._end], [], [], 0.2)[0]:
                written += os.read(self._end, 1 << 16)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._end)


@pytest.mark.slow
@pytest.mark.parametrize("shell", STARTS)
def test_keys_are_completed(shell, tmp_path) -> None:
    pytest.importorskip("shtab", reason="completion needs shtab")
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    words, start, content = STARTS[shell]
    (tmp_path / start).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / start).write_text(content)
    words = [str(tmp_path / word) if word == start else word for word in words]
    terminal = Terminal(words, tmp_path, process("completion", shell).out)
    try:
        terminal.wait_for("READY> ")
        for keys, shown in TYPED:
            terminal.type(keys)
            terminal.wait_for(shown)
    finally:
        terminal.close()
