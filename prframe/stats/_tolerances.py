"""How much numbers differ by rounding alone."""

# Sums of the same terms in another order differ by less, relative to the sum of the sizes of the
# terms.
EQUAL = 1e-12
# To so many digits of the largest, equal values agree.
EQUAL_DIGITS = 12
# Differences, means and spreads of values that were rounded before are 0 where they are below this
# part of the largest value, and bounds are kept where they are exceeded by less.
RESIDUE = 1e-9
# A share of a number of items is a whole number of them where it is nearer to one than this.
WHOLE = 1e-9
