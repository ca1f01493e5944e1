"""Distributions under null hypotheses."""
