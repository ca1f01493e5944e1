"""The generating function of average precision, saddlepoints and inversion."""
