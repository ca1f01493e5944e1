"""The frame of every verb: it is listed once, and refuses what it does not accept before any work."""

from collections.abc import Callable

import polars as pl
import pytest

import prframe
from prframe.errors import PrframeError


def test_what_is_not_accepted_is_refused_before_a_frame_is_looked_at() -> None:
    # The plan is asked before the frame, which has no columns.
    refused: list[tuple[Callable[..., object], dict[str, str], str]] = [
        (prframe.ap_test, {"weight": "w"}, "ap_test does not support `weight`, because "),
        (prframe.curve, {"ties": "expected"}, "ties='expected' is a mean over rankings, "),
        (prframe.rank_test, {"ties": "best"}, "rank_test takes ties='group', "),
    ]
    for verb, options, text in refused:
        with pytest.raises(PrframeError, match=f"^{text}"):
            verb(pl.DataFrame(), **options)
