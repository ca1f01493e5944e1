"""Pictures are drawn into memory."""

import pytest

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")


@pytest.fixture(autouse=True)
def in_memory() -> None:
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
