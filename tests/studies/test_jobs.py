"""Jobs are processes of their own: they say how far they are, stop when asked to, and can be gone on with."""

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
    usual = {"plan": "films", "state": "waiting", "host": socket.gethostname(), "step": "", "done": 0, "total": 0}
    with engine.begin() as connection:
        inserted = connection.execute(
            table_of(tables.Job).insert(), usual | {"started_at": moment, "seen_at": moment} | values
        )
    return inserted.inserted_primary_key[0]


def worked(engine, id, where, work, problem):
    """Work at a job in this process, until this problem."""
    with pytest.raises(problem), running_job(engine, id, where) as (worker, _):
        work(worker)


@pytest.fixture
def where(tmp_path):
    return str(tmp_path / "audit.db")


@pytest.fixture
def no_process(monkeypatch):
    """Jobs begin, but no process does: pids of this one."""
    monkeypatch.setattr(module, "_begin_process", lambda name, id, where: os.getpid())


@pytest.mark.slow
def test_a_job_carries_out_its_plan_and_says_so(engine, plan, people, where, tmp_path):
    set_plan(engine, plan())
    begin_job(engine, "films", where, by=people["boss"])
    work = only(engine)
    assert (work.plan, work.by, work.host) == ("films", "boss", socket.gethostname())
    until(lambda: not only(engine).live)
    work = only(engine)
    assert (work.state, work.message) == ("done", None), work.log
    assert work.ended_at >= work.started_at
    assert "rotten-tomatoes" not in work.log
    calm = open_store(str(tmp_path / "calm.db"), create=True)
    set_plan(calm, plan())
    with InProcess() as executor:
        carry_out(calm, plan(), executor)
    ours, theirs = study_report(engine), study_report(calm)
    for report in (ours, theirs):
        report["plan"][0].pop("run_began")
    assert ours == theirs


@pytest.mark.slow
def test_two_at_once_for_the_same_study_are_refused(engine, plan, people, no_process):
    set_plan(engine, plan())
    set_plan(engine, plan("again", sample__base=9))
    set_plan(engine, plan("other", study__limit=21))
    begin_job(engine, "films", "x", by=people["boss"])
    for name in ("films", "again"):
        with pytest.raises(AuditError, match="this study is being run already, by the plan 'films'"):
            begin_job(engine, name, "x", by=people["boss"])
    assert len(jobs(engine)) == 1
    begin_job(engine, "other", "x", by=people["boss"])
    assert len(jobs(engine)) == 2


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
    assert [job.state for job in jobs(engine)] == ["waiting", "failed"]


def test_the_database_is_told_by_the_environment_not_on_the_command_line(engine, plan, people, monkeypatch):
    seen = {}

    class Process:
        pid = os.getpid()
        wait = staticmethod(lambda: 0)

        def __init__(self, command, **how):
            seen.update(how, command=command)

    monkeypatch.setattr(module.subprocess, "Popen", Process)
    set_plan(engine, plan())
    begin_job(engine, "films", "postgresql+psycopg://ann:pa55word@host/db", by=people["boss"])
    assert "pa55word" not in " ".join(seen["command"])
    assert seen["env"][DATABASE] == "postgresql+psycopg://ann:pa55word@host/db"
    assert seen["start_new_session"] is True


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
def test_a_killed_job_is_gone_on_with_and_gives_the_same_report(engine, plan, people, where, tmp_path):
    films = plan(study__limit=None, study__systems=["textblob", "vader"], sample__base=20)
    set_plan(engine, films)
    freeze(engine, "films")
    begin_job(engine, "films", where, by=people["boss"])
    until(lambda: only(engine).done or not only(engine).live)
    work = only(engine)
    assert 0 < work.done < work.total, work
    with engine.connect() as connection:
        pid = connection.execute(table_of(tables.Job).select()).mappings().one()["pid"]
    os.kill(pid, signal.SIGKILL)
    until(lambda: only(engine).state == "lost")
    begin_job(engine, "films", where, by=people["boss"])
    until(lambda: jobs(engine)[0].done or not jobs(engine)[0].live)
    assert jobs(engine)[0].total < work.total
    # Stopped this time, and then finished.
    stop_job(engine, jobs(engine)[0].id, by=people["boss"])
    until(lambda: not jobs(engine)[0].live)
    assert (jobs(engine)[0].state, jobs(engine)[0].message) == ("stopped", None)
    begin_job(engine, "films", where, by=people["boss"])
    until(lambda: not jobs(engine)[0].live)
    assert [work.state for work in jobs(engine)] == ["done", "stopped", "failed"]
    calm = open_store(str(tmp_path / "calm.db"), create=True)
    with InProcess() as executor:
        carry_out(calm, films, executor)
    broken, whole = study_report(engine), study_report(calm)
    assert broken.pop("plan")[0]["deviates"] == []
    assert whole.pop("plan") == []
    assert broken == whole


def test_a_wish_to_stop_is_read_from_the_row(engine, plan, people, where):
    """As where the process is on another machine, which no signal reaches."""
    id = row(engine, state="waiting", host="elsewhere")

    def work(worker):
        with engine.begin() as connection:
            connection.execute(table_of(tables.Job).update().values(state="stopping"))
        time.sleep(PATIENCE)

    worked(engine, id, where, work, KeyboardInterrupt)
    assert only(engine).state == "stopped"
    assert signal.getsignal(signal.SIGTERM) is not signal.default_int_handler


def test_a_job_that_is_stopped_before_it_begins(engine, people, where):
    id = row(engine, state="stopping")
    with pytest.raises(AuditError, match="does not wait to be begun"), running_job(engine, id, where):
        pass
    assert only(engine).state == "stopped"
    with pytest.raises(AuditError, match="job 99 does not wait to be begun"), running_job(engine, 99, where):
        pass


def test_a_failure_leaves_one_sentence_and_no_password(engine, where):
    id = row(engine)
    address = "postgresql+psycopg://ann:pa55word@host/db"

    def fail(worker):
        os.write(1, b"I say pa55word, and so does postgresql://eve:other@host\n")
        raise AuditError("the corpus went away,\nwith pa55word")

    worked(engine, id, address, fail, AuditError)
    work = only(engine)
    assert (work.state, work.message) == ("failed", "the corpus went away, with ***")
    assert "I say ***, and so does postgresql://***@host" in work.log


def test_an_unforeseen_failure_is_one_sentence_and_its_traceback_is_in_the_log(engine, where, capfd):
    def fail(worker):
        worker.begin(10)
        worker.finished(4)
        os.write(1, b"printed\n")
        raise ZeroDivisionError("division by zero")

    with capfd.disabled():
        worked(engine, row(engine), where, fail, ZeroDivisionError)
    work = only(engine)
    assert (work.state, work.message) == ("failed", "ZeroDivisionError: division by zero")
    assert (work.done, work.total) == (4, 10)
    assert "printed" in work.log
    assert "Traceback" in work.log


def test_a_job_of_a_disabled_manager_does_nothing(engine, plan, people, where, no_process):
    set_plan(engine, plan())
    add_account(engine, "mia", "manager", "long enough")
    begin_job(engine, "films", where, by=people["boss"])
    disable_account(engine, "boss")
    with pytest.raises(AuditError, match="does not exist or is disabled"), running_job(engine, 1, where) as (_, by):
        carry_out(engine, versions(engine, "films")[-1].plan(), InProcess(), by=by)
    assert only(engine).state == "failed"
    with engine.connect() as connection:
        assert connection.execute(table_of(tables.Study).select()).all() == []
