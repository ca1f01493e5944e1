"""Charts need Altair."""

import pytest

pytest.importorskip("altair", reason="altair is not installed")
