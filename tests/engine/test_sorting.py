"""Rows in order: one sort of packed integers against a sort by columns."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import prframe
from prframe._engine import hits, sorting
from prframe._engine.sorting import Ranks, order_of_rows, places_of, sort_rows

pytestmark = pytest.mark.filterwarnings(
    "ignore::prframe.NoNegativesWarning", "ignore::prframe.NoPositivesWarning"
)

METRICS = ["AP", "nDCG", "nDCG@7", "RR", "P@7", "AUC", "MaxF1", "AP11", "ERR(top=1)"]


LARGEST = 2**63 - 2
# How keys are drawn; some need more bits than there is room for.
KEYS: dict[str, Callable[[int, np.random.Generator], NDArray[np.int64]]] = {
    "all bits": lambda n, rng: rng.integers(-LARGEST, LARGEST, n),
    "few values": lambda n, rng: rng.integers(0, 4, n) << rng.integers(0, 60),
    "ends": lambda n, rng: rng.choice([-LARGEST, LARGEST, -1, 0, 1, 6, 7], n),
    "decimals": lambda n, rng: np.round(rng.normal(size=n), 1).view(np.int64),
    "one value": lambda n, _: np.full(n, -5),
    "shares": lambda n, rng: rng.random(n).view(np.int64),
    # There is no room for the last bits, in which alone some keys differ.
    "alike": lambda n, rng: rng.integers(0, 3, n) + (rng.integers(0, 3, n) << 61) - 2**62,
}


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("n_kinds", [1, 300])
def test_order_is_that_of_a_sort_by_columns(kind: str, n_kinds: int) -> None:
    rng = np.random.default_rng(1)
    for n in (1, 2, 3, 17, 200):
        for n_groups in (1, 2, 40):
            group = np.sort(rng.integers(7, 7 + n_groups, n)).astype(np.uint32)
            key = KEYS[kind](n, rng)
            carried = rng.integers(0, n_kinds, n).astype(np.uint16)
            rows = sort_rows(group, key, carried)
            order = sorted(range(n), key=lambda i: (group[i], -int(key[i])))
            places = [(int(group[i]), int(key[i])) for i in order]
            assert rows.begins.tolist() == [
                i == 0 or place != places[i - 1] for i, place in enumerate(places)
            ]
            # Within a block of ties the order is free.
            block = np.cumsum(rows.begins)
            expected = sorted(zip(block, carried[order], strict=True))
            assert sorted(zip(block, rows.kind, strict=True)) == expected


def test_no_rows() -> None:
    rows = sort_rows(np.zeros(0, np.uint32), np.zeros(0, np.int64), np.zeros(0, np.uint8))
    assert rows.kind.size == rows.begins.size == 0


def test_rows_are_looked_at_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    group = np.sort(rng.integers(0, 9, 500)).astype(np.uint32)
    key, kind = KEYS["decimals"](500, rng), rng.integers(0, 2, 500).astype(np.uint8)
    whole = sort_rows(group, key, kind)
    monkeypatch.setattr(sorting, "_AT_A_TIME", 7)
    parts = sort_rows(group, key, kind)
    assert (whole.kind == parts.kind).all()
    assert (whole.begins == parts.begins).all()


@pytest.mark.slow
@pytest.mark.parametrize("decimals", [1, 9])
@pytest.mark.parametrize("ties", ["group", "order", "best", "worst"])
def test_hits_are_measured_in_parts(
    decimals: int, ties: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    sizes = [1, 40, 3, 200, 31, 64, 2, 90]
    n = sum(sizes)
    frame = pl.DataFrame(
        {
            "group": np.repeat(np.arange(len(sizes)), sizes),
            "score": np.round(rng.normal(size=n), decimals),
            "label": rng.random(n) < 0.6,
        }
    ).with_columns(label=pl.col("label") | (pl.col("group") == 0))
    metrics = [name for name in METRICS if ties == "group" or name != "AP11"]
    whole = prframe.evaluate(frame, metrics, by="group", ties=ties, undefined=-1.0)
    monkeypatch.setattr(hits, "_AT_A_TIME", 8)
    parts = prframe.evaluate(frame, metrics, by="group", ties=ties, undefined=-1.0)
    for name in metrics:
        assert parts[name].to_list() == pytest.approx(whole[name].to_list(), abs=1e-14)
    # To the last bit, a group does not depend on the others.
    alone = [
        prframe.evaluate(rows, metrics, ties=ties, undefined=-1.0)
        for _, rows in frame.group_by("group", maintain_order=True)
    ]
    assert pl.concat(alone).equals(parts.drop("group"))


def test_a_column_of_gains_that_is_the_label_changes_nothing() -> None:
    rng = np.random.default_rng(4)
    frame = pl.DataFrame(
        {"group": np.repeat([0, 1], 50), "score": rng.normal(size=100), "label": rng.random(100)}
    ).with_columns(label=(pl.col("label") < 0.3).cast(pl.Int8))
    boolean = frame.with_columns(pl.col("label").cast(pl.Boolean))
    # One row with a grade of 2 makes gains matter; a query without it keeps its values.
    graded = pl.concat(
        [frame, pl.DataFrame({"group": [2], "score": [0.0], "label": [2]})], how="vertical_relaxed"
    )
    metrics = ["AP", "nDCG", "RR"]
    expected = prframe.evaluate(boolean, metrics, by="group")
    assert prframe.evaluate(frame, metrics, by="group").equals(expected)
    rest = prframe.evaluate(graded, metrics, by="group").filter(pl.col("group") < 2)
    for name in metrics:
        assert rest[name].to_list() == pytest.approx(expected[name].to_list(), abs=1e-15)


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("n_kinds", [1, 300])
@pytest.mark.parametrize("telling_bits", [0, 65])
@pytest.mark.parametrize("at_a_time", [7])
def test_the_permutation_is_that_of_a_stable_sort_by_columns(
    kind: str, n_kinds: int, telling_bits: int, at_a_time: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorting, "_TELLING_BITS", telling_bits)
    monkeypatch.setattr(sorting, "_AT_A_TIME", at_a_time)
    rng = np.random.default_rng(5)
    for n in (0, 1, 2, 17, 200):
        for n_groups in (1, 2, 40):
            group = np.sort(rng.integers(7, 7 + n_groups, n)).astype(np.uint32)
            key, carried = KEYS[kind](n, rng), rng.integers(0, n_kinds, n).astype(np.uint16)
            flag = rng.random(n) < 0.5
            order, begins, flags = order_of_rows(group, key, carried, flag)
            expected = sorted(range(n), key=lambda i: (group[i], -int(key[i]), carried[i]))
            place = list(zip(group[expected], key[expected], strict=True))
            assert begins.tolist() == [i == 0 or p != place[i - 1] for i, p in enumerate(place)]
            assert order.tolist() == expected
            assert flags.tolist() == flag[expected].tolist()


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.13, 0.5, 1.0])
def test_the_places_of_a_mask(share: float) -> None:
    rng = np.random.default_rng(9)
    for n in (0, 1, 7, 8, 9, 64, 200, 1_001):
        mask = rng.random(2 * n) < share
        for part in (mask[:n], mask[3:], mask[::2]):
            expected = [i for i, is_marked in enumerate(part.tolist()) if is_marked]
            assert places_of(part).tolist() == expected


def test_stacked_ranks_are_those_of_all_groups() -> None:
    rng = np.random.default_rng(10)
    apart = Ranks(np.array([0, 0, 2]), np.array([1, 4, 0]), np.array([0, 1, 0]))
    group, start = np.sort(rng.integers(0, 3, 9)), rng.integers(0, 6, 9)
    tied = Ranks.of_blocks(group, start, start + 1 + start % 2)
    for parts in ([apart, apart], [apart, tied], [tied, apart, tied]):
        firsts = [3 * i for i in range(len(parts))]
        stacked = Ranks.stacked(parts, firsts).columns()
        for name, values in stacked.items():
            columns = [part.columns()[name] for part in parts]
            if name == "group":
                columns = [column + at for column, at in zip(columns, firsts, strict=True)]
            assert values.tolist() == np.concatenate(columns).tolist()
    assert Ranks.stacked([apart, apart], [0, 3]).ends is None
