"""What people do with questions, without the app. Any keys in any order: tests/golden/test_key_presses.py."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from question_world import asked, give, recalled, rows

from audit.errors import Refused
from audit.judging.adjudications import (
    adjudicate,
    disputes,
    flagged_ids,
    opinions,
    send_back,
    take_back,
)
from audit.judging.answers import Quorum
from audit.judging.judgements import UNDOS, Undone, change, flag, flag_answer, judge, skip, undo, undone
from audit.judging.own_answers import own_answer, own_answers
from audit.judging.queue import next_question, queue_of
from audit.judging.words import guideline_of
from audit.store import tables
from audit.tasks.questions import UNSURE


@pytest.fixture
def engine(where):
    """Fourteen questions for two annotators each; their ids are their ranks."""
    return asked(where, [f"Text number {number}." for number in range(1, 15)])


def answers(engine):
    return {(row["question_id"], *row["allowed"]) for row in rows(engine, tables.Answer)}


def disagreed(engine, who) -> int:
    """A question on which ann and bob disagree."""
    (id,) = {give(engine, who[name], label)[0] for name, label in (("ann", "positive"), ("bob", "negative"))}
    return id


def test_refused_answers_change_nothing(engine, who, content):
    next_question(engine, who["ann"])
    before = content(engine)
    for question, answer, comment, message in (
        (1, "great", None, "answer 'great' is not one of positive, neutral, negative, unsure"),
        (1, "withdrawn", None, "is not one of"),
        (2, "positive", None, "no longer yours to answer"),
        (99, "positive", None, "there is no question 99"),
        (1, "positive", "x" * 1_000_000, "the comment has 1000000 characters"),
    ):
        with pytest.raises(Refused, match=message):
            judge(engine, who["ann"], question, answer, comment=comment)
    for allowed, reason, message in (
        ([], "x", "at least one label"), (["positive"], " ", "say why"), (["unsure"], "x", "must be a label"),
        (["great"], "x", "is not one of"),
    ):  # fmt: skip
        with pytest.raises(Refused, match=message):
            adjudicate(engine, who["ada"], 1, allowed, reason)
    assert content(engine) == before
    judge(engine, who["ann"], 1, "positive")
    with pytest.raises(Refused):
        judge(engine, who["ann"], 1, "negative")  # a key that was held, or a form sent twice


@given(st.lists(st.sampled_from(["positive", "neutral", "negative", UNSURE])), st.integers(1, 4))
def test_a_label_with_more_than_half_of_enough_votes_settles_or_one_that_all_give(votes, wanted):
    enough = len(votes) >= wanted
    above_half = {label for label in votes if label != UNSURE and 2 * votes.count(label) > len(votes)}
    assert Quorum(wanted).answer(votes) == (above_half.pop() if enough and above_half else None)
    alike = enough and len(set(votes)) == 1 and votes[0] != UNSURE
    assert Quorum(wanted, "all").answer(votes) == (votes[0] if alike else None)


def test_ten_answers_can_be_undone_in_a_row_and_not_eleven(engine, who, content):
    ids = give(engine, who["ann"], *["neutral"] * 12)
    assert undone(engine, who["ann"]) is None
    for number in range(1, UNDOS + 1):
        assert undo(engine, who["ann"]) == ids[-number]
        assert undone(engine, who["ann"]) == Undone(ids[-number], "sentiment", "neutral", number)
    before = content(engine)
    with pytest.raises(Refused, match="the last 10 answers are undone already"):
        undo(engine, who["ann"])
    assert content(engine) == before
    assert give(engine, who["ann"], "negative") == [ids[-UNDOS]]  # its lease was not lost
    assert undo(engine, who["ann"]) == ids[-UNDOS]


def test_an_undo_that_is_sent_twice_is_done_once(engine, who, content):
    """The page sends it again where it did not hear back; another account's answer is not meant by it."""
    give(engine, who["bob"], "neutral")
    (id,) = give(engine, who["ann"], "neutral")
    (last,) = [row["id"] for row in rows(engine, tables.Judgement) if row["annotator_id"] == who["ann"]]
    assert undo(engine, who["ann"], only=last) == id
    before = content(engine)
    assert undo(engine, who["ann"], only=last) == id
    with pytest.raises(Refused, match="not your last"):
        undo(engine, who["bob"], only=last)
    assert content(engine) == before


