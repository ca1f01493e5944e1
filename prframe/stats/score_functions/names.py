"""The names of score-generating functions, and functions that users write themselves."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.errors import ArgumentError
from prframe.stats.score_functions.base import ScoreGeneratingFunction, parameters
from prframe.stats.score_functions.functions import (
    DCG,
    RTB,
    LocalAUC,
    Logistic,
    Logrank,
    MannWhitneyWilcoxon,
    Median,
    PNormPush,
    VanDerWaerden,
)
from prframe.typing import Floats

Phi: TypeAlias = str | ScoreGeneratingFunction | Callable[[Floats], ArrayLike]

# The classes by their names.
SCORE_GENERATING: dict[str, type[ScoreGeneratingFunction]] = {
    kind.word: kind
    for kind in (
        *(DCG, LocalAUC, Logistic, Logrank, Median),
        *(MannWhitneyWilcoxon, PNormPush, RTB, VanDerWaerden),
    )
}
_NAME = re.compile(r"\s*(?P<name>[\w-]+)\s*(?:\((?P<settings>[^()]*)\)\s*)?")
_SETTING = re.compile(r"\s*(?:(?P<name>\w+)\s*=\s*)?(?P<value>[^\s=,]+)\s*")
# Users of metrics may give these names, which are not functions.
_METRICS = {"auc": "mww", "roc_auc": "mww", "wilcoxon": "mww", "ndcg": "dcg"}
# A function of the user's is checked and integrated at so many points.
_GRID = 4096
# Values of a constant function may differ by rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class CustomFunction(ScoreGeneratingFunction):
    """A score-generating function of your own.

    Parameters
    ----------
    function : callable
        Takes an array of numbers in (0, 1) and returns as many, finite and nondecreasing.
    slope : callable, optional
        Its derivative; by default differences over ``n^(-2/5)`` to either side, which jumps
        affect. The second derivative takes differences, the integral 4,096 midpoints.
    n : float > 0, optional
        Number of ranked items.

    Examples
    --------
    >>> phi = CustomFunction(np.sqrt)
    >>> phi.name, phi([0.25, 0.81])
    ('sqrt', array([0.5, 0.9]))
    """

    function: Callable[[Floats], ArrayLike]
    slope: Callable[[Floats], ArrayLike] | None = None
    n: float | None = None

    def __post_init__(self) -> None:
        if not callable(self.function) or not (self.slope is None or callable(self.slope)):
            raise ArgumentError("`phi` and its slope must be functions.")
        self(np.arange(1, _GRID) / _GRID)

    @property
    def name(self) -> str:
        """The name of the function."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    def _value(self, u: Floats) -> ArrayLike:
        values = _returned(self.function, u, self.name)
        if not np.isfinite(values).all():
            at = u[~np.isfinite(values)].ravel()[0]
            raise ArgumentError(f"phi must be finite between 0 and 1; {self.name}({at:g}) is not.")
        order = np.argsort(u, axis=None)
        rising = values.ravel()[order]
        falls = np.diff(rising) < -_ROUNDING * np.abs(rising).max(initial=0.0)
        if falls.any():
            at = u.ravel()[order][1:][falls][0]
            raise ArgumentError(f"phi must be nondecreasing; {self.name} falls before {at:g}.")
        return values

    def _slope(self, u: Floats) -> ArrayLike:
        if self.slope is not None:
            return _returned(self.slope, u, "slope")
        low, high = self._around(u)
        return (self(high) - self(low)) / (high - low)

    def _curvature(self, u: Floats) -> ArrayLike:
        low, high = self._around(u)
        return (self.derivative(high) - self.derivative(low)) / (high - low)

    def _area(self, u: Floats) -> ArrayLike:
        edges = np.arange(_GRID + 1) / _GRID
        areas = self((edges[1:] + edges[:-1]) / 2) / _GRID
        return np.asarray(np.interp(u, edges, np.concatenate([[0.0], np.cumsum(areas)])))

    def of_size(self, n: float) -> CustomFunction:
        """Return the function with differences for n items."""
        return replace(self, n=checks.number("n", n, above=0))

    def _around(self, u: Floats) -> tuple[Floats, Floats]:
        """Return the ends of the interval for a difference, within (0, 1)."""
        n = self.n or _GRID
        width, edge = n**-0.4, 0.5 / (n + 1)
        return np.clip(u - width, edge, 1 - edge), np.clip(u + width, edge, 1 - edge)


