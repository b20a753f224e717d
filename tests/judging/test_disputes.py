"""Disputes: what people said is shown without names, and decisions change."""

import pytest
from disputing import disputed
from question_world import add_people

from audit.errors import Refused
from audit.judging.adjudications import (
    adjudicate,
    change_adjudication,
    disputes,
    my_adjudications,
    opinions,
)
from audit.judging.judgements import flag_answer, judge
from audit.judging.queue import next_question
from audit.store import open_store, table_of, tables

PEOPLE = ("ann", "bob", "cyd")


@pytest.fixture
def engine(tmp_path):
    """Twelve questions that want three answers each."""
    engine = open_store(str(tmp_path / "a.db"), create=True)
    with engine.begin() as connection:
        for number in range(1, 13):
            input_row = {"id": number, "key": bytes([number]) * 16, "texts": [f"Film {number}."], "languages": "en"}
            connection.execute(table_of(tables.Input).insert(), input_row)
            row = {"key": bytes([number]) * 16, "task": "sentiment", "kind": "input", "input_id": number}
            connection.execute(table_of(tables.Question).insert(), row | {"annotators": 3, "priority": number})
    return engine


@pytest.fixture
def who(engine):
    roles = dict.fromkeys(PEOPLE, "annotator") | {"ada": "adjudicator", "eve": "adjudicator", "mia": "manager"}
    return add_people(engine, roles)


def say(engine, who, answers, comment=None):
    """Everybody answers the question that is first in the queue."""
    for name, answer in zip(PEOPLE, answers, strict=True):
        shown = next_question(engine, who[name])
        judge(engine, who[name], shown.id, answer, comment=comment)
    return shown.id


def count(engine, model):
    with engine.connect() as connection:
        return len(connection.execute(table_of(model).select()).all())


def test_disputed_are_full_questions_that_votes_do_not_settle(engine, who):
    agreed = say(engine, who, ["positive"] * 3)
    assert say(engine, who, ["positive", "positive", "negative"]) not in disputes(engine, who["ada"])
    split = say(engine, who, ["positive", "neutral", "negative"])
    unsure = say(engine, who, ["unsure"] * 3)
    judge(engine, who["ann"], next_question(engine, who["ann"]).id, "positive")
    assert disputes(engine, who["ada"]) == [split, unsure]
    assert agreed not in disputes(engine, who["mia"])
    assert [dispute.shown.id for dispute in disputed(engine, who["ada"])] == [split, unsure]
    adjudicate(engine, who["ada"], unsure, ["neutral"], "", "ambiguous_text")
    assert disputes(engine, who["ada"]) == [split]


def test_opinions_have_no_names_and_no_order_of_accounts_or_time(engine, who):
    orders = set()
    for _ in range(12):
        id = say(engine, who, ["positive", "neutral", "negative"], "because of *that*")
        stated = opinions(engine, who["ada"], id)
        assert [opinion.number for opinion in stated] == [1, 2, 3]
        assert {opinion.comment for opinion in stated} == {"because of *that*"}
        assert opinions(engine, who["ada"], id) == stated  # the same each time
        orders.add(tuple(opinion.answer for opinion in stated))
    # Of the six orders, twelve questions have several: an order tells nothing of who is who on the next question.
    assert len(orders) >= 3
    assert not any(name in str(stated) for name in PEOPLE)


def test_a_decision_is_changed_by_a_new_row(engine, who):
    id = say(engine, who, ["positive", "neutral", "negative"])
    first = adjudicate(engine, who["ada"], id, ["neutral"], "", "slip")
    second = change_adjudication(engine, who["ada"], first, ["negative", "positive"], "two halves", "mixed_opinion")
    (decision,) = my_adjudications(engine, who["ada"])
    assert (decision.id, decision.allowed, decision.code, decision.reason) == (
        second,
        ("positive", "negative"),
        "mixed_opinion",
        "two halves",
    )
    assert count(engine, tables.Adjudication) == 2
    with engine.connect() as connection:
        (answer,) = connection.execute(table_of(tables.Answer).select()).mappings().all()
    assert answer["allowed"] == ["negative", "positive"]


def test_what_somebody_else_settled_since_is_not_changed(engine, who):
    id = say(engine, who, ["positive", "neutral", "negative"])
    own = adjudicate(engine, who["ada"], id, ["neutral"], "", "slip")
    with pytest.raises(Refused, match="not one of your last 10"):
        change_adjudication(engine, who["eve"], own, ["positive"], "", "slip")
    flag_answer(engine, who["ann"], id, "it is not")
    adjudicate(engine, who["eve"], id, ["positive"], "", "slip")
    assert my_adjudications(engine, who["ada"]) == []
    with pytest.raises(Refused, match="not one of your last 10"):
        change_adjudication(engine, who["ada"], own, ["negative"], "", "slip")
    assert count(engine, tables.Adjudication) == 2


def test_what_is_settled_is_settled_again_only_when_somebody_flags_it(engine, who):
    id = say(engine, who, ["positive", "neutral", "negative"])
    settled = adjudicate(engine, who["ada"], id, ["neutral"], "", "slip")
    assert adjudicate(engine, who["ada"], id, ["neutral"], "", "slip") == settled  # a request that was sent twice
    with pytest.raises(Refused, match="settled that question meanwhile"):
        adjudicate(engine, who["eve"], id, ["positive"], "", "slip")
    flag_answer(engine, who["ann"], id, "it is not")
    adjudicate(engine, who["eve"], id, ["positive"], "", "slip")
    assert count(engine, tables.Adjudication) == 2
