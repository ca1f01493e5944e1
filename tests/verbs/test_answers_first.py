"""What a person sees first of a result, and is told of a call that there is not."""

import warnings
from functools import cached_property

import polars as pl
import pytest

import prframe
from prframe import PrframeError
from prframe.errors import warn

FIRST = [
    *("metric", "model_a", "model_b", "difference", "conf_low", "conf_high"),
    *("p_adjusted", "p_value"),
]
ROWS = pl.DataFrame(
    {
        "query_id": [query for query in range(6) for _ in range(4)],
        "old": [0.9, 0.6, 0.4, 0.1] * 6,
        "new": [0.8, 0.2, 0.9, 0.3] * 6,
        "label": [1, 0, 1, 0, 0, 1, 0, 1] * 3,
    }
)


def test_the_first_columns_of_a_comparison_are_the_answer() -> None:
    result = ROWS.pr.compare("AP", score=["old", "new"], over="query_id", rng=0)
    assert result.columns[:8] == FIRST
    # As wide as a terminal, with as many columns as polars shows.
    with pl.Config(tbl_width_chars=100, tbl_cols=8):
        head = str(result[:, :8]).splitlines()[2]
    assert [word.strip(" │") for word in head.split("┆")] == FIRST


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ("percentile", "bayesian-bootstrap")),
        ({"over": "query_id"}, ("percentile", "bca")),
        ({"cluster": "query_id"}, ("percentile",)),
    ],
)
def test_intervals_by_the_bootstrap(options, words) -> None:
    frame = ROWS.rename({"old": "score"})
    with pytest.raises(PrframeError) as error:
        prframe.interval(frame, "AUC", method="bootstrap", **options)
    assert str(error.value) == (
        f"method='bootstrap' may mean {' or '.join(map(repr, words))}; name one of them."
    )
    # What is proposed is there.
    for word in words:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", prframe.PrframeWarning)
            prframe.interval(frame, "AUC", method=word, n_resamples=50, **options)


def test_two_levels_of_a_band() -> None:
    frame = ROWS.rename({"old": "score"}).drop("query_id")
    with pytest.raises(PrframeError) as error:
        prframe.band(frame, recall=2)
    assert str(error.value) == (
        "`recall` as a whole number is at least 3 for a band, which has no level at 0 and 1; got 2."
    )
    assert prframe.band(frame, recall=3, n_resamples=100)["recall"].to_list() == [0.5]


@pytest.mark.parametrize("ask", [prframe.evaluate, lambda frame, name: frame.pr.evaluate(name)])
@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_warnings_of_lazy_frames_point_to_the_caller(ask, engine) -> None:
    frame = pl.LazyFrame({"score": [2.0, 1.0], "label": [0, 0]})
    with pytest.warns(prframe.UndefinedMetricWarning) as caught:
        ask(frame, "AP").collect(engine=engine)
    assert [warning.filename for warning in caught] == [__file__]


def test_warnings_of_one_line_are_given_once() -> None:
    frame = pl.LazyFrame({"score": [2.0, 1.0], "label": [0, 0]})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            frame.pr.evaluate("AP").collect()
    assert len(caught) == 1


@pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")
@pytest.mark.parametrize(("n", "n_pos"), [(7, 1), (11, 1), (7, 3)])
def test_rank_statistics_stay_within_the_range_of_phi(n, n_pos) -> None:
    # The mean of the median's function over the best one of seven was 1 + 4e-16.
    for best in (True, False):
        label = [(row >= n - n_pos) if best else (row < n_pos) for row in range(n)]
        frame = pl.DataFrame({"score": range(n), "label": label})
        row = prframe.rank_test(frame, phi="median").row(0, named=True)
        values = [row[name] for name in ("estimate", "conf_low", "conf_high")]
        assert all(value is None or -1 <= value <= 1 for value in values)


def test_warnings_of_properties_point_to_who_asks_for_them() -> None:
    namespace = {"__name__": "prframe.asking", "warn": warn, "cached_property": cached_property}
    exec(  # noqa: S102 - the code must be of the package
        "class Kept:\n    @cached_property\n    def value(self):\n"
        "        warn('said', UserWarning)\n",
        namespace,
    )
    with pytest.warns(UserWarning, match="said") as caught:
        _ = namespace["Kept"]().value
    assert [warning.filename for warning in caught] == [__file__]
