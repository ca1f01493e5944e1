"""Lattices from 0 to the values in question."""
