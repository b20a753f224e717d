"""An annotator's own answers: what is in the list, what is searched, what may be changed, and that no hidden question
can be told by it."""

import pytest
from quality_world import know, settle_how
from question_world import add_people, asked, give, rows, where

from audit.errors import NotAllowed, Refused
from audit.judging import control_questions
from audit.judging.adjudications import adjudicate
from audit.judging.answers import counting_votes
from audit.judging.control_questions import KNOWN, REPEAT
from audit.judging.judgements import change, flag_answer, judge, skip, undo
from audit.judging.own_answers import (
    LONGEST,
    OwnFilter,
    own_answer,
    own_answers,
    own_labels,
)
from audit.judging.queue import next_question
from audit.keys import uniform
from audit.store import tables

__all__ = ["where"]
TEXTS = ["It is GOOD.", 'It is 100% bad, "really".', "电影很长_", "It is short."]
ROLES = {"ann": "annotator", "bob": "annotator", "cy": "annotator", "ada": "adjudicator", "mia": "manager"}


def world(where, texts=TEXTS):
    engine = asked(where, texts)
    return engine, add_people(engine, ROLES)


def ids(engine, account, **wanted):
    """The questions in the list, the newest first."""
    return [entry.question_id for entry in own_answers(engine, account, OwnFilter(**wanted)).answers]


def test_the_list_is_searched_and_filtered_and_has_nobody_elses_answers(where):
    engine, who = world(where)
    give(engine, who["bob"], "negative")
    give(engine, who["ann"], "positive", "unsure", "neutral")
    ann = who["ann"]
    assert ids(engine, ann) == [3, 2, 1]
    assert ids(engine, who["bob"]) == [1]
    assert [entry.answer for entry in own_answers(engine, ann).answers] == ["neutral", "unsure", "positive"]
    for search, expected in {
        "good": [1], "IT IS": [2, 1], "100%": [2], "%": [2], '"really"': [2], "很长": [3], "_": [3], "长_": [3],
        "\\": [], "languages": [], " ": [3, 2, 1],
    }.items():  # fmt: skip
        assert ids(engine, ann, search=search) == expected, search
    assert ids(engine, ann, answer="unsure") == [2]
    change(engine, ann, 1, "positive", comment="Odd Film")
    assert ids(engine, ann) == [1, 3, 2]
    assert ids(engine, ann, search="odd film") == [1]
    flag_answer(engine, ann, 3, "which film?")
    assert ids(engine, ann, flagged=True) == [3]
    assert own_labels(engine, ann) == {"sentiment": ("neutral", "positive", "unsure")}
    undo(engine, ann)
    assert ids(engine, ann) == [3, 2]  # and what is on the screen again is not in it
    with pytest.raises(Refused, match="201 characters"):
        own_answers(engine, ann, OwnFilter("x" * (LONGEST + 1)))
    with pytest.raises(Refused, match="no answer to question 4"):
        own_answer(engine, ann, 4)
    with pytest.raises(NotAllowed):
        own_answers(engine, 999)


@pytest.fixture
def always(monkeypatch):
    """Let the next decisions be this number: 0 takes a hidden question, 0.99 an ordinary one."""

    def fix(value):
        monkeypatch.setattr(
            control_questions, "uniform", lambda name, *of: value if name == "hidden" else uniform(name, *of)
        )

    return fix


def test_a_hidden_question_is_in_the_list_like_any_other(tmp_path, always):
    """What is there of an account with hidden questions is what is there of one without, but for the texts."""
    engine, who = world(tmp_path / "audit.db", [f"Film {number}." for number in range(1, 7)])
    know(engine, "gold", 5)
    settle_how(engine, gold_share=0.1)
    for account, hidden in ((who["ann"], 0.0), (who["bob"], 0.99)):
        always(0.99)
        give(engine, account, "positive")
        always(hidden)
        give(engine, account, "negative")
        always(0.99)
        give(engine, account, "positive")
    of_ann = [row["round"] for row in rows(engine, tables.Judgement) if row["annotator_id"] == who["ann"]]
    assert of_ann == [1, KNOWN, 1]

    def seen(account):
        entries = own_answers(engine, account).answers
        return [(e.task, e.kind, e.answer, e.comment, e.flagged, e.closed, len(e.languages)) for e in entries]

    assert seen(who["ann"]) == seen(who["bob"])
    hidden = rows(engine, tables.Judgement)[1]["question_id"]
    adjudicate(engine, who["ada"], hidden, ["neutral"], "", "slip")
    assert own_answer(engine, who["ann"], hidden)[0].closed is None  # the question was decided, not this answer


def change_of(engine, account, question_id):
    """What becomes of another answer to this question."""
    try:
        change(engine, account, question_id, "neutral")
    except Refused as refused:
        return "closed" if "flag it" in refused.sentence else refused.sentence
    return "changed"


def test_a_repeat_is_not_in_the_list_while_it_is_asked_and_once_afterwards(tmp_path, always):
    engine, who = world(tmp_path / "audit.db", [f"Film {number}." for number in range(1, 7)])
    settle_how(engine, repeat_share=0.1, repeat_after=2)
    always(0.99)
    give(engine, who["ann"], "positive", "positive", "positive")
    always(0.0)
    shown = next_question(engine, who["ann"])
    assert shown.id == 1
    # An ordinary question on the screen is not in the list, either.
    assert ids(engine, who["ann"], search=shown.texts[0]) == ids(engine, who["ann"], search="Film 4.") == []
    assert change_of(engine, who["ann"], 1).startswith("your list has no answer to question 1")
    judge(engine, who["ann"], 1, "negative")
    entries = own_answers(engine, who["ann"]).answers
    assert [(entry.question_id, entry.answer) for entry in entries] == [
        (1, "negative"), (3, "positive"), (2, "positive"),
    ]  # fmt: skip
    change(engine, who["ann"], 1, "neutral")
    history = [(row["answer"], row["round"], row["supersedes"]) for row in rows(engine, tables.Judgement)][3:]
    assert history == [("negative", REPEAT, None), ("neutral", REPEAT, 4)]
    # What was said in a hidden pass is no vote, and its change is none.
    with engine.connect() as connection:
        assert [vote.answer for vote in counting_votes(connection, [1])] == ["positive"]
    undo(engine, who["ann"])
    assert 1 not in ids(engine, who["ann"])
    skip(engine, who["ann"], 1)
    assert ids(engine, who["ann"], search="Film 1.") == [1]
