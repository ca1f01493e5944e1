"""Keys of scores sort as the scores do, and thresholds are compared in the dtype of the score."""

import random
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import polars as pl
import pytest

import prframe
from prframe._engine.rows import sortable_keys, threshold_key

THRESHOLDS = [0.1, 0.5, 0, 3, -0.25, 1e-5, 123456.789, 1e30, -1e30, 1e300]


def decimals(precision: int, scale: int) -> tuple[list[int], pl.Series]:
    """Return decimals, many of them with few digits, in units of the last digit."""
    draw = random.Random(precision)  # noqa: S311
    units = [0, 10 ** (precision - 1), -(10 ** (precision - 1))]
    for _ in range(400):
        digits = draw.randint(1, min(15, precision))
        zeros = 10 ** draw.randint(0, precision - digits)
        units.append(draw.choice([1, -1]) * draw.randrange(10**digits) * zeros)
        if precision <= 18:
            units.append(draw.randint(-(10**precision) + 1, 10**precision - 1))
    scores = [Decimal(unit).scaleb(-scale) for unit in units]
    return units, pl.Series(scores, dtype=pl.Decimal(precision, scale))


@pytest.mark.parametrize(
    ("precision", "scale"), [(5, 0), (18, 3), (30, 2), (38, 18), (38, 20), (38, 37)]
)
def test_decimals(precision: int, scale: int) -> None:
    units, scores = decimals(precision, scale)
    keys = sortable_keys(scores, float32=False).to_list()
    ranked = sorted(zip(units, keys, strict=True))
    for (unit, key), (next_unit, next_key) in pairwise(ranked):
        assert (unit == next_unit) == (key == next_key)
        assert key <= next_key
    for threshold in THRESHOLDS:
        least = threshold_key(threshold, scores.dtype, float32=False)
        reached = [Fraction(unit, 10**scale) >= Fraction(repr(threshold)) for unit in units]
        assert [key >= least for key in keys] == reached


def test_decimals_that_floats_would_tie_are_refused() -> None:
    scores = [Decimal("10.123456789012345678"), Decimal("10.123456789012345679")]
    frame = pl.DataFrame(
        {"score": scores, "label": [1, 0]}, schema_overrides={"score": pl.Decimal(38, 18)}
    )
    with pytest.raises(prframe.PrframeError) as caught:
        frame.pr.evaluate("AP")
    assert "cannot hold integers beyond 2^53 or decimals of so many digits" in str(caught.value)
    assert frame.pr.evaluate("AUC", float32=True).item() == 0.5


@pytest.mark.parametrize("kind", ["eager", "lazy", "pandas", "pyarrow", "expression"])
def test_whole_numbers_beyond_floats(kind: str) -> None:
    large = 2**53
    frame = pl.DataFrame({"score": [large + i for i in range(4)], "label": [0, 1, 0, 1]})
    name = f"P(threshold={large + 1})"
    of_kind = {
        "eager": lambda: frame.pr.evaluate(name),
        "lazy": lambda: frame.lazy().pr.evaluate(name).collect(),
        "pandas": lambda: pl.from_pandas(prframe.evaluate(frame.to_pandas(), name)),
        "pyarrow": lambda: pl.from_arrow(prframe.evaluate(frame.to_arrow(), name)),
        "expression": lambda: frame.select(pl.col("score").pr.metric(name)),
    }
    assert of_kind[kind]().item() == 2 / 3
    found = prframe.interval(frame, name, rng=1, n_resamples=50)
    assert found["estimate"].item() == 2 / 3
    huge = frame.with_columns(pl.col("score").cast(pl.Int128))
    assert huge.pr.evaluate(["AUC", name]).row(0) == (0.75, 2 / 3)


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32, pl.Float16])
def test_thresholds_have_the_precision_of_scores(dtype: pl.DataType) -> None:
    scores = pl.Series([0.9, 0.1, 0.1, 0.05], dtype=dtype)
    frame = pl.DataFrame({"score": scores, "label": [1, 0, 1, 0]})
    assert frame.pr.evaluate("P(threshold=0.1)").item() == pytest.approx(2 / 3)
    assert frame.select(pl.col("score").pr.metric("P(threshold=0.1)")).item() == pytest.approx(
        2 / 3
    )
    lost = frame.with_columns(score=pl.Series([0.9, float("-inf"), 0.1, 0.05], dtype=dtype))
    # The least number of few bits is larger than the threshold, and -inf is below all.
    assert lost.pr.evaluate("P(threshold=-1e300)").item() == pytest.approx(2 / 3)


def test_both_zeros_tie_and_thresholds_of_integers_are_rounded_up() -> None:
    rows = pl.DataFrame({"score": [-0.0, 0.0], "label": [1, 0]})
    assert prframe.evaluate(rows, ["AP", "AUC"]).row(0) == (0.5, 0.5)
    whole = pl.DataFrame({"score": [2, 1, 0], "label": [1, 0, 1]})
    assert prframe.evaluate(whole, ["P(threshold=0.5)", "R(threshold=0.5)"]).row(0) == (0.5, 0.5)
