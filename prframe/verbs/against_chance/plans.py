"""The plans of the tests of average precision: of each group, and of means over groups."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal, TypeAlias, cast, get_args

import numpy as np
import polars as pl
from scipy.special import log_ndtr

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.measure import measure
from prframe._engine.pieces import Piece, Ranking
from prframe._engine.ranks import hits, tie_sizes
from prframe._engine.rows import Problem, bad_total, in_groups, is_missing, key_names
from prframe._engine.runs import Counting
from prframe.errors import ArgumentError, PrframeError, UnlistedItemsWarning, warn
from prframe.metrics.thresholds import AP
from prframe.stats import adjust_p_values, ap_minimum
from prframe.stats._p_values import LEAST, from_log_tails, probability
from prframe.stats._tolerances import EQUAL
from prframe.stats.null import (
    APNullMethod,
    Case,
    Cases,
    ap_beta_logsf,
    ap_normal_logsf,
    beyond,
)
from prframe.tie_policies import WITHOUT_LABELS
from prframe.typing import Alternative, Floats
from prframe.verbs._groups import shown
from prframe.verbs._precomputed_values import shared_keys
from prframe.verbs._verb import Accepts, TwoStepPlan, positives_of, warn_undefined

# AP may exceed 1 by the rounding of sums.
_LARGEST = 1 + 1e-9
# Precomputed AP is mostly rounded to three decimals or more.
_ROUNDED = 5e-4


@dataclass(frozen=True)
class KnownAP:
    """The column of AP, and that or the number of items, None if `n_neg` is given instead."""

    ap: str
    n: int | str | None

    def arguments(self, args: Arguments) -> Arguments:
        """Return the arguments of the call with the precomputed columns."""
        if args.n_pos is None or (self.n is None) == (args.n_neg is None):
            raise ArgumentError(
                "with `ap`, give the number of positives of each ranking in n_pos=, and either "
                "that of items in n= or that of negatives in n_neg=."
            )
        n = checks.plain(self.n)
        if not (n is None or isinstance(n, str)):
            checks.whole_number("n", n, at_least=1)
        columns = [("ap", self.ap)] + ([("n", n)] if isinstance(n, str) else [])
        return args.with_values(columns)

    def rows(self, source: Source, args: Arguments) -> pl.DataFrame:
        """Return the rankings with the working names of keys, `n`, `n_pos`, `depth` and `ap`."""
        data = source.whole()
        source.seen.read = data.height > 0
        schema = data.schema
        if args.missing == "drop":
            data = data.filter(~is_missing(pl.col(self.ap), schema[self.ap]))
        for fault in self._faults(args, schema):
            fault.refuse(data, args, source)
        # A ranking without positives has no AP, whatever stands in its place.
        ap = pl.col(self.ap).cast(pl.Float64).clip(upper_bound=1)
        ap = pl.when(_total(args.n_pos) > 0).then(ap)
        pairs = zip(args.keys, key_names(args), strict=True)
        rows = data.select(
            *(pl.col(key).alias(name) for key, name in pairs),
            self._n(args).cast(pl.Int64).alias("n"),
            _total(args.n_pos).cast(pl.Int64).alias("n_pos"),
            ap=ap.fill_nan(None),
        )
        names = key_names(args)
        if names and (shared := shared_keys(rows, names, checks.listed(args.keys))):
            raise PrframeError(
                f"a row is a ranking, and {shared}; test the mean of these rankings with over=, "
                "or name in over= or by= what tells them apart."
            )
        _warn_of_impossible(rows, args)
        empty = pl.lit(None, dtype=pl.List(pl.UInt32))
        return rows.with_columns(pl.col("n").alias("depth"), sizes=empty)

    def _n(self, args: Arguments) -> pl.Expr:
        """Return the number of items."""
        return _total(args.n_pos) + _total(args.n_neg) if self.n is None else _total(self.n)

    def _faults(self, args: Arguments, schema: pl.Schema) -> list[Problem]:
        """Return the faults that no row may have."""
        n, n_pos, ap = self._n(args), _total(args.n_pos), pl.col(self.ap)
        missing = is_missing(ap, schema[self.ap])
        totals = {"n_pos": args.n_pos, "n_neg": args.n_neg, "n": self.n}
        return [
            *(
                bad_total(name, total, "mend or drop these rows")
                for name, total in totals.items()
                if isinstance(total, str)
            ),
            Problem(
                "bad_n",
                (n < n_pos) | (n < 1),
                "`n` must be at least 1, and at least `n_pos`",
                "see whether n and n_pos are exchanged",
            ),
            Problem(
                "missing_ap",
                missing & (n_pos > 0),
                f"`ap` {self.ap!r} must not be null or NaN where there are positives",
                "mend these rows, or leave them out with missing='drop'",
            ),
            Problem(
                "bad_ap",
                ~missing & ~ap.is_between(0, _LARGEST),
                f"`ap` {self.ap!r} must lie between 0 and 1",
                "mend or drop these rows",
            ),
        ]


def _total(total: int | str | None) -> pl.Expr:
    """Return a total, which is a number or a column."""
    # Sums of small integers would overflow.
    return pl.col(total).cast(pl.Float64) if isinstance(total, str) else pl.lit(total)


def _warn_of_impossible(rows: pl.DataFrame, args: Arguments) -> None:
    """Warn once of AP that no ranking of so many items and positives has, ties or not."""
    ranked = rows.filter(pl.col("ap").is_not_null())
    n, n_pos, ap = (ranked[name].to_numpy() for name in ("n", "n_pos", "ap"))
    least = ap_minimum(n, n_pos) if ap.size else ap
    # The second best ranking has one negative before the last positive.
    second = 1 - 1 / (n_pos * (n_pos + 1.0))
    off = (ap == 0) | (ap < least - _ROUNDED) | ((ap > second + _ROUNDED) & (ap < 1 - _ROUNDED))
    if off.any():
        first = ranked.filter(off).row(0, named=True)
        where = in_groups(ranked.filter(off).select(key_names(args)).rows())
        warn(
            f"no ranking of n items with n_pos positives has the `ap` of {off.sum()} of "
            f"{off.size} rankings, such as {first['ap']:g} of {first['n']} items with "
            f"{first['n_pos']} positives{where}: lists that are cut off may have, or n and n_pos "
            "count others. Give AP of all items; where it does not matter, ignore "
            "UnlistedItemsWarning.",
            UnlistedItemsWarning,
        )


Method: TypeAlias = Literal[
    "auto",
    "exact",
    "lattice",
    "saddlepoint",
    "transform",
    "beta",
    "normal",
    "normal-delta",
    "monte-carlo",
]

Dependence: TypeAlias = Literal["independent", "comonotone"]
Correction: TypeAlias = Literal["bonferroni", "holm", "bh", "by"]

_FITTED = ("beta", "normal", "normal-delta")
_OF_MEANS = ("auto", "transform", "normal", "monte-carlo")
# Draws check an estimate if so many of them are expected to be as good, and no more numbers have
# to be drawn, which takes some seconds. It gives way if it is off by so many standard errors.
_EXPECTED, _MOST_NUMBERS, _SURELY = 10, 10**8, 4


def columns_with_p(numbers: Iterable[str], *, corrected: bool) -> dict[str, pl.DataType]:
    """Return the columns that end the rows of a test."""
    columns: dict[str, pl.DataType] = {name: pl.Float64() for name in numbers}
    columns["method"] = pl.String()
    return columns | ({"p_adjusted": pl.Float64()} if corrected else {})


def columns_of_tests(*, corrected: bool, of_means: bool) -> dict[str, pl.DataType]:
    """Return the columns of tests of AP, or of mean AP."""
    null = ("null_mean", "null_std", "z", "p_value", "log10_p_value")
    if of_means:
        return {"n_groups": pl.Int64()} | columns_with_p(("map", *null), corrected=corrected)
    numbers = columns_with_p(("ap", "normalized_ap", *null), corrected=corrected)
    return {"n": pl.Int64(), "n_pos": pl.Int64()} | numbers


@dataclass(frozen=True)
class CorrectedTests(TwoStepPlan):
    """The plan of tests against random rankings, whose p-values are adjusted for their number."""

    correction: Correction | None

    def check(self) -> None:
        """Refuse corrections that are not known."""
        if self.correction is not None:
            checks.one_of("correction", self.correction, get_args(Correction))

    def looks_at_all(self) -> bool:
        """Return whether p-values are adjusted for their number."""
        return self.correction is not None

    def of_all(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows with adjusted p-values, if there is a correction."""
        if self.correction is None:
            return rows
        p_values = rows["p_value"].cast(pl.Float64).to_numpy()
        adjusted = pl.Series("p_adjusted", adjust_p_values(p_values, self.correction))
        return rows.with_columns(adjusted.fill_nan(None))


