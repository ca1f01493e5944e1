"""Pictures are drawn into memory, and forgotten after each test."""

from collections.abc import Iterator

import pytest

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    yield
    plt.close("all")
