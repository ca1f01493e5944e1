"""What a metric is: a value that knows its name, parameters, formula, range and source."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

import polars as pl

from prframe import checks
from prframe.errors import PrframeError
from prframe.quantities import Quantities
from prframe.typing import Ties

CutOff: TypeAlias = int | float | None
Setting: TypeAlias = int | float | str | None
Credit: TypeAlias = Callable[[Quantities, "Metric"], pl.Expr]
Finish: TypeAlias = Callable[[Quantities, "Metric", Sequence[pl.Expr]], pl.Expr]

ALL_TIES: frozenset[Ties] = frozenset({"group", "order", "trec", "expected", "best", "worst"})


@dataclass(frozen=True)
class Term:
    """A number per group made of its hits.

    `combine` is ``"sum"``: the sum of all hits' credits; ``"max"``: the largest of them; or
    ``"first"``: the credit of the hit ranked first, where `credit` uses `start`, `end`,
    `tp_start`, `tp_end` alone.
    """

    credit: Credit
    combine: Literal["sum", "first", "max"] = "sum"


@dataclass(frozen=True)
class Parameter:
    """A number or word that a metric may be given: ``RBP(p=0.8)``.

    `check` takes the parameter's name and what was given and returns the value to use.
    """

    name: str
    default: Setting
    summary: str
    check: Callable[[str, object], Setting]


def _grade(name: str, value: object) -> Setting:
    """Require a grade of relevance above 0."""
    return checks.number(name, value, above=0)


REL = Parameter("rel", None, "The least label that counts as positive.", _grade)


@dataclass(frozen=True, repr=False)
class Metric:
    """A metric of one ranking.

    ``metric @ k`` sets the cut-off and ``metric(name=value)`` a parameter; ``str(metric)`` is the
    name that `evaluate` understands.

    Attributes
    ----------
    name : str
        The name without parameters and cut-off.
    summary : str
        What it is, with its formula.
    source : str
        Where it is defined.
    terms, finish
        How it is computed: terms from the hits, then one expression of these and the totals.
    expected_terms : tuple of Term, optional
        What replaces `terms` under ``ties="expected"`` where that is not the same.
    cutoff : {"none", "optional", "required", "recall"}
        Whether it is cut off at a rank, or taken at a level of recall.
    parameters : tuple of Parameter
        What it may be given.
    ties : frozenset of str
        The tie policies that it takes.
    needs : tuple of {"n_pos", "n_neg"}
        The totals that must be positive for it to be defined.
    options : frozenset of {"weight", "prior", "interpolate"}
        The options it takes.
    graded : bool
        Whether it uses graded labels.
    judged : bool
        Whether it must know which items were judged.
    interpolated : bool
        Whether it is made of interpolated precision, whatever the option.
    range : tuple of float
        The least and the largest value.
    greater_is_better : bool
        Whether a larger value is a better one; false for mere counts of the data.
    k : int or float, optional
        The cut-off, or the level of recall.
    settings : tuple of (str, value)
        The parameters that were given.
    """

    name: str
    summary: str
    source: str
    terms: tuple[Term, ...]
    finish: Finish
    expected_terms: tuple[Term, ...] | None = None
    cutoff: Literal["none", "optional", "required", "recall"] = "none"
    parameters: tuple[Parameter, ...] = (REL,)
    ties: frozenset[Ties] = ALL_TIES
    needs: tuple[str, ...] = ("n_pos",)
    options: frozenset[str] = frozenset()
    graded: bool = False
    judged: bool = False
    interpolated: bool = False
    range: tuple[float, float] = (0.0, 1.0)
    greater_is_better: bool = True
    k: CutOff = None
    settings: tuple[tuple[str, Setting], ...] = ()

    def __matmul__(self, k: float) -> "Metric":
        """Return the metric cut off at rank k, or taken at a recall of k."""
        if self.cutoff == "none":
            raise PrframeError(f"{self.name} takes no cut-off; got {self.name}@{k}.")
        if self.cutoff == "recall":
            return replace(self, k=checks.fraction("recall level", k))
        return replace(self, k=checks.whole_number("k", k, at_least=1))

    def __call__(self, **settings: Setting) -> "Metric":
        """Return the metric with parameters set."""
        known = {parameter.name: parameter for parameter in self.parameters}
        given = dict(self.settings)
        for name, value in settings.items():
            if name not in known:
                takes = f"it takes {checks.listed(known)}" if known else "it takes none"
                hint = checks.did_you_mean(name, known)
                raise PrframeError(f"{self.name} has no parameter {name!r}; {takes}.{hint}")
            checked = known[name].check(f"{name} of {self.name}", value)
            given.pop(name, None)
            if checked != known[name].default:
                given[name] = checked
        return replace(self, settings=tuple(sorted(given.items())))

    def __getitem__(self, parameter: str) -> Setting:
        """Return the value of a parameter."""
        return self._values[parameter]

    @cached_property
    def _values(self) -> Mapping[str, Setting]:
        defaults = {parameter.name: parameter.default for parameter in self.parameters}
        return defaults | dict(self.settings)

    @property
    def rel(self) -> float | None:
        """The least label that counts as positive, if it is the metric's own."""
        value = self._values.get("rel")
        return value if isinstance(value, (int, float)) else None

    @property
    def undefined(self) -> str:
        """When the value is null."""
        return " or ".join(f"{name} = 0" for name in self.needs) or "never"

    def number(self, parameter: str) -> float:
        """Return the value of a parameter that is a number."""
        value = self[parameter]
        if not isinstance(value, (int, float)):
            raise TypeError(f"{parameter} of {self.name} is {value!r}, which is no number.")
        return value

    def rank(self) -> int:
        """Return the cut-off of a metric that requires one."""
        if not isinstance(self.k, int):
            raise TypeError(f"{self.name} has no cut-off.")
        return self.k

    def terms_under(self, ties: Ties) -> tuple[Term, ...]:
        """Return the terms under a tie policy."""
        expected = ties == "expected" and self.expected_terms is not None
        return (self.expected_terms or ()) if expected else self.terms

    def __repr__(self) -> str:
        """Return the name, marked as a metric."""
        return f"<Metric {self}>"

    def __str__(self) -> str:
        """Return the name as `evaluate` understands it."""
        given = ",".join(f"{name}={_written(value)}" for name, value in self.settings)
        text = f"{self.name}({given})" if given else self.name
        return text if self.k is None else f"{text}@{self.k}"


def _written(value: Setting) -> str:
    """Write a setting as the parser reads it."""
    return f'"{value}"' if isinstance(value, str) else repr(value)
