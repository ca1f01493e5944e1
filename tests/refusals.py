"""Calls that are refused, each with its message, or a part of it."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from prframe import PrframeError


def refusals(
    cases: Mapping[str, Any],
    call: Callable[..., object] = lambda refused: refused(),
    error: type[Exception] = PrframeError,
    *,
    whole: bool = True,
) -> Callable[[str], None]:
    """Return a test for each message: a call with what stands beside it, or with each of a tuple."""

    @pytest.mark.parametrize("message", cases)
    def test(message: str) -> None:
        with pytest.raises(error) as caught:
            call(*case) if isinstance(case := cases[message], tuple) else call(case)
        text = str(caught.value)
        assert text == message if whole else message in text

    return test
