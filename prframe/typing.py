"""Types that the public functions share."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

from prframe.tie_policies import Ties

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


class ArrowStream(Protocol):
    """A frame of any library that speaks the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as a PyCapsule."""


# A pyarrow table is an ArrowStream too. It is not named here, because pyarrow has no types, and an
# untyped member would make the whole type variable untyped.
FrameT = TypeVar("FrameT", "pd.DataFrame", "pl.DataFrame", "pl.LazyFrame", ArrowStream)
AnyFrame: TypeAlias = "pd.DataFrame | pl.DataFrame | pl.LazyFrame | ArrowStream"

Floats: TypeAlias = NDArray[np.float64]
# Numbers in single or in double precision.
Reals: TypeAlias = NDArray[np.floating]
Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

Missing: TypeAlias = Literal["raise", "drop", "last"]
Layout: TypeAlias = Literal["wide", "long"]
RowOrder: TypeAlias = Literal["rank", "input"]
Alternative: TypeAlias = Literal["two-sided", "less", "greater"]
IntervalMethod: TypeAlias = Literal["clopper-pearson", "jeffreys", "posterior"]
BandwidthRule: TypeAlias = Literal["scott", "silverman", "robust", "undersmoothed"]
# The shapes of the kernels that smooth scores.
KernelName: TypeAlias = Literal["gaussian", "box"]
Bandwidth: TypeAlias = BandwidthRule | float | tuple[BandwidthRule | float, BandwidthRule | float]
Columns: TypeAlias = str | Sequence[str]
LabelValue: TypeAlias = bool | float | str
Positive: TypeAlias = LabelValue | Sequence[LabelValue]
Schema: TypeAlias = "Mapping[str, pl.DataType]"


class Shared(TypedDict, total=False):
    """The arguments that every verb takes; documented in `prframe._engine.arguments`."""

    by: Columns | None
    weight: str | None
    ties: Ties
    float32: bool
    item: str | None
    positive: Positive
    ignore: LabelValue | Sequence[LabelValue | None] | None
    missing: Missing
    n_pos: int | str | None
    n_neg: int | str | None
