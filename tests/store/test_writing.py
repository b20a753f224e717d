"""Transactions that write: one after the other on SQLite, and nothing of them where something is raised."""

import threading

import pytest

from audit.store import open_store, table_of, tables, writing


def test_what_it_reads_is_not_changed_by_another_thread_before_it_writes(tmp_path):
    # Each adds one to what it has read: with reads outside of the lock, some of the 200 additions would be lost.
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    setting = table_of(tables.Setting)
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


def test_what_is_raised_rolls_back_and_lets_others_write(tmp_path):
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    setting = table_of(tables.Setting)

    def fail():
        with writing(engine) as connection:
            connection.execute(setting.insert(), {"name": "number", "value": 1})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with writing(engine) as connection:
        assert connection.execute(setting.select()).all() == []
