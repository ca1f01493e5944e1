"""The recorded runs of vl_pr: agreement to 1e-12, and the cases that differ, with the reason."""

import json
from math import inf, nan
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import prframe

pytestmark = pytest.mark.filterwarnings("ignore::prframe.NoNegativesWarning")

RECORD = json.loads((Path(__file__).parents[1] / "data" / "vl_pr.json").read_text())
RUNS = {run["id"]: run for run in RECORD["runs"]}

# The original's answers that are not wanted. A run belongs to a set if, and only if, it differs.
# It only warns when a total is below what is present, and returns recalls above 1.
TOTAL_TOO_SMALL = {207, 208, 209, 212, 213, 214}
# At prior 0 it puts 1e-10 where precision is 0.
TINY_INSTEAD_OF_ZERO = {205, 210}
# In stable mode items that are not retrieved are to be NaN; behind the last retrieved one they
# are 0, or cut off.
UNRETRIEVED_NOT_NAN = {
    *(11, 20, 29, 56, 74, 84, 92, 96, 100, 116, 149, 160, 216, 218, 225, 227, 234, 236)
}


def numbers(values: list[float | str | None]) -> np.ndarray:
    """Read numbers as recorded, "Infinity" and "NaN" among them."""
    special = {"Infinity": inf, "-Infinity": -inf, "NaN": nan, None: nan}
    return np.array([special.get(value, value) for value in values], dtype=float)


def frame(run: dict) -> pl.DataFrame:
    """Return the labels and scores that a run was given."""
    given = RECORD["inputs"][run["input"]]
    return pl.DataFrame({"score": numbers(given["scores"]), "label": numbers(given["labels"])})


def arguments(run: dict) -> tuple[dict, dict]:
    """Translate vl_pr's options: those of any verb, and those of the curve."""
    options = run["options"]
    totals = {"n_pos": "numPositives", "n_neg": "numNegatives"}
    shared = {name: int(options[theirs]) for name, theirs in totals.items() if theirs in options}
    own = {
        "include_unretrieved": bool(options.get("includeInf")),
        "interpolate": bool(options.get("interpolate")),
        "anchor": not options.get("stable"),
        "prior": options.get("normalizePrior"),
    }
    return {"ignore": 0, "ties": "order", **shared}, own


def recorded_curve(run: dict) -> tuple[np.ndarray, np.ndarray]:
    """Return recall and precision as recorded, without the points of ignored rows.

    The original keeps a point for a row of label 0, which repeats the point before it.
    """
    recall, precision = numbers(run["recall"]), numbers(run["precision"])
    rows = frame(run).with_row_index("row")
    if run["options"].get("stable"):
        kept = rows.filter(pl.col("label") != 0)["row"].to_numpy()
        kept = kept[kept < recall.size]
        return recall[kept], precision[kept]
    if not run["options"].get("includeInf"):
        rows = rows.filter(pl.col("score") > -inf)
    ranked = rows.sort("score", descending=True, maintain_order=True)
    kept = np.concatenate([[0], np.flatnonzero(ranked["label"].to_numpy() != 0) + 1])
    return recall[kept], precision[kept]


def our_curve(run: dict) -> tuple[np.ndarray, np.ndarray]:
    """Return recall and precision of `curve`, without ignored rows."""
    shared, own = arguments(run)
    order = "input" if run["options"].get("stable") else "rank"
    rows = prframe.curve(frame(run), **shared, **own, order=order)
    if order == "input":
        rows = rows.filter(frame(run)["label"] != 0)
    return rows["recall"].to_numpy(), rows["precision"].to_numpy()


def same(ours: np.ndarray, theirs: np.ndarray) -> bool:
    return ours.shape == theirs.shape and np.allclose(
        ours, theirs, rtol=0, atol=1e-12, equal_nan=True
    )


def test_the_record_is_whole() -> None:
    assert len(RUNS) == 133


@pytest.mark.parametrize("number", sorted(set(RUNS) - TOTAL_TOO_SMALL)[::4][::4])
def test_curve(number: int) -> None:
    agrees = all(map(same, our_curve(RUNS[number]), recorded_curve(RUNS[number])))
    assert agrees is (number not in TINY_INSTEAD_OF_ZERO | UNRETRIEVED_NOT_NAN)


@pytest.mark.slow
@pytest.mark.parametrize("number", sorted(set(RUNS) - TOTAL_TOO_SMALL)[::4][::4])
def test_areas(number: int) -> None:
    run = RUNS[number]
    shared, own = arguments(run)
    # Areas do not depend on whether the curve has an opening point.
    own.pop("anchor")
    ours = prframe.evaluate(frame(run), ["AP", "AUPRC", "AP11"], **shared, **own).row(0)
    theirs = [run["ap"], run["auc"], run["ap_interp_11"]]
    assert same(np.array(ours), np.array(theirs)) is (number not in TINY_INSTEAD_OF_ZERO)


@pytest.mark.parametrize("number", sorted(TINY_INSTEAD_OF_ZERO))
def test_tiny_instead_of_zero(number: int) -> None:
    (recall, precision), (their_recall, their_precision) = (
        make(RUNS[number]) for make in (our_curve, recorded_curve)
    )
    assert same(recall, their_recall)
    wrong = np.abs(precision - their_precision) > 1e-12
    assert (precision[wrong] == 0).all()
    assert (their_precision[wrong] < 2e-9).all()


@pytest.mark.parametrize("number", sorted(UNRETRIEVED_NOT_NAN))
def test_unretrieved_rows_are_null(number: int) -> None:
    run = RUNS[number]
    for ours, theirs in zip(our_curve(run), recorded_curve(run), strict=True):
        there = ~np.isnan(ours[: theirs.size])
        assert same(ours[: theirs.size][there], theirs[there])
        assert not np.isnan(theirs).any() or ours.size >= theirs.size
        # What differs is unretrieved: null here; 0, or nothing at all, there.
        assert np.isnan(ours[theirs.size :]).all()
        assert (theirs[~there & ~np.isnan(theirs)] == 0).all()


@pytest.mark.parametrize("number", sorted(TOTAL_TOO_SMALL))
def test_totals_below_what_is_present_are_refused(number: int) -> None:
    run = RUNS[number]
    shared, own = arguments(run)
    assert run["warns"]
    with pytest.raises(prframe.PrframeError, match="must be at least what is present"):
        prframe.curve(frame(run), **shared, **own)
