"""What a metric is: a value that knows its name, parameters, formula, range and source."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from prframe import checks, hints
from prframe.errors import ArgumentError, PrframeError
from prframe.metrics.quantities import LARGEST_EXPONENT, Quantities
from prframe.stats.tie_expectations import discount_sum
from prframe.tie_policies import ALL_TIES, POLICIES, Ties

if TYPE_CHECKING:
    from prframe.stats import CellStatistic

CutOff: TypeAlias = int | float | None
Setting: TypeAlias = int | float | str | None
Combine: TypeAlias = Literal["sum", "first", "max"]
Credit: TypeAlias = Callable[[Quantities, "Metric"], pl.Expr]
Finish: TypeAlias = Callable[[Quantities, "Metric", Sequence[pl.Expr]], pl.Expr]

# Makes of a metric a function of the counts in the cells of a ranking, or says why it is none.
Cells: TypeAlias = "Callable[[Metric], CellStatistic] | str"

_EXAMPLES: dict[str, int | float] = {"required": 10, "recall": 0.5}
_LACKING = {
    "required": "a cut-off",
    "recall": "a level",
    "threshold": "a threshold",
    "precision": "a precision",
}
# Parameters that a metric cannot do without, with an example of each.
_NEEDED: dict[str, tuple[str, float]] = {
    "threshold": ("threshold", 0.5),
    "precision": ("at_precision", 0.9),
}


@dataclass(frozen=True)
class Term:
    """A number per group: the sum, the largest or the first of the credits of its hits.

    The first credit may use `start`, `end`, `tp_start` and `tp_end` alone. `per_hit` is whether a
    hit's credit follows from its own row.
    """

    credit: Credit
    combine: Combine = "sum"
    per_hit: bool = True


@dataclass(frozen=True)
class Parameter:
    """A number or word that a metric may be given; `check` returns the value to use."""

    name: str
    default: Setting
    summary: str
    check: Callable[[str, object], Setting]


def number(**bounds: float) -> Callable[[str, object], Setting]:
    """Return the check of a number within bounds (see `checks.number`)."""
    return lambda name, value: checks.number(name, value, **bounds)


def word(*words: str) -> Callable[[str, object], Setting]:
    """Return the check of a word, which must be one of several."""

    def check(name: str, value: object) -> Setting:
        checks.one_of(name, value, words)
        return str(value)

    return check


def _finite(name: str, value: object) -> Setting:
    """Require a finite number; whole numbers that floats round stay whole."""
    number = checks.number(name, value)
    return number if float(number) != number else float(number)


THRESHOLD = Parameter(
    "threshold", None, "The items whose score is at least this are taken for positive.", _finite
)
REL = Parameter("rel", None, "The least label that counts as positive.", number(above=0))


@dataclass(frozen=True, repr=False)
class Metric:
    """A metric of one ranking.

    ``metric @ k`` sets the cut-off and ``metric(name=value)`` a parameter; ``str(metric)`` is the
    name that `evaluate` understands.

    Attributes
    ----------
    name, summary, source : str
        The name without parameters and cut-off; what the metric is, with its formula; where it is
        defined.
    terms, finish
        How the metric is computed: terms from the hits, then one expression of these terms and
        of the totals.
    cells : callable or str
        A function that makes of the metric a function of the counts in the cells of a ranking,
        which `interval` and `compare` work with; or why there is none.
    expected_terms, expected_finish : optional
        Replacements of `terms` and `finish` under ``ties="expected"``, where these differ.
    cutoff : {"none", "optional", "required", "recall", "threshold", "precision"}
        Whether the metric is cut off at a rank, or taken at a level of recall, or at the
        threshold or the precision that a parameter of that name must give.
    parameters : tuple of Parameter
        The parameters that the metric may be given.
    ties : frozenset of str
        The tie policies that the metric takes.
    needs : tuple of {"n_pos", "n_neg"}
        The totals that must be positive for the metric to be defined.
    also_undefined : str
        Further conditions under which the metric is undefined, in words.
    options : frozenset of {"weight", "prior", "interpolate"}
        The options that the metric takes.
    graded, judged : bool
        Whether the metric uses graded labels, and must know which items were judged.
    interpolated : bool
        Whether the metric is made of interpolated precision, whatever the option.
    range : tuple of float
        The least and the largest value.
    greater_is_better : bool
        Whether a larger value is a better one; false for mere counts of the data.
    instead : tuple of (str, Metric)
        What the metric becomes if it is given a parameter, as P with a threshold.
    k : int or float, optional
        The cut-off, or the level of recall.
    settings : tuple of (str, value)
        The parameters that were given.
    """

    name: str
    summary: str
    source: str
    terms: tuple[Term, ...]
    finish: Finish = lambda _q, _m, terms: terms[0]
    expected_terms: tuple[Term, ...] | None = None
    expected_finish: Finish | None = None
    cutoff: Literal["none", "optional", "required", "recall", "threshold", "precision"] = "none"
    parameters: tuple[Parameter, ...] = (REL,)
    ties: frozenset[Ties] = frozenset(ALL_TIES)
    needs: tuple[str, ...] = ("n_pos",)
    also_undefined: str = ""
    options: frozenset[str] = frozenset()
    graded: bool = False
    judged: bool = False
    interpolated: bool = False
    range: tuple[float, float] = (0.0, 1.0)
    greater_is_better: bool = True
    cells: Cells = "it is not written as a function of counts"
    instead: tuple[tuple[str, "Metric"], ...] = ()
    k: CutOff = None
    settings: tuple[tuple[str, Setting], ...] = ()

    def __matmul__(self, k: float) -> "Metric":
        """Return the metric cut off at rank k, or taken at a recall of k."""
        if not self.takes_cutoff:
            raise ArgumentError(f"{self.name} takes no cut-off; got {self.name}@{k}.")
        if self.cutoff == "recall":
            try:
                return replace(self, k=checks.fraction("recall level", k))
            except ArgumentError:
                must = f"what follows @ must be a recall from 0 to 1, as in {self.name}@0.3"
                raise ArgumentError(f"{must}; got {self.name}@{k}.") from None
        return replace(self, k=checks.whole_number("k", k, at_least=1))

    def __call__(self, *first: Setting, **settings: Setting) -> "Metric":
        """Return the metric with parameters set.

        A value without a name sets the first parameter, and None restores the default.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        given = dict(self.settings)
        arrays = any(hasattr(value, "__len__") and not isinstance(value, str) for value in first)
        if arrays or len(first) > 1:
            raise ArgumentError(
                f"{self.name} is a metric and no function of arrays; "
                f"evaluate({{'score': scores, 'label': labels}}, '{self.example()}') computes it, "
                "and of the columns of a frame evaluate(frame, ...)."
            )
        if first and not known:
            raise ArgumentError(f"{self.name} takes 0 parameter without a name.")
        for name, value in [*zip(known, first, strict=False), *settings.items()]:
            if name not in known:
                takes = f"it takes {checks.listed(known)}" if known else "it takes none"
                hint = hints.did_you_mean(name, known)
                raise ArgumentError(f"{self.name} has no parameter {name!r}; {takes}.{hint}")
            given.pop(name, None)
            if value is None:
                continue
            try:
                checked = known[name].check(f"{name} of {self.name}", value)
            except PrframeError as error:
                if not (self.takes_cutoff and type(value) is int and value > 1):
                    raise
                raise ArgumentError(f"{error} A cut-off is {self.name}@{value}.") from None
            if checked != known[name].default:
                given[name] = checked
        return replace(self._with_parameters(given), settings=tuple(sorted(given.items())))

    def _with_parameters(self, given: Mapping[str, Setting]) -> "Metric":
        """Return what the metric becomes with these parameters."""
        chosen = [(name, metric) for name, metric in self.instead if name in given]
        if not chosen:
            return self
        places = [*(["a cut-off"] if self.k is not None else []), *(name for name, _ in chosen)]
        if len(places) > 1:
            raise ArgumentError(
                f"{self.name} is taken at one place; got {' and '.join(places)}; give one of them."
            )
        return chosen[0][1]

    def __getitem__(self, parameter: str) -> Setting:
        """Return the value of a parameter."""
        return self._values[parameter]

    @cached_property
    def _values(self) -> Mapping[str, Setting]:
        defaults = {parameter.name: parameter.default for parameter in self.parameters}
        return defaults | dict(self.settings)

    @property
    def rel(self) -> float | None:
        """The least label that counts as positive, if this metric sets its own."""
        value = self._values.get("rel")
        return value if isinstance(value, (int, float)) else None

    @property
    def threshold(self) -> float | None:
        """The score from which on items are taken for positive, if the metric has one."""
        value = self._values.get("threshold")
        return value if isinstance(value, (int, float)) else None

    @property
    def takes_cutoff(self) -> bool:
        """Whether a rank or a level of recall may stand behind an @."""
        return self.cutoff in {"optional", "required", "recall"}

    @property
    def lacks_cutoff(self) -> bool:
        """Whether the metric has no value before it is told where it is taken."""
        if self.cutoff in _NEEDED:
            return self[_NEEDED[self.cutoff][0]] is None
        return self.k is None and self.cutoff in _EXAMPLES

    @property
    def highest_grade(self) -> float | None:
        """The largest label that the metric takes, if there is one."""
        exponential = self._values.get("gain") == "exp"
        value = LARGEST_EXPONENT if exponential else self._values.get("top")
        return value if isinstance(value, (int, float)) else None

    @property
    def undefined(self) -> str:
        """The condition under which the value is null."""
        conditions = [f"{name} = 0" for name in self.needs]
        return " or ".join([*conditions, *filter(None, [self.also_undefined])]) or "never"

    @property
    def needs_items_above(self) -> bool:
        """Whether the metric is undefined where no item is above its threshold."""
        return self.name == "P" and self.threshold is not None

    @property
    def without_cells(self) -> str:
        """Why the metric is no function of the counts in cells; empty if it is one."""
        reasons = {
            "it must know what was judged": self.judged,
            "it is for the positives of a grade": self.rel is not None,
        }
        reasons |= {self.cells: True} if isinstance(self.cells, str) else {}
        return next((reason for reason, holds in reasons.items() if holds), "")

    def cell_statistic(self) -> "CellStatistic":
        """Return the metric as a function of the counts in the cells of a ranking.

        Returns
        -------
        CellStatistic
            See `prframe.stats.ranking_interval` and `prframe.stats.compare_rankings`.

        Raises
        ------
        PrframeError
            It is no such function, or lacks its cut-off.

        Examples
        --------
        >>> import prframe
        >>> (prframe.F1 @ 5).cell_statistic()
        F1At(k=5)
        """
        if isinstance(self.cells, str) or self.without_cells:
            raise ArgumentError(
                f"{self} is no function of the counts in cells: {self.without_cells}."
            )
        return self.cells(self)

    @property
    def form(self) -> str:
        """The name, followed by the cut-off, or the parameter, that the metric needs."""
        if self.cutoff in _NEEDED:
            return f"{self.name}({_NEEDED[self.cutoff][0]}=t)"
        return self.name + {"required": "@k", "recall": "@r"}.get(self.cutoff, "")

    def example(self) -> "Metric":
        """Return the metric, with an example of the cut-off if it needs one."""
        if self.cutoff in _NEEDED:
            return self(**dict([_NEEDED[self.cutoff]]))
        return self @ _EXAMPLES[self.cutoff] if self.cutoff in _EXAMPLES else self

    def takes(self, parameter: str) -> bool:
        """Return whether the metric has a parameter of this name."""
        return parameter in self._values

    def number(self, parameter: str) -> float:
        """Return the value of a parameter that is a number."""
        value = self[parameter]
        if not isinstance(value, (int, float)):
            raise TypeError(f"{parameter} of {self.name} is {value!r}, which is no number.")
        return value

    def lack_of_cutoff(self) -> str:
        """Return the message that the metric lacks its cut-off."""
        return f"{self.name} needs {_LACKING[self.cutoff]}, for instance '{self.example()}'."

    def rank(self) -> int:
        """Return the cut-off of a metric that requires one."""
        if not isinstance(self.k, int):
            raise ArgumentError(self.lack_of_cutoff())
        return self.k

    def level(self) -> float:
        """Return the level of recall of a metric that requires one."""
        if self.k is None:
            raise ArgumentError(self.lack_of_cutoff())
        return float(self.k)

    def terms_under(self, ties: Ties) -> tuple[Term, ...]:
        """Return the terms under a tie policy."""
        expected = POLICIES[ties].mean and self.expected_terms is not None
        return (self.expected_terms or ()) if expected else self.terms

    def finish_under(self, ties: Ties) -> Finish:
        """Return the function from terms to the value under a tie policy."""
        return (self.expected_finish if POLICIES[ties].mean else None) or self.finish

    def at_random(self, n: int, n_pos: int) -> float | None:
        """Return the mean value over all rankings of n items, n_pos of them positive.

        Parameters
        ----------
        n, n_pos : int
            Items, all retrieved and judged (>= 1), and those among them that are positive for this
            metric (1..n), with a gain of 1.

        Returns
        -------
        float or None
            None where there is no closed form (a metric that does not take ``ties="expected"``)
            or the metric is undefined.

        Examples
        --------
        >>> import prframe
        >>> round((prframe.P @ 10).at_random(n=1000, n_pos=20), 6)
        0.02
        """
        n = checks.whole_number("n", n, at_least=1)
        n_pos = checks.whole_number("n_pos", n_pos, at_least=1)
        if n_pos > n:
            raise ArgumentError(f"`n_pos` must be at most n = {n}; got {n_pos}.")
        n_needed = {"n_pos": n_pos, "n_neg": n - n_pos}
        known = "expected" in self.ties and self.threshold is None
        if not known or not all(n_needed[name] for name in self.needs):
            return None
        terms_ = self.terms_under("expected")
        # All hits are alike, so one row stands for them all if its credit needs no other row.
        rows = 1 if all(term.per_hit for term in terms_) else n_pos
        table, q = _one_block(n, n_pos, rows)
        values = {
            str(i): term.credit(q, self).sum() * (n_pos / rows if term.combine == "sum" else 1)
            for i, term in enumerate(terms_)
        }
        terms = table.select(pl.lit(0).alias("group"), **values).head(1)
        totals = pl.concat([terms, table.head(1).drop("group")], how="horizontal")
        finish = self.finish_under("expected")
        value = totals.select(finish(q, self, [pl.col(name) for name in values]))
        return float(value.item())

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


