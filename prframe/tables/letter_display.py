"""The compact letter display of a comparison."""

import polars as pl

from prframe._preparation.results import one_metric, read
from prframe._preparation.sets import comparison, letters_of
from prframe.typing import FrameT


def letters(compare_result: FrameT, metric: str | None = None, alpha: float = 0.05) -> FrameT:
    """Give systems letters, so that those that share none differ significantly.

    Two systems differ significantly where their adjusted p-value (the p-value, if there is no
    correction) is at most `alpha`. Every such pair shares no letter, and every other
    pair shares at least one.

    Parameters
    ----------
    compare_result : frame
        A result of `prframe.compare` with all pairs of the systems, thus without ``baseline=``.
    metric : str, optional
        The metric. It may be left out where the result has only one.
    alpha : float, default 0.05
        The level of significance.

    Returns
    -------
    frame of the caller's kind
        A row per system, the one with the largest mean first, with the columns ``metric``,
        ``model``, ``mean`` and ``letters``. The letters are a to z, A to Z, then a2, b2 and so on.

    Raises
    ------
    PrframeError
        If the frame is no result of a comparison, if a pair is missing, or if the metric or the
        level is wrong.

    Notes
    -----
    The letters are a cover of the graph of the other pairs by few maximal cliques.
    An undefined p-value tells nothing apart.

    References
    ----------
    H.-P. Piepho, An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons,
    Journal of Computational and Graphical Statistics 13, 2004.

    Examples
    --------
    >>> import prframe
    >>> runs = prframe.datasets.load_digits()
    >>> compared = prframe.compare(runs, "P@10", model="system", correction="holm", rng=1)
    >>> prframe.tables.letters(compared)
    shape: (6, 4)
    ┌────────┬───────────┬──────────┬─────────┐
    │ metric ┆ model     ┆ mean     ┆ letters │
    │ ---    ┆ ---       ┆ ---      ┆ ---     │
    │ str    ┆ str       ┆ f64      ┆ str     │
    ╞════════╪═══════════╪══════════╪═════════╡
    │ P@10   ┆ pixels    ┆ 0.974    ┆ a       │
    │ P@10   ┆ pca       ┆ 0.929    ┆ b       │
    │ P@10   ┆ thumbnail ┆ 0.902592 ┆ b       │
    │ P@10   ┆ binary    ┆ 0.724783 ┆ c       │
    │ P@10   ┆ ink       ┆ 0.110048 ┆ d       │
    │ P@10   ┆ random    ┆ 0.101006 ┆ d       │
    └────────┴───────────┴──────────┴─────────┘
    """
    result = read(compare_result, "compare", "compare_result")
    name = one_metric(result.rows, metric, "compare_result")
    compared = comparison(result, name, alpha)
    rows = pl.DataFrame(
        {
            "metric": [name] * len(compared.models),
            "model": pl.Series(compared.models, dtype=result.rows.schema["model_a"]),
            "mean": pl.Series(compared.means, dtype=pl.Float64),
            "letters": letters_of(compared),
        }
    )
    return result.back(rows)  # type: ignore[no-any-return]
