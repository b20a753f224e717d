"""Totals over cells, worked by hand."""

import pandas as pd
import pytest

from audit.statistics.orders import compare_orders
from audit.statistics.rates import overall, with_rates


def frame(*rows):
    names = ("relation", "system", "satisfied", "violated", "judged", "false", "waiting")
    cells = pd.DataFrame([dict(zip(names, row, strict=True)) for row in rows])
    return with_rates(cells.assign(task="sentiment", study="s", groups=cells["satisfied"] + cells["violated"]))


def test_totals_and_changes_are_counted():
    cells = frame(
        ("MR1.1", "a", 900, 100, 10, 1, 4), ("MR1.1", "b", 100, 900, 10, 5, 0), ("MR1.2", "a", 50, 0, 0, 0, 7)
    )
    orders = [compare_orders(group) | {"best_changes_sure": False} for _, group in cells.groupby("relation")]
    totals = overall(cells, orders)
    assert (totals["cells"], totals["cells_estimated"], totals["cells_waiting"]) == (3, 2, 2)
    assert (totals["relations"], totals["relations_compared"], totals["systems"]) == (2, 1, 2)
    assert (totals["satisfied"], totals["judged"], totals["false"]) == (1050, 20, 6)
    assert (totals["waiting"], totals["waiting_distinct"]) == (11, False)
    assert totals["drawn"] is None


def test_distinct_waiting_questions_replace_the_sum():
    totals = overall(frame(("MR1.1", "a", 9, 1, 0, 0, 4), ("MR1.1", "b", 9, 1, 0, 0, 4)), [], waiting=5)
    assert (totals["waiting"], totals["waiting_distinct"]) == (5, True)


@pytest.mark.parametrize(
    ("changes", "counts"),
    [([(True, True), (True, False), (False, False)], (1, 1, 2)), ([], (0, 0, 0)), ([(False, False)], (0, 0, 0))],
)
def test_sure_changes_are_told_from_open_ones(changes, counts):
    orders = {"order_observed": ["a", "b"], "order_genuine": ["a", "b"], "order_changes": False}
    relations = [orders | {"best_changes": looks, "best_changes_sure": sure} for looks, sure in changes]
    totals = overall(frame(("MR1.1", "a", 10, 0, 10, 5, 0)), relations)
    assert tuple(totals[f"best_changes_{name}"] for name in ("sure", "open", "estimated")) == counts
