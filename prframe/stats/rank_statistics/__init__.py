"""Two-sample linear rank statistics, and ROC curves by them."""
