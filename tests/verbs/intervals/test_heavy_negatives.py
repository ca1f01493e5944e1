"""Intervals at a prior by which a negative counts many times."""

import warnings

import numpy as np
import polars as pl
import pytest
import scipy.stats

import prframe
from prframe import CoverageWarning
from prframe.stats import AveragePrecision, cells_from_scores
from prframe.stats.rankings import AtPrior

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
        "prior=0.02 makes a negative count three times or more, in groups ['a', 'b'], so that few of "
        "them decide 'AP', and the interval knows none that the sample lacks: 95 % intervals "
        "covered in 55 to 95 % of samples where a negative counts 3 to 50 times. A prior nearer to "
        "the share of positives helps, and more negatives do; where it does not matter, ignore "
        "CoverageWarning."
    ]
    (message,) = told(prior=0.02, method="logit-t")
    assert ". Take method='bayesian-bootstrap'; " in message


@pytest.mark.parametrize(
    "options",
    [
        {"prior": 0.02},
        {"prior": 0.3, "cluster": "user"},
        {"prior": 0.98, "cluster": "user"},
        {"cluster": "user"},
        {"prior": 0.02, "cluster": "user", "metrics": ["AUC", "P(threshold=1)", "pAUC"]},
        {"prior": 0.02, "score": "level"},
    ],
)
def test_nothing_is_told_where_negatives_do_not_decide_or_are_drawn(options) -> None:
    assert not told(**options)


def test_ties_take_draws_where_negatives_decide() -> None:
    for prior, method in ((0.5, "logit-t"), (0.02, "bayesian-bootstrap")):
        found = DATA.pr.interval(["AP", "MaxF1"], "level", prior=prior, **FEW)
        assert found["method"][0] == found["method"][1] == method


@pytest.mark.parametrize(("prior", "decide"), [(0.26, False), (0.24, True), (0.9, False)])
def test_negatives_decide_from_a_weight_of_three_on(prior: float, decide: bool) -> None:
    cells, _ = cells_from_scores([3.0, 2.0, 1.0, 0.0], [1, 0, 1, 0])
    assert AtPrior(AveragePrecision(), prior).negatives_decide(cells) == decide


@pytest.mark.slow
def test_ap_of_tied_scores_at_a_prior_is_covered() -> None:
    samples, prior = 300, 0.01
    levels = np.arange(40, -1, -1)
    recall, false = (scipy.stats.poisson.sf(levels - 1, mean) for mean in (4, 1))
    precision = prior * recall / (prior * recall + (1 - prior) * false)
    ap = float(np.diff(recall, prepend=0) @ precision)
    rng, parts = np.random.default_rng(3), []
    for i in range(samples):
        label = rng.random(60) < 0.3
        parts.append(
            pl.DataFrame({"sample": i, "score": rng.poisson(1 + 3 * label), "label": label})
        )
    found = prframe.interval(pl.concat(parts), "AP", by="sample", prior=prior, rng=1)
    covered = found.select(pl.lit(ap).is_between("conf_low", "conf_high").mean()).item()
    assert covered > 0.92
