"""An annotator changes answers of their own: the history keeps both, what follows is written, others lose nothing."""

import pytest
from question_world import asked, give, rows

from audit.errors import Refused
from audit.judging.adjudications import adjudicate, disputes, flagged_ids, send_back
from audit.judging.judgements import change, flag_answer, judge, undo, undone
from audit.judging.own_answers import own_answer, own_answers
from audit.judging.queue import next_question, queue_of
from audit.judging.words import guideline_of
from audit.store import tables
from audit.tasks.questions import UNSURE


@pytest.fixture
def engine(where):
    """Three questions for two annotators each, on either kind of database."""
    return asked(where, ["It is good.", "It is bad.", "It is long."])


def answers(engine):
    return {(row["question_id"], *row["allowed"]) for row in rows(engine, tables.Answer)}


def test_a_change_supersedes_and_what_follows_is_written(engine, who):
    give(engine, who["ann"], "positive", "negative")
    give(engine, who["bob"], "positive", "positive")
    assert (answers(engine), disputes(engine, who["ada"])) == ({(1, "positive")}, [2])
    shown = tables.now()
    before = change(engine, who["ann"], 2, "positive", comment="read again", shown_at=shown, client="tests")
    assert (before.answer, before.comment) == ("negative", "")
    assert (answers(engine), disputes(engine, who["ada"])) == ({(1, "positive"), (2, "positive")}, [])
    old, new = (row for row in rows(engine, tables.Judgement) if row["id"] in (2, 5))
    assert (old["answer"], new["answer"], new["supersedes"], new["comment"]) == (
        "negative",
        "positive",
        2,
        "read again",
    )
    assert (new["round"], new["client"]) == (1, "tests")
    assert new["guideline"] == guideline_of("sentiment", "input").version
    assert new["decided_at"] >= old["decided_at"]
    assert queue_of(engine, who["ann"]).mine == 2
    change(engine, who["ann"], 2, before.answer, comment=before.comment)  # as the page's undo
    assert (answers(engine), disputes(engine, who["ada"])) == ({(1, "positive")}, [2])
    assert own_answer(engine, who["ann"], 2)[0].comment == ""


def test_what_an_adjudicator_decided_is_flagged_and_not_changed(engine, who, content):
    give(engine, who["ann"], "positive")
    adjudicate(engine, who["ada"], 1, ["neutral"], "", "slip")
    before = content(engine)
    with pytest.raises(Refused, match="an adjudicator has decided"):
        change(engine, who["ann"], 1, "negative")
    for wrong in ("", "  ", "x" * 2001):
        with pytest.raises(Refused):
            flag_answer(engine, who["ann"], 1, wrong)
    assert content(engine) == before
    flag_answer(engine, who["ann"], 1, " I misread it ")
    assert flagged_ids(engine, who["ada"]) == [1]
    with pytest.raises(Refused, match="flagged this question already"):
        flag_answer(engine, who["ann"], 1, "again")
    assert [entry.flagged for entry in own_answers(engine, who["ann"]).answers] == [True]
    send_back(engine, who["ada"], 1, "it stays")
    assert own_answer(engine, who["ann"], 1)[2] == "it stays"
    assert [entry.flagged for entry in own_answers(engine, who["ann"]).answers] == [False]
    with pytest.raises(Refused, match="no answer to question 2"):
        flag_answer(engine, who["ann"], 2, "odd")


def test_undo_takes_a_changed_answer_back(engine, who):
    give(engine, who["ann"], "positive", "negative")
    change(engine, who["ann"], 1, UNSURE)
    assert undo(engine, who["ann"]) == 1
    assert undone(engine, who["ann"]).answer == UNSURE
    assert next_question(engine, who["ann"]).id == 1
    judge(engine, who["ann"], 1, "neutral")
    assert [entry.answer for entry in own_answers(engine, who["ann"]).answers] == ["neutral", "negative"]
