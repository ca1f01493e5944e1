"""Comparisons of values that come in pairs, such as those of two systems for each query."""
