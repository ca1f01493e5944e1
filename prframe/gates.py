"""The gate of a pipeline: an error if a model is worse than the baseline."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import polars as pl

from prframe import checks
from prframe._engine.frames import named, source
from prframe._engine.rows import in_groups
from prframe.errors import (
    ArgumentError,
    EmptyFrameWarning,
    GateError,
    MissingQueriesWarning,
    PrframeError,
    UnlistedItemsWarning,
    UnmatchedIdsWarning,
)
from prframe.metrics import Metric
from prframe.typing import FrameT
from prframe.verbs.comparison.compare import compare

# Under these a model passes by lacking the queries or items at which it is poor.
_LENIENT = ("pairwise", "common")


def gate(
    frame: FrameT,
    metrics: str | Metric | Sequence[str | Metric] | None = None,
    *,
    baseline: object = None,
    margin: float = 0.0,
    **options: Any,  # noqa: ANN401 - those of compare
) -> FrameT:
    """Compare models with a baseline, and raise `GateError` if one of them is worse.

    A model is worse if its mean is below the baseline's by more than the margin, and the p-value,
    adjusted if there is a correction, is at most 1 minus the confidence level.

    Parameters
    ----------
    frame : frame
        Rows as for `compare`; or, without metrics and options, what `compare` has returned.
    metrics, **options
        As in `compare`.
    baseline : model or list of models
        The model that the others must not fall behind; a result of `compare` names it itself.
    margin : float >= 0
        A loss that passes.

    Returns
    -------
    frame of the caller's kind
        The comparison.

    Raises
    ------
    GateError
        A model is worse; the message says which, and by how much.
    PrframeError
        Nothing can be decided: there are no rows, a test is undefined, labels or numbers of
        positives differ between models, or a model lacks a query.

    Examples
    --------
    >>> import prframe
    >>> frame = {"query_id": range(8), "old": [0.4] * 8, "new": [0.1, 0.2] * 4}
    >>> found = prframe.compare(frame, values=["new", "old"], baseline="old")
    >>> prframe.gate(found, margin=0.01)
    Traceback (most recent call last):
    prframe.errors.GateError: new is worse than old in value: 0.1500 against 0.4000, a difference \
of -0.2500, by more than 0.01 (p_adjusted 0.0078, n 8, randomization test).
    """
    loss = float(checks.number("margin", margin, at_least=0))
    result: Any = frame
    if metrics is not None or options:
        if baseline is None:
            raise ArgumentError("a gate compares with one model; name it in baseline=.")
        if (policy := options.get("incomplete")) in _LENIENT:
            raise ArgumentError(
                f"a gate takes no incomplete={policy!r}, under which a model passes by lacking "
                "what it is poor at; take incomplete='zero', or 'last' on the same items."
            )
        with require_like_data():
            result = compare(frame, metrics, baseline=baseline, **options)
            result = result.collect() if isinstance(result, pl.LazyFrame) else result
    names = [*named(result)[1], "metric", "model_a", "difference", "p_value"]
    rows = source(result, dict.fromkeys(names, "compare_result")).whole()
    _check_pairs(rows, baseline)
    if worse := losses(rows, loss):
        raise GateError("; ".join(worse) + ".")
    return cast("FrameT", result)


@contextmanager
def require_like_data() -> Iterator[None]:
    """Let warnings that models are not compared on like data be errors."""
    unlike = (EmptyFrameWarning, UnlistedItemsWarning, UnmatchedIdsWarning)
    with warnings.catch_warnings():
        for category in unlike:
            warnings.simplefilter("error", category)
        try:
            yield
        except unlike as warning:
            lacks = isinstance(warning, MissingQueriesWarning)
            told = (
                str(warning).replace(", which count as 0 in their means", "") if lacks else warning
            )
            remedy = "; to count them as 0, pass incomplete='zero'" if lacks else ""
            raise PrframeError(f"the gate cannot decide: {told}{remedy}") from None


def losses(rows: pl.DataFrame, margin: float) -> list[str]:
    """Return a sentence for each row of a comparison whose model is worse than the baseline."""
    if rows.is_empty():
        raise PrframeError("the gate cannot decide: there are no rows to compare.")
    p_value = "p_adjusted" if "p_adjusted" in rows.columns else "p_value"
    beyond = f", by more than {margin:g}" if margin else ""
    worse, undecided = [], []
    for row in rows.fill_nan(None).iter_rows(named=True):
        difference, p = row["difference"], row[p_value]
        # A difference that is undefined may be a loss.
        if difference is not None and difference >= -margin:
            continue
        where = in_groups([tuple(row.values())[: list(row).index("metric")]])
        # The level as a difference of decimals is not exact.
        if p is None:
            undecided.append("{model_a} and {model_b} in {metric}".format_map(row) + where)
        elif p <= (1 - row["confidence_level"]) * (1 + 1e-12):
            worse.append(
                f"{row['model_a']} is worse than {row['model_b']} in {row['metric']}{where}: "
                f"{row['mean_a']:.4f} against {row['mean_b']:.4f}, a difference of "
                f"{difference:.4f}{beyond} ({p_value} {p:.2g}, n {row['n']}, {row['test']} test)"
            )
    if undecided and not worse:
        raise PrframeError(f"the gate cannot decide: the test of {undecided[0]} is undefined.")
    return worse


def _check_pairs(rows: pl.DataFrame, baseline: object) -> None:
    """Require that every model is compared with the baseline, and can be shown to be worse."""
    if "alternative" in rows.columns and "greater" in rows["alternative"].to_list():
        raise ArgumentError("alternative='greater' can show no model to be worse; leave it out.")
    models, against = set(rows["model_a"].to_list()), set(rows["model_b"].to_list())
    several = isinstance(baseline, (list, tuple, set, frozenset))
    given = set(baseline) if several else {baseline}  # type: ignore[call-overload]
    if against & models or (len(against) > 1 if baseline is None else against - given):
        raise ArgumentError(
            "a gate compares each model with a baseline; name it in compare(..., baseline=): one "
            f"of {checks.brief(sorted(map(str, models | against)))}."
        )
