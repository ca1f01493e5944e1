"""A group has the same bits alone as among other groups, whatever way its rows take."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from polars.testing import assert_frame_equal

import prframe
from prframe._engine import frames
from prframe.stats.null.average_precision.groups import Case, Cases

pytestmark = [
    pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning"),
    pytest.mark.filterwarnings("ignore::prframe.NoNegativesWarning"),
]

Verb = Callable[..., pl.DataFrame]

METRICS = ["AP", "AUC", "AUPRC", "AUPRG", "P@5", "P@49", "R@7", "nDCG@10", "RR", "MaxF1", "Lift@3"]
FEW_DRAWS = {"rng": 1, "n_resamples": 60}
# Quotients by 49, 98 and 103 are among those that differ from products with the reciprocal.
SIZES = [(1, 3), (5, 2), (49, 6), (98, 1), (103, 30), (7, 300), (3, 0), (20, 41)]


def calls() -> dict[str, Verb]:
    """Return the verbs that compute group by group, with options, by a name of each."""
    verbs = {
        "evaluate": (prframe.evaluate, {"metrics": METRICS}),
        "evaluate of areas": (prframe.evaluate, {"metrics": ["AP", "AUC", "AUPRC"]}),
        "curve": (prframe.curve, {}),
        "curve at levels": (prframe.curve, {"recall": np.linspace(0, 1, 21).tolist()}),
        "roc": (prframe.roc, {}),
        "gain curve": (prframe.curve, {"gain": True}),
        "topk_test": (prframe.topk_test, {"k": [1, 3, 10]}),
        "rank_test": (prframe.rank_test, {"phi": ["mww", "rtb"]}),
        "interval of P@5": (prframe.interval, {"metrics": "P@5", **FEW_DRAWS}),
        "interval": (prframe.interval, {"metrics": ["AP", "AUC"], **FEW_DRAWS}),
        "band": (prframe.band, FEW_DRAWS),
        "smoothed band": (prframe.band, {"method": "smoothed-bootstrap", **FEW_DRAWS}),
    }

    def call(verb: Verb, options: dict[str, Any]) -> Verb:
        return lambda rows, **more: verb(rows, **options, **more)

    return {name: call(verb, options) for name, (verb, options) in verbs.items()}


def with_weights() -> dict[str, Verb]:
    """Return those verbs that take weights, given a column of them."""
    return {
        f"{name}, weights": lambda rows, call=call, **more: call(rows, weight="weight", **more)
        for name, call in calls().items()
        if name in {"evaluate of areas", "curve", "curve at levels", "roc", "gain curve"}
    }


CALLS = calls() | with_weights()


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    """Return rankings of various sizes, the scores of some of which are tied."""
    rng = np.random.default_rng(8)
    parts = []
    for group, (n_pos, n_neg) in enumerate(SIZES):
        n = n_pos + n_neg
        label = rng.permutation(np.arange(n) < n_pos)
        score = np.round(rng.normal(size=n) + label, 1 if group % 2 else 9)
        weight = rng.uniform(0.1, 3.0, n)
        parts.append(
            pl.DataFrame({"group": group, "score": score, "label": label, "weight": weight})
        )
    return pl.concat(parts)


def alone(call: Verb, rows: pl.DataFrame) -> pl.DataFrame:
    """Compute each group from its own frame, with no column of groups."""
    parts = rows.group_by("group", maintain_order=True)
    return pl.concat(
        call(part).select(pl.lit(key, rows.schema["group"]).alias("group"), pl.all())
        for (key,), part in parts
    )


def mapped(call: Verb, rows: pl.DataFrame) -> pl.DataFrame:
    """Compute each group within `map_groups` of polars."""
    groups = rows.group_by("group", maintain_order=True)
    return groups.map_groups(lambda part: call(part, by="group"))


def scattered(call: Verb, rows: pl.DataFrame) -> pl.DataFrame:
    """Compute all groups from rows that take turns."""
    place = pl.int_range(pl.len()).over("group")
    return call(rows.sort(place, maintain_order=True), by="group")


def in_batches(call: Verb, rows: pl.DataFrame) -> pl.DataFrame:
    """Compute all groups from batches that cut through them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "_SLICE_ROWS", 50)
        return call(rows, by="group")


