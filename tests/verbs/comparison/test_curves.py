"""Two curves on the same items: against a naive weighted curve, single curves and simulation."""

from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from polars.testing import assert_frame_equal

import prframe
from prframe import PrframeError
from prframe.stats import pr_curve_difference
from prframe.stats.curves import drawn_weights
from prframe.stats.curves.bands import Deviations
from prframe.stats.curves.bayesian_bootstrap import posterior_of
from prframe.stats.curves.difference import _agreement
from prframe.stats.curves.drawn.paired_paths import Halves, PairedPaths
from prframe.stats.rankings.cells import cells_from_scores
from tests.refusals import refusals
from tests.stats.curves.slow_paths import knots_of, turns_of

pytestmark = pytest.mark.filterwarnings("ignore::prframe.NoNegativesWarning")

LEVELS = np.array([0.05, 0.2, 0.31, 0.5, 0.77, 0.95])
SCORES = st.sampled_from([-inf, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, inf])
Floats = NDArray[np.float64]


@st.composite
def rankings(draw: st.DrawFn) -> tuple[list[Floats], NDArray[np.bool_]]:
    """Two rankings of the same items with ties, at least one item of each class."""
    label = [True, False, *draw(st.lists(st.booleans(), max_size=8))]
    scores = [draw(st.lists(SCORES, min_size=len(label), max_size=len(label))) for _ in range(2)]
    return [np.array(score) for score in scores], np.array(label)


def by_odds(first: float, last: float, share: float, total: float) -> float:
    """The negatives passed at a share of a piece, whose odds grow by a constant factor."""
    begun, ended = ((x + 0.5) / (total - x + 0.5) for x in (first, last))
    odds = begun ** (1 - share) * ended**share
    return max((odds * (total + 0.5) - 0.5) / (1 + odds), 0.0)


def naive_curve(
    score: Floats, label: NDArray[np.bool_], halves: Floats, extra: Halves, recall: float
) -> float:
    """The weighted curve of one model, knot by knot; each item is two half weights."""
    turns = turns_of(knots_of(score[label].tolist(), score[~label].tolist()))
    ends, odds, unseen = (part[:, 0] for part in extra)
    upper, lower = halves
    whole = upper + lower
    levels = sorted({s for s in score if s > -inf}, reverse=True)
    blocks = [s for s in levels if label[score == s].any()]
    negatives = sum(whole[~label])
    # Knots: positives passed, negatives passed, and whether a tie block ends here.
    tied = {s: (score == s).sum() > 1 for s in blocks}
    pos, neg = 0.0, 0.0
    knots = [(0.0, 0.0, False)]
    carry = 0.0
    for number, s in enumerate(blocks):
        above = whole[~label & (score > s)].sum()
        here = label & (score == s)
        if tied[s]:
            start = pos + carry
            first = number == 0
            if first and above:
                # Half a count before the block, among the negatives above it.
                start += ends[0]
            knots.append((start, above, False))
            pos, carry = start + whole[here].sum(), 0.0
            if first and not above:
                pos += ends[0]
            below = (~label & (score < s) & (score > -inf)).any()
            if number == len(blocks) - 1 and not below:
                pos += ends[1]
            neg = above + whole[~label & (score == s)].sum()
            knots.append((pos, neg, True))
            if number == len(blocks) - 1 and below:
                carry = ends[1]
        else:
            pos, neg = pos + carry + upper[here].sum(), above
            carry = lower[here].sum()
            knots.append((pos, neg, False))
    knots.append((pos + carry, whole[~label & (score > -inf)].sum(), False))
    total = knots[-1][0] + whole[label & (score == -inf)].sum()
    prevalence = (whole[label].sum() + odds[0]) / (negatives + odds[1])
    at = recall * total
    if at > knots[-1][0] and (label & (score == -inf)).any():
        return 0.0
    pieces = list(pairwise(knots))
    number = max(i for i, ((start, *_), _) in enumerate(pieces) if start <= at)
    (start, fp, _), (end, fp_end, within) = pieces[number]
    share = min((at - start) / (end - start), 1.0) if end > start else 1.0
    false = fp + share * (fp_end - fp) if within else by_odds(fp, fp_end, share, negatives)
    turn = (1 - share) * turns[number] + share * turns[number + 1]
    above = (share if number == 0 else 1.0) + min(turn, 0)
    false += unseen[0] * above + unseen[1] * max(turn, 0)
    return prevalence * recall / (prevalence * recall + false / (negatives + unseen.sum()))


