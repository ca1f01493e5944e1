"""Names that a package loads when they are first asked for, as its stub lists them."""

import ast
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import lazy_loader  # type: ignore[import-untyped]

# The functions ``__getattr__`` and ``__dir__`` of a package, and its ``__all__``.
Attached: TypeAlias = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]


def imports_of(package: str) -> list[ast.ImportFrom]:
    """Return the lines of a package's stub that import, which may stand in a zip archive."""
    spec = sys.modules[package].__spec__
    # Loaders of files and of archives have this method.
    text = spec.loader.get_data(f"{spec.origin}i")  # type: ignore[union-attr]
    return [line for line in ast.walk(ast.parse(text)) if isinstance(line, ast.ImportFrom)]


def attach_stub(package: str) -> Attached:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package."""
    modules: set[str] = set()
    names: dict[str, list[str]] = {}
    for line in imports_of(package):
        listed = [name.name for name in line.names]
        if line.module is None:
            modules.update(listed)
        else:
            names.setdefault(line.module, []).extend(listed)
    attached: Attached = lazy_loader.attach(package, modules, names)
    return attached
