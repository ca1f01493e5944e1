"""Packages whose names are loaded on first use, as the stub of the package lists them."""

import ast
import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import lazy_loader  # type: ignore[import-untyped]


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Import without garbage collections; an AttributeError is shown as an ImportError."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    except AttributeError as error:
        raise ImportError(f"{name} cannot be imported: {error}") from error
    finally:
        if was_enabled:
            gc.enable()


def imports_of(package: str) -> list[ast.ImportFrom]:
    """Return the imports in a package's stub, which may be in a zip archive."""
    spec = sys.modules[package].__spec__
    # Loaders of files and of archives have this method.
    text = spec.loader.get_data(f"{spec.origin}i")  # type: ignore[union-attr]
    return [line for line in ast.walk(ast.parse(text)) if isinstance(line, ast.ImportFrom)]


def attach(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package, by its stub."""
    modules: set[str] = set()
    names: dict[str, list[str]] = {}
    for line in imports_of(package):
        listed = [name.name for name in line.names]
        if line.module is None:
            modules.update(listed)
        else:
            names.setdefault(line.module, []).extend(listed)
    load, listed_names, offered = lazy_loader.attach(package, modules, names)

    def get(name: str) -> object:
        if name not in offered:
            return load(name)
        with loading(f"{package}.{name}"):
            return load(name)

    return get, listed_names, offered
