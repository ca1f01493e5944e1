"""Expectations over the orders within tie blocks."""

from prframe._stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__)
