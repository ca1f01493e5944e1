"""Walks of one case with merged states, and what bounds how many there are."""
