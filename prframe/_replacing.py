"""Files that are written beside what they replace, so that a failure leaves that as it was."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex
from typing import BinaryIO


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new file that replaces a path once all is written; errors of writing name the path.

    What is no file, such as a pipe, or in a folder that takes no files, is written to directly.
    """
    name = os.fspath(path)
    place = os.path.realpath(name) if os.path.islink(name) else name  # noqa: PTH114 - as given
    is_there = os.path.lexists(place)
    folder = os.path.dirname(place)  # noqa: PTH120
    beside = os.path.join(folder, f".prframe-{token_hex(8)}")  # noqa: PTH118
    is_file = os.path.isfile(place) and os.access(folder or ".", os.W_OK)  # noqa: PTH113
    new = place if is_there and not is_file else beside
    try:
        with open(new, "wb") as file:  # noqa: PTH123
            yield file
        if new == beside:
            if is_there:
                shutil.copymode(place, new)
            os.replace(new, place)  # noqa: PTH105
    except OSError as error:
        raise type(error)(error.errno, error.strerror, name) from None
    finally:
        if new == beside:
            with suppress(OSError):
                os.unlink(beside)  # noqa: PTH108
