"""Counts per cell and the queue of questions, on an imported run."""

import pytest
from conftest_rows import row
from sqlalchemy import select

from audit.errors import AuditError
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.questions import queue_length
from audit.judging.accounts import add_account
from audit.judging.adjudications import adjudicate
from audit.judging.judgements import judge
from audit.judging.labels import answer_with_gold
from audit.judging.queue import next_question
from audit.judging.samples import ask_next
from audit.sampling.samples import SampleOptions
from audit.store import table_of, tables


def texts_in_queue(engine):
    question, input_table = table_of(tables.Question), table_of(tables.Input)
    query = (
        select(input_table.c.texts)
        .join(question, question.c.input_id == input_table.c.id)
        .where(question.c.priority.is_not(None))
    )
    with engine.connect() as connection:
        return sorted(row[0][0] for row in connection.execute(query))


def cell(engine, relation="MR1.1", system="a", whose="both"):
    cells = count(engine, whose).cells
    return cells[(cells["relation"] == relation) & (cells["system"] == system)].iloc[0]


GOLDEN = [
    row("good 1", "good one", ["positive", "positive"], gold="positive"),
    row("bad 2", "bad two", ["positive", "positive"], gold="negative"),
    row("bad 3", "bad three", ["negative", "negative"], gold="negative"),
    row("bad 4", "bad four", ["negative", "positive"], "violated", gold="negative"),
    row("so 5", "so five", ["neutral", "neutral"], "inapplicable", gold="negative"),
]


def test_gold_settles_a_carrying_relation(build):
    engine = build(GOLDEN)
    ask_next(engine, SampleOptions(10))
    assert queue_length(engine).waiting == 3
    assert cell(engine)["judged"] == 0
    assert cell(engine)["waiting"] == 3
    gilded = answer_with_gold(engine)
    assert (gilded.questions, gilded.answered, gilded.added) == (5, 5, 5)  # whether anybody was asked or not
    assert queue_length(engine).waiting == 0
    counts = cell(engine)
    assert dict(counts[["groups", "satisfied", "violated", "inapplicable", "errors"]]) == {
        "groups": 5,
        "satisfied": 3,
        "violated": 1,
        "inapplicable": 1,
        "errors": 0,
    }
    assert dict(counts[["drawn", "judged", "false", "waiting"]]) == {"drawn": 3, "judged": 3, "false": 1, "waiting": 0}
    assert answer_with_gold(engine).added == 0


def test_gold_is_kept_apart_from_people(build):
    engine = build(GOLDEN)
    ask_next(engine, SampleOptions(10))
    answer_with_gold(engine)
    assert cell(engine, whose="gold")["judged"] == 3
    assert cell(engine, whose="people")["judged"] == 0


def test_contradictory_gold_answers_nothing(build):
    rows = [
        row("same", "same one", ["positive", "positive"], gold="positive", id="x"),
        row("same", "same two", ["positive", "positive"], gold="negative", id="y"),
    ]
    engine = build(rows)
    ask_next(engine, SampleOptions(10))
    gilded = answer_with_gold(engine)
    assert (gilded.answered, gilded.contradictory) == (0, 1)
    assert texts_in_queue(engine) == ["same"]


def test_one_answer_settles_groups_of_every_system_and_relation(build):
    rows = [
        row("it's good", "it is good", ["positive", "positive"], system="a", gold="positive"),
        row("it's good", "it is good", ["negative", "negative"], system="b", gold="positive"),
        row("it's good", "IT'S GOOD", ["positive", "positive"], relation="MR3.1", system="a", gold="positive"),
    ]
    engine = build(rows)
    ask_next(engine, SampleOptions(10))
    assert queue_length(engine).waiting == 1
    answer_with_gold(engine)
    cells = count(engine).cells.set_index(["relation", "system"])
    assert cells["judged"].to_list() == [1, 1, 1]
    assert cells.loc[("MR1.1", "b"), "false"] == 1
    assert cells["false"].sum() == 1


@pytest.fixture
def people(build):
    """A run of a relation that carries nothing, drawn, with two annotators and an adjudicator."""
    engine = build(
        [
            row("It is good.", "It is not good.", ["positive", "negative"], relation="MR2.2", system="a"),
            row("It is good.", "It is not good.", ["negative", "positive"], relation="MR2.2", system="b"),
        ]
    )
    ask_next(engine, SampleOptions(10))
    accounts = {
        name: add_account(engine, name, role, "long enough").id
        for name, role in (("ann", "annotator"), ("bob", "annotator"), ("ada", "adjudicator"))
    }
    return engine, accounts


def answer_all(engine, account, labels):
    """Answer what the queue gives this account; `labels` by text. Returns the texts in the order they came."""
    seen = []
    while shown := next_question(engine, account):
        judge(engine, account, shown.id, labels[shown.texts[0]])
        seen.append(shown.texts[0])
    return seen


def test_two_people_who_agree_settle_both_systems(people):
    engine, who = people
    labels = {"It is good.": "positive", "It is not good.": "negative"}
    assert sorted(answer_all(engine, who["ann"], labels)) == sorted(labels)
    assert cell(engine, "MR2.2", "a")["judged"] == 0
    answer_all(engine, who["bob"], labels)
    assert dict(cell(engine, "MR2.2", "a")[["judged", "false", "waiting"]]) == {"judged": 1, "false": 0, "waiting": 0}
    assert dict(cell(engine, "MR2.2", "b")[["judged", "false", "waiting"]]) == {"judged": 1, "false": 1, "waiting": 0}
    assert texts_in_queue(engine) == []


def test_a_dispute_waits_for_the_adjudicator(people):
    engine, who = people
    answer_all(engine, who["ann"], {"It is good.": "positive", "It is not good.": "negative"})
    answer_all(engine, who["bob"], {"It is good.": "neutral", "It is not good.": "negative"})
    assert cell(engine, "MR2.2", "a")["judged"] == 0
    question = table_of(tables.Question)
    with engine.connect() as connection:
        ids = [row[0] for row in connection.execute(select(question.c.id).where(question.c.priority.is_not(None)))]
    assert len(ids) == 1
    adjudicate(engine, who["ada"], ids[0], ["positive", "neutral"], "both can be meant")
    assert dict(cell(engine, "MR2.2", "a")[["judged", "false"]]) == {"judged": 1, "false": 0}


def test_an_unknown_study_is_said(build):
    engine = build(GOLDEN)
    with pytest.raises(AuditError, match="no study 7"):
        count(engine, study=7)
