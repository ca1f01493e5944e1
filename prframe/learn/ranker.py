"""An estimator that learns to rank two classes by maximising a rank statistic."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from prframe import checks
from prframe.errors import ArgumentError, PrframeError, PrframeWarning, warn
from prframe.learn.rules import (
    DefiniteRule,
    Labels,
    LinearRule,
    ParametricRule,
    QuadraticRule,
    ScoringRule,
)
from prframe.learn.smoothed import Problem, Solution, gradient_ascent, quasi_newton, smooth_phi
from prframe.stats._arrays import reals
from prframe.stats.score_functions import Phi
from prframe.typing import Floats

RuleName: TypeAlias = Literal["linear", "quadratic"]
Solver: TypeAlias = Literal["l-bfgs", "gradient-ascent"]

# The defaults of validate_data make type checkers take features for strings.
_validated: Callable[..., Any] = validate_data
# Algorithm 1 takes as many steps as in the source; the other number is enough for L-BFGS.
_STEPS = {"gradient-ascent": 50, "l-bfgs": 500}
# The names of the solvers and of their bounds in the warning about too few iterations.
_BOUNDS = {"gradient-ascent": ("Algorithm 1", "min_change"), "l-bfgs": ("L-BFGS", "tol")}
# With fewer items of the smaller class per feature, a rule follows their noise.
_ITEMS_PER_FEATURE = 5
# The step size is this times 1 / sqrt(T).
_STRIDE = 10


class RankStatisticRanker(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Rank items of two classes by a scoring rule that maximises a smoothed rank statistic.

    It maximises ``W / n_pos`` over ``s(z) = <theta, z>``, ``s(z) = z' theta z`` or a rule of your
    own, W being the sum over positives of ``phi(F(s(z_i)))`` and F the cdf of all scores,
    estimated by Gaussian kernels of bandwidth h (Clemencon, Limnios & Vayatis 2021, sections 4.2
    and 5.1, eqs (4.10), (5.1), (5.2), Algorithm 1). With ``phi(u) = u`` this is a smoothed AUC;
    other functions give more weight to the positives ranked best.

    Parameters
    ----------
    phi : str, ScoreGeneratingFunction or callable, default "mww"
        As in `prframe.stats.parse_phi`, for instance ``"p-norm-push(q=3)"`` or ``"rtb(u0=0.9)"``.
        It must be smooth, which "local-auc", "dcg" and "median" are not.
    rule : {"linear", "quadratic"} or ParametricRule, default "linear"
        Quadratic rules are about 0: centre the features, for instance by
        ``StandardScaler(with_std=False)`` in a pipeline.
    positive_definite : bool, default False
        Whether theta must be positive definite (quadratic rules), on the span of the features.
    solver : {"l-bfgs", "gradient-ascent"}, default "l-bfgs"
        "gradient-ascent" is Algorithm 1 of the source: `max_iter` steps of one `step_size`, at
        bandwidth h in the unit of the scores. "l-bfgs" divides scores by their standard deviation
        and whitens the features, so that their scale does not matter; a `ParametricRule` takes
        the features as they are.
    bandwidth : float > 0, optional
        h, by default N^(-1/5), in the unit of the scores, or of their standard deviation with
        "l-bfgs".
    step_size : float > 0, optional
        Factor of the gradient of ``W / n_pos`` in Algorithm 1, ``10 / sqrt(max_iter)`` unless
        given. The source has the gradient of W and "order 1 / sqrt(T)": ``n_pos / sqrt(T)`` here.
    max_iter : int >= 1, optional
        Iterations of Algorithm 1 (default 50), or at most of L-BFGS (default 500).
    tol : float >= 0, default 1e-5
        L-BFGS ends if no derivative of ``W / n_pos`` is larger.
    min_change : float >= 0, default 0
        Algorithm 1 ends with the first step that changes theta by less, in Euclidean norm. With 0
        it takes all `max_iter` steps.
    n_init : int >= 1, default 1
        Number of starting points; the best criterion wins.
    init : array_like of float, with the shape of theta, optional
        The first starting point. Unless given, a `ParametricRule` begins at its `start`, L-BFGS at
        the rule that is best for normal classes, and Algorithm 1 at random, as all others do.
    random_state : int, RandomState instance or None, default None
        Source of random starting points; a number makes results reproducible.

    Attributes
    ----------
    coef_ : ndarray, shape (d,) or (d, d), or that of a `ParametricRule`
        theta. After "l-bfgs" the training scores of linear and quadratic rules have standard
        deviation 1.
    intercept_ : float
        Number added to the scores; as many training items are above 0 as are positive.
    classes_ : ndarray, shape (2,)
        Labels; the second one is that of the positives.
    criterion_ : float
        ``W / n_pos`` at `coef_` and `bandwidth_`, by "l-bfgs" of scores divided by their standard
        deviation.
    path_ : ndarray, shape (iterations + 1,)
        The criterion at the start and after each iteration, for the best starting point.
    n_iter_ : int
        Number of iterations from the best starting point.
    bandwidth_ : float
        h.
    n_features_in_, feature_names_in_
        d, and the names of the features if they have any.

    Notes
    -----
    scikit-learn treats it as a classifier, so it has `predict`. But it learns an order: use
    `decision_function`. An iteration takes time ``O(N d + N log N)``, for quadratic rules ``O(N
    d^2 + N log N)``, and memory ``O(N d)``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(300) % 2
    >>> X = rng.normal(size=(300, 2)) + np.outer(y, [1.0, -1.0])
    >>> ranker = RankStatisticRanker("mww").fit(X, y)
    >>> bool(ranker.coef_[0] > 0 > ranker.coef_[1])
    True
    """

    def __init__(  # noqa: PLR0913
        self,
        phi: Phi = "mww",
        rule: RuleName | ParametricRule = "linear",
        *,
        positive_definite: bool = False,
        solver: Solver = "l-bfgs",
        bandwidth: float | None = None,
        step_size: float | None = None,
        max_iter: int | None = None,
        tol: float = 1e-5,
        min_change: float = 0.0,
        n_init: int = 1,
        init: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.phi = phi
        self.rule = rule
        self.positive_definite = positive_definite
        self.solver = solver
        self.bandwidth = bandwidth
        self.step_size = step_size
        self.max_iter = max_iter
        self.tol = tol
        self.min_change = min_change
        self.n_init = n_init
        self.init = init
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803 - scikit-learn's name
        """Learn the scoring rule.

        Parameters
        ----------
        X : array_like of float, shape (N, d)
            Features.
        y : array_like, shape (N,)
            Labels, of two kinds; the larger one is positive.

        Returns
        -------
        RankStatisticRanker
            Itself.

        Raises
        ------
        PrframeError
            Parameters out of range, labels not of two kinds, features none of which varies, or
            scores that grow beyond bounds.

        Warns
        -----
        ConvergenceWarning
            `max_iter` was not enough for L-BFGS, or for Algorithm 1 with `min_change` above 0.
        PrframeWarning
            More features than a fifth of the items of the smaller class.
        """
        self._check_parameters()
        z, labels = _validated(self, X, y, dtype=np.float64)
        positive = self._positive(labels)
        rule, n = self._rule(), len(z)
        self.bandwidth_ = n**-0.2 if self.bandwidth is None else float(self.bandwidth)
        problem = Problem(rule, smooth_phi(self.phi), z, positive, self.bandwidth_)
        random = check_random_state(self.random_state)
        solve = self._newton if self.solver == "l-bfgs" else self._ascent
        steps = _STEPS[self.solver] if self.max_iter is None else int(self.max_iter)
        # Threads slow down thousands of products of small arrays.
        with threadpool_limits(limits=1, user_api="blas"):
            best = solve(problem, random, steps)
        self.coef_, self.path_, self.n_iter_ = best.coef, best.path, best.n_iter
        self.criterion_ = float(best.path[-1])
        self.intercept_ = -_threshold(rule.scores(best.coef, z), int(positive.sum()))
        _warn_of_many_features(z.shape[1], positive)
        if not best.converged:
            name, bound = _BOUNDS[self.solver]
            warn(
                f"{name} has not converged in {best.n_iter} iterations; "
                f"raise `max_iter` or `{bound}`.",
                ConvergenceWarning,
            )
        return self

    def decision_function(self, X: ArrayLike) -> Floats:  # noqa: N803 - scikit-learn's name
        """Return the scores, ``s(z) + intercept_``; items with higher ones are rather positive.

        Parameters
        ----------
        X : array_like of float, shape (N, d)
            Features.

        Returns
        -------
        ndarray of float, shape (N,)
        """
        check_is_fitted(self)
        z = _validated(self, X, dtype=np.float64, reset=False)
        return self._rule().scores(self.coef_, z) + self.intercept_

    def predict(self, X: ArrayLike) -> NDArray[np.generic]:  # noqa: N803 - scikit-learn's name
        """Return the label of the positives where the score exceeds 0, else the other one.

        Parameters
        ----------
        X : array_like of float, shape (N, d)
            Features.

        Returns
        -------
        ndarray, shape (N,)
        """
        scores = self.decision_function(X)
        labels: NDArray[np.generic] = self.classes_[(scores > 0).astype(int)]
        return labels

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        # No quadratic form about 0 separates clusters on different sides of 0.
        tags.classifier_tags.poor_score = self.rule == "quadratic"
        return tags

    def _check_parameters(self) -> None:
        """Check the parameters as far as they do not depend on the data."""
        smooth_phi(self.phi)
        if not isinstance(self.rule, ParametricRule):
            checks.one_of("rule", self.rule, ["linear", "quadratic"])
        checks.one_of("solver", self.solver, list(_STEPS))
        checks.flag("positive_definite", self.positive_definite)
        if self.positive_definite and self.rule != "quadratic":
            raise ArgumentError("`positive_definite` is for rule='quadratic'.")
        projects = isinstance(self.rule, ParametricRule) and self.rule.project is not None
        if projects and self.solver == "l-bfgs":
            raise ArgumentError(
                "`solver` must be 'gradient-ascent' for a rule with `project`; got 'l-bfgs'."
            )
        checks.whole_number("n_init", self.n_init, at_least=1)
        checks.number("tol", self.tol, at_least=0)
        checks.number("min_change", self.min_change, at_least=0)
        for name in ("bandwidth", "step_size"):
            if getattr(self, name) is not None:
                checks.number(name, getattr(self, name), above=0)
        if self.max_iter is not None:
            checks.whole_number("max_iter", self.max_iter, at_least=1)

    def _rule(self) -> ScoringRule:
        """Return the family of scoring rules."""
        if isinstance(self.rule, ParametricRule):
            return self.rule
        if self.rule == "linear":
            return LinearRule()
        return DefiniteRule() if self.positive_definite else QuadraticRule()

    def _positive(self, y: NDArray[np.generic]) -> Labels:
        """Require two kinds of labels, and return which are positive."""
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y")
        if kind != "binary":
            # The checks of scikit-learn ask for this wording.
            raise PrframeError(
                f"Only binary classification is supported. The type of the target is {kind}."
            )
        self.classes_ = np.unique(y)
        if self.classes_.size == 1:
            only = checks.brief(checks.plain(self.classes_[0]))
            raise PrframeError(f"`y` must have two classes; got one class, {only}.")
        return np.asarray(y == self.classes_[1])

    def _ascent(self, problem: Problem, random: np.random.RandomState, steps: int) -> Solution:
        """Run Algorithm 1 from all starting points."""
        step = _STRIDE / steps**0.5 if self.step_size is None else float(self.step_size)
        rule, d = problem.rule, problem.z.shape[1]
        starts = self._starts(rule, self._given(rule, d), d, random)
        return _best(
            [gradient_ascent(problem, start, step, steps, self.min_change) for start in starts]
        )

    def _newton(self, problem: Problem, random: np.random.RandomState, steps: int) -> Solution:
        """Run L-BFGS on whitened features; return the coefficients of the plain features."""
        rule, d = problem.rule, problem.z.shape[1]
        matrix, inverse = rule.whitening(problem.z)
        if not matrix.size:
            raise PrframeError(f"`X` must have a feature that varies; none of {d} does.")
        moved = problem.z - problem.z.mean(axis=0) if rule.centred else problem.z
        problem = replace(problem, z=moved @ matrix, standardised=True)
        given = self._given(rule, d)
        first = rule.first(problem.z, problem.positive) if given is None else None
        first = rule.moved(given, inverse) if given is not None else first
        starts = self._starts(rule, first, matrix.shape[1], random)
        best = _best([quasi_newton(problem, start, self.tol, steps) for start in starts])
        spread = rule.scores(best.coef, problem.z).std()
        return best._replace(coef=rule.moved(rule.scaled(best.coef, spread or 1.0), matrix))

    def _starts(
        self, rule: ScoringRule, first: Floats | None, d: int, random: np.random.RandomState
    ) -> list[Floats]:
        """Return the starting points: the first one, unless it is nothing, and random ones."""
        first = rule.drawn(d, random) if first is None or not np.any(first) else first
        return [first, *(rule.drawn(d, random) for _ in range(1, self.n_init))]

    def _given(self, rule: ScoringRule, d: int) -> Floats | None:
        """Return the starting point of the user, if there is one."""
        if self.init is None:
            return None
        coef = reals("init", self.init)
        if coef.shape != rule.shape(d) or not np.isfinite(coef).all() or not coef.any():
            raise PrframeError(
                f"`init` must be finite numbers of shape {rule.shape(d)}, not all 0; "
                f"got {checks.brief(self.init)}."
            )
        return coef


def _best(solutions: list[Solution]) -> Solution:
    """Return the solution with the largest criterion."""
    return max(solutions, key=lambda solution: float(solution.path[-1]))


def _warn_of_many_features(n_features: int, positive: Labels) -> None:
    """Warn of features that are many for the items learned from."""
    number = int(positive.sum())
    smaller, name = min((number, "positives"), (positive.size - number, "negatives"))
    if n_features * _ITEMS_PER_FEATURE > smaller:
        warn(
            f"there should be at most a feature for every {_ITEMS_PER_FEATURE} {name}; got "
            f"{n_features} features for {smaller}. The rule may follow their noise, above all "
            "one for the top alone, as by 'rtb'. Choose features or take their principal "
            "components; where it does not matter, ignore PrframeWarning.",
            PrframeWarning,
        )


def _threshold(scores: Floats, n_pos: int) -> float:
    """Return a score between those of the best n_pos items and the others."""
    around = np.sort(scores)[-n_pos - 1 : scores.size - n_pos + 1]
    return float(around.mean())