@dataclass(frozen=True)
class GroupTest(CorrectedTests):
    """The plan of a test of each group."""

    n_keys: int
    method: Method
    alternative: Alternative
    n_resamples: int
    seed: int
    dependence: Dependence = "independent"
    known: KnownAP | None = None

    def accepts(self) -> Accepts:
        """Return the arguments under which labels can be exchanged."""
        is_independent = self.dependence == "independent" and self.known is None
        return Accepts(
            "ap_test",
            whole_items="counts",
            ties=WITHOUT_LABELS,
            otherwise=", under which AP is no longer that of one ranking",
            at_random=self.known is None,
            # There are such keys if a mean is tested.
            independent=self.args.keys[self.n_keys :] if is_independent else (),
            # All tie blocks matter, unless the policy parts them.
            counting=Counting(blocks=self.args.policy.blocks),
        )

    def of_groups(self, source: Source) -> pl.DataFrame:
        """Return one row per group, before p-values are adjusted."""
        rows = self._measured(source)
        tested = rows.filter(pl.col("ap").is_not_null())
        cases = _cases(tested)
        ap = tested["ap"].to_numpy()
        log_p, method = self._shown_log_p_values(cases, ap)
        tests = _moments(tested.drop("depth", "sizes"), cases.mean, cases.variance).with_columns(
            *_p_columns(log_p), pl.Series("method", method, dtype=pl.String)
        )
        values = tests.select("row", pl.exclude("row", *rows.columns))
        joined = rows.drop("depth", "sizes").join(
            values, on="row", how="left", maintain_order="left"
        )
        return _normalized(joined).drop("row")

    def _measured(self, source: Source) -> pl.DataFrame:
        """Return AP and the case of each group, and warn of groups without AP."""
        rows = (
            Ranking(source, self.args).over_groups(self._measured_piece)
            if self.known is None
            else self.known.rows(source, self.args)
        )
        lacking, lack = pl.col("ap").is_null(), [positives_of(self.args)]
        warn_undefined(["ap_test"], rows, self.args, lacking, lack, each_row=True)
        return rows.with_row_index("row")

    def _measured_piece(self, piece: Piece) -> pl.DataFrame:
        """Return AP and the case of each group of a piece."""
        group_hits = hits(piece)
        ap = measure(group_hits, [AP], ties=self.args.ties)["0"]
        return group_hits.totals.select(
            *key_names(self.args),
            (pl.col("n_pos") + pl.col("n_neg")).alias("n"),
            "n_pos",
            pl.col("n").alias("depth"),
            ap.alias("ap"),
            tie_sizes(piece, group_hits).alias("sizes"),
        )

    def _shown_log_p_values(self, cases: Cases, ap: Floats) -> tuple[Floats, Sequence[str]]:
        """Return the logarithms of the p-values and the methods; equal ties share walks."""
        alike: dict[object, list[int]] = {}
        for place, case in enumerate(cases.cases):
            alike.setdefault(case.ties, []).append(place)
        log_p, methods = np.zeros(ap.size), np.full(ap.size, "", dtype=object)
        for places in shown(alike.values(), len(alike), "ap_test"):
            part = Cases([cases.cases[place] for place in places])
            log_p[places], methods[places] = self._log_p_values(part, ap[places])
        return log_p, methods.tolist()

    def _log_p_values(self, cases: Cases, ap: Floats) -> tuple[Floats, Sequence[str]]:
        """Return the logarithms of the p-values, and the method of each."""
        if self.method == "monte-carlo":
            draws = (cases.draws(i, self.n_resamples, self.seed) for i in range(ap.size))
            p = [self._sampled(drawn, value) for drawn, value in zip(draws, ap, strict=True)]
            return np.log(np.array(p, dtype=np.float64)), [self.method] * ap.size
        if self.method not in _FITTED:
            method = cast("APNullMethod", self.method)
            upper = cases.tails(ap, method)
            methods = [tail.method for tail in upper]
            above = np.array([tail.log_reached for tail in upper], dtype=np.float64)
            if self.alternative == "greater":
                return above, methods
            # Equality counts on this side too, so that P(AP <= ap) is that of not going beyond ap.
            lower = cases.tails(beyond(ap, _least_positive(cases)), method)
            below = np.array([tail.log_missed for tail in lower], dtype=np.float64)
            return from_log_tails(above, below, self.alternative), methods
        above = self._fitted(cases, ap)
        with np.errstate(divide="ignore"):
            below = np.log(-np.expm1(above))
        if self.method == "normal":
            below = _log_normal(cases.mean - ap, np.sqrt(cases.variance))
        # A constant AP reaches itself from both sides.
        constant = cases.variance == 0
        above, below = np.where(constant, 0.0, above), np.where(constant, 0.0, below)
        return from_log_tails(above, below, self.alternative), [self.method] * ap.size

    def _fitted(self, cases: Cases, ap: Floats) -> Floats:
        """Return the logarithms of P(AP >= ap) by an approximation."""
        n, n_pos = (
            np.array([getattr(case, name) for case in cases.cases]) for name in ("n", "n_pos")
        )
        if not ap.size:
            return ap
        if self.method == "beta":
            return ap_beta_logsf(ap, n, n_pos)
        if self.method == "normal-delta":
            return ap_normal_logsf(ap, n, n_pos, moments="delta")
        return _log_normal(ap - cases.mean, np.sqrt(cases.variance))

    def _sampled(self, draws: Floats, value: float) -> float:
        """Return the p-value of an observed value, given random draws."""
        good = [
            np.log((np.count_nonzero(side) + 1) / (draws.size + 1))
            for side in (draws >= value * (1 - EQUAL), draws <= value * (1 + EQUAL))
        ]
        above, below = map(np.asarray, good)
        return float(probability(from_log_tails(above, below, self.alternative)))


