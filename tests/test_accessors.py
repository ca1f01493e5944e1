"""The namespaces: what they offer, when they appear, and that they hold on to nothing."""

import gc
import subprocess
import sys
import weakref

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import prframe
from prframe.accessors import verbs

DATA = pl.DataFrame({"q": [1, 1, 2], "score": [2.0, 1.0, 3.0], "label": [1, 0, 1]})
# What verbs are told besides `by`; most need nothing.
VERBS = {name: {} for name in verbs()} | {
    "evaluate": {"metrics": ["AP", "P@1"]},
    "topk_test": {"k": [1, 2], "correction": "bh"},
    "ap_test": {"correction": "bh"},
    "rank_test": {"phi": ["mww", "median"], "correction": "bh"},
    "compare": {"metrics": "AP", "score": ["score", "label"], "over": "label", "test": "sign"},
    "band": {"rng": 1, "n_resamples": 50},
    "compare_curves": {"score": ["score", "label"], "rng": 1, "n_resamples": 50},
    "interval": {"metrics": "AP", "rng": 1, "n_resamples": 50},
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")
def test_verbs_on_frames(verb: str) -> None:
    expected = getattr(prframe, verb)(DATA, **VERBS[verb], by="q")
    assert_frame_equal(getattr(DATA.pr, verb)(**VERBS[verb], by="q"), expected)
    lazy = getattr(DATA.lazy().pr, verb)(**VERBS[verb], by="q")
    assert_frame_equal(lazy.collect(), expected)
    pandas = getattr(DATA.to_pandas().pr, verb)(**VERBS[verb], by="q")
    assert_frame_equal(pl.from_pandas(pandas), expected)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [lambda: DATA.clone(), lambda: DATA.to_pandas()])
def test_a_frame_is_freed_without_the_garbage_collector(kind) -> None:
    gc.collect()
    gc.disable()
    try:
        frame = kind()
        alive = weakref.ref(frame)
        frame.pr.evaluate("AP")
        frame.pr.curve()
        del frame
        assert alive() is None
    finally:
        gc.enable()


def run(code: str) -> str:
    """Run code in a fresh interpreter that turns warnings into errors."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_is_light() -> None:
    heavy = "{'polars', 'numpy', 'scipy', 'pandas', 'pyarrow', 'matplotlib'}"
    assert run(f"import sys, prframe; print(sorted({heavy} & set(sys.modules)))") == "[]"


@pytest.mark.slow
@pytest.mark.parametrize(
    "imports",
    [
        "import pandas, prframe",
        "import prframe, pandas",
        "import prframe; from pandas import DataFrame",
    ],
)
def test_pandas_accessor_whatever_the_order_of_imports(imports: str) -> None:
    code = (
        f"{imports}\nimport pandas as pd, importlib.util\n"
        "frame = pd.DataFrame({'score': [2.0, 1.0], 'label': [1, 0]})\n"
        "print(frame.pr.evaluate('AP')['AP'][0])\n"
        "assert importlib.util.find_spec('pandas').loader is pd.__loader__ or True"
    )
    assert run(code) == "1.0"


@pytest.mark.slow
@pytest.mark.parametrize(
    "imports",
    [
        "import polars as pl, prframe",
        "import prframe, polars as pl",
        "import prframe.trec, polars as pl",
    ],
)
def test_polars_accessors_whatever_the_order_of_imports(imports: str) -> None:
    code = (
        f"{imports}\nframe = pl.DataFrame({{'score': [2.0, 1.0], 'label': [1, 0]}})\n"
        "print(frame.pr.evaluate('AP').item(), frame.lazy().pr.evaluate('AP').collect().item(),"
        "frame.select(pl.col('score').pr.ap('label')).item())\n"
        "assert type(pl.__loader__).__module__ != 'prframe.accessors'"
    )
    assert run(code) == "1.0 1.0 1.0"


def test_methods_help_as_the_functions_do() -> None:
    import inspect

    method = DATA.pr.curve
    assert method.__doc__ == prframe.curve.__doc__
    assert list(inspect.signature(method).parameters)[:3] == ["score", "label", "by"]
    assert type(DATA.pr).curve is prframe.curve
    expression = pl.col("score").pr.ap
    assert list(inspect.signature(expression).parameters)[:2] == ["label", "k"]
