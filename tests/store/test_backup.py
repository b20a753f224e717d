"""A backup is the whole database in one file that was checked."""

import threading

from sqlalchemy import select

from audit.store import open_store, table_of, tables
from audit.store.copying import backup, page_faults


def beside(folder):
    return {path.name for path in folder.iterdir() if not path.name.endswith(("-wal", "-shm"))}


def test_a_backup_is_the_same_database(judged, tmp_path, content):
    engine = open_store(judged)
    result = backup(engine, tmp_path / "b.db")
    assert (result.bytes, result.file.stat().st_mode & 0o777) == (result.file.stat().st_size, 0o600)
    assert beside(tmp_path) == {"judged.db", "b.db"}
    assert not list(tmp_path.glob("b.db-*"))
    assert content(open_store(str(tmp_path / "b.db"))) == content(engine)  # passwords too
    assert result.rows["judgement"] > 0
    assert page_faults(tmp_path / "b.db") == []


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
