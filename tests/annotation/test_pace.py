"""Pace and pauses."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from question_world import add_people, asked

from audit.annotation.activity import PAUSE, STRETCH, Pace, pace_of, since_pause
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


def test_no_judgement_no_pace(engine):
    assert pace_of(engine, 1) == Pace(None, timedelta(0))


def test_fifty_minutes_without_a_pause_of_five_are_tiring(engine):
    judged(engine, *((minutes, 2, "neutral") for minutes in range(54, 0, -4)))  # from 54 to 2 minutes before noon
    pace = pace_of(engine, 1)
    assert pace.since_pause == timedelta(minutes=52)
    assert pace.tired


def test_a_pause_begins_the_count_anew(engine):
    judged(engine, *((minutes, 2, "neutral") for minutes in (70, 66, 62, 58, 40, 36, 32, 1)))
    assert pace_of(engine, 1).since_pause == timedelta(0)
    assert not pace_of(engine, 1).tired


@given(st.lists(st.integers(0, 600), max_size=60))
def test_the_stretch_is_what_a_walk_forwards_finds(gaps):
    moments, stretch = [NOON], timedelta(0)
    for gap in gaps:
        stretch = stretch + timedelta(seconds=gap) if timedelta(seconds=gap) < PAUSE else timedelta(0)
        moments.append(moments[-1] + timedelta(seconds=gap))
    assert since_pause(moments, moments[-1]) == stretch
    assert since_pause(moments, moments[-1] + PAUSE) == timedelta(0)
    assert Pace(None, stretch).tired == (stretch >= STRETCH)
