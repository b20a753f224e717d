"""Versions of plans are only added, nobody but a manager adds them, and the first freeze is what counts."""

import pytest
from sqlalchemy import event

from audit.errors import AuditError, BadFile, NotAllowed
from audit.studies.jobs import begin_job, jobs, stop_job
from audit.studies.versions import Change, change_text, freeze, frozen_version, set_plan, steps, versions


def test_a_version_is_stored_only_where_something_changed(engine, plan):
    first, new = set_plan(engine, plan())
    assert (first.version, new, first.frozen, first.by) == (1, True, False, None)
    again, new = set_plan(engine, plan())
    assert (again, new) == (first, False)
    second, new = set_plan(engine, plan(sample__base=9, study__systems=["vader", "hiv4"]))
    assert (second.version, new) == (2, True)
    assert [change_text(change) for change in steps(versions(engine, "films"))[0][1]] == [
        "study.systems without textblob, with hiv4",
        "sample.base 4 -> 9",
    ]
    assert versions(engine, "films")[1].plan() == plan(sample__base=9, study__systems=["vader", "hiv4"])


def test_freezing_is_a_version_with_the_same_content(engine, plan, people):
    set_plan(engine, plan(), by=people["boss"])
    frozen = freeze(engine, "films", by=people["boss"], version=1)
    assert (frozen.version, frozen.frozen, frozen.by) == (2, True, "boss")
    with pytest.raises(AuditError, match="is frozen already, as version 2"):
        freeze(engine, "films")
    set_plan(engine, plan(sample__base=9))
    freeze(engine, "films")
    history = versions(engine, "films")
    assert [version.frozen for version in history] == [False, True, False, True]
    assert frozen_version(history) == frozen
    assert [changed for _, changed in steps(history)] == [[], [Change("sample.base", 4, 9)], []]


def test_of_two_versions_at_once_one_is_refused(engine, plan):
    set_plan(engine, plan())

    def meanwhile(connection, cursor, statement, parameters, context, many):
        if statement.startswith('INSERT INTO "plan"'):
            cursor.execute(statement, parameters)  # as if another process had been a moment faster

    event.listen(engine, "before_cursor_execute", meanwhile)
    with pytest.raises(AuditError, match="somebody else has changed this plan at this moment"):
        set_plan(engine, plan(sample__base=9))
    assert len(versions(engine, "films")) == 1


@pytest.mark.parametrize("who", ["ann", "judge"])
def test_others_than_managers_change_see_and_begin_nothing(engine, plan, people, content, who):
    set_plan(engine, plan())
    before = content(engine)
    id = people[who]
    for work in (
        lambda: set_plan(engine, plan(sample__base=9), by=id),
        lambda: freeze(engine, "films", by=id),
        lambda: versions(engine, "films", by=id),
        lambda: begin_job(engine, "films", "nowhere", by=id),
        lambda: stop_job(engine, 1, by=id),
        lambda: jobs(engine, by=id),
    ):
        with pytest.raises(NotAllowed, match="needs the role manager"):
            work()
    assert content(engine) == before


def test_an_account_stores_no_plan_with_files_or_code_of_its_own(engine, plan, people, content, reviews, own):
    before = content(engine)
    for other in (plan(study__corpus=str(reviews)), plan(study__systems=own.specs("calm"))):
        with pytest.raises(BadFile, match="files and systems of your own are set and run with `audit study`"):
            set_plan(engine, other, by=people["boss"])
        assert content(engine) == before
        set_plan(engine, other)  # whoever has the database may
        before = content(engine)
        with pytest.raises(BadFile, match="files and systems of your own"):
            begin_job(engine, "films", "nowhere", by=people["boss"])
        assert content(engine) == before
