"""Score-generating functions of two-sample linear rank statistics."""

from prframe._doors import attach

__getattr__, __dir__, __all__ = attach(__name__)
