"""Generate ``prframe/data/digits.parquet``, the dataset behind ``load_digits``.

The task is query by example: 200 of the 1797 images of scikit-learn's ``load_digits`` serve as
queries, and several rankers of different quality order all other images by their similarity
to each query. An image is relevant when it shows the same digit as the query. The top 100 of
each ranking are kept.

Run from anywhere with ``python scripts/make_digits.py``; scikit-learn is needed. The rows should
not depend on the platform: random numbers come straight from a bit generator, whose stream NumPy
guarantees; all other scores but those of ``pca`` come from exact integer arithmetic followed by
correctly rounded operations; and the ``pca`` scores are rounded far above numerical noise.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow.parquet as pq
from sklearn.datasets import load_digits

if TYPE_CHECKING:
    from collections.abc import Callable

Integers: TypeAlias = npt.NDArray[np.int64]
Scores: TypeAlias = npt.NDArray[np.float64]

OUTPUT = Path(__file__).resolve().parents[1] / "prframe" / "data" / "digits.parquet"

# Height and width of an image; queries of a digit; items kept of a query.
SIDE, QUERIES_PER_DIGIT, DEPTH = 8, 20, 100
# Principal components of `pca`; a pixel (0 to 16) at least this dark counts as ink for `binary`.
COMPONENTS, INK_THRESHOLD = 8, 8
QUERY_SEED, RANDOM_SEED = 20260101, 20260102


def random_integers(seed: int, size: int) -> npt.NDArray[np.uint64]:
    """Return uniform 64-bit integers.

    The methods of ``numpy.random.Generator`` may change their streams between NumPy releases;
    the raw output of a bit generator may not.
    """
    return np.random.PCG64(seed).random_raw(size)


def choose_queries(digits: Integers) -> Integers:
    """Return the sorted indices of a random sample of the images, stratified by digit."""
    keys = random_integers(QUERY_SEED, digits.size)
    chosen = []
    for digit in np.unique(digits):
        members = np.flatnonzero(digits == digit)
        chosen.append(members[np.argsort(keys[members])[:QUERIES_PER_DIGIT]])
    return np.sort(np.concatenate(chosen))


def score_pixels(pixels: Integers, queries: Integers) -> Scores:
    """Return the cosine of the raw pixels."""
    products = pixels[queries] @ pixels.T
    squared_norms = np.sum(pixels**2, axis=1)
    # One square root of an exact integer product, so that no rounding error can accumulate.
    norms = np.sqrt(np.multiply.outer(squared_norms[queries], squared_norms))
    cosines: Scores = np.round(products / norms, 4)
    return cosines


def score_pca(pixels: Integers, queries: Integers) -> Scores:
    """Return the negative Euclidean distance between the leading principal components."""
    centred = pixels - pixels.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:COMPONENTS]
    # The distance does not depend on the arbitrary signs of the axes.
    projected = centred @ axes.T
    differences = projected[queries, None, :] - projected[None, :, :]
    distances: Scores = np.round(np.sqrt(np.sum(differences**2, axis=2)), 3)
    return -distances


def score_thumbnail(pixels: Integers, queries: Integers) -> Scores:
    """Return the negative L1 distance between images averaged over blocks of 2 x 2 pixels."""
    half = SIDE // 2
    blocks = pixels.reshape(-1, half, 2, half, 2).sum(axis=(2, 4)).reshape(-1, half * half)
    differences = blocks[queries, None, :] - blocks[None, :, :]
    distances: Scores = np.abs(differences).sum(axis=2) / 4
    return -distances


def score_binary(pixels: Integers, queries: Integers) -> Scores:
    """Return the number of inked pixels that two images share."""
    ink = (pixels >= INK_THRESHOLD).astype(np.int64)
    return (ink[queries] @ ink.T).astype(np.float64)


def score_ink(pixels: Integers, queries: Integers) -> Scores:
    """Return the negative difference between the total amounts of ink."""
    ink = pixels.sum(axis=1)
    differences: Scores = np.abs(np.subtract.outer(ink[queries], ink)).astype(np.float64)
    return -differences


def score_random(pixels: Integers, queries: Integers) -> Scores:
    """Return uniform random numbers with three decimals, so that ties occur."""
    shape = (queries.size, len(pixels))
    integers = random_integers(RANDOM_SEED, shape[0] * shape[1]).reshape(shape)
    fractions: Scores = (integers % 1000) / 1000
    return fractions


RANKERS: dict[str, Callable[[Integers, Integers], Scores]] = {
    "pixels": score_pixels,
    "pca": score_pca,
    "thumbnail": score_thumbnail,
    "binary": score_binary,
    "ink": score_ink,
    "random": score_random,
}


def rank(system: str, scores: Scores, queries: Integers, digits: Integers) -> pl.DataFrame:
    """Return the top of the rankings of one system, one row per query and item."""
    # Among equal scores the item with the lower index comes first, also at the cut.
    orders = np.argsort(-scores, axis=1, kind="stable")
    ranked = zip(orders, queries, strict=True)
    items = np.stack([order[order != query][:DEPTH] for order, query in ranked])
    relevant = digits[queries, None] == digits[None, :]
    n_relevant = relevant.sum(axis=1) - 1  # the query is not an item of its own ranking
    frame = pl.DataFrame(
        {
            "query_id": [f"q{query:04d}" for query in np.repeat(queries, DEPTH)],
            "item_id": [f"d{item:04d}" for item in items.ravel()],
            # Adding zero turns the negative zero of a perfect match into an ordinary zero.
            "score": np.take_along_axis(scores, items, axis=1).ravel() + 0.0,
            "label": np.take_along_axis(relevant, items, axis=1).ravel(),
            "n_relevant": np.repeat(n_relevant, DEPTH).astype(np.int32),
        }
    )
    return frame.select(pl.lit(system).alias("system"), pl.all())


def make_frame() -> pl.DataFrame:
    """Return the whole dataset: all systems, queries in order, items best first."""
    pixels, digits = (np.asarray(part, np.int64) for part in load_digits(return_X_y=True))
    queries = choose_queries(digits)
    return pl.concat(
        rank(system, score(pixels, queries), queries, digits) for system, score in RANKERS.items()
    )


def main() -> None:
    """Write the dataset as one small file, with dictionaries of ids and scores."""
    frame = make_frame()
    pq.write_table(
        frame.to_arrow(),
        OUTPUT,
        row_group_size=frame.height,
        compression="zstd",
        compression_level=19,
        use_dictionary=True,
        # The embedded Arrow schema would add nothing but bytes.
        store_schema=False,
    )
    print(f"{OUTPUT.name}: {frame.height} rows, {OUTPUT.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
