"""Quality: the rows from which it is measured, and the document of a known record, by hand."""

import json
import math

import pandas as pd
from quality_world import answer_next, forget, know, settle_how, world

from audit.judging import control_questions
from audit.judging.adjudications import adjudicate
from audit.judging.judgements import undo
from audit.judging.settings import JudgingSettings
from audit.keys import uniform
from audit.reports.quality import RECORD_COLUMNS, Record, judging_record, quality_report

POSITIVE, NEGATIVE = frozenset({"positive"}), frozenset({"negative"})


def row(name, question, round, answer, seconds, expected=None, settled=None, before=None):
    return (name, question, "sentiment", "input", round, answer, seconds, expected, settled, before)


def test_by_hand():
    """Ann is right and quick, bob calls what is negative neutral and is slow."""
    rows = []
    for number in range(20):
        right, settled = ("positive", POSITIVE) if number % 2 else ("negative", NEGATIVE)
        said = "positive" if number % 2 else "neutral"
        for name, answer, seconds in (("ann", right, 0.5), ("bob", said, 9.0)):
            rows.append(row(name, number, 1, answer, seconds, settled=settled))
            rows.append(row(name, 100 + number, 3, answer, seconds + 0.2, expected=settled))
    rows.append(row("bob", 120, 3, "unsure", 9.0, expected=NEGATIVE))
    rows += [row("ann", number, 2, "positive", 2.0, before="positive") for number in range(3)]
    frame = pd.DataFrame(rows, columns=RECORD_COLUMNS, dtype=object).astype({"seconds": float})
    settings = JudgingSettings(pass_mark=0.9, fastest=1.0)
    report = quality_report(Record(frame, ("ann", "bob"), {"ann": (2, True)}, settings))
    ann, bob = report["annotators"]
    assert (ann["annotator"], ann["judgements"], bob["judgements"]) == ("ann", 20, 20)
    assert (ann["accuracy"]["value"], bob["accuracy"]["value"]) == (1.0, 0.5)
    assert (bob["accuracy"]["part"], bob["accuracy"]["whole"], bob["accuracy"]["unsure"]) == (10, 20, 1)
    assert bob["confusion"]["negative"] == {"positive": 0.0, "neutral": 10.0, "negative": 0.0}
    assert {bias["label"]: bias["value"] for bias in bob["bias"]} == {"positive": 0.0, "neutral": 0.5, "negative": -0.5}
    assert ann["consistency"]["value"] is None
    assert ann["consistency"]["reason"] == "3 observations, at least 10 are needed"
    assert (ann["settled"]["value"], bob["settled"]["value"]) == (1.0, 0.5)
    assert (ann["others"]["items"], ann["others"]["value"], ann["others"]["alpha_without"]) == (20, 0.5, None)
    # Twenty times 0.5 s, twenty times 0.7 s, three times 2 s: the median is 0.7, and 40 of 43 are below 1 s.
    assert (ann["speed"]["seconds"], ann["speed"]["fast"]["part"], ann["speed"]["fast"]["whole"]) == (0.7, 40, 43)
    assert [one["training"]["passed"] for one in (ann, bob)] == [True, False]
    json.dumps(report, allow_nan=False)


def test_the_record_of_passes_one_to_three(tmp_path, monkeypatch):
    def always(value):
        """What is asked next is hidden, repeated or new by this number instead of a random one."""
        fixed = lambda name, *of: value if name == "hidden" else uniform(name, *of)  # noqa: E731
        monkeypatch.setattr(control_questions, "uniform", fixed)

    engine, who = world(tmp_path / "audit.db")
    know(engine, "gold", 1)  # its right answer is positive
    settle_how(engine, gold_share=0.1, repeat_share=0.1, repeat_after=1)
    always(0.99)
    first = answer_next(engine, who["ann"], "negative").id
    other = answer_next(engine, who["ann"], "unsure").id
    always(0.0)
    secret = answer_next(engine, who["ann"], "neutral").id
    always(0.15)
    assert answer_next(engine, who["ann"], "neutral").id == first
    always(0.99)
    answer_next(engine, who["ann"])
    undo(engine, who["ann"])
    adjudicate(engine, who["ada"], first, ["positive"], "so it is")
    record = judging_record(engine, by=who["mia"])
    assert record.people == ("ann",)
    told = record.frame[["question", "round", "answer"]].itertuples(index=False, name=None)
    assert list(told) == [(first, 1, "negative"), (other, 1, "unsure"), (secret, 3, "neutral"), (first, 2, "neutral")]
    assert list(record.frame["known"]) == [None, None, POSITIVE, None]
    assert list(record.frame["settled"]) == [POSITIVE, None, None, None]
    assert record.frame["before"].fillna("").tolist() == ["", "", "", "negative"]
    assert all(map(math.isnan, record.frame["seconds"]))  # nobody said when they were shown
    # What is known no longer is measured no longer; the judgement stays.
    forget(engine)
    assert judging_record(engine).frame["known"].notna().sum() == 0
