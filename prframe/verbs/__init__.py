"""The verbs, which answer questions about a frame."""
