"""Orders before and after correction: ties made and broken, and systems without a genuine rate."""

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from audit.statistics.orders import compare_orders


def compare(**systems):
    """`compare(a=(observed, genuine), ...)`."""
    rows = [{"system": name, "sr_observed": pair[0], "sr_genuine": pair[1]} for name, pair in systems.items()]
    return compare_orders(pd.DataFrame(rows, columns=["system", "sr_observed", "sr_genuine"]))


def test_another_system_becomes_best():
    # MR1.3 of Jiang et al. 2022: Heroku is best as reported, Amazon after correction.
    found = compare(
        amazon=(0.9217, 0.8124), microsoft=(0.9593, 0.6589), heroku=(0.9899, 0.6615), stanford=(0.8613, 0.4989)
    )
    assert found["order_observed"] == ["heroku", "microsoft", "amazon", "stanford"]
    assert found["order_genuine"] == ["amazon", "heroku", "microsoft", "stanford"]
    assert (found["best_observed"], found["best_genuine"]) == (["heroku"], ["amazon"])
    assert found["order_changes"] is True
    assert found["best_changes"] is True


def test_a_tie_broken_changes_the_order_but_not_the_best():
    found = compare(b=(1.0, 0.5), a=(1.0, 0.9))
    assert found["best_observed"] == ["a", "b"]
    assert found["best_genuine"] == ["a"]
    assert found["order_observed"] == found["order_genuine"] == ["a", "b"]
    assert found["order_changes"] is True
    assert found["best_changes"] is False


def test_a_tie_made_changes_the_order():
    found = compare(a=(0.9, 0.5), b=(0.8, 0.5))
    assert found["best_genuine"] == ["a", "b"]
    assert found["order_changes"] is True
    assert found["best_changes"] is False


def test_rounding_does_not_break_a_tie():
    found = compare(a=(0.3, 0.1), b=(0.1 + 0.2, 0.1))
    assert found["best_observed"] == ["a", "b"]
    assert found["order_changes"] is False


def test_a_system_without_genuine_rate_is_not_compared():
    found = compare(a=(0.9, None), b=(0.8, 0.3), c=(0.7, 0.5))
    assert found["order_observed"] == ["a", "b", "c"]
    assert found["best_observed"] == ["a"]
    assert found["order_genuine"] == ["c", "b"]
    assert found["order_changes"] is True  # b and c
    assert found["best_genuine"] == []  # a may still have anything up to .9
    assert found["best_changes"] is False


def test_a_system_that_cannot_become_best_does_not_hide_who_is():
    # c has no genuine rate, but it cannot exceed its observed .2.
    found = compare(a=(0.9, 0.3), b=(0.8, 0.5), c=(0.2, None))
    assert found["best_genuine"] == ["b"]
    assert found["best_changes"] is True


def test_nothing_known():
    found = compare(a=(None, None))
    assert found["order_observed"] == found["best_genuine"] == []
    assert found["best_changes"] is False
    assert compare()["order_changes"] is False


@given(st.dictionaries(st.sampled_from("abcdef"), st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1))
def test_best_changes_exactly_where_the_best_share_nobody(systems):
    found = compare(**{name: (one / 4, other / 4) for name, (one, other) in systems.items()})
    assert found["best_changes"] == (not set(found["best_observed"]) & set(found["best_genuine"]))
    assert not found["best_changes"] or found["order_changes"]
    assert found["order_observed"][: len(found["best_observed"])] == found["best_observed"]
    assert sorted(found["order_genuine"]) == sorted(systems)


@given(st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1), min_size=1))
def test_no_false_satisfaction_changes_nothing(systems):
    found = compare(**{name: (rate, rate) for name, rate in systems.items()})
    assert found["order_changes"] is False
    assert found["best_changes"] is False
