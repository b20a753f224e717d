"""Skipping, flagging and undoing several, without the app."""

import pytest
from question_world import asked, recalled, rows

from audit.errors import NotAllowed, Refused
from audit.judging.adjudications import adjudicate, flagged_ids, opinions, send_back
from audit.judging.judgements import UNDOS, Undone, flag, judge, skip, undo, undone
from audit.judging.queue import next_question, queue_of
from audit.store import tables

TEXTS = [f"Text number {number}." for number in range(1, 15)]


@pytest.fixture
def engine(tmp_path):
    """A database with fourteen questions for two annotators each; their ids are their ranks."""
    return asked(tmp_path / "audit.db", TEXTS)


def take(engine, account):
    return next_question(engine, account).id


def give(engine, account, number, answer="positive"):
    """Answer the next questions; returns their ids."""
    ids = []
    for _ in range(number):
        ids.append(take(engine, account))
        judge(engine, account, ids[-1], answer)
    return ids


def test_a_skipped_question_comes_last_and_the_longest_skipped_first(engine, who):
    for expected in (1, 2):
        assert take(engine, who["ann"]) == expected
        skip(engine, who["ann"], expected)
    assert rows(engine, tables.Lease) == []
    assert [(row["kind"], row["question_id"]) for row in rows(engine, tables.Aside)] == [("skip", 1), ("skip", 2)]
    assert queue_of(engine, who["ann"]).left_for_me == len(TEXTS)
    assert give(engine, who["ann"], 12) == list(range(3, 15))
    assert take(engine, who["ann"]) == 1
    assert recalled(engine, who["ann"], 1)[:2] == (True, None)
    skip(engine, who["ann"], 1)  # once more: now the other one was skipped the longest ago
    assert take(engine, who["ann"]) == 2
    judge(engine, who["ann"], 2, "neutral")
    assert take(engine, who["ann"]) == 1
    # Nobody else is touched by it, and it was no vote.
    assert take(engine, who["bob"]) == 1
    assert rows(engine, tables.Answer) == []


def test_a_flag_is_no_answer_and_is_shown_to_adjudicators_without_the_name(engine, who):
    flag(engine, who["ann"], take(engine, who["ann"]), " the text is cut ")
    assert take(engine, who["ann"]) == 2
    assert queue_of(engine, who["ann"]).left_for_me == len(TEXTS) - 1
    assert queue_of(engine, who["ann"]).mine == 0
    assert give(engine, who["bob"], 1, "negative") == [1]
    assert flagged_ids(engine, who["ada"]) == [1]
    said = opinions(engine, who["ada"], 1)
    assert {(opinion.answer, opinion.flags) for opinion in said} == {(None, ("the text is cut",)), ("negative", ())}
    assert "ann" not in str(said)
    assert rows(engine, tables.Judgement)[0]["annotator_id"] == who["bob"]
    for work in (lambda: flagged_ids(engine, who["ann"]), lambda: send_back(engine, who["ann"], 1)):
        with pytest.raises(NotAllowed):
            work()


def test_a_flag_ends_with_the_adjudication(engine, who):
    flag(engine, who["ann"], take(engine, who["ann"]), "cut")
    adjudicate(engine, who["ada"], 1, ["neutral"], "only half a sentence")
    assert flagged_ids(engine, who["ada"]) == []
    with pytest.raises(Refused, match="not flagged any more"):
        send_back(engine, who["ada"], 1)


def test_a_question_sent_back_is_asked_again_with_the_remark(engine, who):
    flag(engine, who["ann"], take(engine, who["ann"]), "cut")
    assert recalled(engine, who["ann"], 1)[:2] == (False, None)
    with pytest.raises(Refused, match="2001 characters"):
        send_back(engine, who["ada"], 1, "x" * 2_001)
    send_back(engine, who["ada"], 1, "judge what is there")
    assert flagged_ids(engine, who["ada"]) == []
    assert take(engine, who["ann"]) == 1
    assert recalled(engine, who["ann"], 1)[:2] == (False, "judge what is there")
    assert recalled(engine, who["bob"], 1)[:2] == (False, None)  # it was not bob's flag
    with pytest.raises(Refused, match="not flagged any more"):
        send_back(engine, who["ada"], 1)
    flag(engine, who["ann"], 1, "still odd")
    assert [opinion.flags for opinion in opinions(engine, who["ada"], 1)] == [("cut", "still odd")]
    assert [row["kind"] for row in rows(engine, tables.Aside)] == ["flag", "back", "flag"]


def test_ten_answers_can_be_undone_in_a_row_and_not_eleven(engine, who):
    ids = give(engine, who["ann"], 12, "neutral")
    assert undone(engine, who["ann"]) is None
    for number in range(1, UNDOS + 1):
        question = undo(engine, who["ann"])
        assert question == ids[-number]
        assert undone(engine, who["ann"]) == Undone(question, "sentiment", "neutral", number)
    before = rows(engine, tables.Judgement)
    with pytest.raises(Refused, match="the last 10 answers are undone already"):
        undo(engine, who["ann"])
    assert rows(engine, tables.Judgement) == before
    assert take(engine, who["ann"]) == ids[-UNDOS]  # its lease was not lost
    assert queue_of(engine, who["ann"]).mine == 2
    judge(engine, who["ann"], ids[-UNDOS], "negative")
    assert undone(engine, who["ann"]) is None
    assert undo(engine, who["ann"]) == ids[-UNDOS]
