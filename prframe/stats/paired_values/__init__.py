"""Comparisons of values that come in pairs, such as those of two systems for each query."""

from prframe._stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__)