@pytest.mark.slow
@settings(max_examples=150)
@given(items=rankings(), seed=st.integers(0, 99))
def test_a_draw_is_a_weighted_curve(
    items: tuple[list[Floats], NDArray[np.bool_]], seed: int
) -> None:
    scores, label = items
    rng = np.random.default_rng(seed)
    # Of clusters of one item the weights are those of the items.
    paths = PairedPaths.of(scores, label, np.arange(label.size))
    weights = rng.standard_gamma(0.5, (2 * label.size, 1))
    extra = tuple(rng.standard_gamma(0.5, (3, 2, 1)))
    for model, score in zip(paths.models, scores, strict=True):
        found = model.curves(weights, extra, LEVELS)[0]
        halves = weights.reshape(2, -1)
        expected = [naive_curve(score, label, halves, extra, level) for level in LEVELS]
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def sample(
    n: int = 400, prevalence: float = 0.2, rho: float = 0.6, seed: int = 0, means: Any = (1.6, 1.2)
) -> tuple[Floats, NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    label = rng.random(n) < prevalence
    common, *own = rng.standard_normal((3, n))
    return np.sqrt(rho) * common + np.sqrt(1 - rho) * np.stack(own) + np.outer(means, label), label


# Within a tie block weights are shared out in proportion, where a single curve is drawn anew. At
# the first level draws hardly meet a negative, and log odds depend on how a pure top is drawn.
@pytest.mark.slow
@pytest.mark.parametrize(("digits", "tolerance"), [(9, 0.03), (0, 0.06)])
def test_each_curve_has_the_law_of_a_single_one(digits: int, tolerance: float) -> None:
    scores, label = sample(150)
    scores = scores.round(digits)
    drawn = PairedPaths.of(scores, label).smoothed_log_odds(
        LEVELS, 20_000, np.random.default_rng(1)
    )
    weights = drawn_weights(20_000, np.random.default_rng(2))
    for score, curves in zip(scores, drawn, strict=True):
        single = posterior_of(cells_from_scores(score, label)[0], LEVELS, weights).log_odds
        for quantile in (0.05, 0.5, 0.95):
            found = (curves <= np.quantile(single, quantile, axis=0)).mean(axis=0)
            np.testing.assert_allclose(found[1:], quantile, atol=tolerance)


def test_all_levels_count_alike_where_models_agree() -> None:
    rng = np.random.default_rng(1)
    common, first, second = rng.standard_normal((3, 4000, 3))
    # The models have a correlation of .5 at one level and agree at another one.
    shared = np.sqrt([0.5, 1.0, 1.0])
    curves = [shared * common + np.sqrt(1 - shared**2) * own for own in (first, second)]
    unseen = np.array([True, True, False])
    for scale in (1.0, 1e-3, 1e3):
        scaled = [curve * [1.0, scale, 1.0] for curve in curves]
        assert _agreement(*scaled, unseen) == pytest.approx(0.5, abs=0.02)
    # A level at which nothing varies says nothing, and one with a negative above counts as 0.
    still = [np.column_stack([curve, np.ones(4000)]) for curve in curves]
    agreement = _agreement(*curves, unseen)
    assert _agreement(*still, np.append(unseen, True)) == pytest.approx(agreement)
    assert _agreement(*curves, np.zeros(3, np.bool_)) == 0
    assert _agreement(np.ones((9, 3)), np.ones((9, 3)), unseen) == 0


def test_equal_rankings_do_not_differ() -> None:
    (score, _), label = sample()
    for options in ({}, {"simultaneous": False}):
        found = pr_curve_difference(score, np.exp(score), label, LEVELS, rng=1, **options)
        assert not found.difference.any()
        assert (found.p_value == 1).all()
        assert (found.low <= 0).all()
        assert (found.high >= 0).all()


def test_too_little_for_a_band() -> None:
    few = pr_curve_difference([3, 2, 1, 0], [0, 1, 2, 3], [1, 0, 1, 0], [0.5], rng=1)
    assert few.difference[0] == pytest.approx(1 - 1 / 2)
    assert np.isnan([few.low, few.high, few.p_value]).all()
    all_positive = pr_curve_difference([3, 2, 1], [0, 1, 2], [1, 1, 1], [0.5], rng=1)
    assert all_positive.difference[0] == 0
    assert np.isnan(all_positive.low[0])
    none = pr_curve_difference([3, 2], [0, 1], [0, 0], [0.5], rng=1)
    assert np.isnan(none.precision_a[0])


def test_levels_at_which_draws_are_all_alike() -> None:
    draws = np.random.default_rng(4).standard_normal((1000, 2)) * [1, 0] + [0, 2]
    law = Deviations(draws, draws)
    low, high = law.band(0.95)
    assert low[1] == high[1] == 2
    assert law.p_value(2.0, np.array([0.0, 2.0])) < 0.2
    assert law.p_value(0.0, np.array([0.0, 2.0])) == pytest.approx(1 / 1001)


# The verb.


def frame(n: int = 240) -> pl.DataFrame:
    """Two groups, three models."""
    parts = []
    for name, seed in (("x", 1), ("y", 2)):
        scores, label = sample(n, 0.25, seed=seed)
        columns = {"q": [name] * n, "a": scores[0], "b": scores[1].round(1), "label": label}
        own = np.random.default_rng(seed).normal(size=n)
        parts.append(pl.DataFrame(columns).with_columns(c=pl.Series(own) + 0.5 * label))
    rows = pl.concat(parts).with_row_index("item").sample(fraction=1, shuffle=True, seed=1)
    return rows.with_columns(user=pl.col("item") // 4)


WIDE = frame()
LONG = WIDE.unpivot(
    ["a", "b", "c"],
    index=["q", "item", "label", "user"],
    variable_name="model",
    value_name="score",
)
FEW: dict[str, Any] = {"recall": [0.1, 0.5, 0.9], "n_resamples": 60, "rng": 3}
MODELS = ["a", "b", "c"]


def test_baselines() -> None:
    every = prframe.compare_curves(WIDE, MODELS, **FEW)
    against = prframe.compare_curves(WIDE, MODELS, baseline="b", **FEW)
    assert against.select("model_a", "model_b").unique(maintain_order=True).rows() == [
        ("a", "b"),
        ("c", "b"),
    ]
    assert_frame_equal(against.head(3), every.head(3))
    swapped = every.filter(model_a="b", model_b="c")
    np.testing.assert_allclose(against.tail(3)["conf_low"], -swapped["conf_high"], atol=1e-12)
    two = prframe.compare_curves(WIDE, MODELS, baseline=["c", "a"], **FEW)
    assert two.select("model_a", "model_b").unique(maintain_order=True).rows() == [
        ("b", "c"),
        ("b", "a"),
    ]


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(MODELS), pl.Int32])
def test_long_is_wide_for_every_frame(dtype: Any) -> None:
    models = LONG["model"].replace_strict(dict(zip(MODELS, [7, 8, 9], strict=True)))
    rows = LONG.with_columns(model=models if dtype == pl.Int32 else "model")
    rows = rows.with_columns(pl.col("model").cast(dtype))
    wide = prframe.compare_curves(WIDE, MODELS, by="q", **FEW)
    found = prframe.compare_curves(rows, by="q", item="item", **FEW)
    assert found.schema["model_a"] == rows.schema["model"]
    numbers = pl.exclude("model_a", "model_b")
    assert_frame_equal(found.select(numbers), wide.select(numbers))
    lazy = prframe.compare_curves(rows.lazy(), by="q", item="item", **FEW)
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect_schema() == found.schema
    assert_frame_equal(lazy.collect(), found)
    pandas = rows.to_pandas()
    of_pandas = prframe.compare_curves(pandas, by="q", item="item", **FEW)
    assert of_pandas["model_a"].dtype.kind == pandas["model"].dtype.kind
    text = pl.col("model_a", "model_b").cast(pl.Int64 if dtype == pl.Int32 else pl.String)
    assert_frame_equal(pl.from_pandas(of_pandas).with_columns(text), found.with_columns(text))
    nullable = prframe.compare_curves(
        pandas.convert_dtypes(dtype_backend="numpy_nullable"), by="q", item="item", **FEW
    )
    assert nullable["conf_low"].tolist() == found["conf_low"].to_list()
    arrow = prframe.compare_curves(rows.to_arrow(), by="q", item="item", **FEW)
    assert arrow["p_value"].to_pylist() == found["p_value"].to_list()


