"""What the values of a mean are a sample of: folds, clusters of queries, few skewed values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from prframe import checks, hints
from prframe._engine.arguments import WORKING, Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import considered, in_groups, is_missing, key_names
from prframe.errors import (
    ArgumentError,
    CoverageWarning,
    DependentFoldsWarning,
    PrframeError,
    warn,
)
from prframe.stats import PairedFamily
from prframe.stats._units import UnitSums, units_of
from prframe.stats.paired_values import COCHRAN
from prframe.typing import Floats, Integers

Resampling: TypeAlias = Literal["cv"]

# A cross-validation of more folds is mostly a repeated one whose folds are numbered throughout.
_MOST_FOLDS = 20
_NUMBER_ANEW = (
    "Of a repeated cross-validation over= names the column of repetitions before that of folds, "
    "which are numbered anew in each: split i of repeated k-fold is fold i % k of repetition "
    "i // k"
)


def warn_of_folds(over: Sequence[str]) -> None:
    """Warn if one of the columns is called like those of folds or splits."""
    known = (*hints.FOLDS, *hints.REPETITIONS)
    if folds := [column for column in over if column.lower() in known]:
        warn(
            f"the values of {folds[0]!r} are taken as independent, but training sets of folds or "
            "splits overlap. Use `interval`, or `compare` with test='t', with resampling='cv' for "
            "cross-validation (name repetitions before folds in over=), or with n_test / n_train "
            "for random splits. If the values are independent, rename the column, or ignore "
            "DependentFoldsWarning.",
            DependentFoldsWarning,
        )


def check_resampling(resampling: object, over: Sequence[str]) -> float | Resampling | None:
    """Return the resampling; warn if it corrects for no folds and `over` names folds."""
    if resampling is None:
        warn_of_folds(over)
        return None
    if isinstance(resampling, str):
        if resampling != "cv":
            raise ArgumentError(
                "`resampling` must be 'cv', for the folds of a cross-validation, or the size of "
                f"a test set divided by that of its training set; got {resampling!r}."
            )
        named = [column for column in over if column.lower() in hints.FOLDS]
        if named and over[-1] not in named:
            raise ArgumentError(
                f"resampling='cv' takes the last column of `over` as that of folds, {over[-1]!r} "
                f"here; put {named[0]!r} last."
            )
        return "cv"
    return float(checks.number("resampling", resampling, above=0))


def test_train_ratio(
    resampling: float | Resampling | None, folds: pl.DataFrame, over: Sequence[str]
) -> float:
    """Return the size of a test set divided by that of its training set, given a row per value."""
    if isinstance(resampling, float):
        return resampling
    if resampling != "cv":
        return 0.0
    *repetition, fold = folds.columns
    number = folds[fold].n_unique()
    sizes = folds.group_by(repetition or pl.lit(0), maintain_order=True).agg(pl.len())
    odd = sizes.filter(pl.col("len") != number)
    if odd.height:
        names = in_groups(odd.select(repetition).rows())
        raise PrframeError(
            f"resampling='cv' needs every fold of {over[-1]!r} in each repetition: there are "
            f"{number} folds in all, but {odd['len'][0]}{names}; name the columns of repetitions "
            "before that of folds in over=, and number folds anew in each."
        )
    if number < 2:  # noqa: PLR2004
        raise PrframeError(
            f"resampling='cv' needs two folds or more; {over[-1]!r} names {number}."
        )
    if number > _MOST_FOLDS or over[-1].lower() in hints.REPETITIONS:
        warn(
            f"resampling='cv' takes the {number} values of {over[-1]!r} as folds of one "
            f"cross-validation. {_NUMBER_ANEW}.",
            DependentFoldsWarning,
        )
    return 1 / (number - 1)


# The working column of the cluster of each value.
CLUSTER = "cluster"
_VARIES = f"{WORKING}varies"


def refuse_varying_clusters(source: Source, args: Arguments, over: Sequence[str]) -> None:
    """Require that the rows of a query are of one cluster, before these are ranked."""
    if args.cluster is None:
        return
    missing = is_missing(pl.col(args.cluster), source.schema[args.cluster])
    varies = missing.any() | (pl.col(args.cluster).n_unique() > 1)
    rows = source.lazy()
    if not args.at_hand:
        rows = rows.filter(True, *considered(args, source.schema))  # noqa: FBT003
    # Categories are in order of their text.
    text = [pl.col(n).cast(pl.String) for n in over if source.schema[n] == pl.Categorical]
    queries = rows.group_by(*args.keys, *over).agg(varies.alias(_VARIES)).filter(_VARIES)
    wrong = queries.select(over).with_columns(text).unique().sort(over).collect()
    if wrong.height:
        raise varying(args, wrong)


class KeyedByCluster(NamedTuple):
    """The rows of queries that are each of one cluster, and arguments that have it as a key."""

    source: Source
    args: Arguments
    name: str

    @classmethod
    def of(cls, source: Source, args: Arguments, n_kept: int) -> "KeyedByCluster":
        """Check the queries, whose keys follow on the first `n_kept` ones."""
        column = str(args.cluster)
        # These rows are read more than once.
        source = source.holding(source.whole())
        kept = replace(args, by=args.keys[:n_kept])
        refuse_varying_clusters(source, kept, args.keys[n_kept:])
        # The column of clusters may be among those of queries.
        keyed = replace(args, by=list(dict.fromkeys([*args.keys, column])), cluster=None)
        return cls(source, keyed, key_names(keyed)[keyed.keys.index(column)])

    def marked(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Add the column of clusters to a row per query."""
        return rows.with_columns(pl.col(self.name).alias(CLUSTER))


