"""Damage, changes that SQLite takes for values, and what audit did not make: found, and told in a sentence."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from audit.cli import main
from audit.errors import AuditError, BadFile
from audit.reports.doctor import doctor
from audit.store import open_store, table_of, tables
from audit.store.backup import backup, restore
from audit.store.engine import DatabaseProblem
from audit.store.soundness import changed_values, foreign_objects, page_faults


def changed(where, *statements):
    """Something else than audit writes to the file."""
    with closing(sqlite3.connect(where)) as other, other:
        for statement in statements:
            other.execute(statement)


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("judgement", "answer = 'negative'"),
        ("judgement", "decided_at = '2020-01-01 00:00:00.000000'"),
        ("adjudication", "allowed = '[\"neutral\"]'"),
        ("output", "score = 0.25"),
        ("output", "label = 'neutral'"),
        ("verdict", "value = 0.25"),
        ("member", "role = 'probe'"),
        ("draw", "pi = pi / 2"),
        ("source", "gold = 'neutral'"),
        ("annotator", "role = 'manager'"),
        ("answer", "allowed = '[\"neutral\"]'"),
        ("sample", "seed = 5"),
        ("question", "protocol = 'shown'"),
        ("system", "settings = '{\"a\":1}'"),
    ],
)
def test_a_value_that_something_else_changed_is_found(judged, table, change):
    assert changed_values(Path(judged)) == []
    changed(judged, f"UPDATE {table} SET {change}")  # noqa: S608
    assert page_faults(Path(judged)) == []
    assert changed_values(Path(judged)) == [f"rows of {table} have other values than were written"]
    assert not next(finding.ok for finding in doctor(judged) if finding.check == "values")


def test_a_text_of_an_input_has_its_key(judged):
    changed(
        judged,
        "UPDATE input SET texts = '[\"Another one.\"]' WHERE id = 1",
        "UPDATE input SET texts = '{' WHERE id = 2",
    )
    assert changed_values(Path(judged)) == ["2 rows of input do not fit their keys"]


def test_rows_that_are_gone_are_found(judged):
    changed(judged, "DELETE FROM judgement WHERE id = (SELECT max(id) FROM judgement)")
    assert "judgement has" in changed_values(Path(judged))[0]


def test_what_audit_writes_takes_the_sums_along_and_what_is_rolled_back_does_not(judged):
    engine = open_store(judged)
    table = table_of(tables.Setting)
    with engine.begin() as connection:
        connection.execute(table.insert(), [{"name": "a", "value": 7}, {"name": "b", "value": "é\x00"}])
        connection.execute(table.update().where(table.c.name == "a").values(value=[1.5, None]))
        connection.execute(table.delete().where(table.c.name == "b"))
    with engine.connect() as connection:
        connection.execute(table.insert(), {"name": "c", "value": 1})
        connection.rollback()
    engine.dispose()
    assert changed_values(Path(judged)) == []


STRANGE = {
    "trigger": ["CREATE TRIGGER promote AFTER INSERT ON login BEGIN UPDATE annotator SET role = 'manager'; END"],
    "view": ["CREATE VIEW people AS SELECT * FROM annotator"],
    "table": ["CREATE TABLE cats (name TEXT)"],
    "virtual": ["CREATE VIRTUAL TABLE cats USING fts5(name)"],
    "index": ["CREATE INDEX mine ON annotator (role)"],
    "column": ["ALTER TABLE annotator ADD COLUMN shoe INTEGER"],
    "generated": ["ALTER TABLE annotator ADD COLUMN shoe TEXT AS ('manager')"],
    "default": [
        "PRAGMA writable_schema=ON",
        "UPDATE sqlite_master SET sql = replace(sql, 'role VARCHAR NOT NULL', 'role VARCHAR DEFAULT manager NOT NULL') "
        "WHERE name = 'annotator'",
    ],
    "lost index": ["DROP INDEX ix_question_next"],
}


@pytest.mark.parametrize("kind", STRANGE)
def test_what_audit_did_not_make_is_refused_by_restore_and_told_on_opening(judged, tmp_path, kind, caplog):
    backup(open_store(judged), tmp_path / "b.db")
    for where in (judged, tmp_path / "b.db"):
        changed(where, *STRANGE[kind])
    assert foreign_objects(Path(judged))
    with pytest.raises(BadFile, match="audit did not make"):
        restore(tmp_path / "b.db", str(tmp_path / "new.db"))
    assert not (tmp_path / "new.db").exists()
    open_store(judged).dispose()
    assert "audit did not make" in caplog.text
    assert not next(finding.ok for finding in doctor(judged) if finding.check == "tables")


def bytes_changed(path, kind):
    content = bytearray(path.read_bytes())
    pages = len(content) // 4096
    chance = random.Random(kind)
    if kind == "cut":
        content = content[: len(content) // 2 + 77]
    elif kind == "no page":
        content = content[:4096]
    elif kind == "zeros":
        content[4096 : pages * 4096] = bytes((pages - 1) * 4096)
    elif kind == "empty":
        content = bytearray()
    elif kind == "size of pages":
        content[16:18] = b"\x02\x00"
    elif kind == "swapped":
        content[4096 : 5 * 4096], content[5 * 4096 : 9 * 4096] = content[5 * 4096 : 9 * 4096], content[4096 : 5 * 4096]
    else:
        for _ in range(300):
            content[chance.randrange(100, len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


COMMANDS = [
    ["report"],
    ["doctor"],
    ["gold"],
    ["export", "--out", "e"],
    ["backup", "--out", "b"],
    ["user", "list"],
    ["runs"],
]


@pytest.mark.parametrize(
    "kind", ["cut", "no page", "zeros", "empty", "size of pages", "swapped", "flips", "more flips"]
)
def test_damage_is_a_sentence_whatever_is_asked(judged, tmp_path, monkeypatch, capsys, kind):
    monkeypatch.chdir(tmp_path)
    bytes_changed(Path(judged), kind)
    for command in COMMANDS:
        status = main([*command, "--db", judged])
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err
        if command == ["doctor"]:
            assert status == 1
            assert "PROBLEM" in shown.out
        elif status:
            assert status == 2
            assert shown.err.startswith("audit: ")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE answer SET allowed = '7'",
        "UPDATE relation SET params = '{'",
        "UPDATE verdict SET outcome = 9",
        "UPDATE judgement SET decided_at = 'yesterday'",
        "UPDATE system SET name = CAST(x'ff5bfe' AS TEXT) WHERE id = 1",
        "DROP TABLE member",
    ],
)
def test_values_that_are_none_are_damage_and_no_traceback(judged, change, capsys):
    changed(judged, "PRAGMA foreign_keys=OFF", change)
    main(["report", "--db", judged])
    assert main(["doctor", "--db", judged]) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_an_error_of_the_database_is_one_of_ours_and_of_sqlalchemys(judged):
    engine = open_store(judged)
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA query_only=ON")
        with pytest.raises(DatabaseProblem, match="the database refused: attempt to write a readonly") as caught:
            connection.execute(table_of(tables.Setting).insert(), {"name": "secret", "value": 1})
    assert isinstance(caught.value, AuditError)
    assert "secret" not in str(caught.value)


def test_no_new_database_stays_behind_a_refused_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text("text,gold\nThe film is good.,positive\n", encoding="utf-8")
    run = ["run", "--corpus", "r.csv", "--systems", "vader", "--workers", "0", "--unit", "document"]
    refused = [*run, "--relations", "MR6.1", "--set", "MR6.1.sentences=-5", "--db", "n.db"]
    assert main(refused) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]
    open_store("n.db", create=True).dispose()
    before = set(tmp_path.iterdir())
    assert main(refused) == 2
    assert set(tmp_path.iterdir()) >= before  # it was there
    capsys.readouterr()


def test_a_new_database_that_another_process_has_open_stays(tmp_path):
    from audit.store import engine as opening

    engine = open_store(str(tmp_path / "n.db"), create=True)
    with closing(sqlite3.connect(tmp_path / "n.db")) as other:
        other.execute("SELECT count(*) FROM study").fetchone()
        opening.take_back()
        assert (tmp_path / "n.db").exists()
    open_store(str(tmp_path / "m.db"), create=True)
    opening.take_back()
    assert not (tmp_path / "m.db").exists()
    engine.dispose()
