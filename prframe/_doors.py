"""The doors of packages, whose names are loaded when they are first used."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lazy_loader import attach_stub  # type: ignore[import-untyped]


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Show an AttributeError within an import as an ImportError.

    Python takes it for a name that does not exist, and hides it.
    """
    try:
        yield
    except AttributeError as error:
        raise ImportError(f"{name} cannot be imported: {error}") from error


def attach(
    package: str, file: str
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package, by its stub."""
    load, listed, names = attach_stub(package, file)

    def get(name: str) -> object:
        if name not in names:
            return load(name)
        with loading(f"{package}.{name}"):
            return load(name)

    return get, listed, names
