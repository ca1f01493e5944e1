"""Reports that several files of tests read, made once."""

import pytest

import prframe

from .cases import classified, hostile_report, qrels, runs


@pytest.fixture(scope="session")
def pages():
    return {
        "runs": prframe.report(runs(6, ["a", "b"]), qrels(6)),
        "classifiers": prframe.report(classified(150), item="item", by="region"),
        "hostile": hostile_report(),
    }
