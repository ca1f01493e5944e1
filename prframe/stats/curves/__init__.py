"""Precision-recall and ROC curves with bands."""

from prframe._stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__)
