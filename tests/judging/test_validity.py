"""The validity study: what is drawn, asked and rated, in the queue, and what never comes of it."""

import pytest
from sqlalchemy import func, select

from audit.errors import Refused
from audit.exchange.doctor import doctor
from audit.judging.accounts import add_account
from audit.judging.activity import overview
from audit.judging.adjudications import disputes
from audit.judging.judgements import flag, judge
from audit.judging.queue import next_question, queue_of
from audit.judging.samples import draw_validity, end_validity
from audit.judging.unit import rebuild
from audit.sampling.validity import ValidityRequest
from audit.store import open_store
from audit.store.core import answer, question
from audit.tasks.questions import SCALES

FIRST = ValidityRequest(per_relation=4, first=True)


@pytest.fixture
def engine(judged):
    return open_store(judged)


def rated(engine, rating=lambda text: ("5", "5"), name="carla"):
    """Let somebody rate (plausibility, grammaticality) every drawn text."""
    person = add_account(engine, name, "annotator", "long enough").id
    while (shown := next_question(engine, person)) is not None and shown.kind in SCALES:
        judge(engine, person, shown.id, rating(shown.texts[0])[shown.kind == "grammaticality"])


def count(engine, table, *conditions):
    with engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(table).where(*conditions)).scalar_one()


def sound(engine):
    return [check for check in doctor(str(engine.url.database)) if not check.ok]


def test_both_scales_of_a_text_come_one_after_the_other_and_say_nothing_of_its_origin(engine):
    draw_validity(engine, FIRST)
    person = add_account(engine, "cleo", "annotator", "long enough").id
    asked = []
    for _ in range(24):
        shown = next_question(engine, person)
        assert (shown.group, shown.output, shown.labels) == (None, None, ("1", "2", "3", "4", "5"))
        asked.append((shown.kind, shown.texts))
        judge(engine, person, shown.id, "4")
    assert [kind for kind, _ in asked] == ["grammaticality", "plausibility"] * 12
    assert [texts for _, texts in asked[::2]] == [texts for _, texts in asked[1::2]]
    originals = [not texts[0].count(",") for _, texts in asked[::2]]
    assert originals != sorted(originals), "originals and follow-ups are mixed"
    assert originals != sorted(originals, reverse=True)
    after = next_question(engine, person)
    assert after is None or after.kind not in SCALES


@pytest.mark.slow
def test_ratings_settle_nothing_and_dispute_nothing(engine):
    before = count(engine, answer), overview(engine)
    draw_validity(engine, FIRST)
    people = [add_account(engine, name, "annotator", "long enough").id for name in ("p", "q", "r")]
    ada = add_account(engine, "ida", "adjudicator", "long enough").id
    open_before = disputes(engine, ada)
    for person, rating in zip(people, ("1", "5", "unsure"), strict=True):
        for _ in range(24):
            judge(engine, person, next_question(engine, person).id, rating)
    assert count(engine, question, question.c.kind.in_(SCALES), question.c.filled.is_(True)) == 24
    assert (count(engine, answer), disputes(engine, ada)) == (before[0], open_before)
    after = overview(engine)
    assert (after.filled, after.split, after.disputed) == (before[1].filled, before[1].split, before[1].disputed)
    rebuild(engine)
    assert count(engine, answer) == before[0]
    assert sound(engine) == []


def test_a_rating_is_not_flagged_and_a_study_that_ends_takes_its_questions_away_and_keeps_its_ratings(engine):
    person = add_account(engine, "cleo", "annotator", "long enough").id
    left = queue_of(engine, person).left_for_me
    draw_validity(engine, FIRST)
    assert queue_of(engine, person).left_for_me == left + 24
    shown = next_question(engine, person)
    with pytest.raises(Refused, match="a rating cannot be flagged"):
        flag(engine, person, shown.id, "look at this")
    with pytest.raises(Refused, match="1, 2, 3, 4, 5, unsure"):
        judge(engine, person, shown.id, "6")
    rated(engine)
    assert (end_validity(engine), end_validity(engine)) == (1, 0)
    assert queue_of(engine, person).left_for_me == left
    assert sound(engine) == []
    draw_validity(engine, FIRST)
    assert queue_of(engine, person).left_for_me == left + 24
