"""Score-generating functions of two-sample linear rank statistics."""
