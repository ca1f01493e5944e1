"""The verb that computes confidence intervals for metrics."""
