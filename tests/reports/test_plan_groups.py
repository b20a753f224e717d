"""What a plan reads of a database: the questions of groups."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from audit.reports.plan import questions_of


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(0, 9))),
    st.lists(st.tuples(st.integers(0, 12), st.integers(1, 3))),
)
def test_the_questions_of_some_groups_are_those_of_their_rows(rows, groups):
    group_questions = pd.DataFrame(sorted(rows), columns=["group_id", "system_id", "question"], dtype=np.int64)
    wanted = {
        question for group, system, question in rows for id, owner in groups if group == id and system in (0, owner)
    }
    places = np.array(groups, np.int64).reshape(-1, 2)
    assert questions_of(group_questions, places[:, 0], places[:, 1]) == wanted
