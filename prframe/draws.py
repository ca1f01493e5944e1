"""How many draws are made unless told; the reasons stand in ADR 17."""

# Ends of intervals and bands.
INTERVAL_DRAWS = 2_000
# P-values, by random signs, swaps or resamples.
TEST_DRAWS = 10_000
# P-values among random rankings: with the ranking at hand 10,000 equally likely ones.
RANDOM_RANKINGS = 9_999
# Probabilities that are shares of draws from a posterior, each a pass over all pairs of values.
POSTERIOR_DRAWS = 10_000
# The same, where a draw is three numbers.
GAMMA_DRAWS = 100_000
