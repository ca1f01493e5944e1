"""The doors of packages, whose names are loaded when they are first used."""

from collections.abc import Callable

from lazy_loader import attach_stub  # type: ignore[import-untyped]


def attach(
    package: str, file: str
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package, by its stub.

    Python takes an AttributeError for a name that does not exist. One within a module that is
    loaded for a name that does exist is therefore shown as an ImportError.
    """
    load, listed, names = attach_stub(package, file)

    def get(name: str) -> object:
        try:
            return load(name)
        except AttributeError as error:
            if name not in names:
                raise
            raise ImportError(f"{package}.{name} cannot be imported: {error}") from error

    return get, listed, names
