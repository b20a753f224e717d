"""Qualification as one switch: questions are picked, whoever has judged before is exempt or counted, all is logged."""

import pytest
from quality_world import answer_next, know, world
from small_corpus import SmallCorpus

from audit.judging.accounts import entries
from audit.judging.control_questions import known_questions
from audit.judging.judgements import judging_mode
from audit.judging.queue import next_question
from audit.judging.training import (
    QUALIFYING,
    QUALIFYING_MARK,
    Qualification,
    qualification,
    switch_qualification,
)
from audit.relations import get_relation
from audit.runner.executors import InProcess
from audit.runner.run import run


@pytest.fixture
def team(tmp_path):
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


def test_it_picks_questions_by_itself_and_new_annotators_pass_them_first(team):
    engine, who = team
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


def test_switched_off_and_on_again_it_exempts_whoever_has_judged_by_then(team):
    engine, who = team
    know(engine, "training", 3)
    before = qualification(engine, by=who["mia"])
    assert (before.on, before.questions) == (False, 3)
    assert switch_qualification(engine, True, by=who["mia"]).on
    assert next_question(engine, who["bob"]) is None
    switch_qualification(engine, False, by=who["mia"])
    answer_next(engine, who["bob"])
    assert switch_qualification(engine, True, by=who["mia"]).on
    assert next_question(engine, who["bob"]) is not None
