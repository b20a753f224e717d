"""Versions of plans are only added, nobody but a manager adds them, and the first freeze is what counts."""

import pytest

from audit.errors import AuditError, BadFile, NotAllowed
from audit.runner.executors import InProcess
from audit.studies.jobs import begin_job, carry_out, jobs, stop_job
from audit.studies.versions import Change, change_text, freeze, frozen_version, set_plan, steps, versions


def test_a_version_is_stored_only_where_something_changed(engine, plan, people):
    first, new = set_plan(engine, plan(), by=people["boss"])
    assert (first.version, new, first.frozen, first.by) == (1, True, False, "boss")
    assert set_plan(engine, plan()) == (first, False)
    second, new = set_plan(engine, plan(sample__base=9, study__systems=["vader", "hiv4"]))
    assert (second.version, new) == (2, True)
    assert [change_text(change) for change in steps(versions(engine, "films"))[0][1]] == [
        "study.systems without textblob, with hiv4",
        "sample.base 4 -> 9",
    ]
    assert versions(engine, "films")[1].plan() == plan(sample__base=9, study__systems=["vader", "hiv4"])


def test_freezing_is_a_version_with_the_same_content(engine, plan):
    set_plan(engine, plan())
    frozen = freeze(engine, "films")
    assert (frozen.version, frozen.frozen, frozen.by) == (2, True, None)
    with pytest.raises(AuditError, match="is frozen already, as version 2"):
        freeze(engine, "films")
    set_plan(engine, plan(sample__base=9))
    freeze(engine, "films")
    history = versions(engine, "films")
    assert [version.frozen for version in history] == [False, True, False, True]
    assert frozen_version(history) == frozen
    assert [changed for _, changed in steps(history)] == [[], [Change("sample.base", 4, 9)], []]


@pytest.mark.parametrize("who", ["ann", "judge"])
def test_others_than_managers_change_see_and_begin_nothing(engine, plan, people, content, who):
    set_plan(engine, plan())
    before, id = content(engine), people[who]
    for work in (
        lambda: set_plan(engine, plan(sample__base=9), by=id),
        lambda: begin_job(engine, "films", "nowhere", by=id),
        lambda: stop_job(engine, 1, by=id),
        lambda: jobs(engine, by=id),
    ):
        with pytest.raises(NotAllowed, match="needs the role manager"):
            work()
    assert content(engine) == before


@pytest.mark.slow
def test_an_account_runs_no_plan_with_files_or_code_of_its_own(engine, plan, people, content, reviews, own):
    before = content(engine)
    for other in (plan(study__corpus=str(reviews)), plan(study__systems=own.specs("calm"))):
        with (
            InProcess() as executor,
            pytest.raises(BadFile, match="files and systems of your own are set and run"),
        ):
            carry_out(engine, other, executor, by=people["boss"])
    assert content(engine) == before
