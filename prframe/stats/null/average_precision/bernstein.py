"""Polynomials in Bernstein form which stand for functions of a number of hits.

A form F of degree d has three axes. The first holds the powers of a parameter c, each of which
takes the place of one degree; the second the coefficients of x^a (1 - x)^(d - a), a = 0..d; the
last the items. F stands for the function f with ``F(x) = E f(h)`` for h ~ Bin(n, x). The function
for x^a (1 - x)^b is the probability that, of a + b given ranks out of n, the first a are the hits,
all placements of h hits being equally likely. The mean of f(h) given the hits h' among more ranks
is a function of h' with the same F, which makes the forms useful; and the form of the difference
f(h) - f(h - 1) is F'/n. Products are not those of the polynomials, though: see `star`.
"""

from math import comb, factorial

import numpy as np

from prframe.typing import Floats


def star(first: Floats, second: Floats, n: Floats) -> Floats:
    """Return the form of the product of two functions of the hits among n.

    It is the sum over k of F^(k) G^(k) (x (1 - x))^k / (k! n (n - 1) ... (n - k + 1)): the
    derivatives are the coefficients of f and g in the orthogonal polynomials of the binomial
    distribution.
    """
    result, below = times(first, second), np.ones_like(n)
    for k in range(1, min(first.shape[1], second.shape[1])):
        first, second = slope(first), slope(second)
        below = below * (n - k + 1)
        # No function of n hits has a degree above n, so that terms which would divide by 0 are 0.
        scale = np.divide(1 / factorial(k), below, out=np.zeros_like(n), where=n >= k)
        result[:, k:-k] += times(first, second) * scale
    return result


def times(first: Floats, second: Floats) -> Floats:
    """Return the product of two polynomials."""
    powers, degrees = first.shape[0], first.shape[1]
    items = max(first.shape[2], second.shape[2])
    result = np.zeros((powers + second.shape[0] - 1, degrees + second.shape[1] - 1, items))
    for power in range(powers):
        for degree in range(degrees):
            window = result[power : power + second.shape[0], degree : degree + second.shape[1]]
            window += first[power, degree] * second
    return result


def slope(form: Floats) -> Floats:
    """Return the derivative, a form of one degree less."""
    powers, length = form.shape[:2]
    up = np.arange(1, length)[:, None]
    down = np.arange(length - 1, 0, -1)[:, None] - np.arange(powers)[:, None, None]
    return np.asarray(up * form[:, 1:] - down * form[:, :-1])


def bump(form: Floats) -> Floats:
    """Return x (1 - x) times the polynomial."""
    return np.pad(form, ((0, 0), (1, 1), (0, 0)))


def with_share(form: Floats, n: Floats) -> Floats:
    """Replace the parameter c of a form with powers of c by the share of hits, c = h/n."""
    powers, length = form.shape[:2]
    result = form[-1:, : length - powers + 1]
    for power in range(powers - 2, -1, -1):
        rest = form[power : power + 1, : length - power]
        # The form of c is x, and by `star` its product with f has two terms.
        result = rest + np.pad(result, ((0, 0), (1, 0), (0, 0))) + bump(slope(result) / n)
    return result


def value(form: Floats, n: Floats, hits: Floats) -> Floats:
    """Return f(hits), the hits being among n; `form` has two axes, degree and item."""
    degree = len(form) - 1
    up, down, every = (falling(number, degree) for number in (hits, n - hits, n))
    few = n < degree
    result = (form * up * down[::-1]).sum(axis=0) / np.where(few, 1.0, every[-1])
    if few.any():
        # The form is expanded in powers of x alone, or of 1 - x, whichever is smaller; powers up
        # to n exist.
        flip = 2 * hits > n
        terms = _powers(degree) @ np.where(flip, form[::-1], form)
        terms *= np.where(flip, down, up)
        exact = np.divide(terms, every, out=np.zeros_like(terms), where=every > 0).sum(axis=0)
        result = np.where(few, exact, result)
    return np.asarray(result)


def falling(number: Floats, degree: int) -> Floats:
    """Return 1, k, k (k - 1), ... up to the given degree, along a new first axis."""
    factors = [np.ones_like(number), *(number - i for i in range(degree))]
    return np.asarray(np.cumprod(factors, axis=0), dtype=np.float64)


def _powers(degree: int) -> Floats:
    """Return the matrix that expands x^a (1 - x)^(degree - a) in powers of x."""
    matrix = np.zeros((degree + 1, degree + 1))
    for a in range(degree + 1):
        for k in range(degree - a + 1):
            matrix[a + k, a] = (-1.0) ** k * comb(degree - a, k)
    return matrix