def test_incomplete_and_totals() -> None:
    holes = LONG.filter(~((pl.col("model") == "b") & (pl.col("item") % 5 == 0)))
    with pytest.raises(PrframeError, match="'b' lacks 96; take"):
        prframe.compare_curves(holes, item="item", **FEW)
    last = prframe.compare_curves(holes, item="item", incomplete="last", **FEW)
    b = pl.when(pl.col("item") % 5 == 0).then(-inf).otherwise("b").alias("b")
    assert_frame_equal(last, prframe.compare_curves(WIDE.with_columns(b), MODELS, **FEW))
    common = prframe.compare_curves(holes, item="item", incomplete="common", **FEW)
    listed = WIDE.filter(pl.col("item") % 5 != 0)
    assert_frame_equal(common, prframe.compare_curves(listed, MODELS, **FEW))
    n_neg = int((~WIDE["label"]).sum()) + 7
    more = pl.DataFrame({name: [-inf] * 7 for name in MODELS} | {"label": [False] * 7})
    padded = pl.concat([WIDE.select(*MODELS, "label"), more])
    assert_frame_equal(
        prframe.compare_curves(WIDE, MODELS, n_neg=n_neg, **FEW),
        prframe.compare_curves(padded, MODELS, **FEW),
    )


def test_groups_without_a_band() -> None:
    rows = pl.DataFrame(
        {
            "q": ["few"] * 3 + ["none"] * 2 + ["all"] * 4,
            "a": [3, 2, 1, 2, 1, 4, 3, 2, 1],
            "b": [1, 2, 3, 1, 2, 1, 2, 3, 4],
            "label": [1, 0, 1, 0, 0, 1, 1, 1, 1],
        }
    )
    with pytest.warns(prframe.UndefinedMetricWarning) as caught:
        found = prframe.compare_curves(rows, ["a", "b"], by="q", **FEW)
    assert [str(one.message) for one in caught] == [
        "precision_a, precision_b, difference, conf_low, conf_high, p_value: undefined, so "
        "null or NaN, for 1 of 3 groups, which have no positives, in groups 'none'",
        "conf_low, conf_high, p_value: undefined, so null or NaN, for 2 of 3 groups, which have fewer "
        "than 3 positives or no negatives, in groups 'all', 'few'",
    ]
    assert found["conf_low"].null_count() == found["p_value"].null_count() == 9
    assert found["difference"].null_count() == 3
    assert found["method"].unique().to_list() == ["bayesian-bootstrap"]


