"""What is open is counted once: the dashboard, the report of each study and the report of all say the same number."""

import pytest
from question_world import add_people
from small_corpus import SmallCorpus

from audit.false_satisfaction.questions import count_open
from audit.judging.activity import overview
from audit.judging.judgements import flag, judge
from audit.judging.queue import next_question
from audit.judging.samples import ask_next, draw_validity
from audit.judging.settings import change_settings
from audit.reports.first_page import next_lines, open_questions
from audit.reports.progress import totals
from audit.reports.study import study_report
from audit.reports.words import Say
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.samples import SampleOptions
from audit.sampling.validity import ValidityRequest
from audit.store import open_store
from audit.ui import worker


@pytest.fixture
def database(own, toy_relations, tmp_path):
    """Two studies with groups that people are asked about, audits, a flag, disputes, hidden repeats, answers."""
    where = str(tmp_path / "audit.db")
    engine = open_store(where, create=True)
    people = add_people(engine, {"ann": "annotator", "bob": "annotator", "mia": "manager"})
    change_settings(engine, people["mia"], {"repeat_share": 0.5})
    for name in ("film", "play"):
        corpus = SmallCorpus(name, [f"The {name} {number} was fine." for number in range(20)], first=1)
        run(engine, corpus, own.specs("calm", "nervous"), toy_relations[:2], InProcess())
    ask_next(engine, SampleOptions(8, follow_ups=0.5))
    draw_validity(engine, ValidityRequest(3, annotators=2, first=True, asks="groups"))
    for name, turn in (("ann", 1), ("bob", -1)):
        for number in range(44):  # groups first, then texts, whose answers make audits
            shown = next_question(engine, people[name])
            if number == 3:
                flag(engine, people[name], shown.id, "which film?")
            else:
                judge(engine, people[name], shown.id, shown.labels[:: turn if number % 4 == 0 else 1][0])
    return where, engine, people


@pytest.mark.slow
def test_every_place_says_the_same_number_of_open_questions(database):
    where, engine, people = database
    with engine.connect() as connection:
        counted = count_open(connection)
    assert min(counted.texts, counted.groups, counted.audits) > 0
    dashboard = totals(overview(engine))["questions"]
    assert (dashboard["open"], dashboard["open_groups"]) == (counted.open, counted.groups)
    report = study_report(engine)
    assert open_questions(report["overall"]) == counted.open
    assert report["overall"]["audits_waiting"] == dashboard["audits"] == counted.audits
    steps = " ".join(next_lines(report, report["decisions"][0], Say()))
    assert f"the {counted.open} questions" in steps
    # The studies share no text, so theirs add up to all.
    of_studies = [study_report(engine, study=study)["overall"] for study in (1, 2)]
    assert sum(map(open_questions, of_studies)) == counted.open
    for study, overall in zip((1, 2), of_studies, strict=True):
        shown = worker.ASKS["totals"](worker._Database(where, ()), by=people["mia"], study=study)["questions"]
        assert shown["open"] == open_questions(overall) > 0
        assert shown["open_groups"] == overall["waiting_groups"]
        assert shown["audits"] == overall["audits_waiting"]
