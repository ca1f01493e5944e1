"""How many draws are made unless told: frozen, and taken from one table."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import prframe
from prframe import stats

DEFAULTS = {
    "PairedRankings.randomization": 10_000,
    "PairedRankings.replicates": 10_000,
    "ap_test": 9_999,
    "band": 2_000,
    "compare": 10_000,
    "compare_curves": 2_000,
    "compare_rankings": 10_000,
    "interval": 2_000,
    "mean_interval": 2_000,
    "paired_bootstrap_test": 10_000,
    "paired_randomization": 10_000,
    "posterior_comparison": 100_000,
    "pr_asymptotic_band": 2_000,
    "pr_bootstrap": 2_000,
    "pr_curve_difference": 2_000,
    "pr_posterior": 2_000,
    "ranking_bootstrap": 2_000,
    "ranking_interval": 2_000,
}
# A default is written as a name of the table, never as a number.
NUMBER = re.compile(r"n_resamples: int = \d")


def drawing() -> Iterator[tuple[str, int]]:
    """Yield each public function, or method, that draws, and its default."""
    for package in (prframe, stats):
        for name in package.__all__:
            value = getattr(package, name)
            members = inspect.getmembers(value) if inspect.isclass(value) else []
            for path, function in [(name, value)] + [(f"{name}.{a}", b) for a, b in members]:
                if inspect.isfunction(function):
                    argument = inspect.signature(function).parameters.get("n_resamples")
                    if argument is not None and argument.default is not inspect.Parameter.empty:
                        yield path, argument.default


def test_defaults() -> None:
    assert dict(drawing()) == DEFAULTS


def test_defaults_stand_in_one_table() -> None:
    folder = Path(prframe.__file__).parent
    assert not [path for path in folder.rglob("*.py") if NUMBER.search(path.read_text())]
