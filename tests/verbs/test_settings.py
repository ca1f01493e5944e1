"""Settings of NumPy, polars and pandas that a user may have made for other reasons."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import prframe

# The first hundred of a thousand items are the positive ones: probabilities are below 1e-300.
PERFECT = pl.DataFrame(
    {
        "score": np.arange(2000.0)[::-1],
        "label": [1] * 300 + [0] * 1700,
        "query": np.arange(2000) % 20,
    }
)
TINY = PERFECT.with_columns(score=pl.col("score") * 1e-310)
CALLS: list[Callable[[pl.DataFrame], pl.DataFrame]] = [
    lambda frame: prframe.evaluate(frame, ["AP", "AUC", "nDCG", "RBP", "BEDROC"]),
    lambda frame: prframe.topk_test(frame, k=[1, 10, 300]),
    lambda frame: prframe.ap_test(frame),
    lambda frame: prframe.ap_test(frame, method="normal"),
    lambda frame: prframe.ap_test(frame, over="query"),
    lambda frame: prframe.rank_test(frame),
    lambda frame: prframe.rank_test(frame, phi="logrank"),
    lambda frame: prframe.interval(frame, ["AP", "R@10"], rng=1, n_resamples=50),
    lambda frame: prframe.interval(frame, "MaxF1", method="logit-t", rng=1, n_resamples=50),
    lambda frame: prframe.interval(frame, "P@10", over="query", rng=1),
    lambda frame: prframe.band(frame, rng=1, n_resamples=50),
    lambda frame: prframe.curve(frame, recall=11),
    lambda frame: prframe.check(frame, k=5),
]
pytestmark = pytest.mark.filterwarnings("ignore::prframe.PrframeWarning")


@pytest.mark.parametrize("call", CALLS)
def test_numbers_that_are_too_small_are_no_error(call: Callable[[object], pl.DataFrame]) -> None:
    for rows in (PERFECT, TINY):
        expected = call(rows)
        for frame in (rows, rows.lazy()):
            with np.errstate(all="raise"):
                result = call(frame).lazy().collect()
            assert_frame_equal(result, expected)


def test_what_polars_prints_and_how_it_computes_are_no_matter() -> None:
    with pl.Config() as config:
        config.set_decimal_separator(",")
        config.set_thousands_separator(".")
        config.set_float_precision(1)
        config.set_fmt_str_lengths(2)
        config.set_streaming_chunk_size(3)
        config.set_engine_affinity("streaming")
        for call in CALLS:
            with pl.Config(restore_defaults=True):
                expected = call(PERFECT)
            assert_frame_equal(call(PERFECT.lazy()).lazy().collect(), expected)
