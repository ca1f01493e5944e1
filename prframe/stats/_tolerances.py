"""How much numbers differ by rounding alone."""

# Sums of the same terms in another order differ by less, relative to the sum of the sizes of the
# terms.
EQUAL = 1e-12
