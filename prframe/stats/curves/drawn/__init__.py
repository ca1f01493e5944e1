"""Draws of the curves behind rankings, by the Bayesian bootstrap of their ranks."""
