"""A backup is the whole database in one file that was checked; a restore is the same database again."""

import sqlite3
import threading

import pytest
from sqlalchemy import select

from audit.errors import BadFile
from audit.store import open_store, table_of, tables
from audit.store.backup import backup, page_faults, restore


def beside(folder):
    return {path.name for path in folder.iterdir() if not path.name.endswith(("-wal", "-shm"))}


def test_backup_and_restore(judged, tmp_path, content):
    engine = open_store(judged)
    result = backup(engine, tmp_path / "b.db")
    assert (result.bytes, result.file.stat().st_mode & 0o777) == (result.file.stat().st_size, 0o600)
    assert beside(tmp_path) == {"judged.db", "b.db"}
    assert not list(tmp_path.glob("b.db-*"))
    rows = restore(tmp_path / "b.db", str(tmp_path / "c.db"))
    assert rows == result.rows
    assert beside(tmp_path) == {"judged.db", "b.db", "c.db"}
    assert content(open_store(str(tmp_path / "c.db"))) == content(engine)  # passwords too
    assert rows["judgement"] > 0
    assert page_faults(tmp_path / "c.db") == []


def test_a_backup_in_the_middle_of_judging_has_one_moment(judged, tmp_path):
    engine = open_store(judged)
    relation, stop = table_of(tables.Relation), threading.Event()

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


def test_a_backup_never_replaces_a_file(judged, tmp_path):
    (tmp_path / "b.db").write_text("mine")
    with pytest.raises(BadFile, match=r"b\.db is there already"):
        backup(open_store(judged), tmp_path / "b.db")
    with pytest.raises(BadFile, match="cannot write"):
        backup(open_store(judged), tmp_path / "no" / "b.db")
    assert (tmp_path / "b.db").read_text() == "mine"
    assert beside(tmp_path) == {"judged.db", "b.db"}


def test_what_cannot_be_restored_leaves_nothing(judged, tmp_path, content):
    backup(open_store(judged), tmp_path / "b.db")
    damaged = bytearray((tmp_path / "b.db").read_bytes())
    damaged[3 * 4096 : 20 * 4096] = b"\xff" * 17 * 4096
    (tmp_path / "damaged.db").write_bytes(damaged)
    (tmp_path / "cut.db").write_bytes((tmp_path / "b.db").read_bytes()[: 10 * 4096])
    (tmp_path / "text.db").write_text("no database at all, but long enough to look at" * 100)
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE cats (name TEXT)")
    other.close()
    for name, message in (
        ("damaged.db", "damaged"),
        ("cut.db", "damaged"),
        ("text.db", "no database, or a damaged one"),
        ("other.db", "a database of something else"),
        ("absent.db", "there is no such file"),
    ):
        with pytest.raises(BadFile, match=message):
            restore(tmp_path / name, str(tmp_path / "c.db"))
        assert "c.db" not in beside(tmp_path)
    before = content(open_store(judged))
    with pytest.raises(BadFile, match=r"judged\.db is not empty"):
        restore(tmp_path / "b.db", judged)
    assert content(open_store(judged)) == before
    assert not any(name.startswith(".") for name in beside(tmp_path))