@dataclass(frozen=True)
class MeanTest(GroupTest):
    """The plan of a test of means over groups."""

    def check(self) -> None:
        """Refuse methods that cannot test a mean."""
        super().check()
        if self.method not in _OF_MEANS:
            raise ArgumentError(
                "with `over`, `method` must be one of "
                f"{checks.listed(_OF_MEANS, in_order=True)}; got {self.method!r}."
            )

    def looks_at_all(self) -> bool:
        """Return that a mean is over groups."""
        return True

    def of_groups(self, source: Source) -> pl.DataFrame:
        """Return AP and the case of each group."""
        return self._measured(source).drop("row")

    def of_all(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return one row per group of `by`."""
        keys = key_names(self.args)[: self.n_keys]
        whole = [rows] if rows.height else []
        parts = rows.partition_by(keys, maintain_order=True) if keys else whole
        # Sums of sorted cases do not depend on the order of the rows.
        sorted_by = ("n", "n_pos", "depth", "sizes", "ap")
        tests = self._tests(
            [part.filter(pl.col("ap").is_not_null()).sort(sorted_by) for part in parts]
        )
        first = pl.concat([rows.head(0), *(part.head(1) for part in parts)]).select(keys)
        return super().of_all(pl.concat([first, tests], how="horizontal"))

    def _tests(self, parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
        """Return the tests of the mean AP of each part, null for one without rankings."""
        of_part = [_cases(part) for part in parts]
        tested = [number for number, cases in enumerate(of_part) if cases.cases]
        value = np.array([parts[number]["ap"].to_numpy().mean() for number in tested])
        means, variances = self._moments_of_means([of_part[number] for number in tested])
        log_p, methods = self._log_p_values_of_means([of_part[number] for number in tested], value)
        rows = _moments(pl.DataFrame({"ap": value}), means, variances).with_columns(
            *_p_columns(log_p),
            pl.Series("method", methods, dtype=pl.String),
            part=pl.Series(tested),
        )
        counts = pl.DataFrame({"n_groups": [len(cases.cases) for cases in of_part]})
        numbered = counts.with_row_index("part").cast(pl.Int64)
        return numbered.join(
            rows.rename({"ap": "map"}).cast({"part": pl.Int64}),
            on="part",
            how="left",
            maintain_order="left",
        ).drop("part")

    def _moments_of_means(self, of_part: Sequence[Cases]) -> tuple[Floats, Floats]:
        """Return mean and variance of each mean under random ranking."""
        means = [cases.mean.mean() for cases in of_part]
        if self.dependence == "comonotone":
            variances = [np.sqrt(cases.variance).mean() ** 2 for cases in of_part]
        else:
            variances = [cases.variance.sum() / len(cases.cases) ** 2 for cases in of_part]
        return np.array(means, dtype=np.float64), np.array(variances, dtype=np.float64)

    def _log_p_values_of_means(
        self, of_part: Sequence[Cases], value: Floats
    ) -> tuple[Floats, Sequence[str]]:
        """Return the logarithms of the p-values of means, and the method of each."""
        if self.dependence == "comonotone" and of_part:
            return self._log_p_values_of_comonotone_means(of_part, value)
        log_p, methods = np.zeros(value.size), np.full(value.size, "", dtype=object)
        alike = _alike(of_part)
        for members in shown(alike, len(alike), "ap_test"):
            found = self._log_p_values_of_alike_means(of_part[members[0]], value[members])
            log_p[members], methods[members] = found
        return log_p, methods.tolist()

    def _log_p_values_of_comonotone_means(
        self, of_part: Sequence[Cases], value: Floats
    ) -> tuple[Floats, Sequence[str]]:
        """Return the logarithms of the p-values of means of AP that rise and fall together.

        The tail is at most the largest of those of the AP, and counted where each has few values.
        """
        different = [list(dict.fromkeys(cases.cases)) for cases in of_part]
        sizes = np.array([len(cases) for cases in different])
        cases = Cases([case for part in different for case in part])
        starts = np.cumsum(sizes) - sizes
        sides: tuple[Alternative, ...] = (self.alternative,)
        if self.alternative == "two-sided":
            sides = "greater", "less"
        tails: list[Floats] = []
        methods: list[str] = []
        for side in sides:
            plan = replace(self, alternative=side)
            log_tail, used = plan._log_p_values(cases, np.repeat(value, sizes))  # noqa: SLF001
            bound = np.maximum.reduceat(log_tail, starts)
            methods = [str(used[start]) for start in starts.tolist()]
            for place in np.flatnonzero(sizes > 1).tolist():
                is_upper, at = side == "greater", float(value[place])
                exact = of_part[place].comonotone_log_tail(at, upper=is_upper)
                bound[place] = bound[place] if exact is None else exact
                methods[place] = "bound" if exact is None else "exact"
            tails.append(bound)
        # With one side both tails are the same.
        return from_log_tails(tails[0], tails[-1], self.alternative), methods

    def _log_p_values_of_alike_means(
        self, cases: Cases, value: Floats
    ) -> tuple[Floats, Sequence[str]]:
        """Return the logarithms of the p-values of means over equal cases, and the methods."""
        count = len(cases.cases)
        if self.method == "normal":
            error = np.full(value.size, np.sqrt(cases.variance.sum()) / count)
            distance = value - cases.mean.mean()
            above, below = (_log_normal(side, error) for side in (distance, -distance))
            return from_log_tails(above, below, self.alternative), ["normal"] * value.size
        if self.method == "monte-carlo":
            draws = cases.mean_draws(self.n_resamples, self.seed)
            p = np.array([self._sampled(draws, mean) for mean in value.tolist()])
            return np.log(p), ["monte-carlo"] * value.size
        log_p, methods = self._log_tails_of_means(cases, value)
        p, number = np.exp(log_p), self.n_resamples + 1
        # Draws are taken where they may contradict an estimate.
        enough = (p * number >= _EXPECTED) & (self.n_resamples * cases.cost <= _MOST_NUMBERS)
        doubted = np.flatnonzero(enough & (np.array(methods) == "estimate")).tolist()
        draws = cases.mean_draws(self.n_resamples, self.seed) if doubted else np.zeros(0)
        for place in doubted:
            drawn = self._sampled(draws, value[place])
            if abs(p[place] - drawn) > _SURELY * sqrt(max(p[place], drawn) / number):
                log_p[place], methods[place] = np.log(drawn), "monte-carlo"
        return log_p, methods

    def _log_tails_of_means(self, cases: Cases, value: Floats) -> tuple[Floats, list[str]]:
        """Return the logarithms of the p-values of means by the tails, and the methods."""
        asked = [] if self.alternative == "less" else [value]
        if self.alternative != "greater":
            # Equality counts: P(mean <= value) is the chance of not going beyond it.
            least = _least_positive(cases).min() / len(cases.cases)
            asked.append(beyond(value, least))
        inverted = self.method == "transform"
        tails = cases.mean_tails(np.concatenate(asked), only_inversion=inverted)
        # With one side both are the same.
        upper, lower = tails[: value.size], tails[-value.size :]
        above = np.array([tail.log_reached for tail in upper], dtype=np.float64)
        below = np.array([tail.log_missed for tail in lower], dtype=np.float64)
        return from_log_tails(above, below, self.alternative), [tail.method for tail in upper]


def _alike(of_part: Sequence[Cases]) -> list[list[int]]:
    """Return the places of the parts that have the same cases, in whatever order."""
    places: dict[frozenset[tuple[Case, int]], list[int]] = {}
    for place, cases in enumerate(of_part):
        counted = frozenset(Counter(cases.cases).items())
        places.setdefault(counted, []).append(place)
    return list(places.values())


def _p_columns(log_p: Floats) -> tuple[pl.Series, pl.Series]:
    """Return p-values, as numbers and as logarithms."""
    p_value = np.maximum(probability(log_p), LEAST)
    return pl.Series("p_value", p_value), pl.Series("log10_p_value", log_p / np.log(10))


def _cases(rows: pl.DataFrame) -> Cases:
    """Return the cases of the groups, on which their distributions depend."""
    sizes = pl.col("sizes")
    # A list of ones says no more than the number of items, and may be long.
    tied = pl.when(sizes.list.len() < pl.col("depth")).then(sizes)
    table = rows.select("n", "n_pos", "depth", tied)
    return Cases(
        [
            Case(n, n_pos, depth, tuple(blocks) if blocks else None)
            for n, n_pos, depth, blocks in table.iter_rows()
        ]
    )


def _least_positive(cases: Cases) -> Floats:
    """Return for each group a number that no value of AP but 0 is below."""
    return np.array([1 / (case.n * case.n_pos) for case in cases.cases], dtype=np.float64)


def _moments(rows: pl.DataFrame, mean: Floats, variance: Floats) -> pl.DataFrame:
    """Add mean and standard deviation under random ranking, and the z score of AP."""
    deviation = np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(deviation > 0, (rows["ap"].to_numpy() - mean) / deviation, np.nan)
    return rows.with_columns(
        pl.Series("null_mean", mean),
        pl.Series("null_std", deviation),
        pl.Series("z", z).fill_nan(None),
    )


def _normalized(rows: pl.DataFrame) -> pl.DataFrame:
    """Add AP on a scale on which random ranking has 0 and the best ranking 1."""
    mean, ap = pl.col("null_mean"), pl.col("ap")
    # AP equals the mean if they differ by rounding alone, as sums in different orders do.
    above = pl.when((ap - mean).abs() > EQUAL * mean).then(ap - mean).otherwise(0.0)
    scaled = pl.when(mean < 1).then(above / (1 - mean))
    columns = rows.with_columns(scaled.alias("normalized_ap"))
    names = list(rows.columns)
    names.insert(names.index("ap") + 1, "normalized_ap")
    return columns.select(names)


def _log_normal(distance: Floats, deviation: Floats) -> Floats:
    """Return log P(X >= distance) for a normal X of mean 0, and 0 where the deviation is 0."""
    safe = np.where(deviation > 0, deviation, 1.0)
    return np.asarray(np.where(deviation > 0, log_ndtr(-distance / safe), 0.0))
