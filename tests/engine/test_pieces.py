"""Groups found in batches, gathered, huge or scattered: always the same numbers."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from polars.testing import assert_frame_equal

import prframe
from prframe._engine import frames, hits, pieces
from prframe._engine.arguments import Arguments
from prframe._engine.rows import labels_are_gains

pytestmark = pytest.mark.filterwarnings(
    "ignore::prframe.NoNegativesWarning", "ignore::prframe.NoPositivesWarning"
)

METRICS = ["AP", "nDCG@5", "RR", "P@3", "AUC"]


def data(n_groups: int = 40, most: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    sizes = rng.integers(2, most, n_groups)
    n = sizes.sum()
    label = rng.random(n) < 0.3
    firsts = np.cumsum(sizes) - sizes
    label[firsts], label[firsts + 1] = True, False
    return pl.DataFrame(
        {
            "a": np.repeat(np.arange(n_groups) // 7, sizes),
            "b": np.repeat([f"q{i}" for i in range(n_groups)], sizes),
            "score": np.round(rng.normal(size=n), 1),
            "label": label,
        }
    )


DATA = data()
EXPECTED = prframe.evaluate(DATA, METRICS, by=["a", "b"])


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 2, 3, 7, 50, 999, 10_000])
def test_the_size_of_batches_does_not_matter(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(frames, "_SLICE_ROWS", rows)
    monkeypatch.setattr(frames, "_BATCH_ROWS", rows)
    for frame in (DATA, DATA.lazy()):
        result = prframe.evaluate(frame, METRICS, by=["a", "b"]).lazy().collect()
        assert_frame_equal(result, EXPECTED)
    assert_frame_equal(prframe.evaluate(DATA, METRICS, by="b"), EXPECTED.drop("a"))
    assert_frame_equal(
        prframe.evaluate(DATA, METRICS), prframe.evaluate(DATA.lazy(), METRICS).collect()
    )


@pytest.mark.parametrize("many", [0, 1, 20, 10_000])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_hits_of_pieces_are_measured_together(
    many: int, weight: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = np.random.default_rng(4).random(DATA.height) + 0.5
    # Grades stand in some of the pieces only.
    grade = pl.when(pl.col("a") % 2 == 0).then(pl.col("label")).otherwise(2 * pl.col("label"))
    rows = DATA.with_columns(grade.alias("label"), pl.Series("weight", weights))
    names = METRICS if weight is None else ["AP", "AUC", "AUPRC"]
    expected = prframe.evaluate(rows, names, by=["a", "b"], weight=weight)
    monkeypatch.setattr(frames, "_SLICE_ROWS", 50)
    monkeypatch.setattr(hits, "_MANY", many)
    assert prframe.evaluate(rows, names, by=["a", "b"], weight=weight).equals(expected)


@pytest.mark.slow
def test_names_decide_among_equal_scores_alone() -> None:
    """Rows that are sorted by group, score and name before keep their order."""
    rng = np.random.default_rng(8)
    size = 3_000
    for n_scores in (1, 3, 50, 10**6):
        score = rng.integers(0, n_scores, size) / n_scores
        score[rng.random(size) < 0.2] = -np.inf
        frame = pl.DataFrame(
            {
                "group": np.sort(rng.integers(0, 40, size)),
                "score": score,
                "label": rng.integers(0, 3, size),
                "name": pl.Series(rng.permutation(size)).cast(pl.String),
            }
        )
        ranked = frame.sort("group", "score", "name", descending=[False, True, True])
        for option in ({}, {"include_unretrieved": True}):
            options = {"metrics": ["AP", "RR", "P@5", "nDCG@10"], "by": "group", **option}
            by_names = prframe.evaluate(frame, ties="trec", item="name", **options)
            assert by_names.equals(prframe.evaluate(ranked, ties="order", **options))


KEYS = {
    "integers": pl.Series([3, 3, 1, 1, 1, 3, 2, 2]),
    "wide integers": pl.Series([3, 3, 1, 1, 1, 3, 2, 2], dtype=pl.Int128),
    "nulls": pl.Series([None, None, 1, 1, None, 3, 3, 3]),
    "floats": pl.Series([float("nan"), float("nan"), 0.0, 0.0, None, None, 1.0, 2.0]),
    "strings": pl.Series(["a", "a", "b", None, None, "b", "b", "c"]),
    "categories": pl.Series(["a", "a", "b", "b", "b", "a", "c", "c"], dtype=pl.Categorical),
    "truths": pl.Series([True, True, False, False, None, None, True, True]),
    "dates": pl.Series([1, 1, 2, 2, 3, 3, 3, 1]).cast(pl.Date),
    "lists": pl.Series([[1], [1], [1, 2], [1, 2], None, None, [1], [1]]),
    "nothing": pl.Series([None] * 8),
}


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("size", [1, 2, 20])
def test_rows_are_cut_where_keys_change(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row begins a run if its keys differ from those of the row before, null and NaN alike."""
    monkeypatch.setattr(frames, "_SLICE_ROWS", size)
    monkeypatch.setattr(frames, "_LAST_ROWS", 2)
    rows = pl.DataFrame({"key": KEYS[name], "other": [1, 1, 1, 1, 1, 1, 1, 2]})
    values = [(None if key is None else str(key), other) for key, other in rows.rows()]
    starts = [i for i in range(8) if i == 0 or values[i] != values[i - 1]]
    assert frames.run_starts(rows.get_columns()).tolist() == starts
    monkeypatch.setattr(frames, "_BATCH_ROWS", size)
    for source in (frames.Source(rows), frames.Source(rows.lazy())):
        parts = list(source.whole_runs(rows.columns, source.batches()))
        assert pl.concat(parts).equals(rows)
        ends = np.cumsum([part.height for part in parts])[:-1]
        assert set(ends.tolist()) <= set(starts)