def lazily(call: Verb, rows: pl.DataFrame) -> pl.DataFrame:
    """Compute all groups of a query, whose rows come in batches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "_BATCH_ROWS", 50)
        return call(rows.lazy(), by="group").collect()


@pytest.mark.parametrize("name", CALLS)
def test_a_group_has_the_same_bits_among_others(name: str, rows: pl.DataFrame) -> None:
    call = CALLS[name]
    among = call(rows, by="group")
    assert among["group"].n_unique() == len(SIZES)
    for way in (alone, mapped, scattered, in_batches, lazily):
        assert_frame_equal(way(call, rows), among, check_exact=True)


@pytest.mark.parametrize("draw", [prframe.curve, prframe.roc])
def test_curves_end_at_exactly_one(draw: Verb, rows: pl.DataFrame) -> None:
    drawn = draw(rows.filter(pl.col("group") != 6), by="group")
    last = "recall" if draw is prframe.curve else "tpr"
    assert drawn.group_by("group").agg(pl.col(last).last())[last].to_list() == [1.0] * 7


# Items, positives, depths and tie blocks of groups whose p-values come from every method.
NULL_SHAPES = [
    *[(5, 2, 5, 0), (15, 4, 15, 0), (40, 12, 9, 0), (197, 12, 8, 0), (350, 4, 11, 5)],
    *[(160, 10, 160, 0), (164, 10, 164, 0), (900, 25, 900, 0), (640, 60, 640, 7)],
    *[(162, 88, 162, 0), (334, 52, 334, 0), (334, 52, 100, 0), (700, 200, 700, 0)],
    *[
        (11_429, 37, 1_142, 0),
        (11_429, 62, 1_142, 0),
        (11_429, 8, 11_429, 0),
        (5_000, 900, 5_000, 0),
    ],
]
LARGE_SHAPES = [(10**6, 7, 10**6, 0), (73_457, 315, 26_468, 30), (10**5, 900, 10**5, 0)]


def null_values(shapes: list[tuple[int, int, int, int]], seed: int) -> tuple[list[Case], Any]:
    """Return groups of shapes, each at several values from below the mean to the far tail."""
    rng = np.random.default_rng(seed)
    cases = []
    for n, n_pos, depth, blocks in shapes:
        cuts = np.sort(rng.choice(np.arange(1, depth), max(blocks - 1, 0), replace=False))
        ties = tuple(np.diff([0, *cuts.tolist(), depth]).tolist()) if blocks else None
        cases += [Case(n, n_pos, depth, ties)] * 5
    groups = Cases(cases)
    z = np.tile([-1.0, 0.3, 1.7, 4.0, 9.0], len(shapes)) + rng.uniform(-0.2, 0.2, len(cases))
    return cases, np.clip(groups.mean + z * np.sqrt(groups.variance), 1e-9, 1.0)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(2))
def test_p_values_have_nine_digits_among_others(seed: int) -> None:
    shapes = NULL_SHAPES if seed else NULL_SHAPES + LARGE_SHAPES
    cases, ap = null_values(shapes, seed)
    among = Cases(cases).tails(ap)
    for case, value, tail in zip(cases, ap.tolist(), among, strict=True):
        (alone,) = Cases([case]).tails(np.array([value]))
        assert alone[:2] == pytest.approx(tail[:2], rel=1e-9, abs=1e-9)
        assert alone.method == tail.method


@given(st.lists(st.tuples(*[st.integers(1, 30)] * 2, st.booleans()), min_size=2, max_size=6))
@settings(max_examples=6)
def test_p_values_of_any_groups_do_not_depend_on_others(
    groups: list[tuple[int, int, bool]],
) -> None:
    rng = np.random.default_rng(len(groups))
    parts = []
    for group, (n_pos, n_neg, is_tied) in enumerate(groups):
        score = np.round(rng.normal(size=n_pos + n_neg), 0 if is_tied else 9)
        label = np.arange(score.size) < n_pos
        parts.append(pl.DataFrame({"group": group, "score": score, "label": label}))
    rows = pl.concat(parts)
    among = prframe.ap_test(rows, by="group")
    for (group,), part in rows.group_by("group", maintain_order=True):
        alone = prframe.ap_test(part, by="group")
        assert_frame_equal(alone, among.filter(pl.col("group") == group), rel_tol=1e-9)
