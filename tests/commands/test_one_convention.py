"""One convention for TREC files: the same AP of a run in every command and function."""

import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import prframe
from prframe import trec
from tests.commands.shell import run
from tests.trec.test_trec_eval import SYSTEMS, data


def aps_in_all_ways(qrels: Path, runs: list[Path], capfdbinary) -> dict[str, list]:
    """Return the AP of each run by each way, as a list of (system, AP)."""
    words = [qrels, *runs, "-m", "AP", "-f", "csv"]
    evaluated = pl.read_csv(io.StringIO(run(capfdbinary, "evaluate", *words).out))
    compared = pl.read_csv(io.StringIO(run(capfdbinary, "compare", *words).out))
    means = {row["model_a"]: row["mean_a"] for row in compared.to_dicts()}
    means |= {row["model_b"]: row["mean_b"] for row in compared.to_dicts()}
    values = trec.evaluate(runs, qrels, ["map", "AP"])
    page = prframe.report(runs, qrels, metrics="AP")
    shown = next(part for part in page.facts["sections"] if part["id"] == "results")
    lines = run(capfdbinary, "evaluate", *words[:-4], "-m", "map", "-f", "trec").out
    printed = [line.split()[-1] for line in lines.splitlines()]
    return {
        "evaluate": evaluated.select("system", "AP").rows(),
        "compare": [(name, means[name]) for name in evaluated["system"]],
        "trec.evaluate": values.select("system", "map").rows(),
        "trec.evaluate, AP": values.select("system", "AP").rows(),
        "-f trec": list(zip(printed[::2], printed[1::2], strict=True)),
        "report": [
            (page.facts["systems"][row["system"]], row["cells"][0]["text"])
            for row in shown["rows"]
        ],
    }


def agree(ways: dict[str, list]) -> None:
    """Require one AP of each system, to all digits that are shown."""
    expected = dict(ways["evaluate"])
    for way, rows in ways.items():
        assert {name for name, _ in rows} == set(expected), way
        for name, value in rows:
            if isinstance(value, float):
                assert value == pytest.approx(expected[name], abs=1e-15), (way, name)
            else:
                places = len(value.partition(".")[2])
                assert value == f"{expected[name]:.{places}f}", (way, name)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.filterwarnings("ignore::prframe.PrframeWarning")
def test_the_same_ap_of_vaswanis_runs_in_every_way(capfdbinary) -> None:
    path = data("vaswani")
    runs = [path / f"run.{system}.txt.gz" for system in SYSTEMS]
    ways = aps_in_all_ways(path / "qrels.txt", runs, capfdbinary)
    agree(ways)
    for way, values in ways.items():
        print(way, values)  # noqa: T201 - with -s


@pytest.mark.filterwarnings("ignore::prframe.PrframeWarning")
def test_the_same_ap_in_every_way(capfdbinary, tmp_path: Path) -> None:
    # Tied scores, scores that 32-bit floats cannot tell apart, unjudged documents, and a query that
    # one run lacks.
    rng = np.random.default_rng(5)
    judged = rng.random((12, 15)) < 0.3
    judged[:, 0] = True
    (tmp_path / "qrels").write_text(
        "".join(f"{q} 0 d{d} {int(judged[q, d])}\n" for q in range(12) for d in range(12))
    )
    for name in ("one", "two", "three"):
        score = np.round(rng.random(judged.shape) + 0.3 * judged, 1) + 1e-10 * rng.random(
            judged.shape
        )
        lines = [
            f"{q} Q0 d{d} 1 {float(score[q, d])!r} {name}\n"
            for q in range(12 - (name == "two"))
            for d in range(15)
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    runs = [tmp_path / f"{name}.run" for name in ("one", "three")]
    agree(aps_in_all_ways(tmp_path / "qrels", runs, capfdbinary))
    ways = aps_in_all_ways(tmp_path / "qrels", [*runs, tmp_path / "two.run"], capfdbinary)
    # trec_eval leaves out the query that a run lacks.
    ways.pop("-f trec")
    agree(ways)
