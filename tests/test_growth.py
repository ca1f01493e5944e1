"""The command that measures how time grows."""

from dataclasses import asdict

import pytest

from benchmarks import growth, peers
from benchmarks.fresh import Measurement

SKLEARN = "scikit-learn"


@pytest.mark.parametrize("models", [1, 3])
def test_tools_compute_the_same(models: int) -> None:
    pytest.importorskip("sklearn")
    size = asdict(growth.Size(rows=600, groups=5, models=models))
    works = [peers.grow(tool, **size) for tool in ("prframe", SKLEARN)]
    ours, theirs = (work.answer(work.call()) for work in works)
    assert ours["rows"] == theirs["rows"] == 5 * models
    assert ours["AP"] == pytest.approx(theirs["AP"], abs=1e-12)


def test_a_tool_that_takes_too_long_is_asked_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_task(task: str, options: dict, later: int, limit: float) -> Measurement:
        assert (task, later, limit) == ("peers.grow", 3, 7)
        if options["tool"] == SKLEARN and options["rows"] > 10_000:
            return Measurement(skipped="more than 7 seconds")
        cpu = (0.75, 0.375, 0.5, 0.25)
        return Measurement(0.5, (0.25, 0.125, 0.5), ready=100, peak_later=130, cpu=cpu)

    monkeypatch.setattr(growth, "run_task", run_task)
    rows = [row for row in growth.measured(10**6, 7) if row["axis"] == "rows"]
    theirs = [(row["rows"], row["note"]) for row in rows if row["tool"] == SKLEARN]
    assert theirs == [(10_000, ""), (100_000, "more than 7 seconds")]
    ours = [row for row in rows if row["tool"] == "prframe"]
    assert [row["rows"] for row in ours] == [10_000, 100_000, 1_000_000]
    assert tuple(ours[0]) == growth.COLUMNS
    assert (ours[0]["later_seconds"], ours[0]["megabytes"]) == ("0.25", "30")
    assert (ours[0]["first_cpu"], ours[0]["later_cpu"]) == ("0.75", "0.375")
