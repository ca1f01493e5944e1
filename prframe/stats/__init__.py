"""The statistics, which take arrays and return arrays or small result objects.

A name is loaded, with the modules that it needs, when it is first used.
"""

from prframe import hints as _hints
from prframe._doors import attach as _attach

_load, __dir__, __all__ = _attach(__name__)


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(_hints.of_module(__name__, name, __all__))
    return _load(name)
