"""Each thing that can be wrong with a database is found, and what is sound is left alone."""

import json
import os
import shutil
import sqlite3
from collections import namedtuple

import pytest

from audit.judging.samples import draw
from audit.judging.unit import rebuild
from audit.reports import doctor as room
from audit.reports.doctor import doctor
from audit.sampling.designs import INFORMATIVE
from audit.sampling.draw import SampleRequest, Size
from audit.store import open_store


def problems(where):
    return {check.check: check.found for check in doctor(where) if not check.ok}


def test_a_sound_database(judged, content):
    before = content(open_store(judged))
    checks = doctor(judged)
    assert [check.check for check in checks] == [
        "file", "tables", "values", "disk", "permissions", "opens", "write-ahead log", "references", "keys", "outputs",
        "draws", "history", "votes", "answers", "queue", "leases",
    ]  # fmt: skip
    assert all(check.ok and check.advice is None for check in checks)
    assert content(open_store(judged)) == before


@pytest.mark.parametrize(
    ("damage", "check", "summary"),
    [
        ("DELETE FROM source WHERE id = 1", "references", "in group.source_id"),
        ("DELETE FROM \"group\" WHERE id = (SELECT min(group_id) FROM draw)", "references", "in draw.group_id"),
        ("DELETE FROM input WHERE id = 2", "references", "in member.input_id"),
        ("DELETE FROM output WHERE input_id = (SELECT input_id FROM question WHERE id = 1)", "outputs", "have none"),
        ("UPDATE verdict SET outcome = 1 WHERE group_id = (SELECT min(group_id) FROM draw)", "draws", "not satisfied"),
        ("DELETE FROM draw WHERE rank = 2", "draws", "6 cells have gaps in their ranks"),
        ("UPDATE judgement SET question_id = 3 - question_id WHERE supersedes IS NOT NULL AND question_id IN (1, 2)",
         "history", "supersede what they cannot"),
        ("INSERT INTO judgement (question_id, annotator_id, round, answer, guideline, decided_at) "
         "SELECT question_id, annotator_id, round, answer, guideline, decided_at FROM judgement WHERE id = 1",
         "votes", "1 questions have two answers"),
        ("UPDATE answer SET allowed = '[\"positive\",\"neutral\"]' WHERE question_id = 1", "answers", "1 of"),
        ("DELETE FROM answer WHERE question_id = 1", "answers", "another answer than their history"),
        ("UPDATE question SET filled = NOT filled WHERE id = 1", "answers", "1 questions are wrong about whether they"),
        ("UPDATE schema_version SET version = 99", "opens", "version 99"),
    ],
)  # fmt: skip
def test_damage_is_found(judged, damage, check, summary):
    with sqlite3.connect(judged) as connection:
        assert connection.execute(damage).rowcount > 0
    connection.close()
    seen = problems(judged)
    assert summary in seen[check]
    assert next(entry.advice for entry in doctor(judged) if entry.check == check)


def test_one_list_for_all_systems_of_a_relation(judged):
    engine = open_store(judged)
    draw(engine, 1, SampleRequest(Size(per_relation=3), INFORMATIVE))
    assert problems(judged) == {}
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM draw WHERE rank = 1 AND sample_id = (SELECT max(id) FROM sample)")
    assert "lists of relations have gaps in their ranks" in problems(judged)["draws"]


def test_answers_are_written_anew(judged, content):
    engine = open_store(judged)
    before = content(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM answer")
    assert "answers" in problems(judged)
    assert rebuild(engine) == len(before["question"])
    assert problems(judged) == {}
    assert content(engine) == before


def test_a_file_that_is_damaged_or_none(judged, tmp_path):
    (tmp_path / "a.db").write_text("no database at all" * 100)
    assert "a.db" in problems(str(tmp_path / "a.db"))["opens"]
    assert "there is no database" in problems(str(tmp_path / "b.db"))["opens"]


def test_a_full_disk_and_a_long_log(judged, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1, 1, 0))
    monkeypatch.setattr(room, "_LARGE_LOG", -1)
    summaries = problems(judged)
    assert summaries["disk"] == "0.0 GiB free"
    assert summaries["size of the log"] == "0.0 GiB"


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_file_that_every_user_can_read(judged):
    os.chmod(judged, 0o644)
    permissions = {check.check: check for check in doctor(judged)}["permissions"]
    assert not permissions.ok
    assert "every user of this machine can read it" in permissions.found
    assert permissions.advice is not None
    assert permissions.advice.startswith(f"chmod o= {judged}")
    os.chmod(judged, 0o640)  # shared with a group on purpose
    assert problems(judged) == {}


def test_expired_leases_are_no_problem(judged):
    with open_store(judged).begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO lease (question_id, annotator_id, expires_at) VALUES (1, 2, '2020-01-01 00:00:00')"
        )
        connection.exec_driver_sql("UPDATE annotator SET disabled = 1 WHERE id = 2")
    leases = doctor(judged)[-1]
    assert leases.ok
    assert leases.found.startswith("1 held, 1 of them expired")
    assert json.dumps(leases.found)


def test_a_queue_that_was_left_behind(judged):
    engine = open_store(judged)
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM judgement")
        connection.exec_driver_sql("DELETE FROM adjudication")
    assert rebuild(engine)
    assert "queue" not in problems(judged)
    with engine.begin() as connection:
        query = "SELECT id FROM question WHERE priority IS NOT NULL ORDER BY id"
        ids = connection.exec_driver_sql(query).scalars().all()
        connection.exec_driver_sql("UPDATE question SET priority = NULL WHERE priority IS NOT NULL")
    named = ", ".join(map(str, ids[:10]))
    summary = f"{len(ids)} questions ({named} ...) that drawn groups wait for: not asked, or not in their place"
    assert problems(judged)["queue"] == summary
    rebuild(engine)
    assert "queue" not in problems(judged)
