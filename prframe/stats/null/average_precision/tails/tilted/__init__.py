"""A lattice that is tilted, for far upper tails of rare positives, and the terms of its steps."""
