"""An adjudicator takes decisions back: the question waits again, and the history keeps both."""

import pytest
from question_world import asked, rows
from sqlalchemy import select

from audit.errors import NotAllowed, Refused
from audit.judging.adjudications import adjudicate, disputes, my_adjudications, take_back
from audit.judging.answers import stands
from audit.judging.judgements import flag_answer, judge
from audit.judging.queue import next_question
from audit.store import table_of, tables


@pytest.fixture
def engine(tmp_path):
    """Fourteen questions for two annotators each."""
    return asked(tmp_path / "audit.db", [f"Text number {number}." for number in range(1, 15)])


def both(engine, who, first, second):
    """The question that ann and bob answer next."""
    for name, answer in (("ann", first), ("bob", second)):
        id = next_question(engine, who[name]).id
        judge(engine, who[name], id, answer)
    return id


def test_a_decision_is_taken_back_and_the_dispute_is_open_again(engine, who):
    id = both(engine, who, "positive", "negative")
    adjudicate(engine, who["ada"], id, ["neutral"], "", "slip")
    assert disputes(engine, who["ada"]) == []
    before = take_back(engine, who["ada"])
    assert (before.shown.id, before.allowed, before.code) == (id, ("neutral",), "slip")
    assert disputes(engine, who["ada"]) == [id]
    assert my_adjudications(engine, who["ada"]) == []
    assert [row["allowed"] for row in rows(engine, tables.Adjudication)] == [["neutral"], []]
    with engine.connect() as connection:
        adjudication = table_of(tables.Adjudication)
        assert connection.execute(select(adjudication.c.id).where(stands(adjudication))).all() == []
    assert take_back(engine, who["ada"]) is None
    assert len(rows(engine, tables.Adjudication)) == 2


def test_what_somebody_else_has_settled_since_stays(engine, who):
    id = both(engine, who, "positive", "negative")
    adjudicate(engine, who["ada"], id, ["neutral"], "", "slip")
    flag_answer(engine, who["ann"], id, "it is not")
    adjudicate(engine, who["mia"], id, ["positive"], "", "slip")
    assert take_back(engine, who["ada"]) is None
    assert [row["allowed"] for row in rows(engine, tables.Adjudication)] == [["neutral"], ["positive"]]
    with pytest.raises(NotAllowed):
        take_back(engine, who["ann"])


def test_what_is_settled_is_settled_again_only_when_somebody_flags_it(engine, who):
    id = both(engine, who, "positive", "negative")
    settled = adjudicate(engine, who["ada"], id, ["neutral"], "", "slip")
    assert adjudicate(engine, who["ada"], id, ["neutral"], "", "slip") == settled  # a request that was sent twice
    with pytest.raises(Refused, match="settled that question meanwhile"):
        adjudicate(engine, who["mia"], id, ["positive"], "", "slip")
    flag_answer(engine, who["ann"], id, "it is not")
    adjudicate(engine, who["mia"], id, ["positive"], "", "slip")
    assert [row["allowed"] for row in rows(engine, tables.Adjudication)] == [["neutral"], ["positive"]]
