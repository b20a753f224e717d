"""What a report says of a plan: frozen before or after the data, changed since, done otherwise."""

import pytest

from audit.corpora import get_corpus
from audit.judging.judgements import judge
from audit.judging.labels import answer_with_gold
from audit.judging.queue import next_question
from audit.judging.samples import ask_next
from audit.judging.settings import change_settings
from audit.reports.html import to_html
from audit.reports.sections import plan_lines, to_terminal
from audit.reports.study import study_report
from audit.reports.words import Say
from audit.runner.executors import InProcess
from audit.runner.fitting import fitting
from audit.runner.options import RunOptions
from audit.runner.run import run
from audit.sampling.samples import SampleOptions
from audit.studies.jobs import carry_out
from audit.studies.versions import freeze, set_plan


@pytest.fixture
def done(engine, plan):
    """Stores, freezes and carries out a plan without gold."""

    def work(**changed):
        films = plan(judging__gold=False, **changed)
        set_plan(engine, films)
        freeze(engine, "films")
        with InProcess() as executor:
            return films, carry_out(engine, films, executor)

    return work


def judged(engine, person, most):
    for _ in range(most):
        shown = next_question(engine, person)
        judge(engine, person, shown.id, "positive")


def deviations(engine, **how):
    (entry,) = study_report(engine, **how)["plan"]
    return {deviation["key"]: (deviation["planned"], deviation["found"]) for deviation in entry["deviates"]}


@pytest.mark.slow
def test_a_plan_that_was_frozen_first_and_kept(engine, done, people):
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
    assert line in " ".join(to_terminal(report, full=True).split())


@pytest.mark.slow
def test_what_was_changed_after_it_was_frozen(engine, done, plan, people):
    done()
    judged(engine, people["ann"], 1)
    set_plan(engine, plan(judging__gold=False, sample__base=6))
    (entry,) = study_report(engine)["plan"]
    (change,) = entry["changed"]
    assert (change["key"], change["before"], change["after"], change["version"]) == ("sample.base", 4, 6, 3)
    assert entry["deviates"] == []
    with InProcess() as executor:
        carry_out(engine, plan(judging__gold=False, sample__base=6), executor)
    report = study_report(engine)
    date = report["plan"][0]["frozen_at"][:10]
    assert plan_lines(report, Say())[1:] == [
        f"Changed after it was frozen: sample.base 4 -> 6 ({date}).",
        "Otherwise than frozen: sample.base 4 -> 6.",
    ]


@pytest.mark.slow
def test_a_plan_that_was_frozen_after_the_first_judgement(engine, plan, people):
    set_plan(engine, plan())
    with InProcess() as executor:
        carry_out(engine, plan(), executor)  # gold answers
    gold = study_report(engine)["plan"][0]["judgements"]
    assert gold > 0
    assert plan_lines(study_report(engine), Say()) == [
        "Study 1, plan films: not frozen (version 1), so changes to it are not counted."
    ]
    freeze(engine, "films")
    report = study_report(engine)
    date = report["plan"][0]["frozen_at"][:10]
    how = f"frozen on {date}, after its run began and after {gold} of {gold} judgements"
    assert plan_lines(report, Say()) == [f"Study 1, plan films: {how}."]


@pytest.mark.slow
def test_a_run_and_a_sample_that_are_otherwise(engine, done):
    done(study__systems=["vader", "textblob"])
    corpus = get_corpus("rotten-tomatoes")
    relations = fitting(corpus, RunOptions(relations=("MR1.4", "MR3.1", "MR2.2")))
    with InProcess() as executor:
        run(engine, corpus, ["vader", "textblob", "hiv4"], relations, executor, RunOptions(limit=20))
    ask_next(engine, SampleOptions(share=1.0, annotators=3, follow_ups=0.5), 1)
    deviating = deviations(engine)
    assert set(deviating) == {
        "study.relations", "study.systems", "sample.base", "sample.decide", "sample.follow_ups",
        "judging.annotators",
    }  # fmt: skip
    assert deviating["study.relations"] == (["MR1.4", "MR3.1"], ["MR1.4", "MR3.1", "MR2.2"])
    assert deviating["study.systems"][1] == ["hiv4", "textblob", "vader"]
    assert deviating["sample.base"] == (4, None)
    ask_next(engine, SampleOptions(2), 1)
    assert deviations(engine)["sample.base"] == (4, 2)


@pytest.mark.slow
def test_judging_and_gold_that_are_otherwise(engine, done):
    done()
    change_settings(engine, None, {"repeat_share": 0.2})
    answer_with_gold(engine)
    assert deviations(engine) == {"judging.repeat_share": (0.0, 0.2), "judging.gold": (False, True)}


@pytest.mark.slow
def test_how_the_report_is_computed_is_compared_where_it_was_planned(engine, done):
    done(report__delta=0.02, report__target="corpus")
    assert deviations(engine) == {"report.target": ("corpus", "population"), "report.delta": (0.02, 0.0)}
