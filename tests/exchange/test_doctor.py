"""Each thing that can be wrong with a database is found, and what is sound is left alone."""

import sqlite3

import pytest

from audit.exchange.doctor import doctor
from audit.judging.unit import rebuild
from audit.store import open_store


def problems(where):
    return {check.check: check.found for check in doctor(where) if not check.ok}


def test_a_sound_database(judged, content):
    before = content(open_store(judged))
    checks = doctor(judged)
    assert [check.check for check in checks] == ["file", "disk", "opens", "answers", "queue"]
    assert all(check.ok and check.advice is None for check in checks)
    assert content(open_store(judged)) == before


@pytest.mark.parametrize(
    ("damage", "check", "summary"),
    [
        ("DELETE FROM input WHERE id = 2", "file", "of member refers to no input"),
        ('UPDATE answer SET allowed = \'["positive","neutral"]\' WHERE question_id = 1', "answers", "1 of"),
        ("UPDATE question SET filled = NOT filled WHERE id = 1", "answers", "1 questions are wrong about whether they"),
        ("UPDATE schema_version SET version = 99", "opens", "version 99"),
    ],
)
def test_damage_is_found(judged, damage, check, summary):
    with sqlite3.connect(judged) as connection:
        assert connection.execute(damage).rowcount > 0
    connection.close()
    assert summary in problems(judged)[check]
    assert next(entry.advice for entry in doctor(judged) if entry.check == check)


def test_a_file_that_is_damaged_or_none(tmp_path):
    (tmp_path / "a.db").write_text("no database at all" * 100)
    assert "a.db" in problems(str(tmp_path / "a.db"))["opens"]
    assert "there is no database" in problems(str(tmp_path / "b.db"))["opens"]


def test_answers_and_queue_are_written_anew(judged, content):
    engine = open_store(judged)
    before = content(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM answer")
    assert "answers" in problems(judged)
    assert rebuild(engine) == len(before["question"])
    assert content(engine) == before
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM judgement")
        connection.exec_driver_sql("DELETE FROM adjudication")
    rebuild(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE question SET priority = NULL WHERE priority IS NOT NULL")
    assert "that drawn groups wait for: not asked, or not in their place" in problems(judged)["queue"]
    rebuild(engine)
    assert problems(judged) == {}
