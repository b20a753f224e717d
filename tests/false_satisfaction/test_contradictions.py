"""Answers that cannot all be true if their relation holds."""

import json

import pytest

from audit.annotation.accounts import add_account
from audit.annotation.questions import Wanted, open_questions, question_ids
from audit.cli import main
from audit.errors import NotAllowed
from audit.false_satisfaction.browse import contradictions
from audit.judging.adjudications import adjudicate
from audit.judging.deferral import refer
from audit.judging.samples import draw
from audit.relations import base, registry
from audit.relations.expect import equivalent
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.draw import Size
from audit.store import input_ids, open_store
from audit.tasks import Input


@pytest.fixture
def made(tmp_path, own, toy_corpus, toy_relations):
    """Films 1 to 9 with T1 (carries every answer) and T4 (carries positive only), by two systems."""

    def stay(text, choices):
        """A word before; positive stays positive."""
        return f"Yes: {text.text}"

    options = {"task": "sentiment", "family": "toys", "unit": "sentence"}
    registry.plain("T4", check=equivalent, carry=base.stays("positive"), **options)(stay)
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    relations = [toy_relations[0], registry.get_relation("sentiment", "T4")]
    with InProcess() as executor:
        ran = run(engine, toy_corpus(9), own.specs("calm", "nervous"), relations, executor)
    draw(engine, ran.study.id, Size(share=1.0))
    add_account(engine, "ada", "adjudicator", "long enough")
    return engine


def say(engine, text, *labels):
    """Let an adjudicator settle a text; it is asked about where it was not."""
    given = Input.of(text)
    with engine.begin() as connection:
        id = input_ids(connection, [given])[given.key]
        open_questions(connection, "sentiment", [Wanted(id, given.key, 1)], annotators=2)
        question = question_ids(connection, "sentiment", [id])["sentiment", id, None]
    adjudicate(engine, 1, question, labels, "for a test")
    return question


def test_answers_that_fit_are_not_listed(made):
    say(made, "Film 1 was fine.", "positive")
    say(made, "FILM 1 WAS FINE.", "positive", "neutral")
    say(made, "Yes: Film 1 was fine.", "positive")
    assert contradictions(made) == []


def test_one_that_does_not_is_listed_once_for_all_systems(made):
    source = say(made, "Film 1 was fine.", "positive", "neutral")
    other = say(made, "FILM 1 WAS FINE.", "negative")
    (found,) = contradictions(made)
    assert (found.relation, found.preserves_truth, found.carried) == ("T1", True, ("neutral", "positive"))
    assert (found.source.question, found.source.answer) == (source, ("neutral", "positive"))
    assert (found.follow_up.question, found.follow_up.answer) == (other, ("negative",))
    assert found.follow_up.texts == ("FILM 1 WAS FINE.",)
    assert found.groups >= 1
    assert not found.source.waits


def test_what_a_relation_does_not_carry_contradicts_nothing(made):
    say(made, "Film 1 was fine.", "negative")
    say(made, "Yes: Film 1 was fine.", "positive")
    assert contradictions(made) == []
    for number in range(2, 10):  # of some of them the group is satisfied, and so drawn
        say(made, f"Film {number} was fine.", "positive")
        say(made, f"Yes: Film {number} was fine.", "negative")
    assert {one.relation for one in contradictions(made)} == {"T4"}
    assert not contradictions(made)[0].preserves_truth


def test_it_is_gone_when_an_answer_is_changed(made):
    say(made, "Film 1 was fine.", "positive")
    say(made, "FILM 1 WAS FINE.", "negative")
    assert len(contradictions(made)) == 1
    say(made, "FILM 1 WAS FINE.", "positive")
    assert contradictions(made) == []


def test_whose_answers_are_compared(made):
    from audit.judging.labels import answer_with_gold

    say(made, "FILM 2 WAS FINE.", "negative")
    answer_with_gold(made)
    assert contradictions(made, "people") == []
    found = contradictions(made, "both")
    gold = {one.source.answer for one in found}
    assert all(answer != ("negative",) for answer in gold)


def test_managers_only_and_flags_are_shown(made):
    mia = add_account(made, "mia", "manager", "long enough").id
    source = say(made, "Film 1 was fine.", "positive")
    other = say(made, "FILM 1 WAS FINE.", "negative")
    with pytest.raises(NotAllowed, match="needs the role manager"):
        contradictions(made, by=1)
    refer(made, mia, [source, other], "which?")
    (found,) = contradictions(made, by=mia)
    assert found.source.waits
    assert found.follow_up.waits
    adjudicate(made, 1, other, ["positive"], "looked again")
    assert contradictions(made, by=mia) == []


def test_the_command_lists_them(made, capsys):
    say(made, "Film 1 was fine.", "positive")
    say(made, "FILM 1 WAS FINE.", "negative")
    where = str(made.url.database)
    assert main(["contradictions", "--db", where]) == 0
    text = capsys.readouterr().out
    assert "1 pairs of answers cannot both be true" in text
    assert "the follow-up should be positive" in text
    assert main(["contradictions", "--db", where, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["contradictions"][0]["carried"] == ["positive"]
