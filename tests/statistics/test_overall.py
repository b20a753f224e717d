"""Totals over cells, worked by hand."""

import pandas as pd
import pytest

from audit.statistics.orders import compare_orders
from audit.statistics.overall import overall
from audit.statistics.rates import with_rates


def frame(*rows):
    names = ("relation", "system", "satisfied", "violated", "judged", "false", "waiting")
    cells = pd.DataFrame([dict(zip(names, row, strict=True)) for row in rows])
    return with_rates(cells.assign(task="sentiment", study="s", groups=cells["satisfied"] + cells["violated"]))


def test_rates_are_weighted_by_satisfied_groups():
    cells = frame(
        ("MR1.1", "a", 900, 100, 10, 1, 4), ("MR1.1", "b", 100, 900, 10, 5, 0), ("MR1.2", "a", 50, 0, 0, 0, 7)
    )
    orders = [compare_orders(group) for _, group in cells.groupby("relation")]
    found = overall(cells, orders)
    # False: 900 * 1/10 + 100 * 5/10 = 140 of 1000 satisfied; 2000 checked. MR1.2 has no estimate and is left out.
    assert found["fs_rate"] == pytest.approx(0.14)
    assert found["sr_observed"] == pytest.approx(0.5)
    assert found["sr_genuine"] == pytest.approx(0.43)
    assert (found["cells"], found["cells_estimated"], found["cells_waiting"]) == (3, 2, 2)
    assert (found["relations"], found["relations_compared"], found["systems"]) == (2, 1, 2)
    assert (found["satisfied"], found["judged"], found["false"]) == (1050, 20, 6)
    assert (found["waiting"], found["waiting_distinct"]) == (11, False)
    assert found["drawn"] is None


def test_distinct_waiting_questions_replace_the_sum():
    found = overall(frame(("MR1.1", "a", 9, 1, 0, 0, 4), ("MR1.1", "b", 9, 1, 0, 0, 4)), [], waiting=5)
    assert (found["waiting"], found["waiting_distinct"]) == (5, True)
    assert found["fs_rate"] is None
    assert found["fs_rate_median"] is None


def test_a_cell_without_satisfied_groups_counts_in_the_genuine_rate():
    found = overall(frame(("MR1.1", "a", 10, 0, 10, 5, 0), ("MR1.1", "b", 0, 10, 0, 0, 0)), [])
    assert found["fs_rate"] == pytest.approx(0.5)
    assert found["sr_genuine"] == pytest.approx(0.25)
    assert found["cells_estimated"] == 2
