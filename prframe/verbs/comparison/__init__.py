"""The verbs `compare` and `compare_curves`."""
