"""matplotlib is loaded when a picture is drawn, and a sentence says what to install."""

import subprocess
import sys

import pytest


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.slow
def test_without_matplotlib() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import polars as pl\nimport prframe\nfrom prframe import *\n"
        "frame = pl.DataFrame({'score': [2.0, 1.0], 'label': [1, 0]})\n"
        "print(frame.pr.evaluate('AP').item())\n"
        "for draw in (lambda: prframe.plot, lambda: frame.pr.plot.curve()):\n"
        "    try:\n        draw()\n"
        "    except ImportError as error:\n        print(error)\n"
    )
    sentence = "prframe.plot needs matplotlib 3.11 or later: pip install 'prframe[plot]'."
    assert run(code).splitlines() == ["1.0", sentence, sentence]


@pytest.mark.slow
def test_matplotlib_is_loaded_on_first_use() -> None:
    code = (
        "import sys, prframe, polars as pl\n"
        "frame = pl.DataFrame({'score': [2.0, 1.0], 'label': [1, 0]})\n"
        "frame.pr.plot\nprframe.tables\n"
        "print('matplotlib' in sys.modules, 'great_tables' in sys.modules)\n"
    )
    assert run(code) == "False False"