def _one_block(n: int, n_pos: int, rows: int) -> tuple[pl.DataFrame, Quantities]:
    """Return some hits, one a row, of a ranking in which all items tie, and their quantities."""
    counts: dict[str, float] = {"start": 0, "end": n, "tp_start": 0, "tp_end": n_pos}
    counts |= {"fp_start": 0, "fp_end": n - n_pos}
    counts |= {"n": n, "n_pos": n_pos, "n_neg": n - n_pos, "n_hits": n_pos, "group": 0}
    counts |= {"nonrel_start": 0, "nonrel_end": n - n_pos, "pooled_end": 0}
    counts |= {"n_nonrel": n - n_pos, "weight": 1, "gain": 1}
    # Every item is judged, but only the hits have rows; together they count for all n items.
    counts["judged"] = n / n_pos
    table = pl.DataFrame({name: [count] * rows for name, count in counts.items()})

    def running_discounts(_k: int | None) -> Callable[[pl.Expr], pl.Expr]:
        return lambda rank: rank.map_batches(
            lambda ranks: pl.Series(discount_sum(ranks.to_numpy())), return_dtype=pl.Float64
        )

    def ideal_dcg(k: int | None, _kind: str) -> pl.Expr:
        return pl.lit(float(discount_sum([n_pos if k is None else min(k, n_pos)])[0]))

    return table, Quantities(running_discounts, ideal_dcg)
