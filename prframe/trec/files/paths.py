"""Paths of files, patterns of them, and the names that files give to systems."""

import os
import re
from glob import glob
from pathlib import PurePath
from typing import Any, TypeAlias, TypeGuard

from prframe import checks
from prframe.errors import PrframeError

Path: TypeAlias = str | os.PathLike[str]

_PATTERN = re.compile(r"[*?[]")


def is_path(given: object) -> TypeGuard[Path]:
    """Tell whether an object is a path."""
    return isinstance(given, (str, os.PathLike))


def check_path(path: Path) -> None:
    """Refuse what no file can be called."""
    if "\0" in os.fsdecode(path):
        raise PrframeError(f"a path must have no NUL character; got {checks.brief(path)}.")


def files(path: Any, example: str) -> list[Path]:  # noqa: ANN401 - what is no path is refused here
    """Return the paths of a path or a list of paths, each pattern replaced by its files.

    `example` is a pattern of names that is proposed in place of a folder.
    """
    paths = [path] if is_path(path) else path
    is_list = isinstance(paths, (list, tuple)) and bool(paths)
    if not (is_list and all(is_path(file_path) for file_path in paths)):
        raise PrframeError(f"`path` must be a path or a list of paths; got {checks.brief(path)}.")
    return [file_path for pattern in paths for file_path in _matching(pattern, example)]


def _matching(pattern: Path, example: str) -> list[Path]:
    """Return the files of a pattern, sorted by name; what is no pattern stands for itself."""
    check_path(pattern)
    text = os.fspath(pattern)
    if os.path.isdir(text):  # noqa: PTH112 - takes every kind of path
        raise PrframeError(
            f"{checks.brief(text)} is a folder; name its files, for example by the pattern "
            f"{os.path.join(os.fsdecode(text), example)!r}."  # noqa: PTH118 - as the caller wrote
        )
    if not isinstance(text, str) or not _PATTERN.search(text) or os.path.lexists(text):
        return [pattern]
    matches: list[Path] = [*sorted(glob(text, recursive=True))]  # noqa: PTH207 - a pattern may be absolute
    if not matches:
        raise PrframeError(f"no file matches {text!r}; mend the pattern, or name the files.")
    return matches


def file_stem(path: Path) -> str:
    """Return the name of a file without its ending, and without ``.gz`` behind that."""
    name = PurePath(os.fsdecode(path)).name
    return PurePath(name.removesuffix(".gz")).stem
