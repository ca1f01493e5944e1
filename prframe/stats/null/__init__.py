"""Distributions under null hypotheses."""

from prframe._doors import attach

__getattr__, __dir__, __all__ = attach(__name__)
