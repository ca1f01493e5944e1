"""A small dataset for examples and tests."""

from __future__ import annotations

from importlib import resources

import polars as pl

__all__ = ["load_digits"]


def load_digits() -> pl.DataFrame:
    """Load rankings of digit images: six systems, 200 queries, 100 items per ranking.

    The task is query by example. Each of 200 images of handwritten digits, 20 per digit, is a
    query; six systems rank the other 1796 images by their similarity to it, and the 100 best
    items are kept. An item is relevant when it shows the same digit as the query.

    Returns
    -------
    polars.DataFrame
        One row per system, query and item (120 000 rows), sorted by system and query, best items
        first. Items with equal scores are in the order of their ids, also at the cut after 100
        items. The columns are

        ``system`` : String
            The ranker, from the best to the worst: ``"pixels"`` (cosine of the raw pixels),
            ``"pca"`` (negative Euclidean distance between eight principal components),
            ``"thumbnail"`` (negative L1 distance between images reduced to 4 x 4 pixels; some
            ties), ``"binary"`` (number of shared dark pixels; many ties), ``"ink"`` (negative
            difference between the total amounts of ink; many ties, hardly better than chance),
            ``"random"`` (uniform random numbers with three decimals; some ties).
        ``query_id`` : String
            The query, for example ``"q0042"`` for the image with index 42.
        ``item_id`` : String
            The ranked image, for example ``"d1234"`` for the image with index 1234.
        ``score`` : Float64
            The similarity to the query according to the system; larger is better.
        ``label`` : Boolean
            Whether the item shows the same digit as the query.
        ``n_relevant`` : Int32
            The number of relevant items among all 1796 candidates. It is larger than the number
            of relevant items among the 100 that are kept.

    Notes
    -----
    The images are the 1797 of the test set of the UCI dataset "Optical Recognition of Handwritten
    Digits", as shipped in scikit-learn (``sklearn.datasets.load_digits``). The script
    ``scripts/make_digits.py`` in the source distribution generates the file.

    Examples
    --------
    >>> from prframe.datasets import load_digits
    >>> frame = load_digits()
    >>> frame.shape
    (120000, 6)
    >>> frame.head(3)
    shape: (3, 6)
    ┌────────┬──────────┬─────────┬────────┬───────┬────────────┐
    │ system ┆ query_id ┆ item_id ┆ score  ┆ label ┆ n_relevant │
    │ ---    ┆ ---      ┆ ---     ┆ ---    ┆ ---   ┆ ---        │
    │ str    ┆ str      ┆ str     ┆ f64    ┆ bool  ┆ i32        │
    ╞════════╪══════════╪═════════╪════════╪═══════╪════════════╡
    │ pixels ┆ q0038    ┆ d1185   ┆ 0.9403 ┆ true  ┆ 173        │
    │ pixels ┆ q0038    ┆ d1315   ┆ 0.9315 ┆ true  ┆ 173        │
    │ pixels ┆ q0038    ┆ d0127   ┆ 0.9256 ┆ true  ┆ 173        │
    └────────┴──────────┴─────────┴────────┴───────┴────────────┘
    """
    # Reading bytes rather than a path also works when the package is imported from an archive.
    resource = resources.files("prframe") / "data" / "digits.parquet"
    return pl.read_parquet(resource.read_bytes())
