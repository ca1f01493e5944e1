"""Expectations over the orders within tie blocks."""
