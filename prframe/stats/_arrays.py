"""Checks of arrays of numbers, shared by the statistics."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prframe import checks
from prframe.errors import ArgumentError, PrframeError
from prframe.typing import Floats


class Interval(NamedTuple):
    """The ends of an interval; arrays of one shape."""

    low: Floats
    high: Floats


def counts(name: str, values: ArrayLike, at_least: int = 1) -> Floats:
    """Return whole numbers of a least size as floats, which hold them exactly up to 2^53."""
    numbers = _array(name, values)
    must = f"`{name}` must be whole numbers >= {at_least}"
    if numbers.dtype.kind not in "iuf":
        raise PrframeError(f"{must}; got {checks.brief(values)}.")
    within = (numbers >= at_least) & (numbers <= checks.LARGEST_COUNT)
    if (wrong := ~(within & (numbers == np.floor(numbers)))).any():
        raise PrframeError(f"{must}; got {numbers[wrong].ravel()[0]}.")
    return numbers.astype(np.float64)


def at_most(small: tuple[str, Floats], large: tuple[str, Floats]) -> None:
    """Require that one count never exceeds another; arrays of one shape."""
    (name, numbers), (limit, limits) = small, large
    if (wrong := numbers > limits).any():
        raise PrframeError(
            f"`{name}` must be at most {limit}; "
            f"got {name} = {numbers[wrong][0]:.0f} with {limit} = {limits[wrong][0]:.0f}."
        )


def group_sizes(n: ArrayLike, n_pos: ArrayLike) -> tuple[Floats, Floats]:
    """Return the numbers of items and of positives among them, checked and broadcast."""
    return within("n_pos", n_pos, "n", counts("n", n))


def within(name: str, values: ArrayLike, total: str, most: Floats) -> tuple[Floats, Floats]:
    """Require whole numbers from 1 to `most`; return `most` and the numbers, broadcast."""
    most, numbers = together(f"`{total}` and `{name}`", most, counts(name, values))
    at_most((name, numbers), (total, most))
    return most, numbers


def together(names: str, *arrays: Floats) -> tuple[Floats, ...]:
    """Broadcast arrays against each other; `names` are the arguments that they come from."""
    try:
        return np.broadcast_arrays(*arrays)
    except ValueError:
        shapes = " and ".join(dict.fromkeys(str(array.shape) for array in arrays))
        raise PrframeError(f"{names} must broadcast together; got shapes {shapes}.") from None


def _array(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return numbers as an array."""
    try:
        return np.asarray(values)
    except ValueError:
        raise PrframeError(
            f"`{name}` must be numbers in lists of one length; got {checks.brief(values)}."
        ) from None


def reals(name: str, values: ArrayLike) -> Floats:
    """Return numbers as floats."""
    numbers = _array(name, values)
    # The dtype of an empty list says nothing of what it would hold.
    if numbers.dtype.kind not in "iuf" and numbers.size:
        raise PrframeError(f"`{name}` must be numbers; got {checks.brief(values)}.")
    return numbers.astype(np.float64)


def known(name: str, values: ArrayLike) -> Floats:
    """Return numbers as floats, none of which is NaN."""
    numbers = reals(name, values)
    if missing := int(np.isnan(numbers).sum()):
        raise PrframeError(f"`{name}` must not be NaN: {missing} of {numbers.size}.")
    return numbers


def scored_twice(
    score_a: ArrayLike, score_b: ArrayLike, label: ArrayLike
) -> tuple[tuple[Floats, Floats], NDArray[np.bool_]]:
    """Return the scores of the same items by two models, and which items are positive."""
    first, second = known("score_a", comparable(score_a)), known("score_b", comparable(score_b))
    positive = positive_labels(label)
    if not first.shape == second.shape == positive.shape or first.ndim != 1 or not first.size:
        raise PrframeError(
            "`score_a`, `score_b` and `label` must be of one length >= 1; got shapes "
            f"{first.shape}, {second.shape} and {positive.shape}."
        )
    return (first, second), positive


def finite(name: str, values: ArrayLike) -> Floats:
    """Return finite numbers as floats."""
    numbers = reals(name, values)
    if (wrong := ~np.isfinite(numbers)).any():
        raise PrframeError(f"`{name}` must be finite; got {numbers[wrong][0]}.")
    return numbers


def positive_labels(label: ArrayLike) -> NDArray[np.bool_]:
    """Return which labels are positive: True, or numbers above 0."""
    labels = _array("label", label)
    if labels.dtype.kind not in "biuf" and labels.size:
        raise PrframeError(
            f"`label` must be True or False, or numbers; got {checks.brief(label)}."
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise PrframeError(f"`label` must not be NaN: {np.isnan(labels).sum()} of {labels.size}.")
    return np.asarray(labels > 0)


def fractions(name: str, values: ArrayLike) -> Floats:
    """Return numbers in [0, 1] as floats; NaN is let through."""
    numbers = reals(name, values)
    wrong = (numbers < 0) | (numbers > 1)
    if wrong.any():
        raise PrframeError(f"`{name}` must lie between 0 and 1; got {numbers[wrong].ravel()[0]}.")
    return numbers


def random_generator(rng: int | np.random.Generator | None) -> np.random.Generator:
    """Return the generator itself, or one from a seed."""
    try:
        if not isinstance(rng, (bool, np.bool_, np.random.RandomState)):
            return np.random.default_rng(rng)
    except (TypeError, ValueError):
        pass
    raise ArgumentError(
        f"`rng` must be a whole number >= 0 or a numpy.random.Generator; got {checks.brief(rng)}."
    )


def comparable(score: ArrayLike) -> ArrayLike:
    """Return scores whose order floats keep: ranks for whole numbers, which may be beyond 2^53."""
    numbers = _array("score", score)
    if numbers.dtype.kind not in "iu":
        return score
    return np.unique(numbers, return_inverse=True)[1].reshape(numbers.shape).astype(np.float64)


def row_sums(values: Floats) -> Floats:
    """Return the sum of each row, term by term: zeros at its end do not change a bit of it."""
    if values.shape[0] == 1:
        return np.asarray(np.cumsum(values, axis=1)[:, -1])
    return np.asarray(np.asfortranarray(values).sum(axis=1))


def first_at_least(
    values: ArrayLike, start: ArrayLike, stop: ArrayLike, target: ArrayLike
) -> NDArray[np.int64]:
    """Return where in each stretch ``values[start:stop]``, sorted, the target is reached."""
    values = np.asarray(values)
    low, high = (np.array(bound, dtype=np.int64) for bound in (start, stop))
    target = np.asarray(target)
    while (open_ := low < high).any():
        middle = (low + high) // 2
        below = open_ & (values[np.where(open_, middle, 0)] < target)
        low = np.where(below, middle + 1, low)
        high = np.where(open_ & ~below, middle, high)
    return low
