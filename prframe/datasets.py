"""A small dataset for examples and tests."""

from __future__ import annotations

from importlib import resources

import polars as pl

__all__ = ["load_digits"]


def load_digits() -> pl.DataFrame:
    """Load rankings of digit images: six systems, 200 queries, 100 items per ranking.

    Each of 200 images of handwritten digits, 20 per digit, is a query; six systems rank the other
    1796 images by similarity, and the 100 best are kept. Items of the same digit are relevant.

    Returns
    -------
    polars.DataFrame
        One row per system, query and item (120 000 rows), sorted by system and query, best items
        first, equal scores in the order of ids. The columns are

        ``system`` : String
            From the best to the worst: ``"pixels"`` (cosine of the raw pixels), ``"pca"``
            (negative Euclidean distance between eight principal components), ``"thumbnail"``
            (negative L1 distance between images of 4 x 4 pixels; some ties), ``"binary"`` (number
            of shared dark pixels; many ties), ``"ink"`` (negative difference between amounts of
            ink; many ties, hardly better than chance), ``"random"`` (some ties).
        ``query_id``, ``item_id`` : String
            For example ``"q0042"`` and ``"d1234"``, after the indices of the images.
        ``score`` : Float64
            The similarity to the query; larger is better.
        ``label`` : Boolean
            Whether the item shows the same digit as the query.
        ``n_relevant`` : Int32
            The number of relevant items among all 1796 candidates.

    Notes
    -----
    The images are the 1797 of the test set of the UCI dataset "Optical Recognition of Handwritten
    Digits", from scikit-learn; ``scripts/make_digits.py`` makes the file.

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
