"""One ranking of positives and negatives: cells, levels, metrics, bootstrap."""

from prframe._stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__)
