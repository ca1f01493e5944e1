"""The distribution of the sum of scores drawn without replacement."""
