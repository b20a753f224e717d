"""What a report says of one study depends on its own groups and answers, never on another study of the database."""

import pytest
from question_world import add_people
from small_corpus import SmallCorpus

from audit.judging.adjudications import adjudicate
from audit.judging.judgements import judge
from audit.judging.labels import answer_with_gold
from audit.judging.queue import next_question
from audit.judging.samples import ask_next, draw_validity
from audit.reports.progress import cells_at_work, plan
from audit.reports.study import cells_of_report, evidence, study_report
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.options import PlanOptions
from audit.sampling.samples import SampleOptions
from audit.sampling.validity import ValidityRequest
from audit.store import open_store

ROWS = 90
TWO, THREE = ("positive", "negative"), ("positive", "neutral", "negative")


def films(name, labels):
    texts = [f"{name.title()} {number} was fine." for number in range(ROWS)]
    return SmallCorpus(name, texts, [labels[number % 7 % len(labels)] for number in range(ROWS)], first=1)


def all_of(engine, study):
    """Whatever the app and the commands compute for one study."""
    basis = evidence(engine, study=study)
    return {
        "report": study_report(engine, study=study),
        "cells": cells_at_work(cells_of_report(basis)),
        "plan": plan(engine, PlanOptions(decide="winner"), study),
    }


@pytest.fixture
def engine(own, toy_relations, tmp_path):
    opened = open_store(str(tmp_path / "audit.db"), create=True)
    run(opened, films("film", TWO), own.specs("calm", "nervous"), toy_relations[:1], InProcess())
    ask_next(opened, SampleOptions(40))
    answer_with_gold(opened)
    return opened


@pytest.mark.slow
def test_another_study_and_its_answers_change_nothing_of_a_study(engine, own, toy_relations):
    before = all_of(engine, 1)
    assert [entry["p_best"] for entry in before["report"]["relations"][0]["ranking"] if entry["p_best"]]
    run(engine, films("play", THREE), own.specs("calm", "nervous", "failing"), toy_relations[:2], InProcess())
    ask_next(engine, SampleOptions(40), study=2)
    draw_validity(engine, ValidityRequest(2, annotators=2, first=True, asks="groups"), 2)
    answer_with_gold(engine)
    assert all_of(engine, 1) == before
    people = add_people(engine, {"ann": "annotator", "bob": "annotator", "ada": "adjudicator"})
    disputed = 0
    for name, turn in (("ann", 1), ("bob", -1)):
        for _ in range(12):  # groups first, then texts
            shown = next_question(engine, people[name])
            judge(engine, people[name], shown.id, shown.labels[::turn][0])
            disputed = disputed if shown.group else shown.id
    adjudicate(engine, people["ada"], disputed, ["negative"], "a slip", "slip")
    other = study_report(engine, study=2)
    assert other["signature"]["answers"]["adjudicated"] == other["disputes"]["settled"] == 1
    assert all_of(engine, 1) == before
