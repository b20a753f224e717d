"""Answers that cannot all be true if their relation holds."""

import json

import pytest

from audit.annotation.accounts import add_account
from audit.annotation.questions import Wanted, open_questions, question_ids
from audit.cli import main
from audit.errors import NotAllowed
from audit.false_satisfaction.browse import contradictions
from audit.judging.adjudications import adjudicate
from audit.judging.samples import draw
from audit.relations import base, registry
from audit.relations.expect import equivalent
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.draw import SampleRequest, Size
from audit.store import input_ids, open_store
from audit.tasks import Input


@pytest.fixture
def judged_study(tmp_path, own, toy_corpus, toy_relations):
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
    draw(engine, ran.study.id, SampleRequest(Size(share=1.0)))
    add_account(engine, "ada", "adjudicator", "long enough")
    return engine


def say(engine, text, *labels):
    """Let an adjudicator settle a text; it is asked about where it was not."""
    text_input = Input.of(text)
    with engine.begin() as connection:
        id = input_ids(connection, [text_input])[text_input.key]
        open_questions(connection, "sentiment", [Wanted(id, text_input.key, 1)], annotators=2)
        question = question_ids(connection, "sentiment", [id])["sentiment", id, None]
    adjudicate(engine, 1, question, labels, "for a test")
    return question


def test_answers_that_fit_are_not_listed(judged_study):
    say(judged_study, "Film 1 was fine.", "positive")
    say(judged_study, "FILM 1 WAS FINE.", "positive", "neutral")
    say(judged_study, "Yes: Film 1 was fine.", "positive")
    assert contradictions(judged_study) == []


def test_one_that_does_not_is_listed_once_for_all_systems(judged_study):
    source = say(judged_study, "Film 1 was fine.", "positive", "neutral")
    other = say(judged_study, "FILM 1 WAS FINE.", "negative")
    (contradiction,) = contradictions(judged_study)
    assert (contradiction.relation, contradiction.preserves_truth, contradiction.carried) == (
        "T1",
        True,
        ("neutral", "positive"),
    )
    assert (contradiction.source.question, contradiction.source.answer) == (source, ("neutral", "positive"))
    assert (contradiction.follow_up.question, contradiction.follow_up.answer) == (other, ("negative",))
    assert contradiction.follow_up.texts == ("FILM 1 WAS FINE.",)
    assert contradiction.groups >= 1
    assert not contradiction.source.waits


def test_what_a_relation_does_not_carry_contradicts_nothing(judged_study):
    say(judged_study, "Film 1 was fine.", "negative")
    say(judged_study, "Yes: Film 1 was fine.", "positive")
    assert contradictions(judged_study) == []
    for number in range(2, 10):  # of some of them the group is satisfied, and so drawn
        say(judged_study, f"Film {number} was fine.", "positive")
        say(judged_study, f"Yes: Film {number} was fine.", "negative")
    assert {contradiction.relation for contradiction in contradictions(judged_study)} == {"T4"}
    assert not contradictions(judged_study)[0].preserves_truth


def test_it_is_gone_when_an_answer_is_changed(judged_study):
    say(judged_study, "Film 1 was fine.", "positive")
    say(judged_study, "FILM 1 WAS FINE.", "negative")
    assert len(contradictions(judged_study)) == 1
    say(judged_study, "FILM 1 WAS FINE.", "positive")
    assert contradictions(judged_study) == []


def test_whose_answers_are_compared(judged_study):
    from audit.judging.labels import answer_with_gold

    say(judged_study, "FILM 2 WAS FINE.", "negative")
    answer_with_gold(judged_study)
    assert contradictions(judged_study, "people") == []
    listed = contradictions(judged_study, "both")
    gold = {contradiction.source.answer for contradiction in listed}
    assert all(answer != ("negative",) for answer in gold)


def test_managers_only(judged_study):
    mia = add_account(judged_study, "mia", "manager", "long enough").id
    say(judged_study, "Film 1 was fine.", "positive")
    other = say(judged_study, "FILM 1 WAS FINE.", "negative")
    with pytest.raises(NotAllowed, match="needs the role manager"):
        contradictions(judged_study, by=1)
    assert len(contradictions(judged_study, by=mia)) == 1
    adjudicate(judged_study, 1, other, ["positive"], "looked again")
    assert contradictions(judged_study, by=mia) == []


def test_the_command_lists_them(judged_study, capsys):
    say(judged_study, "Film 1 was fine.", "positive")
    say(judged_study, "FILM 1 WAS FINE.", "negative")
    where = str(judged_study.url.database)
    assert main(["contradictions", "--db", where]) == 0
    text = capsys.readouterr().out
    assert "1 pairs of answers cannot both be true" in text
    assert "the follow-up should be positive" in text
    assert main(["contradictions", "--db", where, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["contradictions"][0]["carried"] == ["positive"]
