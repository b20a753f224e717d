"""Questions that designs need: counted once however many groups share them, and never fewer than what is judged."""

import numpy as np
import pandas as pd

from audit.statistics.planning import (
    contest,
    distinct_questions,
    sizes_to_decide,
    standing,
)


def test_shared_questions_count_once():
    # Two cells with the same three sources in the same order, and a follow-up question in the second.
    lists = pd.DataFrame(
        {"cell": [0, 0, 0, 1, 1, 1, 1], "rank": [1, 2, 3, 1, 1, 2, 3], "question": [5, 6, 7, 5, 90, 6, 7]}
    )
    assert distinct_questions(lists, np.array([2, 2])) == (3, 0)
    assert distinct_questions(lists, np.array([3, 0]), np.array([6, 7])) == (3, 2)
    assert distinct_questions(lists.iloc[:0], np.array([2, 2])) == (0, 0)


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
