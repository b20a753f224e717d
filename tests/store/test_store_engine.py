"""A database: what is refused and that nothing is left behind; transactions that write; backups."""

import os
import sqlite3
import threading

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import SQLAlchemyError

from audit.errors import AuditError, BadFile
from audit.store import open_store, writing
from audit.store.copying import backup, page_faults
from audit.store.core import relation, setting


@pytest.fixture
def engine(tmp_path):
    return open_store(str(tmp_path / "a.db"), create=True)


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_new_database_and_its_logs_are_their_owners_alone(tmp_path, engine):
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
    with pytest.raises(AuditError, match=says) as caught:
        open_store(where, create=True)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_errors_name_no_values(engine):
    with pytest.raises(SQLAlchemyError, match="nowhere") as caught, engine.begin() as connection:
        connection.execute(text("INSERT INTO nowhere VALUES (:value)"), {"value": "a secret"})
    assert "a secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("query", "reads"),
    [
        ("label FROM output WHERE system_id = 1 AND input_id IN (1, 2)", "output USING PRIMARY KEY (input_id=? AND"),
        ("group_id FROM member WHERE input_id IN (1, 2)", "member USING COVERING INDEX ix_member_input"),
        ("outcome FROM verdict WHERE group_id = 1 AND system_id = 1", "verdict USING PRIMARY KEY (group_id=? AND"),
        # A claim reads the first few entries; sorting thousands of questions for each would not be quick.
        (
            "id FROM question WHERE filled IS 0 AND priority IS NOT NULL ORDER BY priority, waits DESC, kind, id",
            "question USING COVERING INDEX ix_question_next",
        ),
    ],
)
def test_what_is_asked_often_is_found_by_a_key(engine, query, reads):
    with engine.connect() as connection:
        plan = " | ".join(str(row[3]) for row in connection.execute(text(f"EXPLAIN QUERY PLAN SELECT {query}")))
    assert f"SEARCH {reads}" in plan
    assert "SCAN" not in plan
    assert "TEMP B-TREE" not in plan


def test_what_a_transaction_reads_is_not_changed_by_another_thread_before_it_writes(engine):
    # Each adds one to what it has read: with reads outside of the lock, some of the 200 additions would be lost.
    with writing(engine) as connection:
        connection.execute(setting.insert(), {"name": "number", "value": 0})

    def add():
        for _ in range(20):
            with writing(engine) as connection:
                before = connection.execute(setting.select()).one().value
                connection.execute(setting.update().values(value=before + 1))

    threads = [threading.Thread(target=add) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with engine.connect() as connection:
        assert connection.execute(setting.select()).one().value == 200


def test_a_backup_in_the_middle_of_judging_is_the_database_of_one_moment(judged, tmp_path, content):
    engine, stop = open_store(judged), threading.Event()
    result = backup(engine, tmp_path / "a.db")
    assert (result.bytes, result.file.stat().st_mode & 0o777) == (result.file.stat().st_size, 0o600)
    assert not list(tmp_path.glob("a.db-*"))
    assert content(open_store(str(tmp_path / "a.db"))) == content(engine)  # passwords too
    assert result.rows["judgement"] > 0
    assert page_faults(tmp_path / "a.db") == []

    def write():
        for n in range(10_000):
            if stop.is_set():
                return
            with engine.begin() as connection:  # always two at a time
                rows = [{"task": "t", "name": f"{n} {m}", "version": "1", "params": "{}"} for m in (1, 2)]
                connection.execute(relation.insert(), rows)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        result = backup(engine, tmp_path / "b.db")
    finally:
        stop.set()
        writer.join()
    with open_store(str(result.file)).connect() as connection:
        assert len(connection.execute(select(relation.c.id)).all()) % 2 == 0
