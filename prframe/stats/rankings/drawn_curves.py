"""The protocol of draws of the curve behind a ranking, which metrics may ask for."""

from typing import Protocol

from prframe.stats.rankings.cells import RankedCells
from prframe.typing import Flags, Floats, Reals


class CurveDraws(Protocol):
    """Draws of one kind of curve at levels of recall, each of shape (n_draws, n_levels).

    Examples
    --------
    The least precision along a curve, as a metric of drawn curves:

    >>> def least_precision(curves: DrawnCurves) -> Floats:
    ...     draws: CurveDraws = curves.drawn()
    ...     return draws.precision.min(axis=1)
    """

    @property
    def recall(self) -> Floats:
        """The recall of the level, or of the end of its tie block."""

    @property
    def log_fpr(self) -> Floats:
        """The logarithm of the false positive rate; inf where recall is never reached."""

    @property
    def precision(self) -> Floats:
        """The precision; 0 where recall is never reached."""

    @property
    def prevalence(self) -> Floats:
        """The share of positives, shape (n_draws, 1)."""


class DrawnCurves(Protocol):
    """Draws of the curve behind a ranking; `prframe.stats.intervals` makes them.

    Half of the curves for an area allow for fewer unseen negatives above a threshold, because an
    area adds up all levels. Curves at ends move a level within a tie block to the end of the
    block, while others move in proportion within the block.

    Examples
    --------
    A metric with a method `draws` has intervals by the Bayesian bootstrap:

    >>> from prframe.stats import AveragePrecision, cells_from_scores, ranking_interval
    >>> class LeastPrecision(AveragePrecision):
    ...     def draws(self, curves: DrawnCurves) -> Floats:
    ...         return curves.drawn().precision.min(axis=1)
    >>> cells, _ = cells_from_scores([5.0, 4.0, 3.0, 2.0, 1.0], [1, 0, 1, 0, 0])
    >>> interval = ranking_interval(cells, LeastPrecision(), method="bayesian-bootstrap", rng=1)
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.0, 0.79)
    """

    @property
    def cells(self) -> RankedCells:
        """The cells of the ranking."""

    @property
    def prior(self) -> float | None:
        """The share of positives if it is given, None for that of the sample."""

    @property
    def levels(self) -> Floats:
        """The levels of recall, rising within (0, 1), shape (n_levels,)."""

    def at_prior(self, prior: float) -> "DrawnCurves":
        """Return the same curves in a population with this share of positives."""

    def drawn(self, *, area: bool = False, at_ends: bool = False) -> CurveDraws:
        """Return curves for single levels or areas, in proportion within ties or at their ends."""

    def counts(self, *, area: bool = False, at_ends: bool = False) -> tuple[Floats, Floats]:
        """Return the mean counts of rankings with these curves, of as many items as there are.

        The cells lie between the levels of recall, the last one holds what is not retrieved. Each
        class has the shape (n_draws, n_cells).
        """

    def counts_of_blocks(self, *, area: bool = False) -> tuple[Floats, Floats, Flags]:
        """Return the mean counts of such rankings, in which each tie block is one cell.

        The other cells lie between points; which cells are tie blocks comes last.
        """

    @property
    def prevalence(self) -> Floats:
        """The share of positives, shape (n_draws,)."""

    def points(self, *, area: bool = False, at_ends: bool = False) -> tuple[Reals, Reals]:
        """Return recall and the share of all items above the threshold, at rising points.

        Each has the shape (n_points, n_draws), in single precision. The first point has recall 0,
        and the last one is the last item that is retrieved. At ends no point lies within a tie
        block.
        """

    def positives_among(self, ranks: Floats, *, area: bool = False) -> Floats:
        """Return the mean numbers of positives among the first ranks, shape (n_ranks, n_draws)."""

    def recall_of(self, rates: Floats) -> Floats:
        """Return the recall where so large a share of the negatives is above the threshold.

        Ties count at their ends. The shape is (n_rates, n_draws), for rates of shape (n_rates,).
        """

    def share_above(self, recall: Floats) -> Floats:
        """Return the share of all items above the threshold with a recall.

        The shape is (n_levels, n_draws), for levels of recall of shape (n_levels,).
        """

    def areas_under_precision(
        self, *, at_ends: bool = False, up_to: Floats | None = None
    ) -> Floats:
        """Return the areas under the precision of curves for areas, shape (n_draws,).

        They end at a level of recall for each draw, if there are such levels.
        """

    def areas_under_rates(self) -> Floats:
        """Return the areas under the false positive rates of curves, shape (n_draws,)."""

    def at(self, level: float) -> int:
        """Return the index of a level of recall that the metric asked for."""

    def found(self, k: float, share: float | Floats) -> Floats:
        """Return the recall among the best share of all items, which are k items in the sample."""

    def retrieved(self) -> tuple[Floats, Floats]:
        """Return the recall and the false positive rate of all retrieved items."""

    def tables(self) -> tuple[Floats, Floats]:
        """Return draws of the positives and negatives that are retrieved, and that are not.

        They are up to a factor, and for the low and for the high end of metrics; the two differ
        where one of the four counts is 0. Each has the shape (4, n_draws).
        """
