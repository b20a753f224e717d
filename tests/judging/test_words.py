"""A study asks in its own words: kept in versions, in the log, refused where people have answered under others."""

import pytest
from sqlalchemy import select

from audit.errors import AuditError, Refused
from audit.false_satisfaction.questions import Wanted
from audit.judging.accounts import add_account
from audit.judging.asking import open_questions
from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.staleness import outdated
from audit.judging.words import answers_under, guideline_before, guideline_in_force, guideline_of, set_words, words_of
from audit.store import input_ids, open_store, table_of, tables
from audit.tasks import Input, wording

TASK, HERE = "sentiment", "hotels.csv"


def study_of(engine, corpus, task=TASK):
    row = {
        "key": corpus.encode(), "task": task, "corpus": corpus, "fingerprint": "x", "unit": "sentence", "seed": 0,
        "has_gold": False, "limit": None, "imported": False, "chunk": 250, "created_at": tables.now(),
    }  # fmt: skip
    with engine.begin() as connection:
        return connection.execute(table_of(tables.Study).insert(), row).inserted_primary_key[0]


def ask(engine, study, *texts):
    with engine.begin() as connection:
        ids = input_ids(connection, [Input.of(text) for text in texts])
        wanted = [Wanted.about(TASK, id, key, None, 1, annotators=1, study_id=study) for key, id in ids.items()]
        open_questions(connection, wanted)


@pytest.fixture
def engine(tmp_path):
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    ask(engine, study_of(engine, HERE), "Good.", "Bad.")
    return engine


def test_words_are_kept_in_versions_and_named_in_the_log(engine):
    set_words(engine, TASK, HERE, {"question": "  Is it praise? ", "zh": {"labels": {"positive": "夸"}}})
    set_words(engine, TASK, HERE, {"labels": {"positive": "Praise", "neutral": "Neither"}})
    own = set_words(engine, TASK, HERE, {"labels": {"neutral": ""}})
    assert own == set_words(engine, TASK, HERE, {"labels": {"neutral": ""}}), "nothing changed, so no version more"
    assert own.version == 3
    assert set_words(engine, TASK, HERE, {"question": "", "zh": {"labels": {}}}).version == 4
    own = set_words(engine, TASK, HERE, {"question": "Is it praise?", "zh": {"labels": {"positive": "夸"}}})
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


def test_studies_of_one_task_ask_in_their_own_words(engine):
    films = study_of(engine, "films.csv")
    ask(engine, films, "A fine film.")
    set_words(engine, TASK, HERE, {"question": "What does the guest say of the hotel?"})
    set_words(engine, TASK, "films.csv", {"question": "Did they like the film?"})
    ann = add_account(engine, "ann", "annotator", "long enough").id
    asked = {}
    with engine.connect() as connection:
        words = words_of(connection)
    for version in (1, 1, 2):
        shown = next_question(engine, ann)
        study = shown.study_id
        before = guideline_before(engine, ann, TASK, "input", study)
        assert (before is None) == (study not in asked), "the other study's guideline is not this one's"
        asked[study] = words.wording(TASK, study_id=study).question
        assert words.of(TASK, study).version == version
        judge(engine, ann, shown.id, "positive")
    assert list(asked.values()) == ["What does the guest say of the hotel?", "Did they like the film?"]
    assert outdated(engine) == [], "nobody answered under words that were changed"
    set_words(engine, TASK, "films.csv", {"question": "Was it fun?"}, change=True)
    assert [(one.judgements, one.below) for one in outdated(engine)] == [(1, guideline_of(TASK, "input").version + 3)]


def test_a_judgement_says_by_which_words_it_was_given(engine):
    ann = add_account(engine, "ann", "annotator", "long enough").id
    judge(engine, ann, next_question(engine, ann).id, "positive")
    with pytest.raises(Refused, match=r"^one answer to a question of sentiment was given under other words \('Is what"):
        set_words(engine, TASK, HERE, {"question": "Is it praise?"})
    set_words(engine, TASK, "films.csv", {"question": "Is it a film?"})  # nobody has answered about films
    set_words(engine, TASK, HERE, {"question": "Is it praise?"}, change=True)
    set_words(engine, TASK, HERE, {"question": "Is it praise?"})  # the same again asks nothing
    judge(engine, ann, next_question(engine, ann).id, "positive")
    with engine.connect() as connection:
        versions = connection.execute(select(table_of(tables.Judgement).c.guideline)).scalars().all()
        assert versions == [guideline_of(TASK, "input").version + more for more in (0, 2)]
        assert answers_under(connection, TASK, HERE) == 2


WRONG = (
    ({"questoin": "x"}, "words of sentiment: questoin: there is no such key"),
    ({"question": "a\nb"}, "question: must be a text of printable characters, 500 at most"),
    ({"labels": {"great": "x"}}, "'great': is no label of the task; its labels are positive, neutral, negative"),
    ({"labels": {"positive": "Neutral"}}, "positive and neutral would both read 'Neutral' in English"),
)


@pytest.mark.parametrize(("written", "reason"), WRONG)
def test_wrong_words_are_refused_in_a_sentence_and_nothing_is_stored(engine, written, reason):
    with pytest.raises(AuditError) as refused:
        set_words(engine, TASK, HERE, written)
    assert reason in str(refused.value)
    with engine.connect() as connection:
        assert not words_of(connection).stored


def test_sentiment_speaks_of_films_only_where_the_texts_are_of_films(engine):
    film, other = study_of(engine, "imdb"), study_of(engine, "headphones.csv")
    with engine.connect() as connection:
        words = words_of(connection)
        for study, question, version in ((film, "What does this text say about the film?", 3), (other, None, 4)):
            assert words.wording(TASK, study_id=study).question == (question or wording(TASK).question)
            assert guideline_in_force(connection, TASK, "input", study).version == version
