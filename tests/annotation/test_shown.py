"""The protocol `shown`: one after the other, each seeing what counted before; blind questions show nobody's answer."""

from datetime import timedelta

import pytest
from question_world import rows

from audit.annotation.accounts import add_account
from audit.annotation.answers import WITHDRAWN
from audit.annotation.questions import Wanted, open_questions
from audit.annotation.queue import Earlier, Elsewhere, elsewhere, next_question, queue_of
from audit.errors import NotAllowed, Refused
from audit.judging.adjudications import inspect, inspections_left, next_inspection
from audit.judging.judgements import judge, undo
from audit.judging.labels import gold_id
from audit.store import input_ids, open_store, table_of, tables
from audit.tasks import Input

PASSWORD = "long enough"


@pytest.fixture
def engine(tmp_path):
    """Two questions: the first `shown`, for three people; the second `blind`, for two."""
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    wants(engine, ("It is good.", 1, 3, "shown"), ("It is bad.", 2, 2, "blind"))
    return engine


def wants(engine, *wishes):
    inputs = [Input.of(text) for text, *_ in wishes]
    with engine.begin() as connection:
        ids = input_ids(connection, inputs)
        wanted = [
            Wanted(ids[wanted_text.key], wanted_text.key, rank, annotators=people, protocol=protocol)
            for wanted_text, (_, rank, people, protocol) in zip(inputs, wishes, strict=True)
        ]
        open_questions(connection, "sentiment", wanted, annotators=2)


def saw(engine):
    return [row["saw"] for row in rows(engine, tables.Judgement)]


def shown_id(engine, account):
    shown = next_question(engine, account)
    return None if shown is None else shown.id


def test_one_answers_at_a_time_and_the_next_sees_what_counted_before(engine, who):
    first = next_question(engine, who["ann"])
    assert (first.id, first.earlier) == (1, ())
    # Nobody else may take it while ann looks at it, although three are wanted.
    assert shown_id(engine, who["bob"]) == 2
    judge(engine, who["ann"], 1, "positive", comment="clearly")
    with pytest.raises(Refused, match="not leased to you"):
        judge(engine, who["bob"], 1, "negative")
    judge(engine, who["bob"], 2, "negative")
    second = next_question(engine, who["bob"])
    assert (second.id, second.earlier) == (1, (Earlier("positive", "clearly"),))
    judge(engine, who["bob"], 1, "neutral")
    third = next_question(engine, who["cy"])
    assert third.earlier == (Earlier("positive", "clearly"), Earlier("neutral", None))
    judge(engine, who["cy"], 1, "positive")
    assert [(row["question_id"], row["saw"]) for row in rows(engine, tables.Judgement)] == [
        (1, None), (2, None), (1, 1), (1, 3),
    ]  # fmt: skip


def test_a_blind_question_shows_nothing_of_others(engine, who):
    for name in ("ann", "bob"):
        while (shown := next_question(engine, who[name])) is not None:
            assert shown.earlier == () or shown.id == 1
            judge(engine, who[name], shown.id, "positive", comment="secret")
    assert saw(engine) == [None, None, 1, None]


def test_nobody_validates_themselves(engine, who):
    next_question(engine, who["ann"])
    judge(engine, who["ann"], 1, "positive")
    assert shown_id(engine, who["ann"]) == 2
    judge(engine, who["ann"], 2, "positive")
    assert shown_id(engine, who["ann"]) is None


def test_an_answer_is_refused_when_what_was_shown_has_changed(engine, who):
    next_question(engine, who["ann"])
    judge(engine, who["ann"], 1, "positive")
    assert next_question(engine, who["bob"]).earlier
    # A manager lets ann's answer go stale while bob looks at it.
    row = {"question_id": 1, "annotator_id": who["ann"], "answer": WITHDRAWN, "guideline": 1, "round": 1,
           "decided_at": tables.now(), "supersedes": 1, "withdrawn_by": who["mia"]}  # fmt: skip
    with engine.begin() as connection:
        connection.execute(table_of(tables.Judgement).insert(), row)
    with pytest.raises(Refused, match="what others answered to this question has changed"):
        judge(engine, who["bob"], 1, "positive")
    assert len(rows(engine, tables.Judgement)) == 2
    # Shown again it is another question: nothing counts any more, so bob answers first.
    assert next_question(engine, who["bob"]).earlier == ()
    judge(engine, who["bob"], 1, "negative")
    assert saw(engine) == [None, None, None]