test_errors = refusals(
    {
        "a comparison takes two models or more; got 'a' alone.": lambda: prframe.compare_curves(
            LONG.filter(model="a"), item="item"
        ),
        "`baseline` must name models out of ['a', 'b', 'c']; got 'd'.": lambda: (
            prframe.compare_curves(LONG, item="item", baseline="d")
        ),
        "`score_a`, `score_b` and `label` must be of one length >= 1; got shapes (2,), (3,) "
        "and (2,).": lambda: pr_curve_difference([1, 2], [1, 2, 3], [1, 0], [0.5]),
        "`score_a` must not be NaN: 1 of 2.": lambda: pr_curve_difference(
            [1, np.nan], [1, 2], [1, 0], [0.5]
        ),
        "`cluster` must have one entry per item, 2; got shape (1,).": lambda: pr_curve_difference(
            [1, 2], [1, 2], [1, 0], [0.5], cluster=[0]
        ),
    }
)


@pytest.mark.parametrize("options", [{"over": "q"}, {"by": "q"}, {}])
def test_a_column_and_its_copy_differ_nowhere(options: dict[str, str]) -> None:
    rng = np.random.default_rng(1)
    rows = pl.DataFrame({"score": rng.normal(size=60).round(1), "label": rng.random(60) < 0.4})
    rows = rows.with_columns(copy="score", **({"q": pl.int_range(60) // 20} if options else {}))
    found = prframe.compare_curves(rows, ["score", "copy"], **options, rng=1, n_resamples=99)
    for column in ("difference", "conf_low", "conf_high", "p_std_error"):
        assert found[column].fill_null(0).unique().to_list() == [0]
    assert found["p_value"].unique().to_list() == [1]
