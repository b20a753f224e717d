"""How systems stand: ties made and broken, systems without a genuine rate, and how sure the best one is."""

from hypothesis import given
from hypothesis import strategies as st
from totals import report_of_totals


def compare(**systems):
    """`compare(a=(observed, genuine), ...)`."""
    named = {"task": "sentiment", "relation": "MR1.3"}
    rows = [
        {
            **named,
            "system": name,
            "sr_observed": before,
            "fs_rate": None if after is None else 1 - after / (before or 1),
        }
        for name, (before, after) in systems.items()
    ]
    (relation,) = report_of_totals(rows, {"notes": []}, target="corpus")["relations"]
    return relation


def test_another_system_becomes_best():
    # MR1.3 of Jiang et al. 2022: Heroku is best as reported, Amazon after correction.
    orders = compare(
        amazon=(0.9217, 0.8124), microsoft=(0.9593, 0.6589), heroku=(0.9899, 0.6615), stanford=(0.8613, 0.4989)
    )
    assert orders["order_observed"] == ["heroku", "microsoft", "amazon", "stanford"]
    assert orders["order_genuine"] == ["amazon", "heroku", "microsoft", "stanford"]
    assert (orders["best_observed"], orders["best_genuine"]) == (["heroku"], ["amazon"])
    assert orders["order_changes"] is True
    assert orders["best_changes"] is True


def test_a_tie_broken_changes_the_order_but_not_the_best():
    orders = compare(b=(1.0, 0.5), a=(1.0, 0.9))
    assert orders["best_observed"] == ["a", "b"]
    assert orders["best_genuine"] == ["a"]
    assert orders["order_observed"] == orders["order_genuine"] == ["a", "b"]
    assert orders["order_changes"] is True
    assert orders["best_changes"] is False


def test_a_tie_made_changes_the_order():
    orders = compare(a=(0.9, 0.5), b=(0.8, 0.5))
    assert orders["best_genuine"] == ["a", "b"]
    assert orders["order_changes"] is True
    assert orders["best_changes"] is False


def test_rounding_does_not_break_a_tie():
    orders = compare(a=(0.3, 0.1), b=(0.1 + 0.2, 0.1))
    assert orders["best_observed"] == ["a", "b"]
    assert orders["order_changes"] is False


def test_a_system_without_genuine_rate_is_not_compared():
    orders = compare(a=(0.9, None), b=(0.8, 0.3), c=(0.7, 0.5))
    assert orders["order_observed"] == ["a", "b", "c"]
    assert orders["best_observed"] == ["a"]
    assert orders["order_genuine"] == ["c", "b"]
    assert orders["order_changes"] is True  # b and c
    assert orders["best_genuine"] == []  # a may still have anything up to .9
    assert orders["best_changes"] is False


def test_a_system_that_cannot_become_best_does_not_hide_who_is():
    # c has no genuine rate, but it cannot exceed its observed .2.
    orders = compare(a=(0.9, 0.3), b=(0.8, 0.5), c=(0.2, None))
    assert orders["best_genuine"] == ["b"]
    assert orders["best_changes"] is True


def test_nothing_known():
    orders = compare(a=(None, None))
    assert orders["order_observed"] == orders["best_genuine"] == []
    assert orders["best_changes"] is False


@given(
    st.dictionaries(
        st.sampled_from("abcdef"),
        st.tuples(st.integers(0, 4), st.integers(0, 4)).map(lambda pair: (max(pair), min(pair))),
        min_size=1,
    )
)
def test_best_changes_exactly_where_the_best_share_nobody(systems):
    orders = compare(**{name: (observed / 4, genuine / 4) for name, (observed, genuine) in systems.items()})
    assert orders["best_changes"] == (not set(orders["best_observed"]) & set(orders["best_genuine"]))
    assert not orders["best_changes"] or orders["order_changes"]
    assert orders["order_observed"][: len(orders["best_observed"])] == orders["best_observed"]
    assert sorted(orders["order_genuine"]) == sorted(systems)


@given(st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1), min_size=1))
def test_no_false_satisfaction_changes_nothing(systems):
    orders = compare(**{name: (rate, rate) for name, rate in systems.items()})
    assert orders["order_changes"] is False
    assert orders["best_changes"] is False
