"""The distribution of average precision when every ranking is equally likely."""
