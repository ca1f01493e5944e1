"""The tails of the AP of a group by each of the methods, and the choice of the method."""