def test_what_was_put_off_comes_again_with_what_is_remembered_of_it(engine, who):
    skip(engine, who["ann"], next_question(engine, who["ann"]).id)
    assert recalled(engine, who["ann"], 1)[:2] == (True, None)
    assert recalled(engine, who["bob"], 1)[:2] == (False, None)
    flag(engine, who["ann"], next_question(engine, who["ann"]).id, " the text is cut ")
    assert (queue_of(engine, who["ann"]).left_for_me, queue_of(engine, who["ann"]).mine) == (13, 0)
    give(engine, who["bob"], "positive", "negative")
    assert flagged_ids(engine, who["ada"]) == [2]
    said = opinions(engine, who["ada"], 2)
    assert {(opinion.answer, opinion.flags) for opinion in said} == {(None, ("the text is cut",)), ("negative", ())}
    assert "ann" not in str(said)
    with pytest.raises(Refused, match="2001 characters"):
        send_back(engine, who["ada"], 2, "x" * 2_001)
    send_back(engine, who["ada"], 2, "judge what is there")
    assert next_question(engine, who["ann"]).id == 2
    assert recalled(engine, who["ann"], 2)[:2] == (False, "judge what is there")
    assert recalled(engine, who["bob"], 2)[:2] == (False, None)  # it was not bob's flag
    with pytest.raises(Refused, match="not flagged any more"):
        send_back(engine, who["ada"], 2)


def test_opinions_have_no_names_and_no_order_of_accounts_or_time(engine, who):
    orders = set()
    for _ in range(12):
        id = disagreed(engine, who)
        stated = opinions(engine, who["ada"], id)
        assert [opinion.number for opinion in stated] == [1, 2]
        assert opinions(engine, who["ada"], id) == stated  # the same each time
        orders.add(tuple(opinion.answer for opinion in stated))
    assert len(orders) == 2, "an order tells nothing of who is who on the next question"
    assert not any(name in str(stated) for name in who)


def test_the_last_decision_is_taken_back_unless_somebody_has_decided_since(engine, who):
    id = disagreed(engine, who)
    adjudicate(engine, who["ada"], id, ["neutral"], "two halves", "slip")
    before = take_back(engine, who["ada"])
    assert (before.shown.id, *before[1:]) == (id, ("neutral",), "slip", "two halves")
    assert (answers(engine), disputes(engine, who["ada"])) == (set(), [id])
    adjudicate(engine, who["ada"], id, ["negative", "positive"], "", "slip")
    flag_answer(engine, who["ann"], id, "it is not")
    adjudicate(engine, who["mia"], id, ["positive"], "", "slip")
    assert take_back(engine, who["ada"]) is None
    assert answers(engine) == {(id, "positive")}


def test_what_is_settled_is_settled_again_only_when_somebody_flags_it(engine, who):
    id = disagreed(engine, who)
    settled = adjudicate(engine, who["ada"], id, ["neutral"], "", "slip")
    assert adjudicate(engine, who["ada"], id, ["neutral"], "", "slip") == settled  # a request that was sent twice
    with pytest.raises(Refused, match="settled that question meanwhile"):
        adjudicate(engine, who["mia"], id, ["positive"], "", "slip")
    flag_answer(engine, who["ann"], id, "it is not")
    adjudicate(engine, who["mia"], id, ["positive"], "", "slip")
    assert answers(engine) == {(id, "positive")}


def test_a_change_supersedes_and_what_follows_is_written(engine, who):
    ann = who["ann"]
    give(engine, ann, "positive", "negative")
    give(engine, who["bob"], "positive", "positive")
    assert (answers(engine), disputes(engine, who["ada"])) == ({(1, "positive")}, [2])
    before = change(engine, ann, 2, "positive", comment="read again", client="tests")
    assert (before.answer, before.comment) == ("negative", "")
    assert (answers(engine), disputes(engine, who["ada"])) == ({(1, "positive"), (2, "positive")}, [])
    new = rows(engine, tables.Judgement)[-1]
    kept = {"answer": "positive", "supersedes": 2, "comment": "read again", "round": 1, "client": "tests"}
    assert {name: new[name] for name in kept} == kept
    assert new["guideline"] == guideline_of("sentiment", "input").version
    assert queue_of(engine, ann).mine == 2
    assert undo(engine, ann) == 2
    assert undone(engine, ann).answer == "positive"
    give(engine, ann, "neutral")
    assert [entry.answer for entry in own_answers(engine, ann).answers] == ["neutral", "positive"]


def test_what_an_adjudicator_decided_is_flagged_and_not_changed(engine, who, content):
    give(engine, who["ann"], "positive")
    adjudicate(engine, who["ada"], 1, ["neutral"], "", "slip")
    before = content(engine)
    with pytest.raises(Refused, match="an adjudicator has decided"):
        change(engine, who["ann"], 1, "negative")
    for wrong in ("  ", "x" * 2001):
        with pytest.raises(Refused):
            flag_answer(engine, who["ann"], 1, wrong)
    assert content(engine) == before
    flag_answer(engine, who["ann"], 1, " I misread it ")
    assert flagged_ids(engine, who["ada"]) == [1]
    with pytest.raises(Refused, match="flagged this question already"):
        flag_answer(engine, who["ann"], 1, "again")
    send_back(engine, who["ada"], 1, "it stays")
    assert own_answer(engine, who["ann"], 1)[2] == "it stays"
    assert [entry.flagged for entry in own_answers(engine, who["ann"]).answers] == [False]