def test_undoing_takes_the_question_from_whoever_looks_at_the_answer(engine, who):
    next_question(engine, who["ann"])
    judge(engine, who["ann"], 1, "positive")
    assert next_question(engine, who["bob"]).id == 1
    assert undo(engine, who["ann"]) == 1
    with pytest.raises(Refused, match="not leased to you"):
        judge(engine, who["bob"], 1, "positive")
    assert shown_id(engine, who["bob"]) == 2
    judge(engine, who["ann"], 1, "negative")
    assert next_question(engine, who["cy"]).earlier == (Earlier("negative", None),)


def test_an_answer_that_somebody_answered_after_seeing_cannot_be_undone(engine, who):
    next_question(engine, who["ann"])
    judge(engine, who["ann"], 1, "positive")
    next_question(engine, who["bob"])
    judge(engine, who["bob"], 1, "positive")
    before = rows(engine, tables.Judgement)
    with pytest.raises(Refused, match="somebody has answered this question since, seeing your answer"):
        undo(engine, who["ann"])
    assert rows(engine, tables.Judgement) == before
    # Who came last may; and then sees again what was before.
    assert undo(engine, who["bob"]) == 1
    assert next_question(engine, who["bob"]).earlier == (Earlier("positive", None),)
    judge(engine, who["bob"], 1, "neutral")
    assert saw(engine) == [None, 1, None, 1]


def test_gold_is_nobody_whose_answer_is_shown(engine, who):
    with engine.begin() as connection:
        row = {"question_id": 1, "annotator_id": gold_id(connection), "answer": "negative", "guideline": 0, "round": 1}
        connection.execute(table_of(tables.Judgement).insert(), row | {"decided_at": tables.now()})
    assert next_question(engine, who["ann"]).earlier == ()
    judge(engine, who["ann"], 1, "positive")
    assert saw(engine) == [None, None]


def test_why_there_is_nothing_now(engine, who):
    now = tables.now()
    next_question(engine, who["ann"])
    next_question(engine, who["bob"])
    judge(engine, who["bob"], 2, "positive")
    next_question(engine, who["mia"])  # the second place of question 2
    assert next_question(engine, who["cy"]) is None
    counts = elsewhere(engine, who["cy"])
    assert (counts.with_others, counts.awaiting_first) == (1, 1)
    assert timedelta(minutes=14) < counts.free_at - now < timedelta(minutes=16)
    judge(engine, who["mia"], 2, "positive")
    judge(engine, who["ann"], 1, "positive")
    next_question(engine, who["bob"])
    # Somebody validates: that is no first answer.
    counts = elsewhere(engine, who["cy"])
    assert (counts.with_others, counts.awaiting_first) == (1, 0)
    judge(engine, who["bob"], 1, "positive")
    next_question(engine, who["cy"])
    judge(engine, who["cy"], 1, "positive")
    assert elsewhere(engine, who["cy"]) == Elsewhere(0, 0, None)
    assert queue_of(engine, who["cy"]).left_for_me == 0


def test_a_judged_question_keeps_its_protocol_and_at_least_its_people(engine, who):
    def stored():
        return [(row["protocol"], row["annotators"], row["filled"]) for row in rows(engine, tables.Question)]

    wants(engine, ("It is good.", 1, 2, "blind"), ("It is bad.", 2, 4, "shown"))
    assert stored() == [("blind", 2, False), ("shown", 4, False)]  # nobody has judged them
    for name in ("ann", "bob"):
        next_question(engine, who[name])
        judge(engine, who[name], 1, "positive" if name == "ann" else "negative")
    assert stored()[0] == ("blind", 2, True)
    wants(engine, ("It is good.", 1, 3, "shown"), ("It is bad.", 2, 1, "blind"))
    assert stored() == [("blind", 3, False), ("blind", 1, False)]  # a third is asked now
    wants(engine, ("It is good.", 1, 2, "shown"))
    assert stored()[0] == ("blind", 3, False)
    assert next_question(engine, who["cy"]).earlier == ()


