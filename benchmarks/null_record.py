"""``python -m benchmarks.null_record``: the references that tests/stats/null/average_precision/test_plane.py holds."""

import sys

import numpy as np

from benchmarks.data import SEED
from benchmarks.null_plane import place
from benchmarks.null_steps import Shape
from benchmarks.null_study import known_of

# n, n_pos, depth and deviations; levels of equal size, none without ties.
_FAR = (-1, 0.27, 2, 4, 10, 40)
RECORDED = (
    (30, 3, 30, 0, (0, 1, 2)),
    (300, 150, 300, 0, (0.63, 3, 10)),
    (1000, 10, 1000, 0, (0, 2, 6, 20)),
    (3000, 2700, 3000, 0, (1, 3)),
    (10**4, 1000, 10**4, 0, _FAR),
    (3 * 10**4, 15_000, 3 * 10**4, 0, (0.9, 3, 10)),
    (10**5, 10, 10**5, 0, (1, 4)),
    (10**5, 50_000, 10**5, 0, (-1, 0.63, 1, 2, 2.3, 3, 10, 40)),
    (2 * 10**5, 2000, 2 * 10**5, 0, (0.27, 2, 6, 20)),
    (10**6, 1000, 10**6, 0, (4, 10)),
    (10**6, 10**5, 10**6, 0, (0.77, 3, 10, 40)),
    (3 * 10**6, 15 * 10**5, 3 * 10**6, 0, (0.002, 2, 20)),
    (10**7, 10**5, 10**7, 0, (0.27, 2, 10)),
    (2 * 10**7, 10**7, 2 * 10**7, 0, (-1, 0.27, 3, 10, 40)),
    (2 * 10**7, 18 * 10**6, 2 * 10**7, 0, (1, 4, 10)),
    (300, 30, 300, 5, (0.9, 3, 6)),
    (3000, 1500, 3000, 5, (0, 2, 6, 40)),
    (10**6, 10**5, 10**6, 100, (0.9, 3, 10, 40)),
    (10**7, 5 * 10**6, 10**7, 5, (0.9, 3, 10)),
    (5 * 10**4, 500, 1000, 0, (0.9, 3, 6)),
    (10**6, 10**5, 10**5, 0, (0.9, 3, 10)),
    (10**7, 5 * 10**6, 10**6, 5, (0.9, 3, 10)),
)


def main() -> None:
    for number, (n, n_pos, depth, levels, deviations) in enumerate(RECORDED):
        ties = tuple([depth // levels] * levels) if levels else None
        found = place(Shape(n, n_pos, depth, ties), "", n_pos / n, deviations)
        rng = np.random.default_rng([SEED, 6, number])
        draws = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
        for z, one in zip(
            found.deviations, known_of(found, 5 * draws, draws, rng, every=True), strict=True
        ):
            if np.isfinite(one.error):
                values = f"{n}, {n_pos}, {depth}, {levels}, {z:.10g}, {one.log_p:.5f}"
                print(f"    ({values}, {one.error:.4f}),  # {one.source}", flush=True)


if __name__ == "__main__":
    main()
