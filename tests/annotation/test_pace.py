"""Pace and pauses."""

from datetime import UTC, datetime, timedelta

import pytest
from question_world import add_people, asked

from audit.annotation.activity import Pace, pace_of
from audit.store import table_of, tables

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.fixture
def engine(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "now", lambda: NOON)
    engine = asked(tmp_path / "audit.db", ["Good."])
    add_people(engine, {"ann": "annotator", "bob": "annotator"})
    return engine


def judged(engine, *rows, annotator=1):
    """Judgements as (minutes before noon, seconds that it took or None, answer)."""
    ids = []
    for minutes, took, answer in rows:
        decided = NOON - timedelta(minutes=minutes)
        shown = None if took is None else decided - timedelta(seconds=took)
        ids.append(
            {"question_id": 1, "annotator_id": annotator, "round": 1, "answer": answer, "guideline": 1,
             "shown_at": shown, "decided_at": decided}
        )  # fmt: skip
    with engine.begin() as connection:
        connection.execute(table_of(tables.Judgement).insert(), ids)


def test_the_median_is_of_today_and_of_what_was_shown(engine):
    # 3, 5 and 20 s: the median is 5; yesterday's, a withdrawal, another's and one without shown-at do not count.
    judged(engine, (13 * 60, 99, "positive"), (60, 3, "neutral"), (50, 20, "unsure"), (40, 5, "negative"))
    judged(engine, (30, None, "positive"), (20, None, "withdrawn"))
    judged(engine, (10, 77, "positive"), annotator=2)
    assert pace_of(engine, 1) == Pace(5.0, timedelta(0))


def test_fifty_minutes_without_a_pause_of_five_are_tiring(engine):
    judged(engine, *((minutes, 2, "neutral") for minutes in range(54, 0, -4)))  # from 54 to 2 minutes before noon
    pace = pace_of(engine, 1)
    assert pace.since_pause == timedelta(minutes=52)
    assert pace.tired