def test_a_question_that_was_judged_and_withdrawn_keeps_its_protocol(engine, who):
    next_question(engine, who["ann"])
    judge(engine, who["ann"], 1, "positive")
    undo(engine, who["ann"])
    wants(engine, ("It is good.", 1, 3, "blind"))
    assert rows(engine, tables.Question)[0]["protocol"] == "shown"


def all_agree(engine, who, question, answer="positive"):
    for name in ("ann", "bob", "cy"):
        while (shown := next_question(engine, who[name])) is not None:
            judge(engine, who[name], shown.id, answer if shown.id == question else "negative")


def test_what_people_agree_on_waits_for_an_inspection(engine, who):
    assert inspections_left(engine, who["ada"]) == 0
    all_agree(engine, who, 1)
    assert inspections_left(engine, who["ada"]) == 1  # the blind one waits for none
    inspection = next_inspection(engine, who["ada"])
    assert (inspection.shown.id, [vote.answer for vote in inspection.votes]) == (1, ["positive"] * 3)
    # Settled before anybody inspects it.
    assert ("people", ["positive"]) in [(row["origin"], row["allowed"]) for row in rows(engine, tables.Answer)]
    inspect(engine, who["ada"], 1, ["positive"])
    assert inspections_left(engine, who["mia"]) == 0
    assert next_inspection(engine, who["ada"]) is None
    assert [(row["allowed"], row["reason"]) for row in rows(engine, tables.Adjudication)] == [
        (["positive"], "inspection")
    ]


def test_an_inspection_that_changes_the_answer_needs_a_reason_and_overrides(engine, who):
    all_agree(engine, who, 1)
    with pytest.raises(Refused, match="say why you change what people agree on"):
        inspect(engine, who["ada"], 1, ["negative"])
    with pytest.raises(Refused, match="choose at least one label"):
        inspect(engine, who["ada"], 1, [])
    assert rows(engine, tables.Adjudication) == []
    inspect(engine, who["ada"], 1, ["negative", "neutral"], " irony ")
    assert rows(engine, tables.Adjudication)[0]["reason"] == "inspection: irony"
    answers = {(row["question_id"], row["origin"]): row["allowed"] for row in rows(engine, tables.Answer)}
    assert answers[1, "adjudicated"] == ["negative", "neutral"]
    with pytest.raises(Refused, match="does not wait for an inspection any more"):
        inspect(engine, who["mia"], 1, ["positive"])


def test_who_judged_does_not_inspect_and_annotators_do_not(engine, who):
    next_question(engine, who["ada"])
    judge(engine, who["ada"], 1, "positive")
    for name in ("ann", "bob"):
        assert shown_id(engine, who[name]) == 1
        judge(engine, who[name], 1, "positive")
    assert next_inspection(engine, who["ada"]) is None
    assert inspections_left(engine, who["ada"]) == 0
    with pytest.raises(Refused, match="you judged this question yourself"):
        inspect(engine, who["ada"], 1, ["positive"])
    with pytest.raises(NotAllowed):
        inspect(engine, who["ann"], 1, ["positive"])
    assert next_inspection(engine, who["mia"]).shown.id == 1


def test_disputes_and_blind_questions_wait_for_no_inspection(engine, who):
    for name, answer in (("ann", "positive"), ("bob", "neutral"), ("cy", "negative")):
        while (shown := next_question(engine, who[name])) is not None:
            judge(engine, who[name], shown.id, answer)
    assert inspections_left(engine, who["ada"]) == 0
    with pytest.raises(Refused, match="does not wait"):
        inspect(engine, who["ada"], 2, ["positive"])


def test_without_a_shown_question_there_are_no_inspections(tmp_path):
    engine = open_store(str(tmp_path / "b.db"), create=True)
    wants(engine, ("It is good.", 1, 2, "blind"))
    ada = add_account(engine, "ada", "adjudicator", PASSWORD).id
    assert inspections_left(engine, ada) is None
