"""Tests of the embedded dataset."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import polars.testing
import pytest

from prframe.datasets import load_digits

if TYPE_CHECKING:
    from types import ModuleType

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "make_digits.py"
SYSTEMS = ["pixels", "pca", "thumbnail", "binary", "ink", "random"]
RANKING = ["system", "query_id"]
N_QUERIES = 200
DEPTH = 100


@pytest.fixture(scope="module")
def digits() -> pl.DataFrame:
    return load_digits()


def import_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_digits", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_labels_agree_with_n_relevant(digits: pl.DataFrame) -> None:
    found = digits.group_by(RANKING).agg(pl.col("label").sum(), pl.col("n_relevant").first())
    assert (found["label"] <= found["n_relevant"]).all()
    # All systems together also find no more than there is.
    pooled = (
        digits.unique(["query_id", "item_id"])
        .group_by("query_id")
        .agg(pl.col("label").sum(), pl.col("n_relevant").first())
    )
    assert (pooled["label"] <= pooled["n_relevant"]).all()


def test_rows_are_in_rank_order(digits: pl.DataFrame) -> None:
    # A stable sort keeps the systems and queries in their order of appearance.
    expected = pl.concat(
        ranking.sort("score", "item_id", descending=[True, False])
        for ranking in digits.partition_by(RANKING, maintain_order=True)
    )
    polars.testing.assert_frame_equal(digits, expected)


def test_ties(digits: pl.DataFrame) -> None:
    distinct = digits.group_by(RANKING).agg(pl.col("score").n_unique())
    mean = dict(distinct.group_by("system").agg(pl.col("score").mean()).iter_rows())
    assert mean["binary"] < 0.1 * DEPTH
    assert mean["thumbnail"] < 0.5 * DEPTH
    assert mean["random"] < 0.6 * DEPTH
    assert mean["pca"] > 0.95 * DEPTH


@pytest.mark.slow
def test_script_reproduces_the_file(
    digits: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn")
    if not SCRIPT.exists():
        pytest.skip("the scripts are not part of this installation")
    script = import_script()
    frame = script.make_frame()
    polars.testing.assert_frame_equal(frame, digits, check_exact=True)
    path = tmp_path / "digits.parquet"
    monkeypatch.setattr(script, "OUTPUT", path)
    script.main()
    polars.testing.assert_frame_equal(pl.read_parquet(path), digits, check_exact=True)
    assert path.stat().st_size < 500_000