@pytest.mark.parametrize("positive", [True, 1, 0.5, 2, 0])
@pytest.mark.parametrize("labels", [[0, 1], [-1, 1], [0, 1, 2], [0, 0]])
def test_gains_are_left_out_only_where_labels_say_the_same(
    labels: list[int], positive: float
) -> None:
    rows = pl.DataFrame({"label": labels})
    args = Arguments(score="score", label="label", positive=positive)
    gain, is_positive = (
        [max(0, label) for label in labels],
        [label >= positive for label in labels],
    )
    if positive is True:
        is_positive = [label > 0 for label in labels]
    if labels_are_gains(rows["label"], args):
        assert gain == is_positive
    assert labels_are_gains(pl.Series([0, 1]), Arguments(score="s", label="l"))
    assert not labels_are_gains(pl.Series([0.0, 0.5]), Arguments(score="s", label="l"))


def test_scattered_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    shuffled = DATA.sample(fraction=1.0, shuffle=True, seed=5)
    order = EXPECTED.sort("b")
    for rows in (10, 1 << 20):
        monkeypatch.setattr(frames, "_SLICE_ROWS", rows)
        monkeypatch.setattr(frames, "_BATCH_ROWS", rows)
        for frame in (shuffled, shuffled.lazy()):
            result = prframe.evaluate(frame, METRICS, by=["a", "b"]).lazy().collect()
            assert_frame_equal(result.sort("b"), order)


@pytest.mark.slow
def test_a_group_that_turns_up_again_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_SLICE_ROWS", 100)
    monkeypatch.setattr(frames, "_BATCH_ROWS", 100)
    monkeypatch.setattr(pieces, "_SAMPLE_ROWS", 10)
    rows = pl.concat([DATA[1:], DATA[:1]])
    for frame in (rows, rows.lazy()):
        result = prframe.evaluate(frame, METRICS, by=["a", "b"]).lazy().collect()
        assert_frame_equal(result.sort("b"), EXPECTED.sort("b"))
        curve = prframe.curve(frame, by=["a", "b"]).lazy().collect()
        assert_frame_equal(curve.sort("b", "k"), prframe.curve(DATA, by=["a", "b"]).sort("b", "k"))


