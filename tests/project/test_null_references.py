"""References of the null of AP are kept between runs of the study."""

import pytest

reference = pytest.importorskip("benchmarks.null_reference", reason="a wheel has no benchmarks")


def test_what_is_kept_is_found_at_the_same_values_alone(tmp_path):
    file = tmp_path / "references.csv"
    values = [0.25, 1 / 3]
    first = [reference.Reference(-1.5, 0.01, "tilted, smoothed"), reference.NONE]
    reference.Kept(file).keep("10 3 no ties", values, first)
    again = reference.Kept(file).find("10 3 no ties", values)
    assert again[0] == first[0]
    assert again[1].source == "none"
    assert reference.Kept(file).find("10 3 no ties", [0.25, 0.34]) is None
    assert reference.Kept(file).find("10 4 no ties", values) is None


def test_the_last_of_several_holds(tmp_path):
    file = tmp_path / "references.csv"
    for log_p in (-1.0, -2.0):
        reference.Kept(file).keep(
            "10 3 no ties", [0.5], [reference.Reference(log_p, 0.1, "count")]
        )
    assert reference.Kept(file).find("10 3 no ties", [0.5])[0].log_p == -2.0
