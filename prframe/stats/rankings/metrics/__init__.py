"""Metrics as functions of the counts in the cells of a ranking."""
