"""Opening a database: what is refused, in which words, and that nothing is left behind."""

import os
import sqlite3

import pytest
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from audit.errors import AuditError, BadFile
from audit.store import open_store


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
@pytest.mark.parametrize("url", [False, True])
def test_a_new_database_and_its_logs_are_their_owners_alone(tmp_path, url):
    where = tmp_path / "a.db"
    engine = open_store(f"sqlite:///{where}" if url else str(where), create=True)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (a)")
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == dict.fromkeys(["a.db", "a.db-wal", "a.db-shm"], 0o600)


def test_a_database_of_something_else_is_refused_and_left_alone(tmp_path):
    where = tmp_path / "other.db"
    with sqlite3.connect(where) as other:
        other.execute("CREATE TABLE cats (name TEXT)")
    other.close()
    before = where.read_bytes()
    for create in (False, True):
        with pytest.raises(BadFile, match="a database of something else"):
            open_store(str(where), create=create)
    assert where.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["other.db"]


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("", "the name of the database is empty"),
        ("mysql://root:secret@host/db", "unknown kind of database"),
        ("postgresql://me:secret@host:port/db", "neither a path nor an SQLAlchemy URL"),
    ],
)
def test_bad_urls_are_refused_in_one_line_without_the_password(where, says):
    with pytest.raises(AuditError) as caught:
        open_store(where, create=True)
    assert says in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_errors_name_no_values(tmp_path):
    engine = open_store(str(tmp_path / "a.db"), create=True)
    with pytest.raises(SQLAlchemyError) as caught, engine.begin() as connection:
        connection.execute(text("INSERT INTO nowhere VALUES (:value)"), {"value": "a secret"})
    assert "nowhere" in str(caught.value)
    assert "a secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("query", "reads"),
    [
        (
            "SELECT label FROM output WHERE system_id = 1 AND input_id IN (1, 2)",
            "output USING PRIMARY KEY (input_id=? AND",
        ),
        ("SELECT role FROM member WHERE group_id IN (1, 2)", "member USING PRIMARY KEY (group_id=?)"),
        ("SELECT group_id FROM member WHERE input_id IN (1, 2)", "member USING COVERING INDEX ix_member_input"),
        (
            "SELECT outcome FROM verdict WHERE group_id = 1 AND system_id = 1",
            "verdict USING PRIMARY KEY (group_id=? AND",
        ),
    ],
)
def test_what_a_run_makes_is_found_by_a_key(tmp_path, query, reads):
    engine = open_store(str(tmp_path / "a.db"), create=True)
    with engine.connect() as connection:
        plan = " | ".join(str(row[3]) for row in connection.execute(text(f"EXPLAIN QUERY PLAN {query}")))
    assert f"SEARCH {reads}" in plan
    assert "SCAN" not in plan


def test_the_queue_is_read_in_the_order_of_its_index(tmp_path):
    # A claim reads the first few entries; sorting thousands of questions for each would not be quick.
    engine = open_store(str(tmp_path / "a.db"), create=True)
    query = (
        "EXPLAIN QUERY PLAN SELECT id FROM question WHERE filled IS 0 AND priority IS NOT NULL "
        "ORDER BY priority, waits DESC, kind, id LIMIT 1"
    )
    with engine.connect() as connection:
        plan = " ".join(str(row[3]) for row in connection.execute(text(query)))
    assert "ix_question_next" in plan
    assert "TEMP B-TREE" not in plan
