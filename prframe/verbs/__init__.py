"""The verbs: what can be asked of a frame."""
