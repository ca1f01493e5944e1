"""The list of tie policies, and that the tests know how to rank by each."""

from prframe.tie_policies import ALL_TIES, BLOCKS, NO_MEAN, POLICIES, WITHOUT_LABELS
from tests.oracle import ORDERS


def test_each_name_has_a_policy() -> None:
    assert tuple(POLICIES) == ALL_TIES


def test_what_tells_the_policies_apart() -> None:
    assert set(WITHOUT_LABELS) == {"group", *ORDERS}
    assert set(NO_MEAN) == set(ALL_TIES) - {"expected"}
    assert BLOCKS == ("group",)
    assert "trec" in {ties for ties, policy in POLICIES.items() if policy.by_item}
