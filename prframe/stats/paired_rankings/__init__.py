"""Comparisons of rankings of the same items."""
