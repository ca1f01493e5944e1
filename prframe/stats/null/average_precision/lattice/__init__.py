"""The distribution of T = n_pos AP on a lattice."""
