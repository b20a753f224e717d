"""The rows from which quality is measured, and a manager's questions to the adjudicators."""

import math

import pytest
from quality_world import answer_next, forget, know, settle_how, world

from audit.judging import control_questions
from audit.judging.adjudications import adjudicate
from audit.judging.judgements import undo
from audit.keys import uniform
from audit.reports.quality import RECORD_COLUMNS, judging_record


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
    forget(engine)
    assert judging_record(engine).frame["known"].notna().sum() == 0
