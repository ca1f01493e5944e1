"""``python -m benchmarks.hypergeometric``: hypergeometric tails of prframe and of SciPy.

The reference has 60 digits: factorials up to 2,000 are whole numbers, the logarithms of larger
ones are Stirling's series. ADR 19 has the table.
"""

import time
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from functools import cache
from math import factorial, floor, sqrt
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.stats import binom, hypergeom

from benchmarks.report import table
from prframe.stats.null.hypergeometric import probability, upper_tail

Tail: TypeAlias = Callable[..., np.ndarray[tuple[int, ...], np.dtype[np.float64]]]

TITLE = """## hypergeometric

P(X >= hits) for k items of n, n_pos of them positive: relative errors of prframe and of \
scipy.stats.hypergeom; those of P(X = hits), of both and of a product of three binomial \
probabilities of SciPy; and the time of one tail, of a thousand at once, and of SciPy's logsf.
"""
# Bernoulli numbers over their places, the coefficients of Stirling's series.
_SERIES = ((1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156))
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781")
_EXACT = 2000
_SIZES = (
    *((n, n_pos) for n in (10, 100, 10**4) for n_pos in (1, n // 10, n // 2)),
    *((n, n_pos) for n in (10**6, 10**9) for n_pos in (10, n // 1000, n // 2)),
)
_DEVIATIONS = (1.0, 6.0, 30.0)
# SciPy adds the terms of a logarithm one by one: beyond so many draws it takes seconds.
_MOST_DRAWN = 10**6


class Case(NamedTuple):
    n: int
    n_pos: int
    k: int
    hits: int


def cases() -> Iterator[Case]:
    for n, n_pos in _SIZES:
        k = max(1, n // 100 if n > 100 else n // 2)
        mean = k * n_pos / n
        deviation = sqrt(mean * (1 - n_pos / n) * (n - k) / max(n - 1, 1))
        hits = {floor(mean + z * deviation) + 1 for z in _DEVIATIONS}
        yield from (Case(n, n_pos, k, x) for x in sorted(hits) if x <= min(k, n_pos))


@cache
def log_factorial(x: int) -> Decimal:
    if x <= _EXACT:
        return Decimal(factorial(x)).ln()
    y = Decimal(x)
    series = sum(Decimal(a) / (b * y ** (2 * i + 1)) for i, (a, b) in enumerate(_SERIES))
    return y * y.ln() - y + (2 * _PI * y).ln() / 2 + series


def log_choices(n: int, k: int) -> Decimal:
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k)


def reference(case: Case) -> tuple[Decimal, Decimal]:
    """Return P(X = hits) and P(X >= hits); hits are above the mean, so that terms fall."""
    n, n_pos, k, hits = case
    ways = log_choices(n_pos, hits) + log_choices(n - n_pos, k - hits) - log_choices(n, k)
    term = first = total = ways.exp()
    for x in range(hits, min(k, n_pos)):
        term *= Decimal((n_pos - x) * (k - x)) / ((x + 1) * (n - n_pos - k + x + 1))
        total += term
        if term < total * Decimal("1e-30"):
            break
    return first, total


def by_binomials(n: int, n_pos: int, k: int, hits: int) -> float:
    """P(X = hits) from binomial probabilities, as R does."""
    share = k / n
    drawn = binom.pmf(hits, n_pos, share) * binom.pmf(k - hits, n - n_pos, share)
    return float(drawn / binom.pmf(k, n, share))


def error(found: float, true: Decimal) -> str:
    return f"{abs(Decimal(found) / true - 1):.0e}"


def milliseconds(function: Callable[[], object]) -> str:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return f"{1e3 * min(times):,.2g}" if min(times) < 0.1 else f"{1e3 * min(times):,.0f}"


def row(case: Case) -> list[str]:
    n, n_pos, k, hits = case
    first, total = reference(case)
    ours = [np.array([float(x)]) for x in (hits, n, n_pos, k)]
    many = [np.repeat(x, 1000) for x in ours]
    logarithm = f"> {_MOST_DRAWN:,} draws"
    if k <= _MOST_DRAWN:
        logarithm = milliseconds(lambda: hypergeom.logsf(hits - 1, n, n_pos, k))
    return [
        *(f"{x:,}" for x in case),
        f"{total:.2e}",
        error(upper_tail(*ours).item(), total),
        error(float(hypergeom.sf(hits - 1, n, n_pos, k)), total),
        error(probability(*ours).item(), first),
        error(float(hypergeom.pmf(hits, n, n_pos, k)), first),
        error(by_binomials(n, n_pos, k, hits), first),
        milliseconds(lambda: upper_tail(*ours)),
        milliseconds(lambda: hypergeom.sf(hits - 1, n, n_pos, k)),
        milliseconds(lambda: upper_tail(*many)),
        milliseconds(lambda: hypergeom.sf(many[0] - 1, n, n_pos, k)),
        logarithm,
    ]


def main() -> None:
    heads = ["n", "n_pos", "k", "hits", "P", "prframe", "SciPy", "P(X = hits): prframe", "SciPy"]
    heads += ["binomials", "ms: prframe", "SciPy", "1,000: prframe", "SciPy", "logsf: SciPy"]
    with localcontext(prec=60):
        rows = [row(case) for case in cases()]
    print(TITLE)
    print(table(heads, rows))


if __name__ == "__main__":
    main()
