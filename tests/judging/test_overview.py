"""What managers see of the judging: every count by hand on a small history, and the pace."""

from datetime import UTC, datetime, timedelta

import pytest
from disputing import disputed
from question_world import add_people
from small_corpus import SmallCorpus

from audit.false_satisfaction.questions import Wanted
from audit.judging.accounts import add_account, disable_account
from audit.judging.activity import Speed, Unread, overview, unread_questions
from audit.judging.adjudications import adjudicate
from audit.judging.asking import open_questions
from audit.judging.judgements import flag, judge, undo
from audit.judging.queue import next_question
from audit.judging.samples import ask_next
from audit.judging.unit import rebuild
from audit.relations import get_relation
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.samples import SampleOptions
from audit.store import input_ids, open_store, tables
from audit.tasks import Input

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.fixture
def world(tmp_path):
    """A database in which six questions (MR3.1 carries answers: one a source) wait for two people each."""
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    corpus = SmallCorpus("six", [f"Film {number} is a good film." for number in range(6)])
    with InProcess() as executor:
        run(engine, corpus, ["vader", "textblob"], [get_relation("sentiment", "MR3.1")], executor)
    ask_next(engine, SampleOptions(10))
    roles = {"ann": "annotator", "ben": "annotator", "ada": "adjudicator", "mia": "manager"}
    return engine, add_people(engine, roles)


def give(engine, person, answers, seconds=10):
    """This person's answers to the next questions, each shown so many seconds before; returns the questions."""
    ids = []
    for answer in answers:
        shown = next_question(engine, person)
        judge(engine, person, shown.id, answer, shown_at=tables.now() - timedelta(seconds=seconds))
        ids.append(shown.id)
    return ids


def test_counts_of_a_small_history(world):
    engine, people = world
    assert overview(engine).left == 12  # six questions, two people each
    assert overview(engine).speed == Speed(0, 0.0, None, None)
    assert overview(engine).ends is None
    # ann answers five, takes one back, and flags the last; ben answers the first three: once otherwise, once unsure.
    first = give(engine, people["ann"], ["positive"] * 5)
    undo(engine, people["ann"])
    shown = next_question(engine, people["ann"])
    flag(engine, people["ann"], shown.id, "Is this a film?")
    order = dict(zip(first, ("positive", "negative", "unsure"), strict=False))
    while (question := next_question(engine, people["ben"])) is not None and question.id in order:
        judge(engine, people["ben"], question.id, order[question.id], shown_at=tables.now() - timedelta(seconds=4))
    rebuild(engine)
    counts = overview(engine, people["mia"])
    # Full: three questions. Split: the two on which ben says something else.
    assert (counts.filled, counts.split, counts.disputed, counts.flagged) == (3, 2, 2, 1)
    assert counts.answers == {"adjudicated": 0, "people": 1, "gold": 0}
    assert (counts.today, counts.week) == (7, 7)  # 4 of ann's count, 3 of ben's
    # One question is settled: it wants nobody. Of the other five, two have two votes, one has one, two have none.
    assert counts.left == 0 + 0 + 1 + 2 + 2
    adjudicate(engine, people["ada"], disputed(engine, people["ada"])[0].shown.id, ["negative"], "it is")
    assert (overview(engine).split, overview(engine).disputed) == (2, 1)


# Questions in languages that nobody reads.

SPANISH = [(Input.of(f"Film {number}.", target="es"), f"Película {number}.") for number in range(3)]
BACK = [(Input.of("Film a.", language="fr", target="en"), "Film a.")]


def ask(engine, pairs, annotators=2):
    """Open a question about each (input, translation)."""
    with engine.begin() as connection:
        ids = input_ids(connection, [text for text, _ in pairs])
        wanted = [
            Wanted.about("translation", ids[text.key], text.key, said, rank, annotators=annotators)
            for rank, (text, said) in enumerate(pairs, 1)
        ]
        open_questions(connection, wanted)


@pytest.fixture
def translated(tmp_path):
    """Three questions from English into Spanish and one from French into English, for two people each."""
    engine = open_store(str(tmp_path / "a.db"), create=True)
    ask(engine, SPANISH)
    ask(engine, BACK)
    return engine


def test_questions_in_a_pair_that_no_annotator_reads(translated):
    add_account(translated, "ann", "annotator", "long enough", languages=["es", "en", "ca"])
    add_account(translated, "cem", "annotator", "long enough", languages=["fr"])  # reads the text, not the translation
    boss = add_account(translated, "mia", "manager", "long enough").id
    assert unread_questions(translated, boss) == [Unread(("fr", "en"), 1)]
    add_account(translated, "dan", "annotator", "long enough", languages=["fr", "en"])
    assert unread_questions(translated) == []
    disable_account(translated, "ann")
    assert unread_questions(translated) == [Unread(("en", "es"), 3)]
