"""The files of a frame: one, or several, each a model; patterns of names, and folders."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prframe.commands import files
from prframe.commands.exits import NoInputError
from prframe.commands.files import STANDARD_INPUT

if TYPE_CHECKING:
    import polars as pl

_ENDINGS = (".parquet", ".arrow", ".feather", ".ipc", ".csv", ".tsv", ".jsonl", ".ndjson")
# The parts of a path that name a column and its value, as in day=2026-11-28.
_PARTITION = re.compile(r"([^=/\\]+)=([^/\\]*)")


def found(words: Sequence[str]) -> dict[str, list[str]]:
    """Return the files of each path, each match of a pattern being a path of its own.

    What exists is no pattern. A folder stands for all files of a known format below it.
    """
    paths: list[str] = []
    for word in words:
        is_file = word != STANDARD_INPUT and not Path(word).is_dir()
        paths += files.matching(word) if is_file else [word]
    return {path: _below(path) if Path(path).is_dir() else [path] for path in paths}


def _below(folder: str) -> list[str]:
    """Return the files of a known format in a folder and those in it, but hidden ones."""
    inside = [path for path in sorted(Path(folder).rglob("*")) if path.is_file()]
    paths = [
        str(path)
        for path in inside
        if path.name.removesuffix(".gz").endswith(_ENDINGS) and path.name[0] not in "._"
    ]
    if not paths:
        raise NoInputError(
            f"the folder {folder!r} has no files whose names end in {', '.join(_ENDINGS)}"
        )
    return paths


def scanned(
    of_path: dict[str, list[str]], keys: Sequence[str], model: str, numbers: Sequence[str]
) -> tuple["pl.LazyFrame", bool]:
    """Return the rows of all files, and whether their names were added as the column `model`.

    Columns of `keys` are text, and those of `numbers` numbers.
    """
    import polars as pl

    from prframe.errors import PrframeError
    from prframe.trec.files import file_stem

    names = [file_stem(path) for path in of_path]
    if len(set(names)) < len(names):
        names = list(of_path)
    parts: list[pl.LazyFrame] = []
    first: list[str] = []
    for name, paths in zip(names, of_path.values(), strict=True):
        for path in paths:
            rows = files.scanned(path, keys, numbers)
            known = rows.collect_schema().names()
            added = {k: value for k, value in _PARTITION.findall(path) if k not in known}
            columns = [*known, *added]
            first = first or columns
            if differ := sorted({*columns} ^ {*first}):
                raise PrframeError(
                    "the files of a frame must have the same columns; "
                    f"{path} and those before it differ in {', '.join(differ)}."
                )
            if len(names) > 1 and model not in columns:
                added[model] = name
            rows = rows.with_columns(pl.lit(value).alias(k) for k, value in added.items())
            parts.append(rows.select(*first, *({model} - {*first} if model in added else ())))
    return pl.concat(parts, how="vertical_relaxed"), len(names) > 1 and model not in first
