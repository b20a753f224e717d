"""One run of a study at a time: a second is refused, and what a lost one had goes to the next."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from audit.errors import AuditError
from audit.runner.executors import InProcess
from audit.runner.options import RunOptions
from audit.runner.run import run
from audit.runner.studies import Sampled, make_study
from audit.runner.underway import SILENCE, OnlyRun, began
from audit.store import open_store, table_of, tables

RUN = table_of(tables.StudyRun)


@pytest.fixture
def engine(toy_corpus):
    engine = open_store("sqlite://", create=True)
    make_study(engine, Sampled(toy_corpus(), 0))
    return engine


def take(engine, place):
    with engine.begin() as connection:
        place.take(connection)


def set_row(engine, **values):
    with engine.begin() as connection:
        connection.execute(RUN.update().values(**values))


def test_a_second_run_is_refused_and_the_study_is_free_afterwards(engine, toy_corpus, toy_relations):
    place, systems = OnlyRun(1), ["vader"]
    take(engine, place)
    take(engine, place)  # the server went away after the commit and before its answer
    with pytest.raises(AuditError, match=rf"under way: process {os.getpid()} on .*, since \d{{4}}-.* run again$"):
        run(engine, toy_corpus(), systems, toy_relations, InProcess())
    assert (
        run(engine, toy_corpus(), systems, toy_relations, InProcess(), options=RunOptions(seed=1)).counts.checks > 0
    )  # another study
    with engine.begin() as connection:
        place.release(connection)
    place.end()
    assert run(engine, toy_corpus(), systems, toy_relations, InProcess()).counts.checks > 0
    with engine.connect() as connection:
        assert connection.execute(RUN.select()).all() == []


def test_a_run_on_another_machine_is_over_when_it_was_silent_for_long(engine):
    far, here = OnlyRun(1), OnlyRun(1)
    take(engine, far)
    set_row(engine, host="elsewhere", seen_at=tables.now() - SILENCE + timedelta(seconds=20))
    with pytest.raises(AuditError, match=r"on elsewhere, .*; if that machine is gone, the study is free at \d\d:\d\d"):
        take(engine, here)
    with engine.begin() as connection:
        far.renew(connection)
    with pytest.raises(AuditError, match="under way"):
        take(engine, here)
    set_row(engine, seen_at=tables.now() - SILENCE - timedelta(seconds=1))
    take(engine, here)
    with pytest.raises(AuditError, match="has taken over"), engine.begin() as connection:
        far.renew(connection)
    with engine.begin() as connection:
        far.release(connection)  # only its own
        assert len(connection.execute(RUN.select()).all()) == 1


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_a_process_of_this_machine_that_is_no_more_need_not_be_waited_for(engine):
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        take(engine, OnlyRun(1))
        set_row(engine, pid=other.pid, process=began(other.pid), seen_at=tables.now() - 2 * SILENCE)
        with pytest.raises(AuditError, match=f"process {other.pid} on"):
            take(engine, OnlyRun(1))  # it lives, however long it was silent
        set_row(engine, process="1")
        take(engine, OnlyRun(1))  # another process has its number by now
        set_row(engine, pid=other.pid, process=began(other.pid))
        other.kill()
        os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and is a zombie
        take(engine, OnlyRun(1))
    finally:
        other.kill()
        other.wait()
