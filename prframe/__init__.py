"""Precision-recall evaluation of rankings, where the data already is.

Importing prframe registers ``.pr`` on polars frames, lazy frames and expressions, and on pandas
frames. The functions here are the typed interface behind it.
"""

from prframe import accessors as _accessors
from prframe._doors import attach as _attach

__version__ = "0.1.0"

__getattr__, __dir__, _names = _attach(__name__)
# A star import must do without scikit-learn, matplotlib and Altair.
__all__ = [name for name in _names if name not in {"learn", "plot", "chart"}]  # pyright: ignore[reportUnsupportedDunderAll]

_accessors.register()
