"""What a person sees first of a result, and is told of a call that there is not."""

import warnings

import polars as pl
import pytest

import prframe
from prframe import PrframeError

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
