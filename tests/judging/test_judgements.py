"""Accounts, the queue, judgements, undo and adjudication, without the app."""

import threading

import pytest
from disputing import disputed
from hypothesis import given
from hypothesis import strategies as st
from question_world import PASSWORD, asked, give, rows
from sqlalchemy import func, select

from audit.errors import NotAllowed, Refused
from audit.judging.accounts import add_account
from audit.judging.adjudications import adjudicate, change_adjudication
from audit.judging.answers import Quorum, settle
from audit.judging.judgements import judge, undo
from audit.judging.queue import next_question, queue_of
from audit.judging.sign_in import log_in
from audit.store import table_of, tables
from audit.tasks.questions import UNSURE

TEXTS = ["It is good.", "It is bad.", "It is long."]


@pytest.fixture
def engine(tmp_path):
    """A database with three questions for two annotators each, in the order of TEXTS."""
    return asked(tmp_path / "audit.db", TEXTS)


def test_log_in_takes_the_password_and_nothing_else(engine, who):
    assert log_in(engine, " ann ", PASSWORD).role == "annotator"
    for name, password in (
        ("ann", "wrong password"), ("nobody", PASSWORD), ("ann", ""), ("gold", ""), ("ann\0", PASSWORD), ("", PASSWORD),
    ):  # fmt: skip
        with pytest.raises(NotAllowed, match="name or password is wrong"):
            log_in(engine, name, password)
    assert PASSWORD not in str(rows(engine, tables.Annotator))


@pytest.mark.parametrize("other", ["negative", UNSURE])
def test_disagreement_and_unsure_go_to_the_adjudicator(engine, who, other):
    give(engine, who["ann"], "positive")
    give(engine, who["bob"], other)
    assert rows(engine, tables.Answer) == []
    case = disputed(engine, who["ada"])[0]
    assert case.shown.texts == (TEXTS[0],)
    assert [vote.answer for vote in case.votes] == ["positive", other]
    adjudicate(engine, who["ada"], case.shown.id, ["positive"], "the guideline, section 2")
    assert rows(engine, tables.Answer) == [{"question_id": 1, "origin": "adjudicated", "allowed": ["positive"]}]
    assert disputed(engine, who["ada"]) == []


def test_refused_answers_change_nothing(engine, who):
    next_question(engine, who["ann"])
    for question, answer, message in (
        (1, "great", "answer 'great' is not one of positive, neutral, negative, unsure"),
        (1, "withdrawn", "is not one of"),
        (2, "positive", "not leased to you"),
        (99, "positive", "there is no question 99"),
    ):
        with pytest.raises(Refused, match=message):
            judge(engine, who["ann"], question, answer)
    with pytest.raises(Refused, match="the comment has 1000000 characters"):
        judge(engine, who["ann"], 1, "positive", comment="x" * 1_000_000)
    assert rows(engine, tables.Judgement) == []
    assert next_question(engine, who["ann"]).id == 1
    judge(engine, who["ann"], 1, "positive")
    with pytest.raises(Refused):
        judge(engine, who["ann"], 1, "negative")  # a key that was held, or a form sent twice
    assert len(rows(engine, tables.Judgement)) == 1


def test_roles_are_checked_on_every_write(engine, who):
    give(engine, who["ann"], "positive")
    give(engine, who["bob"], "negative")
    with pytest.raises(NotAllowed, match="needs the role adjudicator or manager; ann has the role annotator"):
        disputed(engine, who["ann"])
    with pytest.raises(NotAllowed):
        adjudicate(engine, who["ann"], 1, ["positive"], "because")
    with pytest.raises(NotAllowed, match="does not exist or is disabled"):
        next_question(engine, 999)
    table = table_of(tables.Annotator)
    with engine.begin() as connection:
        connection.execute(table.update().where(table.c.name == "cy").values(disabled=True))
    with pytest.raises(NotAllowed):
        next_question(engine, who["cy"])
    assert rows(engine, tables.Adjudication) == []
    with pytest.raises(NotAllowed, match="needs the role manager"):
        add_account(engine, "evil", "manager", PASSWORD, by=who["ann"])
    assert add_account(engine, "new", "annotator", PASSWORD, by=who["mia"]).role == "annotator"


