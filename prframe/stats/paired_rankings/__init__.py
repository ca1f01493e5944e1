"""Comparisons of rankings of the same items."""

from prframe._stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__)
