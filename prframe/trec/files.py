"""Files of TREC: their paths, the names that they give to systems, and how they are opened."""

import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob
from pathlib import PurePath
from typing import Any, TypeAlias, TypeGuard

import polars as pl

from prframe import checks
from prframe.errors import PrframeError

Path: TypeAlias = str | os.PathLike[str]
# Returns the next bytes of a file, about as many as asked for, and none at its end.
Read: TypeAlias = Callable[[int], bytes]

_LONGEST_LINE = 1_000_000
_PATTERN = re.compile(r"[*?[]")
_GZIP = b"\x1f\x8b"
# The first bytes of files that other programs have compressed.
_ELSEWHERE = {
    b"BZh": "bzip2",
    b"\xfd7zX": "xz",
    b"PK\x03\x04": "zip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"7z\xbc\xaf": "7z",
}
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def is_path(given: object) -> TypeGuard[Path]:
    """Return whether an object is a path."""
    return isinstance(given, (str, os.PathLike))


def check_path(path: Path) -> None:
    """Refuse what no file can be called."""
    if "\0" in os.fsdecode(path):
        raise PrframeError(f"a path must have no NUL character; got {checks.brief(path)}.")


def files(path: Any, example: str) -> list[Path]:  # noqa: ANN401 - what is no path is refused here
    """Return the files of paths and patterns; `example` is proposed in place of a folder."""
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


@dataclass(frozen=True)
class Part:
    """Rows with a column ``system``, and the file that they come from, if there is one."""

    rows: pl.DataFrame
    path: Path | None = None

    def renamed(self) -> "Part":
        """Return the part as a system that is named after its file."""
        if self.path is None or self.rows["system"].n_unique() > 1:
            raise _alike(self.rows["system"].unique())
        return Part(self.rows.with_columns(pl.lit(file_stem(self.path)).alias("system")))


def together(parts: Sequence[Part], *keys: str) -> pl.DataFrame:
    """Return the rows of all parts; those that share a system and keys are named after files."""
    shared = _sharing(parts, keys)
    named = [part.renamed() if i in shared else part for i, part in enumerate(parts)]
    if still_shared := _sharing(named, keys):
        raise _alike(pl.concat(named[i].rows["system"] for i in still_shared).unique())
    return pl.concat([part.rows for part in named], how="diagonal_relaxed")


def _alike(systems: pl.Series) -> PrframeError:
    """Return the error about systems of the same name."""
    return PrframeError(
        "the runs must have names of their own; several of them that have a query in common are "
        f"named {checks.listed(systems.head(checks.SHOWN))}. "
        "Pass a dict, {name: run}, or files of other names."
    )


def _sharing(parts: Sequence[Part], keys: Sequence[str]) -> set[int]:
    """Return the numbers of the parts that have a system and a value of the keys in common."""
    if len(parts) == 1:
        return set()
    rows = pl.concat(
        [
            part.rows.select(pl.lit(i).alias("part"), "system", *keys).unique()
            for i, part in enumerate(parts)
        ],
        how="vertical_relaxed",
    )
    return set(rows.filter(pl.struct("system", *keys).is_duplicated())["part"])


@contextmanager
def opened(path: Path) -> Iterator[Read]:
    """Open a file, to be read decompressed and in UTF-8."""
    with open(path, "rb") as raw:  # noqa: PTH123 - takes every kind of path
        try:
            start = raw.peek(4)
            refuse_compressed(start, path)
            is_zipped = start.startswith(_GZIP)
            file = io.BufferedReader(gzip.GzipFile(fileobj=raw)) if is_zipped else raw
            if file.peek(2).startswith(_UTF16):
                text = io.TextIOWrapper(file, "utf-16", newline="")
                yield lambda size: text.read(size).encode()
            else:
                yield file.read
        except UnicodeDecodeError as error:
            raise PrframeError(
                f"{os.fspath(path)} starts with the byte order mark of UTF-16 and must be in it; "
                f"got {error.reason}. Write the file in UTF-8."
            ) from error
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise PrframeError(
                f"{os.fspath(path)} starts like a gzip file and must be a whole one; "
                f"got: {error}. Get or write the file anew."
            ) from error


def refuse_compressed(start: bytes, path: Path) -> None:
    """Refuse a file whose first bytes are those of a compression that is not read here."""
    for magic, program in _ELSEWHERE.items():
        if start.startswith(magic):
            raise PrframeError(
                f"{os.fspath(path)} starts like a file of {program}, which is not read here; "
                "decompress it, or compress it with gzip instead."
            )


def whole_lines(read: Read, size: int, path: Path) -> Iterator[bytes]:
    """Yield whole lines, about `size` bytes at a time."""
    rest = b""
    while piece := read(size):
        end = piece.rfind(b"\n") + 1
        # A carriage return at the very end may be the first half of the end of a line.
        end = max(end, piece.rfind(b"\r", end, -1) + 1)
        if end:
            yield b"".join([rest, memoryview(piece)[:end]])
            rest = b""
        rest += piece[end:]
        if len(rest) > max(_LONGEST_LINE, size):
            raise PrframeError(
                f"{os.fspath(path)} has a line of more than {_LONGEST_LINE:,} bytes; mend the "
                "line, or the ends of lines."
            )
    if rest:
        yield rest
