"""Files of runs, qrels and results: their paths, layouts and lines."""
