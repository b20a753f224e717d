"""One run of a study at a time: a second is refused, and what a run that was killed had is free at once."""

import subprocess
import sys

import pytest

from audit.errors import UnderWay
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.runner.studies import Sampled, make_study
from audit.runner.underway import its_environment
from audit.store import open_store

HOLDING = """
import sys, time
from audit.runner.underway import only_run
from audit.store import open_store
from audit.store.patient import Patient
with only_run(Patient(open_store(sys.argv[1]), print), 1):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_run_is_told_who_runs_and_a_killed_one_leaves_the_study_free(tmp_path, toy_corpus, toy_relations):
    database = str(tmp_path / "a.db")
    engine = open_store(database, create=True)
    with engine.begin() as connection:
        make_study(connection, Sampled(toy_corpus(), 0))
    command = [sys.executable, "-c", HOLDING, database]
    other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=its_environment())
    try:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(UnderWay, match=rf"under way: process {other.pid} on .*, since \d{{4}}-.* run again$"):
            run(engine, toy_corpus(), ["vader"], toy_relations, InProcess())
    finally:
        other.kill()
        other.wait()
        other.stdout.close()
    assert run(engine, toy_corpus(), ["vader"], toy_relations, InProcess()).counts.checks > 0
