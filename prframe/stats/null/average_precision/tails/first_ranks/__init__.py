"""Lists of the first hits of rare positives, compared with what the others add to T."""
