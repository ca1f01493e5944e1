"""The generating function of average precision, its saddlepoints and its inversion."""
