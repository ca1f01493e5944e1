"""The tails of the sum of the AP of independent groups."""
