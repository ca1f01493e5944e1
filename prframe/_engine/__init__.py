"""From frames to values per group: border, rows, groups, ranks, hits, metrics."""
