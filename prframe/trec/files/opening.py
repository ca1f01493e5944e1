"""Open files, which may be compressed or in UTF-16, and cut them into blocks of whole lines."""

import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from prframe.errors import PrframeError
from prframe.trec.files.paths import Path

# Returns the next bytes of a file, about as many as asked for, and none at its end.
Read: TypeAlias = Callable[[int], bytes]

LONGEST_LINE = 1_000_000
_GZIP = b"\x1f\x8b"
# The first bytes of files that other programs have compressed.
_ELSEWHERE = {b"BZh": "bzip2", b"\xfd7zX": "xz", b"PK\x03\x04": "zip"}
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@contextmanager
def opened(path: Path) -> Iterator[Read]:
    """Open a file, to be read decompressed and in UTF-8."""
    with open(path, "rb") as raw:  # noqa: PTH123 - takes every kind of path
        try:
            start = raw.peek(4)
            refuse_compressed(start, path)
            is_zipped = start.startswith(_GZIP)
            file = io.BufferedReader(gzip.GzipFile(fileobj=raw)) if is_zipped else raw
            is_wide = file.peek(2).startswith(_UTF16)
            if is_wide:
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


def whole_lines(read: Read, size: int) -> Iterator[bytes]:
    """Yield whole lines, about `size` bytes at a time; lines that are too long are cut."""
    rest = b""
    while piece := read(size):
        end = piece.rfind(b"\n") + 1
        # A carriage return at the very end may be the first half of the end of a line.
        end = max(end, piece.rfind(b"\r", end, -1) + 1)
        if not end and len(rest) + len(piece) > LONGEST_LINE + 1:
            end = len(piece)
        if end:
            yield b"".join([rest, memoryview(piece)[:end]])
            rest = b""
        rest += piece[end:]
    if rest:
        yield rest
