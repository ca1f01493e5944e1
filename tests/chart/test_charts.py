"""What charts hold: a valid specification, few rows, no NaN, and what the pointer tells."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import altair as alt
import numpy as np
import polars as pl
import pytest

import prframe
from prframe import PrframeError, chart, plot
from tests.chart.cases import CHARTS
from tests.plot.cases import PICTURES, data
from tests.tables.cases import HOSTILE, comparison, intervals


def specification(drawn: Any) -> dict[str, Any]:
    """Return what Altair has validated, in JSON and back."""
    return json.loads(json.dumps(drawn.to_dict(), allow_nan=False))


def parts_of(spec: Any) -> Iterator[dict[str, Any]]:
    """Yield all dictionaries of a specification."""
    if isinstance(spec, dict):
        yield spec
        for part in spec.values():
            yield from parts_of(part)
    if isinstance(spec, list):
        for part in spec:
            yield from parts_of(part)


def rows_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all rows of a specification."""
    lists = [part["values"] for part in parts_of(spec) if isinstance(part.get("values"), list)]
    lists += spec.get("datasets", {}).values()
    return [row for rows in lists for row in rows if isinstance(row, dict)]


def tooltips(spec: dict[str, Any]) -> set[str]:
    """Return the columns that the pointer shows."""
    lists = [part["tooltip"] for part in parts_of(spec) if isinstance(part.get("tooltip"), list)]
    return {shown["field"] for columns in lists for shown in columns}


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("kind", CHARTS)
def test_specifications_are_valid_and_small(kind: str, dark: bool) -> None:
    with chart.style(dark=dark):
        drawn = CHARTS[kind](data())
        spec = specification(drawn)
    assert 0 < len(rows_of(spec)) < 10_000
    text = chart.alt_text(drawn)
    assert spec["description"] == text
    assert any(sign.isdigit() for sign in text)
    assert (spec["config"].get("background") == "#121212") == dark
    assert (chart.PALETTE_DARK[0] in json.dumps(spec)) == dark


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in CHARTS if kind in PICTURES])
def test_the_text_is_that_of_the_picture(kind: str) -> None:
    assert chart.alt_text(CHARTS[kind](data())) == plot.alt_text(PICTURES[kind](data()))


@pytest.mark.slow
@pytest.mark.parametrize("kind", CHARTS)
def test_charts_are_drawn(kind: str) -> None:
    convert = pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")
    svg = convert.vegalite_to_svg(specification(CHARTS[kind](data())))
    assert svg.startswith("<svg")
    assert "NaN" not in svg
    assert "undefined" not in svg


@pytest.mark.slow
def test_the_pointer_tells_the_threshold() -> None:
    spec = specification(chart.curve(data()["curve"]))
    assert tooltips(spec) == {"group", "x", "y", "threshold", "k", "tp", "fp"}
    first = next(row for row in rows_of(spec) if row.get("k") == 0)
    assert first["threshold"] is None
    assert {"k", "fp", "tp"} <= tooltips(specification(chart.roc(data()["roc"])))


def test_the_area_below_the_steps_is_ap() -> None:
    rows = pl.DataFrame(rows_of(specification(chart.curve(data()["curve"]))))
    for name, points in rows.drop_nulls("k").sort("place").group_by("group", maintain_order=True):
        area = np.dot(np.diff(points["x"], prepend=0.0), points["y"])
        assert str(name[0]).endswith(f", AP {area:.3f}")


@pytest.mark.slow
@pytest.mark.parametrize("systems", [1, 15])
def test_long_curves_have_few_rows(systems: int) -> None:
    rng = np.random.default_rng(1)
    size = 20_000
    frame = pl.DataFrame(
        {
            "system": np.repeat(np.arange(systems), size),
            "score": rng.random(systems * size),
            "label": rng.random(systems * size) < 0.3,
        }
    )
    curve = frame.pr.curve(by="system")
    for drawn in (chart.curve(curve, iso_f=True), chart.curve(curve, facet="system")):
        assert 1000 < len(rows_of(specification(drawn))) < 5000
    assert len(rows_of(specification(chart.roc(frame.pr.roc(by="system"))))) < 5000


@pytest.mark.slow
def test_two_hundred_queries_fit() -> None:
    runs = prframe.datasets.load_digits().filter(system="pca")
    drawn = runs.pr.chart.curve(over="query_id", n_pos="n_relevant")
    assert 3000 < len(rows_of(specification(drawn))) < 15_000
    assert "200 curves" in json.dumps(specification(drawn))


@pytest.mark.slow
def test_charts_of_the_frame_in_one_call() -> None:
    one = data()["one"]
    for frame in (one, one.lazy(), one.to_pandas()):
        drawn = frame.pr.chart.curve(by="system")
        assert chart.alt_text(drawn) == chart.alt_text(chart.curve(data()["curve"]))
    band = one.pr.chart.band(by="system", recall=[0.3, 0.6], n_resamples=50, rng=1, facet="system")
    assert "simultaneous 95% confidence band" in chart.alt_text(band)


@pytest.mark.slow
def test_charts_can_be_joined() -> None:
    curve = chart.curve(data()["curve"])
    joined = curve | chart.roc(data()["roc"])
    assert len(rows_of(specification(joined))) < 5000


@pytest.mark.slow
def test_hostile_names() -> None:
    pairs = comparison(HOSTILE, {(HOSTILE[0], HOSTILE[1])})
    drawn = chart.interval(intervals(HOSTILE), letters=pairs)
    assert HOSTILE[3] in {row.get("name") for row in rows_of(specification(drawn))}


@pytest.mark.slow
def test_grounds_of_other_themes() -> None:
    with alt.theme.enable("dark"):
        assert chart.PALETTE_DARK[0] in json.dumps(chart.roc(data()["roc"]).to_dict())
    assert chart.PALETTE[0] in json.dumps(chart.roc(data()["roc"]).to_dict())


def test_a_text_of_another_chart() -> None:
    message = "`drawn` must be what a function of prframe.chart has returned."
    with pytest.raises(PrframeError, match=message):
        chart.alt_text(alt.Chart())  # type: ignore[arg-type]


@pytest.mark.slow
def test_without_altair() -> None:
    code = (
        "import sys; sys.modules['altair'] = None\n"
        "import polars as pl\nimport prframe\nfrom prframe import *\n"
        "frame = pl.DataFrame({'score': [2.0, 1.0], 'label': [1, 0]})\n"
        "for draw in (lambda: prframe.chart, lambda: frame.pr.chart.curve()):\n"
        "    try:\n        draw()\n"
        "    except ImportError as error:\n        print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    sentence = "prframe.chart needs altair 6.3 or later: pip install 'prframe[chart]'."
    assert done.stdout.splitlines() == [sentence, sentence]


@pytest.mark.slow
def test_altair_is_loaded_on_first_use() -> None:
    code = (
        "import sys, prframe, polars as pl\n"
        "pl.DataFrame({'score': [2.0, 1.0], 'label': [1, 0]}).pr.chart\n"
        "print('altair' in sys.modules)\n"
        "prframe.chart\nprint('altair' in sys.modules, 'matplotlib' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "False"]
