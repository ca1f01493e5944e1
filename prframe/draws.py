"""The default numbers of draws, whose reasons stand in ADR 12."""

# Ends of intervals and bands take so many draws.
INTERVAL_DRAWS = 2_000
# P-values by random signs, swaps or resamples take so many.
TEST_DRAWS = 10_000
# P-values take so many random rankings, which with the observed one are 10,000 equally likely
# ones.
RANDOM_RANKINGS = 9_999
