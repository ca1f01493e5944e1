"""Many paired comparisons by the same draws: their p-values and maxima."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from prframe.stats._batches import batches
from prframe.stats._p_values import counted_p_values, extremeness
from prframe.stats._tolerances import EQUAL
from prframe.stats._units import UnitSums
from prframe.stats.intervals import sample_skewness
from prframe.stats.null import all_signs, random_signs
from prframe.stats.rankings import multiplicities
from prframe.typing import Alternative, Flags, Floats

# The number of sums at a time, of all pairs and some draws.
_CHUNK = 1 << 20
# Cochran's number of values for each unit of squared skewness, and the numbers that are few.
COCHRAN, _FEW = 25, (10, 100)
# The value of sqrt(n) |z| that Lin & Mudholkar's z of n normal values exceeds in 5 % of samples,
# by n: quantiles of 400,000 samples.
_CRITICAL = np.array(
    [
        (10, 12, 15, 20, 25, 30, 40, 50, 70, 100),
        (3.174, 3.148, 3.149, 3.162, 3.176, 3.191, 3.220, 3.254, 3.273, 3.300),
    ]
)


class SampledTests(NamedTuple):
    """P-values of several pairs from the same draws, with their Monte Carlo errors."""

    p_values: Floats
    std_errors: Floats
    method: str


@dataclass(frozen=True, eq=False)
class PairedFamily:
    """Sums of differences of several pairs over the same units.

    Attributes
    ----------
    sums, sizes : ndarray, shape (n_units, n_pairs)
        The sum of the differences of each unit, a query or a cluster, and their number; both 0
        where a pair has no value.
    test_train_ratio : float or ndarray, shape (n_pairs,)
        For folds of the same data, the size of a test set over that of its training set; else 0.

    Examples
    --------
    >>> differences = np.array([[0.5, 0.25], [0.25, 0.5], [0.75, -0.25]])
    >>> family = PairedFamily(differences, np.ones_like(differences))
    >>> rng = np.random.default_rng(1)
    >>> family.max_t(1000, rng, "two-sided").p_values
    array([0.5 , 0.75])
    """

    sums: Floats
    sizes: Floats
    test_train_ratio: float | Floats = 0.0

    @classmethod
    def of(cls, samples: Sequence[UnitSums]) -> "PairedFamily":
        """Stack samples of the same units."""
        return cls(
            np.column_stack([sample.sums for sample in samples]),
            np.column_stack([sample.sizes for sample in samples]),
        )

    @cached_property
    def samples(self) -> list[UnitSums]:
        """The units of each pair that have a value."""
        ratios = np.broadcast_to(self.test_train_ratio, self.sums.shape[1:]).tolist()
        return [
            UnitSums(sums[sizes > 0], sizes[sizes > 0], ratio)
            for sums, sizes, ratio in zip(self.sums.T, self.sizes.T, ratios, strict=True)
        ]

    @cached_property
    def means(self) -> Floats:
        """The mean difference of each pair; NaN without values."""
        sizes = self.sizes.sum(axis=0)
        nothing = np.full(sizes.shape, np.nan)
        return np.asarray(np.divide(self.sums.sum(axis=0), sizes, out=nothing, where=sizes > 0))

    @cached_property
    def std_errors(self) -> Floats:
        """The standard error of the mean of each pair; NaN with fewer than two units."""
        n, size = (self.sizes > 0).sum(axis=0), self.sizes.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            influence = (self.sums - self.means * self.sizes) / size
            largest = np.abs(influence).max(axis=0, initial=0.0)
            squares = ((influence / np.where(largest > 0, largest, 1.0)) ** 2).sum(axis=0)
            errors = largest * np.sqrt(n / (n - 1) * squares * (1 + n * self.test_train_ratio))
        return np.where(n > 1, errors, np.nan)

    @property
    def constant(self) -> Flags:
        """Whether the differences of each pair are constant, except for rounding."""
        return np.asarray(~self._residuals.any(axis=0))

    @cached_property
    def skewness(self) -> Floats:
        """The sample skewness of the units of each pair, 0 with fewer than three or no spread.

        It is ``n / ((n - 1)(n - 2)) sum (d - mean)^3 / s^3`` of n differences or cluster sums.
        """
        return sample_skewness(self._residuals, (self.sizes > 0).sum(axis=0))

    @cached_property
    def few_for_skewness(self) -> Flags:
        """Whether each pair has too few units for its skewness G, and this is not due to chance.

        A t is nearly Student's with more than ``25 G^2`` values (Cochran, *Sampling Techniques*,
        1977, section 2.15). As G of few values may be large by chance, Lin & Mudholkar's test must
        reject normality at .05 too. Fewer than ten values do not show skewness; above a hundred
        are not few.
        """
        n = (self.sizes > 0).sum(axis=0)
        few = (n >= _FEW[0]) & (n <= _FEW[1]) & (n <= COCHRAN * self.skewness**2)
        if not few.any():
            return np.asarray(few)
        uneven = np.sqrt(n) * np.abs(self.unevenness) > np.interp(n, *_CRITICAL)
        return np.asarray(few & uneven)

    @cached_property
    def unevenness(self) -> Floats:
        """Lin & Mudholkar's z of each pair, 0 with fewer than three units or no spread.

        ``z = artanh r``, where r is the correlation of the values with the cube roots of the
        variance of the others, ``(sum d^2 - n / (n - 1) d_i^2)^(1/3)`` but for a factor, d being
        distances from the mean (*A simple test for normality against asymmetric alternatives*,
        Biometrika 1980).
        """
        used = self.sizes > 0
        n = used.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            squares = (self._residuals**2).sum(axis=0)
            others = squares - n / (n - 1) * self._residuals**2
            roots = np.where(used, np.cbrt(np.maximum(others, 0.0)), 0.0)
            deviations = np.where(used, roots - roots.sum(axis=0) / n, 0.0)
            product = (self._residuals * deviations).sum(axis=0)
            r = product / np.sqrt(squares * (deviations**2).sum(axis=0))
            # All values but one may be the same, so that r is 1 but for rounding; z stays finite.
            z = np.arctanh(np.clip(r, EQUAL - 1, 1 - EQUAL))
        return np.where((n > 2) & ~np.isnan(z), z, 0.0)  # noqa: PLR2004

    def equivalence(self, margin: float) -> tuple[Floats, Floats]:
        """Return t and p-value of the two one-sided tests that means are within a margin."""
        n, error = (self.sizes > 0).sum(axis=0), self.std_errors
        # Differences that vary by rounding alone have no t.
        varies = error > EQUAL * np.abs(self.means)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            t = np.where(varies, (margin - np.abs(self.means)) / error, np.nan)
        return t, np.asarray(stdtr(np.maximum(n - 1, 1), -t))

    @cached_property
    def _relative(self) -> Floats:
        """The sums of each pair in units of the largest, as their squares may overflow or be 0."""
        largest = np.abs(self.sums).max(axis=0, initial=0.0)
        return np.asarray(self.sums / np.where(largest > 0, largest, 1.0))

    @cached_property
    def _scaled(self) -> Floats:
        """The sums of each pair, scaled so that their total has variance 1 under random signs."""
        norms = np.sqrt((self._relative**2).sum(axis=0))
        return np.asarray(self._relative / np.where(norms > 0, norms, 1.0))

    def max_t(
        self, n_resamples: int, rng: np.random.Generator, alternative: Alternative
    ) -> SampledTests:
        """Return p-values adjusted for all pairs, by maxima over the same signs.

        They are ``(b + 1) / (B + 1)`` with b of B = `n_resamples` draws as extreme, or the share
        of all rows of signs if there are not more than B. The maxima step down: a pair is compared
        with the largest value of the pairs that are not more significant (Westfall & Young 1993,
        algorithm 2.8).
        """
        scaled, (n_units, n_pairs) = self._scaled, self.sums.shape
        observed = extremeness(scaled.sum(axis=0), alternative)
        order = np.argsort(observed, kind="stable")
        exceeding = np.zeros(observed.size, dtype=np.int64)
        # Sums that differ by rounding count as equal.
        limits = (observed - EQUAL * np.abs(scaled).sum(axis=0))[order]
        at_once = max(1, _CHUNK // max(n_pairs, 1))
        exact = n_units < n_resamples.bit_length()
        if exact:
            draws, n_draws = all_signs(n_units, at_once), 1 << n_units
        else:
            draws, n_draws = random_signs(n_units, n_resamples, rng, at_once), n_resamples
        for signs in draws:
            extreme = extremeness(signs @ scaled, alternative)
            maxima = np.maximum.accumulate(extreme[:, order], axis=1)
            exceeding[order] += (maxima >= limits).sum(axis=0)
        # The p-value of a less significant pair must not be smaller.
        exceeding[order] = np.maximum.accumulate(exceeding[order][::-1])[::-1]
        return self._counted(exceeding, n_draws, "exact" if exact else "sampled")

    def _counted(self, exceeding: NDArray[np.int64], n_draws: int, how: str) -> SampledTests:
        """Return p-values from counts; NaN for pairs without a value."""
        counted = counted_p_values(exceeding, n_draws, exact=how == "exact")
        missing = self.sizes.sum(axis=0) == 0
        p_values, errors = (np.where(missing, np.nan, values) for values in counted)
        return SampledTests(p_values, errors, how)

    def bootstrap(
        self, n_resamples: int, rng: np.random.Generator, alternative: Alternative
    ) -> SampledTests:
        """Return the p-values of studentized bootstrap tests, all pairs by the same resamples."""
        used = (self.sizes > 0).sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = np.sqrt(used / (used - 1) * (self._residuals**2).sum(axis=0))
            observed = extremeness(self._relative.sum(axis=0) / spread, alternative)
        exceeding = np.zeros(observed.size, dtype=np.int64)
        # The slack is a factor, because t is infinite if all values are equal.
        limits = observed * (1 - EQUAL * np.sign(observed))
        rng = np.random.default_rng(int(rng.integers(1 << 62)))
        for rows in batches(n_resamples, max(self.sums.shape), _CHUNK):
            times = multiplicities(len(self.sums), rows.stop - rows.start, rng).astype(np.float64)
            t = extremeness(self._studentized(times), alternative)
            exceeding += (t >= limits).sum(axis=0)
        return self._counted(exceeding, n_resamples, "sampled")

    @cached_property
    def _residuals(self) -> Floats:
        """The relative sums less their means, 0 where only rounding is left."""
        with np.errstate(invalid="ignore"):
            means = self._relative.sum(axis=0) / self.sizes.sum(axis=0)
        residuals = self._relative - np.nan_to_num(means) * self.sizes
        return np.where(np.abs(residuals) > EQUAL, residuals, 0.0)

    def _studentized(self, counts: Floats) -> Floats:
        """Return ``(mean* - mean) / se*`` of resamples; infinite if a resample does not vary."""
        # Residuals are taken, as squares of sums would hide a small spread about a large mean.
        residuals, sizes = self._residuals, self.sizes
        total, size = counts @ residuals, counts @ sizes
        squares = counts @ residuals**2
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = total / size
            square = squares - 2 * mean * (counts @ (residuals * sizes))
            square += mean**2 * (counts @ sizes**2)
            used = counts @ (sizes > 0).astype(np.float64)
            # Smaller squares are rounding errors.
            least = EQUAL * squares
            spread = np.sqrt(np.where(square > least, square, 0.0) * used / (used - 1))
            t = total / spread
        # A resample whose values all equal the mean, or that has none, counts as t = 0.
        return np.where(np.isnan(t), 0.0, t)
