"""`vl_pr` by its own names, against the recorded runs of the original."""

import numpy as np
import pytest

import prframe
from prframe.vlfeat import vl_pr
from tests.metrics.test_vl_pr import (
    RECORD,
    RUNS,
    TINY_INSTEAD_OF_ZERO,
    TOTAL_TOO_SMALL,
    UNRETRIEVED_NOT_NAN,
    numbers,
    same,
)
from tests.refusals import refusals

NAMES = {
    "interpolate": "interpolate",
    "includeInf": "include_inf",
    "stable": "stable",
    "normalizePrior": "normalize_prior",
    "numPositives": "num_positives",
    "numNegatives": "num_negatives",
}


def answer(run: dict):
    """Call `vl_pr` as the original was called."""
    given = RECORD["inputs"][run["input"]]
    options = {NAMES[name]: value for name, value in run["options"].items()}
    totals = {name: int(value) for name, value in options.items() if name.startswith("num")}
    return vl_pr(numbers(given["labels"]), numbers(given["scores"]), **(options | totals))


@pytest.mark.parametrize(
    "number", sorted(set(RUNS) - TOTAL_TOO_SMALL - TINY_INSTEAD_OF_ZERO)[::4][::4]
)
def test_recorded_runs(number: int) -> None:
    run = RUNS[number]
    recall, precision, info = answer(run)
    for ours, recorded in ((recall, run["recall"]), (precision, run["precision"])):
        theirs = numbers(recorded)
        if number in UNRETRIEVED_NOT_NAN:
            # All items that are not retrieved are NaN, and none is cut off.
            scores = numbers(RECORD["inputs"][run["input"]]["scores"])
            assert (np.isnan(ours) == np.isneginf(scores)).all()
            listed = np.isfinite(scores)[: theirs.size]
            assert same(ours[: theirs.size][listed], theirs[listed])
        else:
            assert same(ours, theirs)
    want = [run["auc"], run["ap"], run["ap_interp_11"], run["ap_interp_11"]]
    assert same(np.array(info), np.array(want))


def test_interpolated_area_is_ap() -> None:
    rng = np.random.default_rng(3)
    labels, scores = rng.choice([-1, 0, 1], 80), rng.normal(size=80)
    info = vl_pr(labels, scores, interpolate=True).info
    assert info.auc == pytest.approx(info.ap, rel=1e-14)


def test_labels_that_may_be_meant_otherwise() -> None:
    message = (
        "no label is below 0, and items of label 0 are ignored; if 0 stands for negatives, "
        "pass 2 * labels - 1."
    )
    with pytest.warns(prframe.PrframeWarning) as caught:
        vl_pr([1, 0, 1], [3, 2, 1])
    assert str(caught[0].message) == message
    assert caught[0].filename == __file__


test_refusals = refusals(
    {
        "`labels` must be a list of numbers; got [True, False].": lambda: vl_pr(
            [True, False], [2, 1]
        ),
        "`labels` must be a list of numbers; got [[1, -1]].": lambda: vl_pr([[1, -1]], [2, 1]),
        "`labels` and `scores` must have the same number of items, one or more; got 2 and 1.": lambda: (
            vl_pr([1, -1], [2])
        ),
        "`labels` and `scores` must have the same number of items, one or more; got 0 and 0.": lambda: (
            vl_pr(np.array([]), np.array([]))
        ),
    }
)


def test_all_items_may_be_ignored() -> None:
    with pytest.warns(prframe.errors.PrframeWarning):
        recall, precision, info = vl_pr([0, 0], [1, 2])
    assert recall.tolist() == [0, 0, 0]
    assert precision.tolist() == [1, 1, 1]
    assert np.isnan(info.ap)


def test_the_picture_of_vl_pr() -> None:
    plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    plt.switch_backend("agg")
    from prframe.vlfeat import plot_vl_pr

    labels, scores = [1, -1, 0, 1, -1], [0.9, 0.8, 0.6, 0.2, 0.1]
    recall, precision, info = vl_pr(labels, scores)
    _, ax = plt.subplots()
    assert plot_vl_pr(labels, scores) is ax
    line, chance = ax.get_lines()
    assert np.array_equal(line.get_xdata(), recall)
    assert np.array_equal(line.get_ydata(), precision)
    assert line.get_drawstyle() == "default"
    assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(info.auc)
    assert list(chance.get_ydata()) == [0.5, 0.5]
    assert ax.get_title() == (
        f"PR (AUC: {100 * info.auc:.2f}%, AP: {100 * info.ap:.2f}%, "
        f"AP11: {100 * info.ap_interp_11:.2f}%)"
    )
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 1), (0, 1))
    _, other = plt.subplots()
    drawn = plot_vl_pr(labels, scores, ax=ax, normalize_prior=0.2, interpolate=True)
    assert drawn is ax
    assert list(ax.get_lines()[-1].get_ydata()) == [0.2, 0.2]
    assert not other.get_lines()
    more = plot_vl_pr(labels, scores, ax=other, num_positives=6)
    assert list(more.get_lines()[-1].get_ydata()) == [0.75, 0.75]
    plt.close("all")
