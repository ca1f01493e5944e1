"""Comparisons of values that come in pairs, such as those of two systems for each query."""

from prframe._doors import attach

__getattr__, __dir__, __all__ = attach(__name__)
