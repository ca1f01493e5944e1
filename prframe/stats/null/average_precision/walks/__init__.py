"""Walks down the ranks with the generating function of T = n_pos AP."""
