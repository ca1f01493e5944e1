"""Tails of AP for which rankings are counted: few of one class, few ways, or near the best."""
