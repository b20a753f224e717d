"""Who works on which study: what the queue gives, what is left, what nobody may answer, the log; both databases."""

import pytest
from question_world import where
from small_corpus import SmallCorpus
from sqlalchemy import select

from audit.false_satisfaction.questions import queue_difference
from audit.judging.accounts import add_account, change_account, entries
from audit.judging.judgements import judge
from audit.judging.queue import next_question, queue_of
from audit.judging.samples import ask_next
from audit.relations import get_relation
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.samples import SampleOptions
from audit.store import open_store
from audit.store.core import question

__all__ = ["where"]
PASSWORD = "long enough"
SHARED = "Never again."
MEALS = ("The soup was cold.", "A kind waiter.", SHARED)
ROOMS = ("The bed was soft.", "A noisy street.", SHARED)


@pytest.fixture
def engine(where):
    """Study 1 about meals and study 2 about rooms, with one text in both."""
    engine = open_store(where, create=True)
    for name, texts in (("meals", MEALS), ("rooms", ROOMS)):
        with InProcess() as executor:
            relation = get_relation("sentiment", "MR3.1")
            ran = run(engine, SmallCorpus(name, texts), ["vader", "textblob"], [relation], executor)
        ask_next(engine, SampleOptions(20), ran.study.id)[0]
    return engine


def texts_for(engine, account: int) -> set[str]:
    """The texts that an account is asked about until nothing is left."""
    seen: set[str] = set()
    while (shown := next_question(engine, account)) is not None:
        seen.update(shown.texts)
        judge(engine, account, shown.id, shown.labels[0])
    return seen


def test_questions_say_which_studies_wait_for_them(engine):
    with engine.connect() as connection:
        rows = connection.execute(select(question.c.studies).where(question.c.priority.is_not(None))).scalars()
        assert {",1,", ",2,", ",1,2,"} == set(rows)
        assert queue_difference(connection).misplaced == ()


def test_everybody_works_on_everything_until_somebody_is_assigned(engine):
    ann = add_account(engine, "ann", "annotator", PASSWORD).id
    bob = add_account(engine, "bob", "annotator", PASSWORD, studies=[2]).id
    left = queue_of(engine, ann)
    own = queue_of(engine, bob)
    assert (left.in_other_studies, own.left_for_me + own.in_other_studies) == (0, left.left_for_me)
    assert own.in_other_studies > 0
    asked = texts_for(engine, bob)
    assert SHARED in asked
    assert not asked & set(MEALS[:2])
    assert set(ROOMS) & asked
    assert texts_for(engine, ann) >= {*MEALS[:2], *ROOMS[:2]}
    done = queue_of(engine, bob)
    assert (done.left_for_me, done.in_other_studies) == (0, own.in_other_studies)


def test_another_assignment_holds_from_the_next_question_on(engine):
    boss = add_account(engine, "mia", "manager", PASSWORD).id
    ann = add_account(engine, "ann", "annotator", PASSWORD, studies=[1]).id
    held = next_question(engine, ann)
    assert held is not None
    assert set(held.texts) & set(MEALS)
    change_account(engine, "ann", "annotator", (), [2], by=boss)
    asked = next_question(engine, ann)
    assert asked is not None
    assert not set(asked.texts) & set(MEALS[:2])
    change_account(engine, "ann", "annotator", by=boss)
    assert queue_of(engine, ann).in_other_studies == 0
    details = [entry.detail.get("assigned") for entry in entries(engine, boss) if entry.action == "account changed"]
    assert details == [[[2], []], [[1], [2]]]
