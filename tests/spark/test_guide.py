"""The code of the guide page on Spark runs, and prints what the page shows."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from tests.spark.test_verbs import pytestmark  # noqa: F401 - marks this file

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "spark.md"
BLOCK = re.compile(r"^```py\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_code_of_the_page(session, tmp_path) -> None:
    names = {"session": session}
    # A block that needs a server or arguments, and ends its session, is not run here.
    elsewhere = ("sc://", "sys.argv")
    blocks = [
        block
        for block in BLOCK.findall(PAGE.read_text("utf-8"))
        if not any(mark in block[0] for mark in elsewhere)
    ]
    assert len(blocks) > 3
    try:
        for code, shown in blocks:
            # The folder of the session is another one than that of the test.
            here = code.replace('parquet("', f'parquet("{tmp_path}/')
            here = here.replace("SparkSession.builder.getOrCreate()", "session")
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(here, names)  # noqa: S102 - this is the page's code
            if shown:
                assert printed.getvalue().rstrip("\n") == shown.rstrip("\n")
    finally:
        session.conf.set("spark.prframe.plan", "auto")
        for limit in ("maxBytesPerBatch", "maxRecordsPerBatch"):
            session.conf.unset(f"spark.sql.execution.arrow.{limit}")
