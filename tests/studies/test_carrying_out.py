"""Carrying out a plan is the same as the single commands, and resumes wherever it was broken off."""

import pytest

from audit.cli import main
from audit.errors import BadFile
from audit.reports.study import study_report
from audit.runner.executors import InProcess
from audit.store import open_store
from audit.studies.jobs import STEPS, carry_out
from audit.studies.versions import freeze, set_plan


@pytest.mark.slow
def test_it_is_the_same_as_the_single_commands(engine, plan, content, tmp_path):
    films = plan(sample__base=4, judging__annotators=3, judging__gold=True)
    heard = []
    with InProcess() as executor:
        done = carry_out(engine, films, executor, begin=heard.append)
    assert tuple(heard) == STEPS
    assert done.gold.answered > 0
    database = str(tmp_path / "single.db")
    corpus = ["--corpus", "rotten-tomatoes", "--limit", "20", "--relations", "MR1.4,MR3.1", "--workers", "0"]
    assert main(["run", "--db", database, "--systems", "vader,textblob", *corpus]) == 0
    assert main(["gold", "--db", database]) == 0
    assert main(["sample", "--db", database, "--base", "4", "--annotators", "3"]) == 0
    assert content(engine) == content(open_store(database))


@pytest.mark.slow
def test_broken_off_anywhere_it_ends_with_the_same_report(plan, tmp_path):
    def ended(name, *breaks):
        engine = open_store(str(tmp_path / f"{name}.db"), create=True)
        for broken in breaks:

            def begin(step, broken=broken):
                if step == broken:
                    raise InterruptedError

            with InProcess() as executor, pytest.raises(InterruptedError):
                carry_out(engine, plan(), executor, begin=begin)
        with InProcess() as executor:
            carry_out(engine, plan(), executor)
        return study_report(engine)

    assert ended("broken", "sample", "gold") == ended("calm")


@pytest.mark.slow
def test_gold_of_one_plan_answers_no_question_of_another(engine, plan):
    with InProcess() as executor:
        people = carry_out(engine, plan(judging__gold=False), executor)
        before = study_report(engine, study=people.ran.study.id)
        gold = carry_out(engine, plan("other", study__seed=1, judging__gold=True), executor)
    assert gold.gold.answered > 0
    assert study_report(engine, study=people.ran.study.id)["cells"] == before["cells"]


def test_a_corpus_that_has_changed_since_is_refused(engine, plan, reviews, content):
    films = plan(study__corpus=str(reviews))
    reviews.write_text(reviews.read_text(encoding="utf-8").replace("odd", "new"), encoding="utf-8")
    before = content(engine)
    with InProcess() as executor, pytest.raises(BadFile, match=r"the plan 'films', study.fingerprint: the corpus"):
        carry_out(engine, films, executor)
    assert content(engine) == before


@pytest.mark.slow
def test_the_users_own_systems_run_from_the_command_line(engine, plan, own, reviews):
    films = plan(study__systems=own.specs("calm", "nervous"), study__corpus=str(reviews), judging__gold=False)
    with InProcess() as executor:
        carry_out(engine, films, executor)
    set_plan(engine, films)
    freeze(engine, "films")
    (entry,) = study_report(engine)["plan"]
    assert entry["deviates"] == []
