"""Which labels are taken for each other."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from audit.statistics.agreement import Ratings, label_pairs


def test_pairs_counted_by_hand():
    # Item 1: x, x, y gives xx once, xy twice; item 2: y, z gives yz; item 3 has one rating. Each in both directions.
    rows = [(1, "a", "x"), (1, "b", "x"), (1, "c", "y"), (2, "a", "y"), (2, "b", "z"), (3, "a", "z")]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "label"])
    assert label_pairs(Ratings.of(frame, ["x", "y", "z"])).tolist() == [[2, 2, 0], [2, 0, 1], [0, 1, 0]]


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abcd"), st.sampled_from("xyz")), min_size=1,
                  unique_by=lambda row: row[:2]))  # fmt: skip
def test_it_is_symmetric_and_counts_every_ordered_pair_once(rows):
    ratings = Ratings.of(pd.DataFrame(rows, columns=["item", "annotator", "label"]), list("xyz"))
    matrix = label_pairs(ratings)
    assert (matrix == matrix.T).all()
    assert matrix.min() >= 0
    assert matrix.sum() == int((ratings.per_item * (ratings.per_item - 1)).sum())
    assert (np.diag(matrix) % 2 == 0).all()
