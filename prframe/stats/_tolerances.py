"""The tolerances within which numbers differ by rounding alone."""

# Sums of the same terms in another order differ by less, relative to the sum of the sizes of the
# terms.
EQUAL = 1e-12
# Equal values agree to so many digits of the largest.
EQUAL_DIGITS = 12
# Differences, means and spreads of values that were rounded before are 0 if they are below this
# part of the largest value, and a bound holds if it is exceeded by less.
RESIDUE = 1e-9
# A share of a number of items is a whole number of items if it is nearer to one than this.
WHOLE = 1e-9
