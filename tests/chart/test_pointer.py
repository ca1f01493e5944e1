"""What the pointer is told in a real browser, without a network."""

import os
import shutil
from pathlib import Path

import polars as pl
import pytest

import prframe
from prframe import chart

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed"),
    pytest.mark.skipif(os.name != "posix", reason="the options of the browser are for Linux"),
]


def test_the_point_at_the_pointer_tells_its_curve_and_counts(tmp_path: Path) -> None:
    rows = pl.DataFrame(
        {
            "system": ["first"] * 4 + ["second"] * 4,
            "score": [4.0, 3.0, 2.0, 1.0] * 2,
            "label": [1, 0, 1, 0, 0, 0, 0, 1],
        }
    )
    path = tmp_path / "chart.html"
    chart.curve(prframe.curve(rows, by="system")).save(str(path), inline=True)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("svg.marks, canvas")
        box = page.locator("svg.marks, canvas").bounding_box()
        assert box
        # The first curve has precision 1/2 at recall 1/2, where a panel has its middle.
        half = chart.parts.SIDE / 2
        page.mouse.move(box["x"] + 42 + half - 10, box["y"] + 5 + half)
        page.mouse.move(box["x"] + 42 + half, box["y"] + 5 + half)
        page.wait_for_selector("#vg-tooltip-element td", state="attached", timeout=10_000)
        told = page.locator("#vg-tooltip-element td").all_text_contents()
        browser.close()
    assert asked == [path.as_uri()]
    pairs = dict(zip(told[::2], told[1::2], strict=True))
    assert pairs == {
        "system": "first, AP 0.833",
        "recall": "0.5000",
        "precision": "0.5000",
        "threshold": "3",
        "k": "2",
        "tp": "1",
        "fp": "1",
    }
