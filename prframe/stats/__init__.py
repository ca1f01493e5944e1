"""The statistics, which take arrays and return arrays or small result objects.

A name is loaded, with the modules that it needs, when it is first used.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
