"""A report of one study depends on its own groups and answers alone, is of one state of the database, and says the same
number of open questions as every other place."""

import pytest
from question_world import add_people
from small_corpus import SmallCorpus
from sqlalchemy import select

from audit.false_satisfaction.questions import count_open
from audit.judging.activity import overview
from audit.judging.adjudications import adjudicate
from audit.judging.judgements import flag, judge
from audit.judging.labels import answer_with_gold
from audit.judging.queue import next_question
from audit.judging.samples import ask_next, draw_validity
from audit.judging.settings import change_settings
from audit.reports import study as reading
from audit.reports.first_page import next_lines, open_questions
from audit.reports.progress import cells_at_work, plan, totals
from audit.reports.study import cells_of_report, evidence, study_report
from audit.reports.words import Say
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.options import PlanOptions
from audit.sampling.samples import SampleOptions
from audit.sampling.validity import ValidityRequest
from audit.store import open_store
from audit.store.core import answer
from audit.ui import worker

GROUPS = ValidityRequest(3, annotators=2, first=True, asks="groups")


def films(name, number, labels=()):
    gold = [labels[at % 7 % len(labels)] for at in range(number)] if labels else ()
    return SmallCorpus(name, [f"{name} {at} was fine." for at in range(number)], gold, first=1)


def all_of(engine, study):
    """Whatever the app and the commands compute for one study."""
    return {
        "report": study_report(engine, study=study),
        "cells": cells_at_work(cells_of_report(evidence(engine, study=study))),
        "plan": plan(engine, PlanOptions(decide="winner"), study),
    }


@pytest.mark.slow
def test_another_study_and_its_answers_change_nothing_of_a_study(own, toy_relations, tmp_path):
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    run(
        engine,
        films("Film", 90, ("positive", "negative")),
        own.specs("calm", "nervous"),
        toy_relations[:1],
        InProcess(),
    )
    ask_next(engine, SampleOptions(40))
    answer_with_gold(engine)
    before = all_of(engine, 1)
    assert [entry["p_best"] for entry in before["report"]["relations"][0]["ranking"] if entry["p_best"]]
    labels = ("positive", "neutral", "negative")
    run(engine, films("Play", 90, labels), own.specs("calm", "nervous", "failing"), toy_relations[:2], InProcess())
    ask_next(engine, SampleOptions(40), study=2)
    draw_validity(engine, GROUPS, 2)
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


@pytest.mark.slow
def test_every_place_says_the_same_number_of_open_questions(own, toy_relations, tmp_path):
    """Two studies with groups that people are asked about, audits, a flag, disputes, hidden repeats, answers."""
    where = str(tmp_path / "audit.db")
    engine = open_store(where, create=True)
    people = add_people(engine, {"ann": "annotator", "bob": "annotator", "mia": "manager"})
    change_settings(engine, people["mia"], {"repeat_share": 0.5})
    for name in ("The film", "The play"):
        run(engine, films(name, 20), own.specs("calm", "nervous"), toy_relations[:2], InProcess())
    ask_next(engine, SampleOptions(8, follow_ups=0.5))
    draw_validity(engine, GROUPS)
    for name, turn in (("ann", 1), ("bob", -1)):
        for number in range(44):  # groups first, then texts, whose answers make audits
            shown = next_question(engine, people[name])
            if number == 3:
                flag(engine, people[name], shown.id, "which film?")
            else:
                judge(engine, people[name], shown.id, shown.labels[:: turn if number % 4 == 0 else 1][0])
    with engine.connect() as connection:
        counted = count_open(connection)
    assert min(counted.texts, counted.groups, counted.audits) > 0
    dashboard = totals(overview(engine))["questions"]
    assert (dashboard["open"], dashboard["open_groups"]) == (counted.open, counted.groups)
    report = study_report(engine)
    assert open_questions(report["overall"]) == counted.open
    assert report["overall"]["audits_waiting"] == dashboard["audits"] == counted.audits
    assert f"the {counted.open} questions" in " ".join(next_lines(report, report["decisions"][0], Say()))
    # The studies share no text, so theirs add up to all.
    of_studies = [study_report(engine, study=study)["overall"] for study in (1, 2)]
    assert sum(map(open_questions, of_studies)) == counted.open
    for study, overall in zip((1, 2), of_studies, strict=True):
        shown = worker.ASKS["totals"](worker._Database(where, ()), by=people["mia"], study=study)["questions"]
        counts = [shown[name] for name in ("open", "open_groups", "audits")]
        assert counts == [open_questions(overall), overall["waiting_groups"], overall["audits_waiting"]]


@pytest.mark.slow
@pytest.mark.parametrize("section", ["named_falses", "plan_adherence"])
def test_an_answer_between_two_sections_changes_nothing_in_that_report(judged, section, monkeypatch):
    engine, elsewhere, read, calls = open_store(judged), open_store(judged), getattr(reading, section), []
    adjudicator = add_people(elsewhere, {"eve": "adjudicator"})["eve"]
    with elsewhere.connect() as connection:
        others = select(answer.c.question_id).where(answer.c.origin != "gold")
        of_gold = select(answer.c.question_id).where(answer.c.question_id.not_in(others))
        id = connection.execute(of_gold).scalars().first()

    def interrupted(*arguments, **options):
        if not calls:
            calls.append(adjudicate(elsewhere, adjudicator, id, ["neutral"], "neither", "slip"))
        return read(*arguments, **options)

    before = study_report(engine)
    monkeypatch.setattr(reading, section, interrupted)
    assert study_report(engine) == before
    assert calls
    assert study_report(engine)["signature"]["answers"] != before["signature"]["answers"]
