"""Tails of the AP of one group, by each of the methods, and which method is asked when."""
