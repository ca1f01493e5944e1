"""Choose among nested families of scoring rules, by the rank statistic minus a penalty."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from prframe import checks
from prframe.errors import PrframeError
from prframe.learn.ranker import RankStatisticRanker
from prframe.learn.smoothed import smooth_phi
from prframe.stats import rank_statistic
from prframe.stats.score_functions import Phi
from prframe.typing import Floats

# The number of intervals of the grid on which functions are searched for their largest values.
_GRID = 2**14


class PenalizedSelection(NamedTuple):
    """The chosen family, and the criterion and penalty of all; families count from 0 here."""

    chosen: int
    ranker: RankStatisticRanker
    columns: NDArray[np.intp]
    criterion: Floats
    penalty: Floats


def complexity_constant(phi: Phi) -> float:
    """Return the constant C of the penalty of a score-generating function.

    ``C = 6 (|phi|^2 + 9 |phi'|^2 + 9 |phi''|^2)``, with largest absolute values over [0, 1]
    (Clemencon, Limnios & Vayatis 2021, below eq. (4.4)).

    Parameters
    ----------
    phi : str, ScoreGeneratingFunction or callable
        As for `prframe.stats.parse_phi`.

    Raises
    ------
    PrframeError
        A function that is not smooth, or is unbounded itself or in a derivative, such as
        "logrank", "van-der-waerden", or "p-norm-push" with q between 1 and 2.

    Examples
    --------
    >>> complexity_constant("mww"), complexity_constant("p-norm-push(q=3)")
    (60.0, 2436.0)
    """
    function = smooth_phi(phi)
    grid = np.arange(_GRID + 1) / _GRID
    with np.errstate(all="ignore"):
        parts = function(grid), function.derivative(grid), function.second_derivative(grid)
        largest = [float(np.abs(part).max()) for part in parts]
    if not np.isfinite(largest).all():
        raise PrframeError(
            f"`phi` must be bounded with its first two derivatives for a penalty to exist; "
            f"{function.name} is not."
        )
    return 6 * (largest[0] ** 2 + 9 * largest[1] ** 2 + 9 * largest[2] ** 2)


def complexity_penalty(  # noqa: PLR0913
    n: int, n_pos: int, vc_dimension: int, k: int, phi: Phi = "mww", *, b1: float = 1.0
) -> float:
    """Return the penalty of the k-th of a sequence of families of scoring rules.

    It is ``B_1 sqrt(V_k / (p N)) + sqrt(2 C log k / (p^2 N))`` with ``p = n_pos / N``, in the unit
    of ``W / n_pos`` (Clemencon, Limnios & Vayatis 2021, eq. (4.4)).

    Parameters
    ----------
    n, n_pos : int >= 1
        Items, N, and positives among them.
    vc_dimension : int >= 1
        V_k: d + 1 for linear rules of d features, d(d + 1)/2 + 1 for quadratic ones.
    k : int >= 1
        Place in the sequence; the first family pays nothing for it.
    phi : str, ScoreGeneratingFunction or callable
        As for `complexity_constant`, with its errors.
    b1 : float >= 0, default 1
        B_1, which the source proves to exist and does not compute.

    Notes
    -----
    As a bound for all distributions it is large: the second term is 1.05 for "mww" with N = 300,
    n_pos = 150 and k = 2, when the criterion itself goes from .25 to .75. Unless N is a thousand
    times as large, scale it (`select_ranker`).

    Examples
    --------
    >>> round(complexity_penalty(300, 150, vc_dimension=16, k=2, b1=0), 2)
    1.05
    """
    checks.whole_number("n", n, at_least=1)
    checks.whole_number("n_pos", n_pos, at_least=1)
    if n_pos > n:
        raise PrframeError(f"`n_pos` must be at most n; got n_pos = {n_pos} with n = {n}.")
    checks.whole_number("vc_dimension", vc_dimension, at_least=1)
    checks.whole_number("k", k, at_least=1)
    factor = checks.number("b1", b1, at_least=0)
    constant = complexity_constant(phi)
    estimation = factor * (vc_dimension / n_pos) ** 0.5
    return float(estimation + (2 * constant * np.log(k) * n) ** 0.5 / n_pos)


def select_ranker(  # noqa: PLR0913
    ranker: RankStatisticRanker,
    X: ArrayLike,  # noqa: N803 - scikit-learn's name
    y: ArrayLike,
    families: Sequence[tuple[str, Sequence[int]]],
    *,
    b1: float = 1.0,
    scale: float = 1.0,
) -> PenalizedSelection:
    """Choose among nested families of scoring rules by the penalised rank statistic.

    The chosen family k maximises ``W / n_pos - scale * pen(N, k)``, where W is the rank statistic
    of the rule learned in the family, with ranks divided by N + 1 and not smoothed (Clemencon,
    Limnios & Vayatis 2021, eqs (4.4) and (4.5), Proposition 8).

    Parameters
    ----------
    ranker : RankStatisticRanker
        Copies of it learn in each family.
    X : array_like of float, shape (N, d)
        Features.
    y : array_like, shape (N,)
        Labels, with two distinct values.
    families : sequence of (str, sequence of int)
        From small to large, each a rule, "linear" or "quadratic", and its columns of `X`. Columns
        may be added, and the rule may turn from linear to quadratic.
    b1 : float >= 0, default 1
        As for `complexity_penalty`.
    scale : float in (0, 1], default 1
        Factor of the penalty; 1 is that of the theory. A useful factor makes families beyond the
        first rare for shuffled labels.

    Returns
    -------
    PenalizedSelection
        ``chosen`` (index into `families`), ``ranker`` and ``columns`` of that family,
        ``criterion`` and ``penalty`` (scaled) of all families.

    Raises
    ------
    PrframeError
        Families without order, numbers out of range, a function for which C does not exist, or
        samples that `RankStatisticRanker.fit` refuses.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(400) % 2
    >>> X = rng.normal(size=(400, 4))
    >>> X[:, 1] += y
    >>> families = [("linear", range(k)) for k in (1, 2, 3, 4)]
    >>> select_ranker(RankStatisticRanker(), X, y, families, b1=0.2, scale=0.05).chosen
    1
    """
    checks.instance("ranker", ranker, RankStatisticRanker)
    factor = checks.number("scale", scale, above=0, at_most=1)
    complexity_constant(ranker.phi)
    features, labels = np.asarray(X), np.asarray(y)
    columns = _columns(families, features)
    learned, criterion, penalty = [], [], []
    for k, ((rule, _), chosen) in enumerate(zip(families, columns, strict=True), start=1):
        definite = ranker.positive_definite and rule == "quadratic"
        copy = cast("RankStatisticRanker", clone(ranker))
        copy.set_params(rule=rule, positive_definite=definite)
        copy.fit(features[:, chosen], labels)
        positive = labels == copy.classes_[1]
        d = chosen.size
        dimension = d + 1 if rule == "linear" else d * (d + 1) // 2 + 1
        size = len(labels), int(positive.sum()), dimension
        scores = copy.decision_function(features[:, chosen])
        learned.append(copy)
        criterion.append(rank_statistic(scores, positive, ranker.phi).mean)
        penalty.append(factor * complexity_penalty(*size, k, ranker.phi, b1=b1))
    best = int(np.argmax(np.subtract(criterion, penalty)))
    return PenalizedSelection(
        best, learned[best], columns[best], np.array(criterion), np.array(penalty)
    )


def _columns(
    families: Sequence[tuple[str, Sequence[int]]], features: NDArray[np.generic]
) -> list[NDArray[np.intp]]:
    """Require families that grow, and return their columns."""
    if not len(families):
        raise PrframeError("`families` must hold at least one rule with its columns; got none.")
    if features.ndim != 2:  # noqa: PLR2004 - rows and columns
        raise PrframeError(f"`X` must have two dimensions; got shape {features.shape}.")
    rules = [rule for rule, _ in families]
    for rule in rules:
        checks.one_of("rule", rule, ["linear", "quadratic"])
    sets = [frozenset(columns) for _, columns in families]
    outside = set().union(*sets) - set(range(features.shape[1]))
    if outside or not all(sets):
        got = f"{checks.listed(outside)}" if outside else "a family without columns"
        raise PrframeError(
            f"columns in `families` must lie between 0 and {features.shape[1] - 1}; got {got}."
        )
    grows = all(small <= large for small, large in pairwise(sets))
    if not grows or rules != sorted(rules):
        raise PrframeError(
            "`families` must grow: columns may be added, and linear rules come before quadratic."
        )
    return [np.array(sorted(columns), dtype=np.intp) for columns in sets]
