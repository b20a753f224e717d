"""The training round: enforced in the claim, feedback, attempts, the mark, and nothing of it counts elsewhere."""

import pytest
from quality_world import LABELS, answer_next, know, right_answer, settle_how, world
from question_world import rows
from small_corpus import SmallCorpus

from audit.errors import AuditError, NotAllowed, Refused
from audit.judging import training
from audit.judging.accounts import entries
from audit.judging.activity import overview
from audit.judging.answers import counting_votes
from audit.judging.control_questions import known_questions
from audit.judging.judgements import judge, judging_mode, train, undo
from audit.judging.queue import next_question, queue_of
from audit.judging.training import (
    QUALIFYING,
    QUALIFYING_MARK,
    Qualification,
    switch_qualification,
)
from audit.relations import get_relation
from audit.reports.ratings import stored_ratings
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.store import tables


@pytest.fixture
def team(tmp_path):
    engine, who = world(tmp_path / "audit.db", questions=4)
    know(engine, "training", 4)
    settle_how(engine, pass_mark=0.75)
    return engine, who


def go_through(engine, account, wrong=0):
    """One attempt with so many wrong answers at its beginning; its feedback."""
    said = []
    while not said or said[-1].finished is None:
        shown = judging_mode(engine, account).training.shown
        right = right_answer(shown.texts[0])
        label = LABELS[(LABELS.index(right) + 1) % 3] if len(said) < wrong else right
        said.append(train(engine, account, shown.id, label, shown_at=tables.now()))
    return said


def test_passing_lets_in_and_failing_begins_anew(team):
    engine, who = team
    state = judging_mode(engine, who["ann"]).training
    assert (state.attempt, state.answered, state.questions, state.mark) == (1, 0, 4, 0.75)
    said = go_through(engine, who["ann"], wrong=2)
    assert [(one.right, one.explanation, one.finished is None) for one in said] == [
        (False, "Because.", True), (False, "Because.", True), (True, "Because.", True), (True, "Because.", False),
    ]  # fmt: skip
    failed = said[-1].finished
    assert failed == training.Attempt(1, 2, 4, False)
    assert next_question(engine, who["ann"]) is None
    again = judging_mode(engine, who["ann"]).training
    assert (again.attempt, again.answered, again.last) == (2, 0, failed)
    passed = go_through(engine, who["ann"], wrong=1)[-1].finished
    assert passed == training.Attempt(2, 3, 4, True)  # 3 of 4 reach a mark of 0.75
    assert judging_mode(engine, who["ann"]).training is None
    assert next_question(engine, who["ann"]) is not None
    assert next_question(engine, who["bob"]) is None  # each for themselves


def test_training_counts_nowhere_else(team):
    engine, who = team
    go_through(engine, who["ann"], wrong=1)
    assert queue_of(engine, who["ann"]).mine == 0
    assert queue_of(engine, who["ann"]).left_for_me == 4
    assert undo(engine, who["ann"]) is None
    assert overview(engine, who["mia"]).week == 0
    assert rows(engine, tables.Answer) == []
    with pytest.raises(AuditError, match="people have judged no question"):
        stored_ratings(engine)
    with engine.connect() as connection:
        assert counting_votes(connection, [row["id"] for row in rows(engine, tables.Question)]) == []


def test_only_the_next_question_is_taken_and_only_in_training(team, content):
    engine, who = team
    first = judging_mode(engine, who["ann"]).training.shown
    others = [question.id for question in known_questions(engine) if question.id != first.id]
    before = content(engine)
    for id in (*others, 1, 999):
        with pytest.raises(Refused, match="not the next question of your training"):
            train(engine, who["ann"], id, "positive")
    with pytest.raises(Refused, match="there is no training for you"):
        train(engine, who["ada"], first.id, "positive")
    with pytest.raises(Refused, match="no longer yours to answer"):
        judge(engine, who["ann"], first.id, "positive")
    with pytest.raises(NotAllowed):
        train(engine, 99, first.id, "positive")
    assert content(engine) == before
    train(engine, who["ann"], first.id, "unsure")
    with pytest.raises(Refused, match="not the next question"):  # the same form from a second window
        train(engine, who["ann"], first.id, "positive")


def test_who_passed_stays_so_until_the_round_or_the_guideline_changes(team, monkeypatch):
    engine, who = team
    go_through(engine, who["ann"], wrong=1)
    settle_how(engine, pass_mark=1.0)
    assert judging_mode(engine, who["ann"]).training is None  # the mark of the day counts
    with monkeypatch.context() as patch:
        newer = training.guideline_of("sentiment", "input")
        patch.setattr(training, "guideline_of", lambda *of, own: type(newer)(newer.version + 1, newer.text))
        assert judging_mode(engine, who["ann"]).training.answered == 0
        assert next_question(engine, who["ann"]) is None
    know(engine, "training", 1, begin="Another")
    assert judging_mode(engine, who["ann"]).training.questions == 5
    assert next_question(engine, who["ann"]) is None


# Qualification as one switch: questions are picked, whoever has judged before is exempt, all is logged.


@pytest.fixture
def novices(tmp_path):
    """ann has judged, bob has not."""
    engine, who = world(tmp_path / "audit.db", questions=4)
    answer_next(engine, who["ann"])
    return engine, who


def run_with_gold(engine):
    """Texts with gold labels that no sample has drawn."""
    texts = [f"Room {number} was {'lovely' if number % 2 else 'awful'}." for number in range(20)]
    gold = ["positive" if number % 2 else "negative" for number in range(20)]
    with InProcess() as executor:
        run(engine, SmallCorpus("rooms", texts, gold), ["vader"], [get_relation("sentiment", "MR3.1")], executor)


def test_it_picks_questions_by_itself_and_new_annotators_pass_them_first(novices):
    engine, who = novices
    run_with_gold(engine)
    switched = switch_qualification(engine, True, by=who["mia"])
    assert switched == Qualification(QUALIFYING_MARK, QUALIFYING)
    labels = [question.allowed[0] for question in known_questions(engine)]
    assert sorted(labels) == ["negative"] * 4 + ["positive"] * 4
    assert next_question(engine, who["bob"]) is None
    assert judging_mode(engine, who["bob"]).training is not None
    assert next_question(engine, who["ann"]) is not None, "whoever has judged before is exempt"
    assert judging_mode(engine, who["ann"]).training is None
    assert [entry.action for entry in entries(engine, who["mia"])][:2] == ["setting", "known added"]
    off = switch_qualification(engine, False, by=who["mia"])
    assert (off.on, off.questions) == (False, QUALIFYING)
    assert next_question(engine, who["bob"]) is not None
