"""A disk that is full and a database that somebody locks: told in one sentence, nothing lost, and the run goes on."""

import contextlib
import sqlite3
import subprocess
import sys

import pytest

from audit.cli import main
from audit.store import engine as opening
from audit.store import open_store

SOURCES = 120


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Many transactions: the sources are fifteen chunks."""
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": 8, "document": 2})


@pytest.fixture
def command(own, tmp_path):
    """`audit run` on a user's own file and system, in this process; `--db` is missing."""
    lines = ["text,gold", *(f"The film number {n} is good.,{('positive', 'negative')[n % 2]}" for n in range(SOURCES))]
    (tmp_path / "reviews.csv").write_text("\n".join(lines), encoding="utf-8")
    return [
        *("run", "--corpus", str(tmp_path / "reviews.csv"), "--systems", ",".join(own.specs("calm", "failing"))),
        *("--relations", "MR1.4,MR3.1", "--workers", "0"),
    ]


@pytest.fixture
def held(content):
    """What a database has."""

    def read(database):
        engine = open_store(str(database))
        found = content(engine)
        engine.dispose()
        return found

    return read


@pytest.fixture
def undisturbed(command, tmp_path, held, capsys):
    """What the command leaves where nothing happens."""
    assert main([*command, "--db", str(tmp_path / "calm.db")]) == 0
    capsys.readouterr()
    return held(tmp_path / "calm.db")


def asked(database, question):
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return connection.execute(question).fetchone()[0]


def sentence(capsys):
    """The one sentence that a command said, beside its bar."""
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    (said,) = [line for line in shown.err.splitlines() if line.startswith("audit: ")]
    return said


def pragmas(monkeypatch, *more):
    """Connections that have these settings beside the usual ones."""
    usual = opening._pragmas

    def set_all(connection, record):
        usual(connection, record)
        for pragma in more:
            connection.execute(f"PRAGMA {pragma}")

    monkeypatch.setattr(opening, "_pragmas", set_all)


@pytest.mark.slow
@pytest.mark.parametrize("pages", [2, 20])
def test_a_database_that_has_no_room_left_is_whole_and_the_run_goes_on_when_it_has(
    command, undisturbed, tmp_path, held, capsys, monkeypatch, pages
):
    database = tmp_path / "a.db"
    open_store(str(database), create=True).dispose()
    there = asked(database, "PRAGMA page_count")
    with monkeypatch.context() as patch:
        pragmas(patch, f"max_page_count={there + pages}")
        assert main([*command, "--db", str(database)]) == 2
        assert sentence(capsys) == (
            "audit: the database refused: database or disk is full; what was stored before is kept"
        )
    assert asked(database, "PRAGMA integrity_check") == "ok"
    before = asked(database, "SELECT count(*) FROM output")
    assert before < len(undisturbed["output"])
    assert main([*command, "--db", str(database), "--json"]) == 0
    assert f'"executed": {len(undisturbed["output"]) - before}' in capsys.readouterr().out
    assert held(database) == undisturbed


LOCK = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], timeout=30)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
time.sleep(1)
connection.rollback()
"""


@pytest.mark.slow
def test_a_database_that_is_locked_from_the_start_is_waited_for(
    command, undisturbed, tmp_path, held, capsys, monkeypatch
):
    database = tmp_path / "a.db"
    open_store(str(database), create=True).dispose()
    pragmas(monkeypatch, "busy_timeout=50")
    with subprocess.Popen([sys.executable, "-c", LOCK, str(database)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "locked\n"
        assert main([*command, "--db", str(database)]) == 0
    assert sentence(capsys) == "audit: the database does not answer (database is locked); trying again"
    assert held(database) == undisturbed
