"""Jobs are processes of their own: they say how far they are, stop when asked to, and can be resumed."""

import os
import signal
import socket
import time
from datetime import timedelta
from pathlib import Path

import pytest

from audit.errors import AuditError
from audit.judging.accounts import add_account, disable_account
from audit.messages import message
from audit.reports.study import study_report
from audit.runner.executors import InProcess
from audit.store import open_store, table_of, tables
from audit.studies import jobs as module
from audit.studies.jobs import DATABASE, begin_job, carry_out, jobs, running_job, stop_job
from audit.studies.versions import freeze, set_plan, versions

PATIENCE = 90


def until(condition):
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < end, "what was waited for did not come"
        time.sleep(0.05)
    return value


def only(engine):
    (work,) = jobs(engine)
    return work


def row(engine, **values):
    """A job's row, put there by hand."""
    moment = tables.now()
    usual = {"plan": "films", "state": "waiting", "host": socket.gethostname(), "started_at": moment, "seen_at": moment}
    with engine.begin() as connection:
        return connection.execute(table_of(tables.Job).insert(), usual | values).inserted_primary_key[0]


def worked(engine, id, work, problem):
    """Work at a job in this process, until this problem."""
    with pytest.raises(problem), running_job(engine, id) as (worker, _):
        work(worker)


@pytest.fixture
def no_process(monkeypatch):
    """Jobs begin, but no process does."""
    monkeypatch.setattr(module, "_begin_process", lambda name, id, where: None)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
def test_killed_stopped_and_resumed_it_gives_the_report_of_an_undisturbed_one(engine, plan, people, tmp_path):
    films = plan(study__limit=None, study__systems=["textblob", "vader"], sample__base=20)
    set_plan(engine, films)
    freeze(engine, "films")

    def begin():
        begin_job(engine, "films", str(tmp_path / "audit.db"), by=people["boss"])

    begin()
    assert (only(engine).plan, only(engine).by) == ("films", "boss")
    until(lambda: only(engine).done or not only(engine).live)
    work = only(engine)
    assert 0 < work.done < work.total, work
    with engine.connect() as connection:
        pid = connection.execute(table_of(tables.Job).select()).mappings().one()["pid"]
    os.kill(pid, signal.SIGKILL)
    until(lambda: only(engine).state == "lost")
    begin()
    until(lambda: jobs(engine)[0].done or not jobs(engine)[0].live)
    assert jobs(engine)[0].total < work.total
    stop_job(engine, jobs(engine)[0].id, by=people["boss"])
    until(lambda: not jobs(engine)[0].live)
    assert (jobs(engine)[0].state, jobs(engine)[0].message) == ("stopped", None)
    begin()
    until(lambda: not jobs(engine)[0].live)
    assert [(work.state, work.message) for work in jobs(engine)][:2] == [("done", None), ("stopped", None)]
    calm = open_store(str(tmp_path / "calm.db"), create=True)
    with InProcess() as executor:
        carry_out(calm, films, executor)
    broken, whole = study_report(engine), study_report(calm)
    assert broken.pop("plan")[0]["deviates"] == []
    assert whole.pop("plan") == []
    assert broken == whole


def test_a_plan_is_carried_out_once_at_a_time(engine, plan, people, no_process):
    for name in ("films", "other"):
        set_plan(engine, plan(name))
    begin_job(engine, "films", "x", by=people["boss"])
    with pytest.raises(AuditError, match="the plan 'films' is being carried out already"):
        begin_job(engine, "films", "x", by=people["boss"])
    begin_job(engine, "other", "x", by=people["boss"])
    assert [job.plan for job in jobs(engine)] == ["other", "films"]


@pytest.mark.parametrize(
    "dead",
    [{"seen_at": tables.now() - timedelta(seconds=90), "host": "elsewhere", "pid": 1}, {"pid": 2**22 + 1}],
    ids=["silent", "gone"],
)
def test_a_dead_process_is_seen_and_does_not_keep_the_study(engine, plan, people, no_process, dead):
    set_plan(engine, plan())
    id = row(engine, state="running", **dead)
    work = only(engine)
    assert (work.state, work.message, work.live) == ("lost", message("work.gone"), False)
    with pytest.raises(AuditError, match="not at work any more"):
        stop_job(engine, id, by=people["boss"])
    begin_job(engine, "films", "x", by=people["boss"])
    assert [job.state for job in jobs(engine)] == ["waiting", "lost"]


def test_the_database_is_told_by_the_environment_not_on_the_command_line(engine, plan, people, monkeypatch):
    seen = {}

    class Process:
        wait = staticmethod(lambda: 0)

        def __init__(self, command, **how):
            seen.update(how, command=command)

    monkeypatch.setattr(module.subprocess, "Popen", Process)
    set_plan(engine, plan())
    begin_job(engine, "films", "postgresql+psycopg://ann:pa55word@host/db", by=people["boss"])
    assert "pa55word" not in " ".join(seen["command"])
    assert seen["env"][DATABASE] == "postgresql+psycopg://ann:pa55word@host/db"
    assert seen["start_new_session"] is True


def test_a_wish_to_stop_is_read_from_the_row(engine):
    """As where the process is on another machine, which no signal reaches."""
    id = row(engine, host="elsewhere")

    def work(worker):
        with engine.begin() as connection:
            connection.execute(table_of(tables.Job).update().values(state="stopping"))
        time.sleep(PATIENCE)

    worked(engine, id, work, KeyboardInterrupt)
    assert only(engine).state == "stopped"
    assert signal.getsignal(signal.SIGTERM) is not signal.default_int_handler


def test_a_job_that_is_stopped_before_it_begins(engine):
    id = row(engine, state="stopping")
    for number in (id, 99):
        with pytest.raises(AuditError, match=f"job {number} does not wait to be begun"), running_job(engine, number):
            pass
    assert only(engine).state == "stopped"


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (AuditError("the corpus went away"), "the corpus went away"),
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
    ],
)
def test_a_failure_leaves_one_sentence(engine, problem, sentence, capfd):
    def fail(worker):
        worker.begin(10)
        worker.finished(4)
        raise problem

    worked(engine, row(engine), fail, type(problem))
    work = only(engine)
    assert (work.state, work.message, work.done, work.total) == ("failed", sentence, 4, 10)
    assert ("Traceback" in capfd.readouterr().err) == (not isinstance(problem, AuditError))


def test_a_job_of_a_disabled_manager_does_nothing(engine, plan, people, no_process):
    set_plan(engine, plan())
    add_account(engine, "mia", "manager", "long enough")
    begin_job(engine, "films", "x", by=people["boss"])
    disable_account(engine, "boss")
    with pytest.raises(AuditError, match="does not exist or is disabled"), running_job(engine, 1) as (_, by):
        carry_out(engine, versions(engine, "films")[-1].plan(), InProcess(), by=by)
    assert only(engine).state == "failed"
    with engine.connect() as connection:
        assert connection.execute(table_of(tables.Study).select()).all() == []
