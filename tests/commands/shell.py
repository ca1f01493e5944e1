"""The command as shells run it, and small files for it."""

import gzip
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import prframe
from prframe.commands.main import main

COMMAND = [sys.executable, "-m", "prframe"]
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "PYTHONPATH": str(Path(prframe.__file__).parents[1]),
    "LC_ALL": "C.UTF-8",
}


class Done(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


def run(capfdbinary, *words) -> Done:
    """Run the command in this process."""
    try:
        code = main([str(word) for word in words])
    except SystemExit as ended:
        code = int(ended.code or 0)
    sys.stdout.flush()
    out, err = capfdbinary.readouterr()
    return Done(code, out.decode(), err.decode())


def process(*words, stdin: bytes = b"", **environment) -> Done:
    """Run the command as a process of its own."""
    done = subprocess.run(
        [*COMMAND, *map(str, words)],
        input=stdin,
        capture_output=True,
        env=ENVIRONMENT | environment,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def at_terminal(*words, columns: int = 80, program=(), **environment) -> Done:
    """Run the command at a terminal of some width; output and errors come in one text."""
    main_end, terminal = pty.openpty()
    process = subprocess.Popen(
        [*(program or COMMAND), *map(str, words)],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=ENVIRONMENT | {"TERM": "xterm", "COLUMNS": str(columns)} | environment,
    )
    os.close(terminal)
    written = b""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if not select.select([main_end], [], [], 1)[0]:
            continue
        try:
            piece = os.read(main_end, 1 << 16)
        except OSError:
            # Linux says so when the last process has closed the terminal.
            break
        if not piece:
            break
        written += piece
    os.close(main_end)
    return Done(process.wait(60), written.decode().replace("\r\n", "\n"), "")


def write_files(folder: Path, *, n_queries: int = 12, n_documents: int = 40) -> None:
    """Write qrels, and runs of three systems of which the last is much worse."""
    rng = np.random.default_rng(0)
    relevant = rng.random((n_queries, n_documents)) < 0.2
    relevant[:, 0] = True
    lines = [
        f"{100 + query} 0 d{document} {int(relevant[query, document])}\n"
        for query in range(n_queries)
        for document in range(n_documents)
        if rng.random() < 0.7 or relevant[query, document]
    ]
    (folder / "qrels").write_text("".join(lines))
    for system, signal in (("old", 2.0), ("new", 2.2), ("bad", 0.2)):
        score = relevant * signal + rng.normal(size=relevant.shape)
        rows = [
            f"{100 + query} Q0 d{document} 1 {score[query, document]:.3f} {system}\n"
            for query in range(n_queries)
            for document in np.argsort(-score[query])[:20]
        ]
        (folder / f"{system}.run").write_text("".join(rows))
    (folder / "old.run.gz").write_bytes(gzip.compress((folder / "old.run").read_bytes()))


FRAME = """\
query,model,score,other,label
007,a,3,1,1
007,a,2,3,0
007,a,1,2,1
008,a,1,4,1
008,a,0.5,1,0
007,b,1,1,1
007,b,2,2,0
007,b,3,3,1
008,b,2,1,0
008,b,3,5,1
"""