@pytest.mark.parametrize(
    ("allowed", "reason", "message"),
    [
        ([], "x", "at least one label"),
        (["positive"], " ", "say why"),
        (["unsure"], "x", "must be a label"),
        (["great"], "x", "is not one of"),
    ],
)
def test_bad_adjudications_are_refused(engine, who, allowed, reason, message):
    with pytest.raises(Refused, match=message):
        adjudicate(engine, who["ada"], 1, allowed, reason)
    assert rows(engine, tables.Adjudication) == []


def test_undo_gives_the_question_back_and_keeps_the_history(engine, who):
    first, second = give(engine, who["ann"], "positive", "negative")
    assert undo(engine, who["ann"]) == second
    assert next_question(engine, who["ann"]).id == second
    judge(engine, who["ann"], second, "neutral")
    history = [(row["answer"], row["supersedes"]) for row in rows(engine, tables.Judgement)]
    assert history == [("positive", None), ("negative", None), ("withdrawn", 2), ("neutral", None)]
    assert undo(engine, who["ann"]) == second
    assert undo(engine, who["ann"]) == first
    assert undo(engine, who["ann"]) is None
    assert queue_of(engine, who["ann"]).mine == 0


def test_undo_takes_back_an_answer_unless_it_was_adjudicated(engine, who):
    give(engine, who["ann"], "positive")
    give(engine, who["bob"], "positive")
    undo(engine, who["bob"])
    assert rows(engine, tables.Answer) == []
    give(engine, who["bob"], "negative")
    adjudicate(engine, who["ada"], 1, ["positive"], "seen twice")
    with pytest.raises(Refused, match="an adjudicator has settled"):
        undo(engine, who["bob"])


def test_many_at_once_never_exceed_what_is_wanted(engine, who):
    names = [add_account(engine, f"n{number}", "annotator", PASSWORD).id for number in range(6)]
    problems = []

    def work(account):
        try:
            while shown := next_question(engine, account):
                judge(engine, account, shown.id, "positive")
        except Exception as problem:  # told to the test below
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(account,)) for account in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    table = table_of(tables.Judgement)
    with engine.connect() as connection:
        counted = connection.execute(select(table.c.question_id, func.count()).group_by(table.c.question_id)).all()
    assert sorted(counted) == [(1, 2), (2, 2), (3, 2)]


def test_answers_can_be_rebuilt(engine, who):
    give(engine, who["ann"], "positive", "negative", "neutral")
    give(engine, who["bob"], "positive", "neutral", "neutral")
    first = adjudicate(engine, who["ada"], 2, ["negative"], "first")
    change_adjudication(engine, who["ada"], first, ["negative", "neutral"], "second thoughts")
    before = rows(engine, tables.Answer)
    with engine.begin() as connection:
        settle(connection, [1, 2, 3])
    assert sorted(rows(engine, tables.Answer), key=str) == sorted(before, key=str)
    assert {"question_id": 2, "origin": "adjudicated", "allowed": ["negative", "neutral"]} in before


@given(st.lists(st.sampled_from(["positive", "neutral", "negative", UNSURE])), st.integers(1, 4))
def test_a_label_with_more_than_half_of_enough_votes_settles_or_one_that_all_give(votes, wanted):
    enough = len(votes) >= wanted
    above_half = {label for label in votes if label != UNSURE and 2 * votes.count(label) > len(votes)}
    assert Quorum(wanted).answer(votes) == (above_half.pop() if enough and above_half else None)
    alike = enough and len(set(votes)) == 1 and votes[0] != UNSURE
    assert Quorum(wanted, "all").answer(votes) == (votes[0] if alike else None)
