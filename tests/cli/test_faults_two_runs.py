"""Somebody starts the same study twice, as two real processes; and one of two is killed while the other goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from audit.cli import main
from audit.reports.study import study_report
from audit.runner import leases, preflight
from audit.runner.coordinator import Watcher
from audit.store import open_store, table_of, tables

SOURCES, CHUNK = 120, 8
COMMAND = """
import sys
from datetime import timedelta
from audit.runner import leases, studies
studies.CHUNK["sentence"] = {chunk}
{more}
from audit.cli import main
sys.exit(main())
"""
MEETING = """

from pathlib import Path
import os
import time

FOLDER = Path({folder!r})
WAITED = []


def meet(name):
    # Wait until another process has come to its first batch, so that neither has done everything before.
    (FOLDER / f"began-{{os.getpid()}}").touch()
    end = time.monotonic() + 120
    while len(list(FOLDER.glob("began-*"))) < 2 and time.monotonic() < end:
        time.sleep(0.01)


def meeting(text):
    meet("meeting")
    log("meeting", text)
    return answer(text)


def second(text):
    meet("second")
    log("second", text)
    return answer(text.lower())


def waiting(text):
    # A process that is told to gets no further than the inputs that are answered before a run.
    while os.environ.get("AUDIT_TEST_STOPS") and len(WAITED) >= 3:
        time.sleep(0.05)
    WAITED.append(text)
    log("waiting", text)
    return answer(text)
"""


@pytest.fixture
def study(own, tmp_path, monkeypatch):
    """Arguments of `audit run` on a user's file, without systems and database; and the user's systems."""
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": CHUNK, "document": 2})
    lines = ["text,gold", *(f"The film number {n} is good.,{('positive', 'negative')[n % 2]}" for n in range(SOURCES))]
    (tmp_path / "reviews.csv").write_text("\n".join(lines), encoding="utf-8")
    with own.file.open("a", encoding="utf-8") as file:
        file.write(MEETING.format(folder=str(tmp_path)))
    return ["run", "--corpus", "reviews.csv", "--relations", "MR1.4,MR3.1", "--workers", "0", "--json"]


def start(arguments, folder, more="", **environment):
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND.format(chunk=CHUNK, more=more), *arguments],
        cwd=folder,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process):
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    return json.loads(out)


def alone(study, systems, tmp_path, name="alone.db"):
    """The same with nobody beside; the systems meet nobody, and so do not wait."""
    for number in range(2):
        (tmp_path / f"began-{number}").touch()
    assert main([*study, "--systems", ",".join(systems), "--db", name]) == 0
    for file in tmp_path.glob("began-*"):
        file.unlink()
    return open_store(name)


def two_at_once(study, own, tmp_path, content, database, fresh):
    (spec,) = own.specs("meeting")
    expected = alone(study, [spec], tmp_path, fresh)
    own.log.unlink()
    arguments = [*study, "--systems", spec, "--db", database]
    open_store(database, create=True).dispose()
    answers = [ended(one) for one in [start(arguments, tmp_path) for _ in range(2)]]
    calls = Counter(own.calls())
    # Every chunk was one run's, and no input of it was executed twice. Both began before there was a study, so each had
    # the first inputs answered.
    twice = [text for text, number in calls.items() if number > 1]
    assert len(twice) <= preflight.FIRST
    assert max(calls.values()) <= 2
    assert len(calls) == 3 * SOURCES
    assert sum(one["executed"] for one in answers) == 3 * SOURCES + len(twice)
    assert all(one["executed"] > 0 and one["checks"] > 0 for one in answers)
    assert sum(one["checks"] for one in answers) == 2 * SOURCES
    both = open_store(database)
    found, wanted = content(both), content(expected)
    both.dispose()
    expected.dispose()
    assert found == wanted


@pytest.mark.slow
def test_two_runs_of_a_study_share_the_work(study, own, tmp_path, content, capsys):
    two_at_once(study, own, tmp_path, content, "two.db", "alone.db")


@pytest.mark.postgres
def test_two_runs_of_a_study_share_the_work_on_postgresql(study, own, tmp_path, content, capsys, new_postgres):
    two_at_once(study, own, tmp_path, content, new_postgres(), new_postgres())


@pytest.mark.slow
def test_two_runs_with_different_systems_of_a_study(study, own, tmp_path, content, capsys):
    specs = own.specs("meeting", "second")
    expected = alone(study, specs, tmp_path)
    own.log.unlink()
    open_store("two.db", create=True).dispose()
    runs = [start([*study, "--systems", spec, "--db", "two.db"], tmp_path) for spec in specs]
    for one in map(ended, runs):
        assert one["executed"] == 3 * SOURCES
        assert one["checks"] == 2 * SOURCES
    assert max(Counter(own.calls()).values()) == 1
    both = open_store("two.db")
    assert content(both, "group", "member", "source") == content(expected, "group", "member", "source")
    assert study_report(both)["cells"] == study_report(expected)["cells"]


def until(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)


ELSEWHERE = "leases._host = lambda: 'elsewhere'\nleases.LENGTH = timedelta(seconds={})"


@pytest.mark.slow
@pytest.mark.parametrize(
    "more", ["leases.LENGTH = timedelta(hours=1)", pytest.param(ELSEWHERE.format(6), marks=pytest.mark.slow)]
)
def test_who_goes_on_takes_over_what_a_killed_one_had(
    study, own, tmp_path, content, capsys, monkeypatch, asked_once, more
):
    """At once on the same machine, however long its leases are; on another when they run out."""
    (spec,) = own.specs("waiting")
    expected = alone(study, [spec], tmp_path)
    own.log.unlink()
    arguments = [*study, "--systems", spec, "--db", "a.db"]
    engine = open_store("a.db", create=True)
    table = table_of(tables.ChunkLease)

    def held():
        with engine.connect() as connection:
            return {row.owner for row in connection.execute(table.select())}

    process = start(arguments, tmp_path, more, AUDIT_TEST_STOPS="yes")
    pauses = []

    def pause(self, seconds):
        """The other has all that is left."""
        if not pauses:
            assert process.poll() is None
            process.send_signal(signal.SIGKILL)
            process.wait()
        pauses.append(seconds)
        time.sleep(0.1)

    monkeypatch.setattr(Watcher, "pause", pause)
    try:
        until(lambda: len(held()) == 1)
        (other,) = held()
        assert other.startswith("elsewhere:" if "elsewhere" in more else f"{leases._host()}:{process.pid}:")
        assert main(arguments) == 0
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    if "elsewhere" not in more:
        assert pauses
    assert held() == set()
    assert max(Counter(own.calls()).values()) == 1
    assert content(engine) == content(expected)
    assert "another run of this study works on what is left" in capsys.readouterr().err or not pauses
