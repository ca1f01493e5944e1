"""What the pictures show."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import prframe
from prframe import PrframeError, plot
from prframe.stats import APNull
from tests.plot.cases import LEVELS, PICTURES, data, long
from tests.refusals import refusals
from tests.tables.cases import HOSTILE, comparison, intervals


def note_of(ax: Axes) -> str:
    """Return the note of a picture in one line."""
    return " ".join(ax.figure.get_supxlabel().split())


def assert_four_ticks(axes: list[Axes]) -> None:
    """Require at least four ticks on each scale that has any."""
    for ax in axes:
        for axis, ends in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
            ticks = axis.get_majorticklocs()
            inside = sum(min(ends) <= tick <= max(ends) for tick in ticks)
            assert inside >= 4 or len(ticks) == 0


@pytest.mark.parametrize("kind", PICTURES)
def test_pictures_are_axes_or_figures_with_a_text(kind: str) -> None:
    drawn = PICTURES[kind](data())
    has_panels = kind in {
        *("curve in panels", "curve over queries", "bands in panels", "curve_difference"),
        "bands of two in panels",
        *("interval", "differences", "scores in panels"),
        *("long names in panels", "long names of pairs in panels"),
    }
    assert isinstance(drawn, Figure if has_panels else Axes)
    text = plot.alt_text(drawn)
    assert any(sign.isdigit() for sign in text)
    assert text.endswith(".")
    assert_four_ticks(drawn.axes if isinstance(drawn, Figure) else [drawn])


def test_the_order_of_the_rows_does_not_matter() -> None:
    shuffled = data()["curve"].filter(system="pixels").sample(fraction=1, shuffle=True, seed=1)
    lines = [plot.curve(frame).get_lines()[0] for frame in (data()["curve"], shuffled)]
    assert np.array_equal(lines[0].get_xydata(), lines[1].get_xydata())


@pytest.mark.slow
def test_every_kind_of_frame() -> None:
    curve = data()["curve"]
    texts = {
        plot.alt_text(plot.curve(frame))
        for frame in (curve, curve.lazy(), curve.to_pandas(), curve.to_arrow())
    }
    assert len(texts) == 1
    assert plot.alt_text(plot.matrix(data()["pairs"].to_pandas(), metric="AP"))


def test_roc_areas() -> None:
    ax = plot.roc(data()["roc"])
    aucs = prframe.evaluate(data()["one"], "AUC", by="system")
    for system, auc in aucs.rows():
        assert f"{system}: area {auc:.3f}." in plot.alt_text(ax)


def test_areas_below_gains_are_auprg() -> None:
    ax = plot.gain(data()["gains"])
    for system, area in prframe.evaluate(data()["one"], "AUPRG", by="system").rows():
        assert f"{system}: area {area:.3f}." in plot.alt_text(ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("recall gain", "precision gain")


@pytest.mark.parametrize("prior", [None, 0.2])
def test_gains_begin_on_the_line_through_their_counts(prior: float | None) -> None:
    # Two negatives and a negative tied with the first positive; the recall gain there is above 0.
    frame = pl.DataFrame({"score": [9, 8, 7, 7, 6, 5, 4, 3], "label": [0, 0, 1, 0, 1, 0, 0, 0]})
    drawn = plot.gain(prframe.curve(frame, gain=True, prior=prior)).get_lines()[0]
    pi = 0.25 if prior is None else prior
    # A recall of pi is reached within the tie block, after a part of it.
    part = pi * 2
    false_rate = (2 + part) / 6
    precision = pi * pi / (pi * pi + (1 - pi) * false_rate)
    gain = (precision - pi) / ((1 - pi) * precision)
    assert (drawn.get_xdata()[0], drawn.get_ydata()[0]) == (0, pytest.approx(gain))


def test_palettes_follow_the_ground() -> None:
    light = to_hex(plot.curve(data()["curve"]).get_lines()[0].get_color())
    with plot.style(dark=True):
        dark = to_hex(plot.curve(data()["curve"]).get_lines()[0].get_color())
    assert (light.upper(), dark.upper()) == (plot.PALETTE[0], plot.PALETTE_DARK[0])
    own = plot.curve(data()["curve"], palette=["red", "blue"]).get_lines()
    assert [line.get_color() for line in own[:3]] == ["red", "blue", "red"]


def test_the_axes_of_the_caller() -> None:
    _, ax = plt.subplots()
    assert plot.curve(data()["curve"], ax=ax) is ax
    plot.curve(data()["curve of two"], ax=ax)
    assert plot.alt_text(ax).count("Precision-recall curves") == 2


def test_the_sets_of_systems_that_are_not_told_apart() -> None:
    # x and z are alike, and y between them is not like z.
    pairs = comparison(["x", "y", "z"], {("y", "z")})
    ax = plot.groups(
        pairs.with_columns(test=pl.lit("t"), correction=pl.lit("bh"), n_family=pl.lit(3))
    )
    assert plot.alt_text(ax) == (
        "AP of 3 systems. Sets without a significant difference: x and y; x and z (paired t-test, "
        "Benjamini and Hochberg's correction, family of 3, alpha = 0.05, n = 50)."
    )
    dots = [line for line in ax.get_lines() if line.get_linestyle() == "None"][-2:]
    assert [list(line.get_ydata()) for line in dots] == [[0, 1], [0, 2]]


def test_matrix_numbers() -> None:
    ax = plot.matrix(comparison(["x", "y"], {("x", "y")}))
    assert [text.get_text() for text in ax.texts] == [
        *("0.900", "0.890", "+0.010\np = 0.020"),
    ]


def test_intervals_in_order() -> None:
    means = intervals(["low", "high"]).with_columns(estimate=pl.Series([0.2, 0.4]))
    labels = lambda ax: [label.get_text() for label in ax.get_yticklabels()]  # noqa: E731
    assert labels(plot.interval(means)) == ["high", "low"]
    assert labels(plot.interval(means, sort=None)) == ["low", "high"]


def test_differences_query_by_query() -> None:
    values = pl.DataFrame(
        {
            "system": ["a", "a", "a", "b", "b", "b"],
            "query_id": ["1", "2", "3", "2", "3", "4"],
            "text": ["one", "two", "three", "two", "three", "four"],
            "AP": [0.5, 0.5, 0.25, 0.25, 0.5, 1.0],
        }
    )
    ax = plot.queries(values, "a", "b", metric="AP", text="text")
    assert plot.alt_text(ax) == (
        "AP of a minus b on 2 queries: larger on 1, equal on 0, smaller on 1; mean 0.000. Largest: "
        "2: two +0.250 and 3: three \N{MINUS SIGN}0.250. Smallest: 3: three \N{MINUS SIGN}0.250 and "
        "2: two +0.250."
    )
    assert "2 left out without a pair" in note_of(ax)
    long = values.drop("text").unpivot("AP", index=["system", "query_id"], variable_name="metric")
    assert [bar.get_height() for bar in plot.queries(long, "a", "b", metric="AP").patches] == [
        *(0.25, -0.25),
    ]


def test_the_null_is_that_of_the_frame_with_its_ties() -> None:
    one = data()["one"].filter(system="ink")
    tested = prframe.ap_test(one)
    text = plot.alt_text(plot.ap_null(one))
    assert f"mean {tested['null_mean'].item():.3f}" in text
    assert f"p = {tested['p_value'].item():.3g}" in text
    # Whether random rankings of the same sizes have the same p-value without ties.
    untied = plot.alt_text(plot.ap_null(APNull(100, 5), tested["ap"].item()))
    assert f"p = {tested['p_value'].item():.3g}" not in untied


@pytest.mark.parametrize(
    ("draw", "advice"),
    [
        (
            lambda: data()["one"].pr.plot.curve(),
            "For one curve each use color='system' or facet='system', for thin lines around their "
            "mean over='system'",
        ),
        (
            lambda: data()["one"].pr.plot.curve(over="query_id"),
            "For one curve each use color='system' or facet='system'",
        ),
        (lambda: data()["one"].pr.plot.gain(), "Use by='system' for one ranking each"),
        (lambda: plot.scores(data()["one"]), "For one panel each use by='system'"),
        (
            lambda: plot.ap_null(data()["one"]),
            "The distribution is of one ranking: choose its rows",
        ),
    ],
)
def test_pictures_say_once_and_in_their_words_what_is_pooled(draw, advice: str) -> None:
    with pytest.warns(prframe.PooledRankingWarning) as caught:
        draw()
    (said,) = [str(each.message) for each in caught]
    assert said.split(". ", 1)[1] == (
        f"{advice}. If they are one ranking, drop the column, or ignore PooledRankingWarning."
    )
    # The advice is that of the picture alone.
    with pytest.warns(
        prframe.PooledRankingWarning, match="Use by='system' for one ranking each, or"
    ):
        prframe.curve(data()["one"])


def test_scores_at_a_threshold() -> None:
    frame = pl.DataFrame({"score": [0.9, 0.8, 0.7, 0.1], "label": [1, 0, 1, 0]})
    assert plot.alt_text(plot.scores(frame, threshold=0.7)) == (
        "Scores of 2 positives (median 0.900) and 2 negatives (median 0.800); from 0.7 on precision "
        "0.67, recall 1.00."
    )


@pytest.mark.slow
def test_hostile_names_are_drawn() -> None:
    pairs = comparison(HOSTILE, {(HOSTILE[0], HOSTILE[1])})

    def draw() -> None:
        plot.matrix(pairs)
        plot.groups(pairs).figure.canvas.draw()
        plot.interval(intervals(HOSTILE), letters=pairs).figure.canvas.draw()

    with pytest.warns(UserWarning, match="missing from font"):
        draw()


def test_curves_of_the_frame_in_one_call() -> None:
    one = data()["one"]
    for frame in (one, one.lazy(), one.to_pandas()):
        ax = frame.pr.plot.curve("score", "label", by="system")
        assert plot.alt_text(ax) == plot.alt_text(plot.curve(data()["curve"]))
    panels = one.pr.plot.curve(facet="system", legend=None)
    assert len(panels.axes) == 6
    assert "ax" in str(one.pr.plot.curve.__signature__)


@pytest.mark.slow
def test_captions_of_the_frame_tell_the_options() -> None:
    runs = prframe.datasets.load_digits().filter(pl.col("system").is_in(["pca", "ink"]))
    known = {"n_pos": "n_relevant"}
    options = {"model": "system", "test": "t", "correction": "bonferroni"} | known
    assert (
        "(paired t-test, Bonferroni's correction, family of 1, alpha = 0.05, n = 200)"
        in plot.alt_text(runs.pr.plot.matrix(metric="AP", **options))
    )
    assert "pca and ink" not in plot.alt_text(runs.pr.plot.groups(metric="AP", **options))
    means = runs.pr.plot.interval(
        "AP", by="system", over="query_id", confidence_level=0.9, **known
    )
    assert "AP with 90% confidence intervals" in plot.alt_text(means)
    assert "AP of pca minus ink on 200 queries" in plot.alt_text(
        runs.pr.plot.queries("pca", "ink", metric="AP", **known)
    )
    assert isinstance(pd.DataFrame({"score": [1, 2], "label": [0, 1]}).pr.plot.scores(), Axes)


def test_few_columns_hold_all_pairs_without_a_difference() -> None:
    lines = plot.groups(comparison(range(60), TRIPLES)).get_lines()
    columns = [line.get_ydata() for line in lines if line.get_marker() == "o"][60:]
    pairs = {pair for rows in columns for pair in combinations(sorted(rows), 2)}
    assert pairs == set(combinations(range(60), 2)) - TRIPLES
    assert len(columns) < 60


def test_any_number_of_bands() -> None:
    bands = pl.concat([BAND.with_columns(b=pl.lit(value)) for value in range(5)])
    assert len(plot.curve(bands).collections) == 5


def test_six_systems_have_colours_and_dashes_of_their_own() -> None:
    lines = plot.curve(data()["curve"]).get_lines()
    assert len({line.get_color() for line in lines}) == len(lines) == 6
    assert len({line.get_linestyle() + str(line._dash_pattern) for line in lines}) == 6


def test_notes_can_be_left_out_and_figures_fit_a_column() -> None:
    with plot.style(width="column", notes=False):
        ax = plot.interval(data()["means"].filter(metric="AP"))
    assert (ax.get_xlabel(), note_of(ax)) == ("AP", "")
    assert ax.figure.get_figwidth() == 3.3
    assert "95% confidence intervals" in note_of(
        plot.interval(data()["means"].filter(metric="AP"))
    )
    with pytest.raises(PrframeError, match="`width` must be one of"), plot.style(width="wide"):  # type: ignore[arg-type]
        pass


@pytest.mark.parametrize(
    ("scores", "bars"),
    [
        ([1, 2, 2, 5], 5),
        (np.linspace(0, 1, 20).tolist(), 10),
        (np.linspace(0, 1, 1000).tolist(), 20),
        (np.linspace(0, 1, 40_000).tolist(), 50),
        ([0.5, 0.5], 10),
    ],
)
def test_bars_of_scores_follow_the_number_of_items(scores: list[float], bars: int) -> None:
    frame = pl.DataFrame({"score": scores, "label": [1, *[0] * (len(scores) - 1)]})
    drawn = plot.scores(frame).patches
    assert {len(bar.get_data().values) for bar in drawn} == {bars}
    assert {len(bar.get_data().values) for bar in plot.scores(frame, bins=7).patches} == {7}


CURVE = pl.DataFrame({"a": [1, 1], "b": [1, 2], "recall": [0.5, 1.0], "precision": [1.0, 0.5]})
MANY = pl.DataFrame({"q": range(25), "recall": [1.0] * 25, "precision": [1.0] * 25})
# Of twenty triples, no two systems of one are alike.
TRIPLES = {(a, b) for a in range(60) for b in range(a + 1, 60) if a // 3 == b // 3}
BAND = CURVE.drop("a").with_columns(conf_low=0.1, conf_high=0.9)


test_messages = refusals(
    {
        "the result has the columns 'a', 'b', and 'a', 'b' must be named in color=, facet= or "
        "over=, or rows of one value be chosen.": lambda: plot.curve(CURVE),
        "one picture must have at most 18 groups, which can be told apart; got 25. Name the column "
        "of groups in facet=, or, of queries or folds, in over=.": lambda: plot.curve(MANY),
        "`facet` must have at most 24 values; 'q' has 25. Choose some, or name a column of queries "
        "or folds in over=.": lambda: plot.curve(MANY, facet="q"),
        "`over` must be one of 'q'; got 'query'.": lambda: plot.curve(MANY, over="query"),
        "`band` must have the columns by of the curves, 'b'; it has none.": lambda: plot.curve(
            CURVE.drop("a"), band=BAND.drop("b")
        ),
        "the curves must have points; all of them are undefined.": lambda: plot.curve(
            CURVE.drop("a").with_columns(precision=pl.lit(None, pl.Float64))
        ),
        "`ax` must be None where there are panels, which get a new figure.": lambda: plot.curve(
            CURVE, color="a", facet="b", ax=plt.figure().add_subplot()
        ),
        "`result` must have the columns 'recall_gain' and 'precision_gain'. Make one by "
        "prframe.curve(frame, gain=True).": lambda: plot.gain(CURVE),
        "gains are drawn from all thresholds; leave out recall= of the curve.": lambda: plot.gain(
            data()["one"].pr.curve(gain=True, recall=11, by="system")
        ),
        "a curve without a retrieved positive has no gains; leave its group out.": lambda: (
            plot.gain(pl.DataFrame({"score": [1.0, -np.inf], "label": [0, 1]}).pr.curve(gain=True))
        ),
        "`gain` is not taken by the picture 'curve': 'gain' draws precision-recall-gain curves, "
        "and 'curve' precision by recall.": lambda: data()["one"].pr.plot.curve(
            by="system", gain=True
        ),
        "`drawn` must be what a function of prframe.plot has returned.": lambda: plot.alt_text(
            plt.figure().add_subplot()
        ),
        "`per_query` must have one row per value of 'system' and 'query_id'; some have more.": lambda: (
            plot.queries(pl.concat([data()["values"]] * 2), "pixels", "pca", metric="AP")
        ),
        "`over` must be a column by of the result, which has none; say by='query_id' where it is "
        "computed.": lambda: plot.curve(
            prframe.curve(data()["one"].filter(system="ink")), over="query_id"
        ),
        "`by` must be None: the distribution is of one ranking. Choose its rows.": lambda: (
            plot.ap_null(data()["one"], by="system")
        ),
        "`metric` must name the metric to compare, for example 'AP'.": lambda: data()[
            "one"
        ].pr.plot.matrix(model="system"),
        "`metric` must name the metric whose differences are drawn, for example 'AP'.": lambda: (
            data()["one"].pr.plot.queries("pixels", "pca")
        ),
    }
)


def test_an_unknown_picture_of_a_frame() -> None:
    with pytest.raises(AttributeError) as error:
        data()["one"].pr.plot.curv  # noqa: B018
    assert str(error.value) == (
        ".pr.plot has no 'curv'; it has curve, roc, band, interval, gain, curve_difference, queries, "
        "matrix, groups, ap_null, scores"
    )


def test_facts_that_the_result_has_as_columns() -> None:
    means = intervals(["x"]).with_columns(confidence_level=0.8)
    assert "80% confidence intervals" in plot.alt_text(plot.interval(means))


def test_notes_of_frames_tell_the_options_of_the_call() -> None:
    two = data()["one"].filter(pl.col("system").is_in(["pixels", "ink"]))
    options = {"model": "system", "item": "item_id", "incomplete": "last", "rng": 1}
    options |= {"recall": LEVELS, "n_resamples": 50, "confidence_level": 0.9}
    drawn = two.pr.plot.curve_difference(**options, simultaneous=False)
    assert note_of(drawn) == "pointwise 90% confidence band"
    assert list(drawn.get_lines()[0].get_ydata()) == (
        two.pr.compare_curves(**options, simultaneous=False)["difference"].to_list()
    )


def test_letters_must_be_of_all_systems() -> None:
    runs = prframe.datasets.load_digits()
    means = runs.pr.interval("AP", by="system", over="query_id")
    two = runs.filter(pl.col("system").is_in(["pca", "ink"]))
    pair = two.pr.compare("AP", model="system", n_pos="n_relevant")
    with pytest.raises(prframe.PrframeError, match="`letters` must have the systems"):
        plot.interval(means, letters=pair)


def test_marks_of_all_pairs_need_all_pairs() -> None:
    runs = prframe.datasets.load_digits()
    means = runs.pr.interval("AP", by="system", over="query_id")
    options = {"model": "system", "baseline": "pca", "n_pos": "n_relevant"}
    pairs = runs.pr.compare("AP", **options)
    with pytest.raises(prframe.PrframeError, match="take marks='dagger'"):
        prframe.tables.results(means, pairs, marks="beats")
    assert "‡ significantly smaller than pca" in prframe.tables.results(means, pairs).caption


@pytest.mark.filterwarnings("ignore::prframe.EmptyFrameWarning")
def test_a_null_needs_rows() -> None:
    with pytest.raises(PrframeError, match="got a frame without any"):
        prframe.datasets.load_digits().head(0).pr.plot.ap_null()


def test_a_query_without_a_name_is_drawn() -> None:
    digits = prframe.datasets.load_digits().filter(pl.col("system").is_in(["pca", "ink"]))
    first = sorted(digits["query_id"].unique())[:5]
    some = digits.filter(pl.col("query_id").is_in(first)).with_columns(
        query_id=pl.when(pl.col("query_id") != first[0]).then("query_id")
    )
    drawn = some.pr.plot.queries("pca", "ink", metric="AP", model="system")
    assert "5 queries" in plot.alt_text(drawn)


def test_bands_have_a_note_and_a_text() -> None:
    ax = plot.curve(data()["curve of two"], band=data()["band of two"])
    note = "shaded: simultaneous 95% confidence band"
    assert note in note_of(ax)
    text = plot.alt_text(ax)
    assert text.endswith(f"{note.capitalize()}.")
    band = data()["band of two"].filter(pl.col("system") == "pixels", pl.col("recall") == 0.5)
    low, high = band.select("conf_low", "conf_high").row(0)
    assert f"[{low:.2f}, {high:.2f}]" in text
    pointwise = data()["band of two"].with_columns(simultaneous=False)
    assert "pointwise 95% confidence band" in plot.alt_text(plot.curve(pointwise))


def test_a_band_of_the_frame_in_one_call() -> None:
    runs = prframe.datasets.load_digits().filter(pl.col("system").is_in(["pca", "ink"]))
    options = {"by": "system", "over": "query_id", "recall": 5, "n_resamples": 50, "rng": 1}
    drawn = runs.pr.plot.band(**options, chance={"pca": 0.1})
    assert plot.alt_text(drawn) == plot.alt_text(plot.curve(runs.pr.band(**options)))
    assert "over" in str(runs.pr.plot.band.__signature__)


def test_the_mean_of_drawn_curves_is_the_mean_curve() -> None:
    runs = prframe.datasets.load_digits().filter(system="pca")
    levels = [0.1, 0.25, 0.5]
    mean = runs.pr.curve(over="query_id", recall=levels, n_pos="n_relevant")
    *_, bold, _ = runs.pr.plot.curve(over="query_id", n_pos="n_relevant").get_lines()
    drawn = np.interp(levels, bold.get_xdata(), bold.get_ydata())
    assert drawn == pytest.approx(mean["precision"].to_numpy(), abs=1e-12)


def test_letters_are_told() -> None:
    pairs = comparison(["x", "y"], {("x", "y")})
    assert plot.alt_text(plot.interval(intervals(["x", "y"]), letters=pairs)) == (
        "AP with confidence intervals; without a shared letter: significantly different (method "
        "randomization-exact, alpha = 0.05, n = 50): x 0.900 [0.880, 0.920] a and y 0.890 [0.870, 0.910] b."
    )


def test_differences_of_a_comparison() -> None:
    ax = plot.interval(comparison(["x", "y", "z"]), sort=None)
    assert plot.alt_text(ax) == (
        "Difference of AP with confidence intervals: x \N{MINUS SIGN} y 0.010 [0.000, 0.100], "
        "x \N{MINUS SIGN} z 0.020 [0.000, 0.100] and y \N{MINUS SIGN} z 0.010 [0.000, 0.100]."
    )
    with pytest.raises(PrframeError, match="`letters` are of systems, and the rows here"):
        plot.interval(comparison(["x", "y"]), letters=comparison(["x", "y"]))


def test_intervals_that_are_unknown() -> None:
    unknown = intervals(["x"]).with_columns(conf_low=None, conf_high=None)
    ax = plot.interval(unknown)
    assert plot.alt_text(ax) == "AP with no intervals: x 0.900."
    ax.figure.canvas.draw()
    assert prframe.tables.results(unknown).caption == (
        "Estimates without intervals. The largest value of each column is bold."
    )


def test_the_callers_axes_keep_their_labels() -> None:
    _, (_, ax) = plt.subplots(1, 2)
    plot.curve(data()["curve"], ax=ax)
    assert ax.get_ylabel() == "precision"


def test_names_of_rows_fit_low_axes_and_differ() -> None:
    names = [f"a system with a long name, run {run:02d}, reranked by another" for run in range(30)]
    drawn = pl.DataFrame(
        {"system": names, "metric": "AP", "estimate": 0.5, "conf_low": 0.4, "conf_high": 0.6}
    )
    _, ax = plt.subplots(figsize=(6, 3))
    labels = plot.interval(drawn, ax=ax).get_yticklabels()
    assert len({label.get_text() for label in labels}) == len(names)
    assert labels[0].get_fontsize() * len(names) < ax.get_window_extent().height * 72 / 100


def test_both_sides_of_a_long_difference_are_named() -> None:
    rows = plot.interval(long(data()["pairs"].filter(metric="AP"))).get_yticklabels()
    assert all(" \N{MINUS SIGN} " in row.get_text() for row in rows)


def test_numbers_too_small_to_be_read_are_left_out_of_a_matrix() -> None:
    _, ax = plt.subplots(figsize=(2.4, 2.4), layout="constrained")
    assert not plot.matrix(data()["pairs"], metric="AP", ax=ax).texts
    assert plot.matrix(data()["pairs"], metric="AP").texts
