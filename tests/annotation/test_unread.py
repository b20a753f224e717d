"""Questions in languages that nobody reads: which are counted, and that the queue agrees."""

import pytest
import translations
from question_world import add_people

from audit.annotation.accounts import add_account, disable_account
from audit.annotation.activity import Unread, unread_questions
from audit.annotation.questions import Wanted, open_questions
from audit.annotation.queue import next_question
from audit.judging.judgements import judge
from audit.store import input_ids, open_store
from audit.tasks import Input

SPANISH = [(Input.of(f"Film {number}.", target="es"), f"Película {number}.") for number in range(3)]
BACK = [(Input.of("Film a.", language="fr", target="en"), "Film a.")]


def ask(engine, pairs, annotators=2):
    """Open a question about each (input, translation)."""
    with engine.begin() as connection:
        ids = input_ids(connection, [text for text, _ in pairs])
        wanted = [Wanted(ids[text.key], text.key, rank, output=said) for rank, (text, said) in enumerate(pairs, 1)]
        open_questions(connection, "translation", wanted, annotators=annotators)


@pytest.fixture
def world(tmp_path):
    """Three questions from English into Spanish and one from French into English, for two people each."""
    engine = open_store(str(tmp_path / "a.db"), create=True)
    ask(engine, SPANISH)
    ask(engine, BACK)
    return engine


def test_questions_in_a_pair_that_no_annotator_reads(world):
    add_account(world, "ann", "annotator", "long enough", languages=["en", "es"])
    add_account(world, "ben", "annotator", "long enough", languages=["es", "en", "ca"])
    add_account(world, "cem", "annotator", "long enough", languages=["fr"])  # reads the text, not the translation
    boss = add_account(world, "mia", "manager", "long enough").id
    assert unread_questions(world, boss) == [Unread(("fr", "en"), 1, 2, 0, 1)]
    for name in ("dan", "eve"):
        add_account(world, name, "annotator", "long enough", languages=["fr", "en"])
    assert unread_questions(world) == []


def test_too_few_readers_counting_what_others_have_answered(world):
    ann = add_account(world, "ann", "annotator", "long enough", languages=["en", "es"]).id
    both = [Unread(("en", "es"), 3, 2, 1, 0), Unread(("fr", "en"), 1, 2, 0, 0)]
    assert unread_questions(world) == both
    # ann's own answer helps nothing: somebody else is wanted.
    judge(world, ann, next_question(world, ann).id, "accurate")
    assert unread_questions(world) == both
    # An answer of somebody who left counts, so that ann alone can fill what he answered.
    ben = add_account(world, "ben", "annotator", "long enough", languages=["en", "es"]).id
    judge(world, ben, next_question(world, ben).id, "accurate")
    second = next_question(world, ben).id
    judge(world, ben, second, "accurate")
    disable_account(world, "ben")
    # The first question is filled, the second wants ann, the third ann and one more.
    assert unread_questions(world) == [Unread(("en", "es"), 1, 2, 1, 0), both[1]]


def test_others_stand_in_only_where_there_are_no_annotators(world):
    add_people(world, {"mia": "manager", "ada": "adjudicator"})
    assert unread_questions(world) == []
    add_account(world, "ann", "annotator", "long enough", languages=["es"])
    assert [(unread.languages, unread.readers, unread.others) for unread in unread_questions(world)] == [
        (("en", "es"), 0, 2),
        (("fr", "en"), 0, 2),
    ]


def test_a_question_about_a_group_needs_the_languages_of_its_links(tmp_path):
    engine = translations.study(tmp_path, "P", groups=20)
    for name in ("ann", "ben"):
        add_account(engine, name, "annotator", "long enough", languages=["en", "fr"])
    # en>es and fr>es are asked about each text; and about each group, which goes from English by French into Spanish.
    assert unread_questions(engine) == [
        Unread(("en", "es"), 4, 2, 0, 0),
        Unread(("en", "es", "fr"), 4, 2, 0, 0),
        Unread(("fr", "es"), 4, 2, 0, 0),
    ]
