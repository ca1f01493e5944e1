"""Two-sample linear rank statistics, and ROC curves by them."""

from prframe._stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__)
