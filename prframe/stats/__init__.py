"""The statistics: arrays in, arrays or small result objects out.

A name is loaded, with what it needs, when it is first asked for.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
