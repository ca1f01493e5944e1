"""Score-generating functions phi on (0, 1), which linear rank statistics add up over positives.

phi is taken at ``rank / (N + 1)``, ranks rising with the scores. Standard errors and learning need
its derivatives and jumps; its integral relates the statistic to the ROC curve.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from prframe.stats._arrays import fractions
from prframe.typing import Floats

# The names of the functions, which are known before the classes are loaded.
WORDS = (
    "dcg",
    "local-auc",
    "logistic",
    "logrank",
    "median",
    "mww",
    "p-norm-push",
    "rtb",
    "van-der-waerden",
)

# Users do not set these parameters.
_HIDDEN = frozenset({"n"})


class Jump(NamedTuple):
    """The place and the size of a jump of a score-generating function."""

    at: float
    size: float


class ScoreGeneratingFunction(ABC):
    """A nondecreasing function of the normalised rank, phi.

    Arguments are numbers u in [0, 1], arrays of any shape; results have their shape. See
    Clemencon, Limnios & Vayatis 2021, Definition 1 and sections 2.2, 2.3 and 5.2.

    Attributes
    ----------
    word : str
        The name without parameters.
    smooth : bool
        Whether phi is twice continuously differentiable (Assumption 2 of the source).
    projected : bool
        Whether the Hajek projection, and so the standard error, describes the statistic.

    Examples
    --------
    >>> from prframe.stats import PNormPush
    >>> phi = PNormPush(q=3)
    >>> phi.name, phi([0.5, 1.0]), phi.derivative([0.5, 1.0])
    ('p-norm-push(q=3)', array([0.125, 1.   ]), array([0.75, 3.  ]))
    """

    word: ClassVar[str]
    smooth: ClassVar[bool] = True
    projected: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """The name with the parameters that are set, as `parse_phi` understands it."""
        values = {name: getattr(self, name) for name in parameters(type(self))}
        settings = [f"{name}={value!r}" for name, value in values.items() if value is not None]
        return f"{self.word}({', '.join(settings)})" if settings else self.word

    @property
    def jumps(self) -> tuple[Jump, ...]:
        """Where the function is not continuous; the derivative is that between jumps."""
        return ()

    def __call__(self, u: ArrayLike) -> Floats:
        """Return phi(u), which may be infinite at 0 and 1."""
        with np.errstate(divide="ignore"):
            return np.asarray(self._value(fractions("u", u)), dtype=np.float64)

    def derivative(self, u: ArrayLike) -> Floats:
        """Return phi'(u)."""
        with np.errstate(divide="ignore"):
            return np.asarray(self._slope(fractions("u", u)), dtype=np.float64)

    def second_derivative(self, u: ArrayLike) -> Floats:
        """Return phi''(u)."""
        with np.errstate(divide="ignore"):
            return np.asarray(self._curvature(fractions("u", u)), dtype=np.float64)

    def integral(self, u: ArrayLike) -> Floats:
        """Return the integral of phi from 0 to u."""
        return np.asarray(self._area(fractions("u", u)), dtype=np.float64)

    @abstractmethod
    def _value(self, u: Floats) -> ArrayLike: ...

    @abstractmethod
    def _slope(self, u: Floats) -> ArrayLike: ...

    @abstractmethod
    def _curvature(self, u: Floats) -> ArrayLike: ...

    @abstractmethod
    def _area(self, u: Floats) -> ArrayLike: ...

    def of_size(self, n: float) -> Self:  # noqa: ARG002 - functions that depend on n override it
        """Return the function for n ranked items; itself, unless it depends on n."""
        return self

    def step(self, n: int) -> float:  # noqa: ARG002 - likewise
        """Return the distance of neighbouring values of the statistic without ties, or 0."""
        return 0.0


def parameters(kind: type[ScoreGeneratingFunction]) -> list[str]:
    """Return the names of the parameters that users may set, in their order."""
    return [entry.name for entry in fields(kind) if entry.name not in _HIDDEN]  # type: ignore[arg-type]
