"""The frame of every verb: it is listed once, and refuses what it does not accept before any work."""

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import walk_packages

import polars as pl
import pytest

import prframe
from prframe import verbs as folder
from prframe._engine.arguments import Arguments
from prframe.accessors import verbs
from prframe.errors import PrframeError
from prframe.verbs._plan import Accepts, Plan


def modules() -> Iterator[object]:
    """Yield the modules of the folder of verbs."""
    for module in walk_packages(folder.__path__, "prframe.verbs."):
        yield import_module(module.name)


def test_every_verb_of_the_folder_is_listed() -> None:
    written = {
        name
        for module in modules()
        for name, value in vars(module).items()
        if inspect.isfunction(value) and "prframe.verbs._verb" not in value.__module__
        if hasattr(value, "__signature__") and value.__module__ == module.__name__
    }
    assert written == set(verbs())
    assert written <= set(prframe.__all__)


def test_what_is_not_accepted_is_refused_before_a_frame_is_looked_at() -> None:
    # The plan is asked before the frame, which has no columns.
    refused: list[tuple[Callable[..., object], dict[str, str], str]] = [
        (prframe.ap_test, {"weight": "w"}, "ap_test counts whole items and takes no `weight`; "),
        (prframe.curve, {"ties": "expected"}, "ties='expected' is a mean over rankings, "),
        (prframe.rank_test, {"ties": "best"}, "rank_test takes ties='group', "),
    ]
    for verb, options, text in refused:
        with pytest.raises(PrframeError, match=f"^{text}"):
            verb(pl.DataFrame(), **options)


def test_everything_is_accepted_unless_told() -> None:
    Accepts("verb").check(Arguments(ties="expected", n_pos=3))
    Accepts("verb").check(Arguments(weight="w"))


def test_a_plan_must_say_what_it_accepts() -> None:
    with pytest.raises(TypeError, match=r"abstract methods? .*accepts"):
        Plan(Arguments())
