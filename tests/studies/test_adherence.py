"""What a report says of a plan: frozen before or after the data, changed since, done otherwise, and what it named."""

import pytest

from audit.corpora import get_corpus
from audit.judging.judgements import judge
from audit.judging.labels import answer_with_gold
from audit.judging.queue import next_question
from audit.judging.samples import ask_next
from audit.judging.settings import change_settings
from audit.messages import phrase
from audit.reports.first_page import primary_lines
from audit.reports.html import to_html
from audit.reports.sections import plan_lines
from audit.reports.study import study_report
from audit.reports.words import Say
from audit.runner.executors import InProcess
from audit.runner.fitting import fitting
from audit.runner.options import RunOptions
from audit.runner.run import run
from audit.sampling.samples import SampleOptions
from audit.studies.jobs import carry_out
from audit.studies.versions import freeze, set_plan

pytestmark = pytest.mark.slow


@pytest.fixture
def done(engine, plan):
    """Stores, freezes and carries out a plan without gold."""

    def work(frozen=True, **changed):
        films = plan(judging__gold=False, **changed)
        set_plan(engine, films)
        if frozen:
            freeze(engine, "films")
        with InProcess() as executor:
            carry_out(engine, films, executor)

    return work


def judged(engine, person, most):
    for _ in range(most):
        judge(engine, person, next_question(engine, person).id, "positive")


def deviations(engine):
    (entry,) = study_report(engine)["plan"]
    return {deviation["key"]: (deviation["planned"], deviation["found"]) for deviation in entry["deviates"]}


def test_a_plan_that_was_frozen_first_kept_and_then_changed(engine, done, plan, people):
    done()
    judged(engine, people["ann"], 3)
    report = study_report(engine)
    (entry,) = report["plan"]
    assert (entry["plan"], entry["study"], entry["version"], entry["frozen_version"]) == ("films", 1, 2, 2)
    assert (entry["judgements"], entry["judgements_before"]) == (3, 0)
    assert entry["frozen_at"] <= entry["run_began"]
    assert entry["changed"] == entry["deviates"] == []
    date = entry["frozen_at"][:10]
    line = f"Study 1, plan films: frozen on {date}, before its run and before all 3 judgements."
    assert plan_lines(report, Say()) == [line]
    assert line in to_html(report)
    changed = plan(judging__gold=False, sample__base=6)
    set_plan(engine, changed)
    (entry,) = study_report(engine)["plan"]
    (change,) = entry["changed"]
    assert (change["key"], change["before"], change["after"], change["version"]) == ("sample.base", 4, 6, 3)
    assert entry["deviates"] == []
    with InProcess() as executor:
        carry_out(engine, changed, executor)
    assert plan_lines(study_report(engine), Say())[1:] == [
        f"Changed after it was frozen: sample.base 4 -> 6 ({date}).",
        "Otherwise than frozen: sample.base 4 -> 6.",
    ]


def test_a_run_a_sample_judging_and_a_report_that_are_otherwise(engine, done):
    done(report__delta=0.02, report__target="corpus")
    corpus = get_corpus("rotten-tomatoes")
    relations = fitting(corpus, RunOptions(relations=("MR1.4", "MR3.1", "MR2.2")))
    with InProcess() as executor:
        run(engine, corpus, ["vader", "textblob", "hiv4"], relations, executor, RunOptions(limit=20))
    ask_next(engine, SampleOptions(2, annotators=3, follow_ups=0.5), 1)
    change_settings(engine, None, {"repeat_share": 0.2})
    answer_with_gold(engine)
    assert deviations(engine) == {
        "study.relations": (["MR1.4", "MR3.1"], ["MR1.4", "MR3.1", "MR2.2"]),
        "study.systems": (["vader", "textblob"], ["hiv4", "textblob", "vader"]),
        "sample.base": (4, 2),
        "sample.decide": ("winner", "none"),
        "sample.follow_ups": (0.1, 0.5),
        "judging.annotators": (1, 3),
        "judging.repeat_share": (0.0, 0.2),
        "judging.gold": (False, True),
        "report.target": ("corpus", "population"),
        "report.delta": (0.02, 0.0),
    }


# A primary comparison is named by a plan that was frozen before the first answer, and every report says when.

NAMED = {"study__systems": ["vader", "textblob", "hiv4"], "study__limit": 200, "sample__base": 100}


def test_named_before_the_first_answer_it_is_tested_by_itself(engine, done):
    done(**NAMED, report__primary=["textblob", "hiv4"])
    answer_with_gold(engine)
    report = study_report(engine)
    (entry,) = report["primary"]
    assert (entry["system"], entry["other"], entry["relation"], entry["tested"]) == ("textblob", "hiv4", None, True)
    assert (entry["relations"], entry["compared"], entry["answers_before"]) == (2, 2, 0)
    assert entry["p"] == entry["p_holm"]
    assert entry["low"] < entry["difference"] < entry["high"]
    assert report["signature"]["primary"] == [{"study": 1, "system": "textblob", "other": "hiv4"}]
    first, gate = primary_lines(report, Say())
    assert first.startswith(f"Primary comparison of study 1, named on {entry['named_at'][:10]} before the first answer")
    assert "textblob over hiv4 by" in first
    assert gate == phrase("en", "primary.holds" if entry["apart"] else "primary.fails")


def test_under_one_relation_it_is_that_pair_unadjusted(engine, done):
    done(**NAMED, report__primary=["hiv4", "textblob"], report__primary_relation="MR1.4")
    answer_with_gold(engine)
    report = study_report(engine)
    (entry,) = report["primary"]
    pairs = [(of["relation"], pair) for of in report["relations"] for pair in of["pairs"]]
    (tested,) = (
        pair for of, pair in pairs if of == "MR1.4" and {pair["system"], pair["other"]} == {"hiv4", "textblob"}
    )
    assert entry["difference"] == (1 if tested["system"] == "hiv4" else -1) * tested["difference"]
    assert entry["p"] == tested["p"] == tested["p_holm"] == entry["p_holm"]
    assert tested["apart"] == entry["apart"] == (entry["p"] <= 0.05)
    rest = [pair["p_holm"] for _, pair in pairs if pair is not tested and pair["p"] is not None]
    assert len(rest) == 5
    assert min(rest) >= entry["p"]


def test_frozen_after_an_answer_the_report_says_so(engine, done):
    done(frozen=False, **NAMED, report__primary=["textblob", "hiv4"])
    answer_with_gold(engine)
    before = study_report(engine)
    assert "primary" not in before
    line = plan_lines(before, Say())[0]
    assert line == "Study 1, plan films: not frozen (version 1), so changes to it are not counted."
    freeze(engine, "films")
    report = study_report(engine)
    (entry,) = report["primary"]
    given, date = report["plan"][0]["judgements"], entry["named_at"][:10]
    assert (entry["tested"], entry["answers_before"]) == (False, given)
    assert report["relations"] == before["relations"]
    (line,) = primary_lines(report, Say())
    assert "was named as primary comparison on" in line
    assert line.endswith("so it is adjusted like all others.")
    how = f"frozen on {date}, after its run began and after {given} of {given} judgements"
    assert plan_lines(report, Say())[0] == f"Study 1, plan films: {how}."
