"""The verbs that draw curves, with bands about them."""