def test_huge_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_HUGE_GROUP", 50)
    few = DATA.filter(pl.col("a") < 1)
    expected = EXPECTED.filter(pl.col("a") < 1)
    assert_frame_equal(prframe.evaluate(few, METRICS, by=["a", "b"]), expected)
    by_a = DATA.group_by("a", maintain_order=True).agg(pl.col("score").pr.ap("label").alias("AP"))
    assert_frame_equal(prframe.evaluate(DATA, "AP", by="a"), by_a)


def test_keys_that_are_null_or_nan() -> None:
    keys = [None, None, float("nan"), float("nan"), 1.0, None]
    rows = pl.DataFrame({"g": keys, "score": [6, 5, 4, 3, 2, 1], "label": [1, 0, 0, 1, 1, 1]})
    result = prframe.evaluate(rows, ["AP", "NumRel"], by="g")
    assert result.height == 3
    assert result["NumRel"].to_list() == [2.0, 1.0, 1.0]
    assert result["AP"].to_list() == pytest.approx([(1 + 2 / 3) / 2, 0.5, 1.0])


@pytest.mark.slow
@given(st.permutations(range(12)), st.sampled_from(["group", "order"]))
def test_input_order_decides_ties_only_when_asked(order: list[int], ties: str) -> None:
    rows = pl.DataFrame(
        {
            "g": ["x", "y"] * 6,
            "score": [3.0, 3.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
            "label": [1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0],
        }
    )
    shuffled = rows[order]
    for key in ("x", "y"):
        alone = shuffled.filter(g=key)
        got = prframe.evaluate(shuffled, METRICS, by="g", ties=ties).filter(g=key).drop("g")
        assert_frame_equal(got, prframe.evaluate(alone, METRICS, ties=ties))
        if ties == "group":
            assert_frame_equal(got, prframe.evaluate(rows.filter(g=key), METRICS))


def test_groups_that_are_known_to_be_scattered_are_gathered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frames, "_SLICE_ROWS", 50)
    args = Arguments(score="score", label="label", by=["a", "b"])
    looked_at = pieces.Ranking(frames.Source(DATA), args)
    known = pieces.Ranking(frames.Source(DATA, scattered=True), args)
    counts = [
        ranking.over_groups(lambda piece: pl.DataFrame({"n": piece.sizes}))
        for ranking in (looked_at, known)
    ]
    assert counts[0].equals(counts[1])
    assert len(list(looked_at._pieces())) > len(list(known._pieces())) == 1


@pytest.mark.parametrize("at_a_time", [1, 3, 4])
def test_parts_of_hits_do_not_depend_on_other_groups(at_a_time: int, monkeypatch) -> None:
    monkeypatch.setattr(hits, "_AT_A_TIME", at_a_time)
    sizes = [2, 5, 1, 7, 3]
    group = np.repeat(np.arange(len(sizes)), sizes)
    start = np.concatenate([np.arange(size) for size in sizes])
    found = hits.unit_hits(pl.DataFrame({"n": sizes}), hits.Ranks(group, start, start))
    for whole in (False, True):
        parts = [part.collect() for part in found.parts(whole_groups=whole)]
        assert pl.concat(parts).equals(found.table)
        for key in range(len(sizes)):
            lengths = [part.filter(group=key).height for part in parts]
            lengths = [length for length in lengths if length]
            if whole:
                assert lengths == [sizes[key]]
            else:
                assert all(length % at_a_time == 0 for length in lengths[:-1])


def test_counts_of_a_group_do_not_overflow() -> None:
    rows = pl.DataFrame({"g": [0] * 600 + [1], "score": range(601), "label": [1] * 600 + [0]})
    found = prframe.evaluate(rows, ["NumRel", "NumRet"], by="g", ties="order")
    assert found.rows() == [(0, 600.0, 600.0), (1, 0.0, 1.0)]
