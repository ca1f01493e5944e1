"""The distribution of a mean under random signs."""
