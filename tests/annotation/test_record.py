"""The rows from which quality is measured, and a manager's questions to the adjudicators."""

import math

import pytest
from quality_world import LABELS, answer_next, know, settle_how, world
from question_world import rows

from audit.annotation import control_questions
from audit.annotation.control_questions import RECORD_COLUMNS, judging_record, remove_known
from audit.errors import NotAllowed, Refused
from audit.judging.adjudications import adjudicate
from audit.judging.deferral import flagged_ids, refer
from audit.judging.judgements import undo
from audit.judging.training import judging_mode, train
from audit.keys import uniform
from audit.store import tables


@pytest.fixture
def always(monkeypatch):
    def fix(value):
        monkeypatch.setattr(
            control_questions, "uniform", lambda name, *of: value if name == "hidden" else uniform(name, *of)
        )

    return fix


def test_the_record_of_passes_one_to_three(tmp_path, always):
    engine, who = world(tmp_path / "audit.db")
    know(engine, "gold", 1)  # its right answer is positive
    settle_how(engine, gold_share=0.1, repeat_share=0.1, repeat_after=1)
    always(0.99)
    first = answer_next(engine, who["ann"], "negative").id
    answer_next(engine, who["ann"], "unsure")
    always(0.0)
    secret = answer_next(engine, who["ann"], "neutral").id
    always(0.15)
    assert answer_next(engine, who["ann"], "neutral").id == first
    always(0.99)
    answer_next(engine, who["ann"])
    undo(engine, who["ann"])
    adjudicate(engine, who["ada"], first, ["positive"], "so it is")
    record = judging_record(engine, by=who["mia"])
    assert list(record.frame.columns) == RECORD_COLUMNS
    assert record.people == ("ann",)
    told = record.frame[["question", "round", "answer", "known", "settled", "before"]].to_dict("records")
    assert [(row["question"], row["round"], row["answer"]) for row in told] == [
        (first, 1, "negative"), (told[1]["question"], 1, "unsure"), (secret, 3, "neutral"), (first, 2, "neutral")
    ]  # fmt: skip
    assert [row["known"] for row in told] == [None, None, frozenset({"positive"}), None]
    assert [row["settled"] for row in told] == [frozenset({"positive"}), None, None, None]
    assert record.frame["before"].fillna("").tolist() == ["", "", "", "negative"]
    assert all(map(math.isnan, record.frame["seconds"]))  # nobody said when they were shown
    # What is known no longer is measured no longer; the judgement stays.
    remove_known(engine, None)
    assert judging_record(engine).frame["known"].notna().sum() == 0


def test_attempts_are_in_the_record(tmp_path):
    engine, who = world(tmp_path / "audit.db")
    know(engine, "training", 1)
    settle_how(engine, pass_mark=1.0)
    for label in LABELS[::-1]:
        shown = judging_mode(engine, who["ann"]).training.shown
        train(engine, who["ann"], shown.id, label)
    record = judging_record(engine)
    assert record.attempts == {"ann": (3, True)}
    assert record.people == ("ann",)
    assert record.frame.empty


def test_referring_flags_questions_for_the_adjudicators(tmp_path, content):
    engine, who = world(tmp_path / "audit.db")
    adjudicate(engine, who["ada"], 1, ["positive"], "first look")
    assert refer(engine, who["mia"], [1, 2], " which is it? ") == 2
    assert flagged_ids(engine, who["ada"]) == [2, 1]  # nobody waits for the first one any more
    assert [row["comment"] for row in rows(engine, tables.Aside)] == ["which is it?", "which is it?"]
    before = content(engine)
    for ids, comment, message in (
        ([1, 2], "again", "with the adjudicators already"),
        ([3, 99], "odd", "there is no question 99"),
        ([3], "  ", "say in the comment"),
        ([3], "x" * 2001, "the comment has 2001 characters"),
    ):
        with pytest.raises(Refused, match=message):
            refer(engine, who["mia"], ids, comment)
    for name in ("ann", "ada"):
        with pytest.raises(NotAllowed, match="needs the role manager"):
            refer(engine, who[name], [3], "odd")
    assert content(engine) == before
    assert refer(engine, who["mia"], [2, 3], "and this") == 1
    adjudicate(engine, who["ada"], 1, ["negative"], "second look")
    assert flagged_ids(engine, who["ada"]) == [2, 3]
    assert len(rows(engine, tables.Aside)) == 3
