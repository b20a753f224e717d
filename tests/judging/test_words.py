"""A database's own words of a task: stored in versions, in the log, refused where people have answered under others."""

import pytest
from sqlalchemy import select

from audit.errors import AuditError, Refused
from audit.false_satisfaction.questions import Wanted
from audit.judging.accounts import add_account
from audit.judging.asking import open_questions
from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.words import (
    answers_under,
    guideline_in_force,
    guideline_of,
    own_words,
    set_words,
    stored_words,
    words_of,
)
from audit.store import input_ids, open_store, table_of, tables
from audit.tasks import Input, wording

TASK = "sentiment"


@pytest.fixture
def engine(tmp_path):
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    texts = [Input.of("Good."), Input.of("Bad.")]
    with engine.begin() as connection:
        ids = input_ids(connection, texts)
        wanted = [Wanted.about(TASK, ids[text.key], text.key, None, 1, annotators=1) for text in texts]
        open_questions(connection, wanted)
    return engine


def study_of(engine, corpus, task=TASK):
    row = {
        "key": corpus.encode(), "task": task, "corpus": corpus, "fingerprint": "x", "unit": "sentence", "seed": 0,
        "has_gold": False, "limit": None, "imported": False, "chunk": 250, "created_at": tables.now(),
    }  # fmt: skip
    with engine.begin() as connection:
        connection.execute(table_of(tables.Study).insert(), row)


def test_words_are_kept_in_versions_and_named_in_the_log(engine):
    set_words(engine, TASK, {"question": "  Is it praise? ", "zh": {"labels": {"positive": "夸"}}})
    set_words(engine, TASK, {"labels": {"positive": "Praise", "neutral": "Neither"}})
    own = set_words(engine, TASK, {"labels": {"neutral": ""}})
    assert own == set_words(engine, TASK, {"labels": {"neutral": ""}}), "nothing changed, so no version more"
    assert own.version == 3
    assert set_words(engine, TASK, {"question": "", "zh": {"labels": {}}}).version == 4
    own = set_words(engine, TASK, {"question": "Is it praise?", "zh": {"labels": {"positive": "夸"}}})
    assert wording(TASK, "en", own).question == wording(TASK, "zh", own).question == "Is it praise?"
    assert wording(TASK, "en", own).labels["positive"] == "Praise"
    assert wording(TASK, "zh", own).labels["positive"] == "夸"
    assert wording(TASK, "en", own).labels["neutral"] == "Neutral"
    with engine.connect() as connection:
        setting = table_of(tables.Setting)
        names = connection.execute(select(setting.c.name).order_by(setting.c.name)).scalars().all()
        assert names == [f"words/sentiment/{number}" for number in range(1, 6)]
        log = connection.execute(select(table_of(tables.Log).c.action, table_of(tables.Log).c.detail)).all()
        assert [tuple(line) for line in log][-1] == ("words", {"task": TASK, "version": 5, "answers": 0})
        assert stored_words(connection, TASK).content[""]["question"] == "Is it praise?"
        assert own_words(connection, "similarity") == own_words(connection, "topic")


def test_a_judgement_says_by_which_words_it_was_given(engine):
    ann = add_account(engine, "ann", "annotator", "long enough").id
    judge(engine, ann, next_question(engine, ann).id, "positive")
    with pytest.raises(Refused, match=r"^one answer to a question of sentiment was given under other words \('Is what"):
        set_words(engine, TASK, {"question": "Is it praise?"})
    set_words(engine, TASK, {"question": "Is it praise?"}, change=True)
    set_words(engine, TASK, {"question": "Is it praise?"})  # the same again asks nothing
    judge(engine, ann, next_question(engine, ann).id, "positive")
    with engine.connect() as connection:
        versions = connection.execute(select(table_of(tables.Judgement).c.guideline)).scalars().all()
        assert versions == [guideline_of(TASK, "input").version + more for more in (0, 1)]
        assert answers_under(connection, TASK) == 2


WRONG = (
    ({"questoin": "x"}, "words of sentiment: questoin: there is no such key"),
    ({"question": "a\nb"}, "question: must be a text of printable characters, 500 at most"),
    ({"labels": {"great": "x"}}, "'great': is no label of the task; its labels are positive, neutral, negative"),
    ({"labels": {"positive": "Neutral"}}, "positive and neutral would both read 'Neutral' in English"),
)


@pytest.mark.parametrize(("written", "reason"), WRONG)
def test_wrong_words_are_refused_in_a_sentence_and_nothing_is_stored(engine, written, reason):
    with pytest.raises(AuditError) as refused:
        set_words(engine, TASK, written)
    assert reason in str(refused.value)
    with engine.connect() as connection:
        assert stored_words(connection, TASK).version == 0


def test_sentiment_speaks_of_films_only_where_all_texts_are_of_films(engine):
    def asked():
        with engine.connect() as connection:
            return words_of(connection).wording(TASK).question, guideline_in_force(connection, TASK, "input").version

    assert asked() == (wording(TASK).question, 4), "no study yet"
    study_of(engine, "imdb")
    study_of(engine, "rotten-tomatoes")
    study_of(engine, "reviews.csv", "classification/a,b")
    assert asked() == ("What does this text say about the film?", 3)
    study_of(engine, "headphones.csv")
    assert asked() == (wording(TASK).question, 4)