@dataclass(frozen=True, eq=False)
class MeanSample:
    """The sorted values of a mean, or curves of a mean curve, and the ranks of their clusters."""

    values: Floats
    rank: Integers | None = None

    @classmethod
    def of(cls, values: Floats, rank: Integers | None = None) -> "MeanSample":
        """Return the sample of values, or curves in rows, in any order."""
        keys = np.atleast_2d(values.T)[::-1]
        if rank is None:
            return cls(values[np.lexsort(keys)])
        order = np.lexsort([rank, *keys])
        return cls(values[order], rank[order])

    def at_each_level(self) -> list["MeanSample"]:
        """Return the values of curves at each of their levels."""
        return [MeanSample.of(values, self.rank) for values in self.values.T]

    @property
    def n_units(self) -> int:
        """The number of clusters, or of values or curves if these are independent."""
        return len(self.values if self.rank is None else np.unique(self.rank))

    @cached_property
    def cluster(self) -> Integers | None:
        """The clusters, numbered by their first values; None if there are none."""
        if self.rank is None:
            return None
        _, first, place = np.unique(self.rank, return_index=True, return_inverse=True)
        return np.asarray(first[place])


def ranks(cluster: pl.Series) -> Integers:
    """Return the ranks of the names of clusters."""
    # Categories are in order of their text.
    names = cluster.cast(pl.String) if cluster.dtype == pl.Categorical else cluster
    return names.rank("dense").cast(pl.Int64).to_numpy()


def varying(args: Arguments, queries: pl.DataFrame) -> PrframeError:
    """Return the error that names queries of several clusters, or of none."""
    return PrframeError(
        f"`cluster` {args.cluster!r} must be one value, and no null, for "
        f"each group of `over`{in_groups(queries.rows())}; mend these rows, or, if numbers begin "
        f"anew in each {args.cluster!r}, name it in `over` too."
    )


_ENDS = (0.0, 1.0)
# Of so few values a logit is as bad as the values.
_FEW = 30
# A mean hangs on few values if so small a part of them makes up so much of what varies.
_PART, _MOST = 0.15, 5 / 6


def few_for_skewness(values: Floats, method: str, cluster: ArrayLike | None = None) -> bool:
    """Return whether a mean has too few values for their skewness and the method of its interval.

    The logit of more than 30 values has the skewness ``G + 1.5 s (2 m - 1) / (m (1 - m))`` of mean
    m and standard deviation s, by which t errs in the same way.
    """
    units = units_of(cluster, values.size)
    sample = UnitSums.of(values, units)
    if method == "hall" or (method != "t" and _is_share(sample)):
        return False
    if method == "logit" and _at_an_end(sample):
        return False
    family = PairedFamily(sample.sums[:, None], sample.sizes[:, None])
    if not (family.few_for_skewness.any() and _hangs_on_few(sample)):
        return False
    if method != "logit" or units.number <= _FEW or not 0 < sample.mean < 1:
        return True
    spread = sample.std_error * units.number**0.5
    bend = 1.5 * spread * (2 * sample.mean - 1) / (sample.mean * (1 - sample.mean))
    return bool(units.number <= COCHRAN * (family.skewness[0] + bend) ** 2)


def _hangs_on_few(sample: UnitSums) -> bool:
    """Return whether a small part of the units makes up most of the sum of squares."""
    squares = np.sort((sample.sums - sample.mean * sample.sizes) ** 2)
    few = squares[-ceil(_PART * squares.size) :]
    return bool(few.sum() >= _MOST * squares.sum())


def _is_share(sample: UnitSums) -> bool:
    """Return whether a mean is a share of units of one size: all values of each are 0, or 1."""
    size = sample.sizes.max(initial=1.0)
    return bool((sample.sizes == size).all() and np.isin(sample.sums / size, _ENDS).all())


def _at_an_end(sample: UnitSums) -> bool:
    """Return whether at least half of the units have nothing but zeros, or nothing but ones."""
    means = sample.sums / np.maximum(sample.sizes, 1)
    return bool(max(np.mean(means == end) for end in _ENDS) >= 0.5)  # noqa: PLR2004


def warn_of_skewed_values(
    means: pl.DataFrame, keys: list[str], kind: str, metric: str | None = None
) -> None:
    """Warn once of the means with the flag ``skewed``; `kind` is the word for them."""
    skewed = means.filter("skewed")
    if skewed.is_empty():
        return
    groups = skewed.select(keys).unique(maintain_order=True).rows()
    named = ""
    if metric is not None and means[metric].n_unique() > 1:
        named = f", of {', '.join(skewed[metric].unique(maintain_order=True))}"
    warn(
        f"a few values decide {skewed.height} of {means.height} {kind}{named}"
        f"{in_groups(groups) if keys else ''}: their intervals may miss the mean too often. More "
        "values help, and method='hall' allows for skewness (in interval and band); where it does "
        "not matter, ignore CoverageWarning.",
        CoverageWarning,
    )
