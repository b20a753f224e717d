"""Questions that designs need: counted once however many groups share them, and never fewer than what is judged."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.statistics.planning import (
    contest,
    distinct_questions,
    equal_sizes,
    sizes_by_design,
    sizes_for_half_width,
    sizes_to_decide,
    standing,
)


def cells(*rows):
    return pd.DataFrame(rows, columns=["satisfied", "judged", "false"])


def test_shared_questions_count_once():
    # Two cells with the same three sources in the same order, and a follow-up question in the second.
    lists = pd.DataFrame(
        {"cell": [0, 0, 0, 1, 1, 1, 1], "rank": [1, 2, 3, 1, 1, 2, 3], "question": [5, 6, 7, 5, 90, 6, 7]}
    )
    assert distinct_questions(lists, np.array([2, 2])) == (3, 0)
    assert distinct_questions(lists, np.array([3, 0]), np.array([6, 7])) == (3, 2)
    assert distinct_questions(lists.iloc[:0], np.array([2, 2])) == (0, 0)


def test_before_the_work_the_guess_is_planned_for():
    designs = sizes_by_design(cells((5000, 0, 0)), 0.05, guess=0.3)
    assert designs["two-phase"][0].tolist() == sizes_for_half_width([0.3], [5000], 0.05).tolist()
    assert designs["simple"][0].tolist() == sizes_for_half_width([0.5], [5000], 0.05).tolist()


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 100), st.integers(0, 100)), min_size=1, max_size=5))
def test_no_design_takes_groups_back_or_more_than_there_are(rows):
    frame = cells(*((size, min(n, size), min(k, n, size)) for size, n, k in rows))
    for expected, worst in sizes_by_design(frame, 0.1).values():
        for sizes in (expected, worst):
            assert (sizes >= frame["judged"]).all()
            assert (sizes <= frame["satisfied"]).all()


def test_what_is_known_changes_the_plan():
    few, many = (sizes_by_design(cells((5000, 60, k)), 0.05)["two-phase"][0][0] for k in (3, 30))
    assert few < many


def test_equal_allocation_knows_nothing_of_the_gaps():
    # Two comparisons at 2.5 % each: z = 1.96; highest SR_o .9 and .8: (1.96 / .02)^2 (.81 + .64) / 4 = 3481.3.
    assert equal_sizes([0.9, 0.8, 0.1], [10**9] * 3, "winner", 0.02).tolist() == [3482] * 3
    assert equal_sizes([0.9, 0.8], [100, 5], "order", 0.02).tolist() == [97, 5]


def test_a_decided_contest_needs_no_more_and_an_open_one_some():
    comparison = contest(np.ones((3000, 2)), np.tile([0, 1], (3000, 1)))
    clear, even = [1.0, 1.0, 0.0] * 20, [1.0, -1.0] * 30
    for seen, more in ((clear, False), (even, True)):
        at = standing(comparison, [seen])
        sizes = sizes_to_decide(comparison, at, [60], "winner")
        assert at.decided is not more
        for expected, worst in sizes.values():
            assert (expected > 60) is more
            assert expected <= worst <= 3000


def test_bad_input_is_named():
    with pytest.raises(AuditError, match="lack the column"):
        sizes_by_design(pd.DataFrame({"satisfied": [1]}), 0.05)
    with pytest.raises(AuditError, match="guessed rate of 2"):
        sizes_by_design(cells((10, 0, 0)), 0.05, guess=2)
    with pytest.raises(AuditError, match=r"half-width of 0\.7"):
        sizes_by_design(cells((10, 0, 0)), 0.7)
