"""How systems stand: ties made and broken, systems without a genuine rate, and how sure the best one is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from totals import report_of_totals

PUBLISHED = {
    "amazon": (0.9217, 0.8124),
    "microsoft": (0.9593, 0.6589),
    "heroku": (0.9899, 0.6615),
    "stanford": (0.8613, 0.4989),
}
"""MR1.3 of Jiang et al. 2022: Heroku is best as reported, Amazon after correction."""


def compare(systems):
    """The entry of a relation under which systems have these observed and genuine rates."""
    rows = [
        {"task": "sentiment", "relation": "MR1.3", "system": name, "sr_observed": before,
         "fs_rate": None if after is None else 1 - after / (before or 1)}
        for name, (before, after) in systems.items()
    ]  # fmt: skip
    (relation,) = report_of_totals(rows, {"notes": []}, target="corpus")["relations"]
    return relation


@pytest.mark.parametrize(
    ("systems", "observed", "genuine", "best", "after", "changes"),
    [
        (PUBLISHED, ["heroku", "microsoft", "amazon", "stanford"], ["amazon", "heroku", "microsoft", "stanford"],
         ["heroku"], ["amazon"], (True, True)),
        ({"b": (1.0, 0.5), "a": (1.0, 0.9)}, ["a", "b"], ["a", "b"], ["a", "b"], ["a"], (True, False)),
        ({"a": (0.9, 0.5), "b": (0.8, 0.5)}, ["a", "b"], ["a", "b"], ["a"], ["a", "b"], (True, False)),
        ({"a": (0.3, 0.1), "b": (0.1 + 0.2, 0.1)}, ["a", "b"], ["a", "b"], ["a", "b"], ["a", "b"], (False, False)),
        # Without a genuine rate a may still have anything up to .9, but c cannot exceed its .2.
        ({"a": (0.9, None), "b": (0.8, 0.3), "c": (0.7, 0.5)}, ["a", "b", "c"], ["c", "b"], ["a"], [], (True, False)),
        ({"a": (0.9, 0.3), "b": (0.8, 0.5), "c": (0.2, None)}, ["a", "b", "c"], ["b", "a"], ["a"], ["b"], (True, True)),
        ({"a": (None, None)}, [], [], [], [], (False, False))
    ],
)  # fmt: skip
def test_orders_by_hand(systems, observed, genuine, best, after, changes):
    orders = compare(systems)
    assert (orders["order_observed"], orders["order_genuine"]) == (observed, genuine)
    assert (orders["best_observed"], orders["best_genuine"]) == (best, after)
    assert (orders["order_changes"], orders["best_changes"]) == changes


RATES = st.tuples(st.integers(0, 4), st.integers(0, 4)).map(lambda pair: (max(pair) / 4, min(pair) / 4))


@given(st.dictionaries(st.sampled_from("abcdef"), RATES, min_size=1))
def test_best_changes_exactly_where_the_best_share_nobody(systems):
    orders = compare(systems)
    assert orders["best_changes"] == (not set(orders["best_observed"]) & set(orders["best_genuine"]))
    assert not orders["best_changes"] or orders["order_changes"]
    assert sorted(orders["order_genuine"]) == sorted(systems)
    assert not compare({name: (before, before) for name, (before, _) in systems.items()})["order_changes"]
