"""One ranking of positives and negatives: cells, levels, metrics, bootstrap."""
