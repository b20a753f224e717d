"""Questions in languages that nobody reads."""

import pytest

from audit.false_satisfaction.questions import Wanted
from audit.judging.accounts import add_account, disable_account
from audit.judging.activity import Unread, unread_questions
from audit.judging.asking import open_questions
from audit.store import input_ids, open_store
from audit.tasks import Input

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
def world(tmp_path):
    """Three questions from English into Spanish and one from French into English, for two people each."""
    engine = open_store(str(tmp_path / "a.db"), create=True)
    ask(engine, SPANISH)
    ask(engine, BACK)
    return engine


def test_questions_in_a_pair_that_no_annotator_reads(world):
    add_account(world, "ann", "annotator", "long enough", languages=["es", "en", "ca"])
    add_account(world, "cem", "annotator", "long enough", languages=["fr"])  # reads the text, not the translation
    boss = add_account(world, "mia", "manager", "long enough").id
    assert unread_questions(world, boss) == [Unread(("fr", "en"), 1)]
    add_account(world, "dan", "annotator", "long enough", languages=["fr", "en"])
    assert unread_questions(world) == []
    disable_account(world, "ann")
    assert unread_questions(world) == [Unread(("en", "es"), 3)]