def _returned(function: Callable[[Floats], ArrayLike], u: Floats, name: str) -> Floats:
    """Return the values of a function of the user's, in the shape of its argument."""
    try:
        values = np.asarray(function(u))
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"phi must take an array and return numbers; {name} raised "
            f"{type(error).__name__}: {error}"
        ) from error
    if values.dtype.kind not in "biuf":
        raise ArgumentError(f"phi must return numbers; {name} returned {checks.brief(values)}.")
    if values.shape != u.shape:
        raise ArgumentError(
            f"phi must return as many numbers as it is given; {name} returned shape "
            f"{values.shape} for {u.shape}."
        )
    return values.astype(np.float64)


def parse_phi(phi: Phi) -> ScoreGeneratingFunction:
    """Return the score-generating function of a name, or of a function.

    Parameters
    ----------
    phi : str, ScoreGeneratingFunction or callable
        "dcg", "local-auc", "logistic", "logrank", "median", "mww", "p-norm-push", "rtb" or
        "van-der-waerden", with parameters as in ``"local-auc(u0=0.8)"``; or a nondecreasing
        function of arrays of numbers in (0, 1).

    Returns
    -------
    ScoreGeneratingFunction

    Raises
    ------
    PrframeError
        A name, parameter or value that is not known or out of range, or a function that is not
        nondecreasing.

    Examples
    --------
    >>> parse_phi("p-norm-push(q=4)")
    PNormPush(q=4)
    >>> parse_phi(np.sqrt).name
    'sqrt'
    """
    if isinstance(phi, ScoreGeneratingFunction):
        return phi
    if isinstance(phi, str):
        return _of_name(phi)
    if isinstance(phi, type):
        raise ArgumentError(f"`phi` must be a function, not a class; write {phi.__name__}().")
    if callable(phi):
        return CustomFunction(phi)
    raise ArgumentError(f"`phi` must be a name or a function; got {checks.brief(phi)}.")


def _of_name(text: str) -> ScoreGeneratingFunction:
    """Return the function of a name with parameters; a value without a name is the first one."""
    match = _NAME.fullmatch(text)
    if match is None:
        raise ArgumentError(
            f"cannot read phi={checks.brief(text)}; write one of "
            f"{checks.listed(SCORE_GENERATING)}, with parameters as in 'dcg(k=10)'."
        )
    name = match["name"].lower()
    if name in _METRICS:
        raise ArgumentError(
            f"phi={checks.brief(text)} is a metric; its phi is {_METRICS[name]!r}."
        )
    checks.one_of("phi", name, sorted(SCORE_GENERATING))
    kind = SCORE_GENERATING[name]
    known = parameters(kind)
    given: dict[str, int | float] = {}
    settings = (match["settings"] or "").strip()
    for place, part in enumerate(settings.split(",") if settings else []):
        setting = _SETTING.fullmatch(part)
        parameter = (
            (setting["name"] or (known[0] if known and not place else "")) if setting else ""
        )
        if setting is None or not parameter or parameter in given:
            raise ArgumentError(f"cannot read {part.strip()!r} in phi={checks.brief(text)}.")
        if parameter not in known:
            takes = checks.listed(known) if known else "no parameters"
            raise ArgumentError(f"{name} takes {takes}; got {parameter!r}.")
        given[parameter] = _number(setting["value"], text)
    return kind(**given)


def _number(word: str, text: str) -> int | float:
    """Return the number that a word stands for."""
    for read in (int, float):
        try:
            return read(word)
        except ValueError:
            continue
    raise ArgumentError(f"{word!r} in phi={checks.brief(text)} is no number.")
