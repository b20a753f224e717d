"""`audit migrate`, and what other commands say when they open an older database."""

import json
import sqlite3
from pathlib import Path

import pytest

from audit.cli import main
from audit.store import tables

SCHEMAS = Path(__file__).parents[1] / "store" / "schemas"
NEWEST = tables.SCHEMA_VERSION


@pytest.fixture
def old(tmp_path) -> Path:
    """A database of version 3 without rows."""
    where = tmp_path / "old.db"
    with sqlite3.connect(where) as made:
        made.executescript((SCHEMAS / "v3.sqlite.sql").read_text(encoding="utf-8"))
        made.execute("INSERT INTO schema_version VALUES (3)")
    made.close()
    where.chmod(0o600)  # else the doctor tells of it
    return where


def test_check_says_the_version_and_changes_nothing(old, capsys):
    before = old.read_bytes()
    assert main(["migrate", "--db", str(old), "--check"]) == 1
    shown = capsys.readouterr()
    assert f"Tables of version 3; the next command that opens it brings them to version {NEWEST}" in shown.out
    assert shown.err == ""
    assert main(["migrate", "--db", str(old), "--check", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {"found": 3, "version": NEWEST, "migrated": False}
    with sqlite3.connect(old) as there:
        assert there.execute("SELECT version FROM schema_version").fetchall() == [(3,)]
    there.close()
    assert len(old.read_bytes()) == len(before)


def test_migrate_brings_it_up_once_and_says_so(old, capsys):
    assert main(["migrate", "--db", str(old), "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out) == {"found": 3, "version": NEWEST, "migrated": True}
    assert shown.err == f"audit: bringing the tables of {old} from version 3 to version {NEWEST}\n"
    assert main(["migrate", "--db", str(old), "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out) == {"found": NEWEST, "version": NEWEST, "migrated": False}
    assert shown.err == ""
    assert main(["migrate", "--db", str(old), "--check"]) == 0
    assert capsys.readouterr().out == f"Tables of version {NEWEST}, the newest.\n"


def test_another_command_that_opens_it_says_one_line_on_stderr(old, capsys):
    for line in (f"audit: bringing the tables of {old} from version 3 to version {NEWEST}\n", ""):
        assert main(["doctor", "--db", str(old), "--json"]) == 0
        shown = capsys.readouterr()
        assert json.loads(shown.out)["sound"] is True
        assert shown.err == line


def test_a_newer_database_and_none_at_all_are_one_sentence(old, tmp_path, capsys):
    with sqlite3.connect(old) as there:
        there.execute("UPDATE schema_version SET version = 99")
    there.close()
    for arguments in ([], ["--check"]):
        assert main(["migrate", "--db", str(old), *arguments]) == 2
        assert f"has tables of version 99, this audit reads version {NEWEST}" in capsys.readouterr().err
        assert main(["migrate", "--db", str(tmp_path / "none.db"), *arguments]) == 2
        assert "there is no database" in capsys.readouterr().err
    assert not (tmp_path / "none.db").exists()
