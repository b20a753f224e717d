"""What judging costs."""

import pytest

from audit.errors import AuditError
from audit.statistics.planning import Cost, cost


def test_worked_by_hand():
    # 300 questions x 2 people = 600 answers x 12 s = 7,200 s = 2 hours, at 15 an hour 30.
    assert cost(300, 2, pace=12, price_per_hour=15) == Cost(600, 2.0, 30.0)


def test_without_pace_or_price_they_are_unknown():
    assert cost(10) == Cost(20, None, None)
    assert cost(10, pace=3600) == Cost(20, 20.0, None)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"questions": -1}, "-1 questions"),
        ({"questions": 1, "annotators": 0}, "at least 1"),
        ({"questions": 1, "pace": 0}, "a pace of 0"),
        ({"questions": 1, "pace": float("nan")}, "a pace of nan"),
        ({"questions": 1, "pace": 6, "price_per_hour": -2}, "a price of -2"),
        ({"questions": 1, "price_per_hour": 20}, "needs a pace"),
    ],
)
def test_impossible_numbers_are_named(arguments, says):
    with pytest.raises(AuditError, match=says):
        cost(**arguments)
