"""Intervals at a prior by which a negative counts many times."""

import warnings

import numpy as np
import polars as pl

from prframe import CoverageWarning

RNG = np.random.default_rng(1)
LABEL = RNG.random(200) < 0.5
DATA = pl.DataFrame(
    {
        "score": RNG.normal(1.5 * LABEL),
        "level": RNG.poisson(1 + 3 * LABEL),
        "label": LABEL,
        "user": np.arange(200) // 5,
        "half": np.where(np.arange(200) < 100, "a", "b"),
    }
)
FEW = {"rng": 1, "n_resamples": 100}


def told(**options) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        DATA.pr.interval(**{"metrics": ["AP", "AUC"]} | FEW | options)
    texts = [str(one.message) for one in caught if one.category is CoverageWarning]
    return [text for text in texts if text.startswith("prior=")]


def test_clusters_and_errors_are_told_of_once() -> None:
    assert told(prior=0.02, cluster="user", by="half") == [
        "prior=0.02 makes a negative count three times or more, in groups 'a', 'b', so that few of "
        "them decide AP, and the interval knows none that the sample lacks: 95 % intervals "
        "covered in 55 to 95 % of samples where a negative counts 3 to 50 times. A prior nearer to "
        "the share of positives helps, and more negatives do; where it does not matter, ignore "
        "CoverageWarning."
    ]
    (message,) = told(prior=0.02, method="logit-t")
    assert ". Take method='bayesian-bootstrap'; " in message
