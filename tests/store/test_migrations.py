"""Databases of every version that has landed become ones of this version, whole or not at all, and keep every row.

`schemas/` holds the tables of each version as they were: `CREATE` statements of the metadata at the commit they name.
`v3-early` is version 3 on its first day, before a column and two indexes that it gained without a new number.
"""

import logging
import multiprocessing
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import (
    JSON,
    Boolean,
    DateTime,
    Engine,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    create_engine,
    event,
    inspect,
    select,
    text,
)

from audit.errors import BadFile
from audit.store import open_store, tables
from audit.store.engine import schema_of
from audit.store.soundness import changed_values, foreign_objects, page_faults

SCHEMAS = Path(__file__).parent / "schemas"
VERSIONS = ("v1", "v2", "v3-early", "v3", "v4", "v5", "v6", "v7")
on_postgres = pytest.mark.postgres
ROWS = 3


def old(where: str, version: str) -> Engine:
    """An older database, made by its own statements, with rows in every table; closed for reading it as it is."""
    engine = create_engine(where if "://" in where else f"sqlite:///{where}")
    statements = (SCHEMAS / f"{version}.{engine.dialect.name}.sql").read_text(encoding="utf-8")
    with engine.begin() as connection:
        for statement in statements.split(";\n"):
            if statement.strip():
                connection.exec_driver_sql(statement)
        fill(connection)
        connection.execute(text("INSERT INTO schema_version VALUES (:version)"), {"version": int(version[1])})
    return engine


def fill(connection) -> None:
    """Three rows in each table; row n refers to row n of other tables, and to row n - 1 of its own."""
    metadata = MetaData()
    metadata.reflect(connection)
    for table in metadata.sorted_tables:
        if table.name not in tables.OWN:
            connection.execute(
                table.insert(), [{c.name: made_up(c, n) for c in table.columns} for n in range(1, ROWS + 1)]
            )


def made_up(column, n: int):
    """A value of a column's type for row n."""
    if any(foreign.column.table is column.table for foreign in column.foreign_keys):
        return n - 1 or None
    if isinstance(column.type, JSON):
        return {"imported": True} if column.name == "options" and n == 2 else {}
    if isinstance(column.type, DateTime):
        return datetime(2026, 1, n, tzinfo=UTC)
    if isinstance(column.type, LargeBinary):
        return bytes([n]) * 16
    if isinstance(column.type, Boolean):
        return n == 2
    if isinstance(column.type, Float):
        return n / 8
    return n if isinstance(column.type, Integer) else f"{column.name} {n}, 影评"


def rows(engine) -> dict[str, dict[str, list]]:
    """Table -> column -> its values in the order of the first columns' ones."""
    metadata = MetaData()
    metadata.reflect(engine)
    rows_of_table = {}
    with engine.connect() as connection:
        for table in metadata.sorted_tables:
            records = connection.execute(select(table).order_by(*table.primary_key.columns)).mappings().all()
            rows_of_table[table.name] = {
                name: [column_name[name] for column_name in records] for name in list(table.columns.keys())
            }
    return rows_of_table


def shape(engine) -> dict[str, object]:
    """Everything that inspection says of tables, columns, keys and indexes, whatever the order of the columns."""
    there = inspect(engine)
    shapes: dict[str, object] = {}
    for name in there.get_table_names():
        shapes[name] = (
            {
                column["name"]: (str(column["type"]), column["nullable"], column["default"])
                for column in there.get_columns(name)
            },
            there.get_pk_constraint(name)["constrained_columns"],
            sorted(
                (foreign_key["constrained_columns"], foreign_key["referred_table"])
                for foreign_key in there.get_foreign_keys(name)
            ),
            sorted(constraint["column_names"] for constraint in there.get_unique_constraints(name)),
            sorted((index["name"], index["column_names"], index["unique"]) for index in there.get_indexes(name)),
        )
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:
            for name, sql in connection.execute(text("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")):
                shapes[f"{name}, without rowid, descending"] = "WITHOUT ROWID" in sql, "DESC" in sql
    return shapes


def migrated(where: str, version: str, new: str) -> Engine:
    """Open an older database and compare it with what it was and with a new one."""
    engine = old(where, version)
    before = rows(engine)
    engine.dispose()
    assert schema_of(where) == int(version[1])
    opened = open_store(where)
    after = rows(opened)
    assert after.pop("schema_version") == {"version": [tables.SCHEMA_VERSION]}
    before.pop("schema_version")
    before.pop("seal", None)
    assert bool(after.pop("seal")["name"]) == (opened.dialect.name == "sqlite")
    for table, columns in before.items():
        for column, values in columns.items():
            if (table, column) != ("study", "options"):
                assert after[table][column] == values, f"{table}.{column}"
    if version == "v1":
        assert after["study"]["imported"] == [False, True, False]
    for table in set(after) - set(before):
        assert not any(after[table].values()), table
    fresh = open_store(new, create=True)
    assert shape(opened) == shape(fresh)
    fresh.dispose()
    return opened


@pytest.mark.parametrize("version", VERSIONS)
def test_an_older_database_keeps_every_row_and_ends_as_a_new_one(tmp_path, version):
    engine = migrated(str(tmp_path / "a.db"), version, str(tmp_path / "new.db"))
    with engine.connect() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"
        assert connection.execute(text("PRAGMA foreign_key_check")).all() == []
        assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 1
        assert connection.execute(text("PRAGMA busy_timeout")).scalar() == 30_000
    engine.dispose()
    file = tmp_path / "a.db"
    assert (page_faults(file), foreign_objects(file)) == ([], [])
    assert changed_values(file) == ["3 rows of input do not fit their keys"]  # which were made up


@on_postgres
@pytest.mark.parametrize("version", VERSIONS)
def test_an_older_database_of_postgresql_keeps_every_row_and_ends_as_a_new_one(new_postgres, version):
    migrated(new_postgres(), version, new_postgres()).dispose()


def test_the_version_is_said_once(tmp_path, caplog):
    where = str(tmp_path / "a.db")
    old(where, "v2").dispose()
    with caplog.at_level(logging.INFO, logger="audit"):
        for _ in range(2):
            open_store(where).dispose()
    assert [record.getMessage() for record in caplog.records if record.name.startswith("audit")] == [
        f"bringing the tables of {where} from version 2 to version {tables.SCHEMA_VERSION}"
    ]


STOPS = (
    "EXISTS audit (",
    "question SET filled",
    "DROP TABLE output",
    "EXISTS chunk_lease",
    "EXISTS seal",
    "EXISTS token",
    "schema_version SET",
)
ON_POSTGRES = (*STOPS[:2], "ADD CONSTRAINT output_pkey", *STOPS[3:])


def stopped(where: str, at: str) -> None:
    """Version 1 is migrated until a statement with these words, which fails; it is as it was, and can be migrated."""

    def fail(_connection, _cursor, statement, *_):
        if at in " ".join(statement.split()):
            raise RuntimeError("the light goes out")

    engine = old(where, "v1")
    before = rows(engine), shape(engine)
    event.listen(Engine, "before_cursor_execute", fail)
    try:
        with pytest.raises(RuntimeError, match="the light goes out"):
            open_store(where)
    finally:
        event.remove(Engine, "before_cursor_execute", fail)
    assert (rows(engine), shape(engine)) == before
    engine.dispose()
    open_store(where).dispose()
    assert schema_of(where) == tables.SCHEMA_VERSION


@pytest.mark.parametrize("at", STOPS)
def test_a_migration_that_fails_anywhere_leaves_the_old_database_whole(tmp_path, at):
    stopped(str(tmp_path / "a.db"), at)


@on_postgres
@pytest.mark.parametrize("at", ON_POSTGRES)
def test_a_migration_of_postgresql_that_fails_anywhere_leaves_the_old_database_whole(postgres_url, at):
    stopped(postgres_url, at)


KILLED = """
import os, sys
from audit.store import migrations, open_store
migrations.update = lambda *_: os.kill(os.getpid(), 9)  # the last statement of a migration
open_store(sys.argv[1])
"""


def killed(where: str) -> None:
    """A process is killed right before it would commit."""
    engine = old(where, "v3")
    before = rows(engine), shape(engine)
    engine.dispose()
    assert subprocess.run([sys.executable, "-c", KILLED, where], check=False).returncode == -9
    assert (rows(engine), shape(engine)) == before
    engine.dispose()
    open_store(where).dispose()
    assert schema_of(where) == tables.SCHEMA_VERSION


@pytest.mark.slow
def test_a_killed_migration_leaves_the_old_database_whole(tmp_path):
    killed(str(tmp_path / "a.db"))


@on_postgres
def test_a_killed_migration_of_postgresql_leaves_the_old_database_whole(postgres_url):
    killed(postgres_url)


def _open(where, barrier, queue):
    barrier.wait()
    try:
        open_store(where, create=True).dispose()
        queue.put("opened")
    except Exception as problem:
        queue.put(repr(problem))


def at_once(where: str, processes: int = 3) -> None:
    """Several processes open a database at the same moment; all can."""
    context = multiprocessing.get_context("fork")
    barrier, queue = context.Barrier(processes), context.Queue()
    running = [context.Process(target=_open, args=(where, barrier, queue)) for _ in range(processes)]
    for thread in running:
        thread.start()
    assert [queue.get(timeout=240) for _ in running] == ["opened"] * processes
    for thread in running:
        thread.join()
    assert schema_of(where) == tables.SCHEMA_VERSION


def test_processes_that_open_an_old_or_a_new_database_at_once(tmp_path):
    old(str(tmp_path / "a.db"), "v1").dispose()
    at_once(str(tmp_path / "a.db"))
    at_once(str(tmp_path / "new.db"))


@on_postgres
def test_processes_that_open_an_old_or_a_new_database_of_postgresql_at_once(new_postgres):
    where = new_postgres()
    old(where, "v1").dispose()
    at_once(where)
    at_once(new_postgres())


def test_a_newer_database_is_refused_in_a_sentence_and_left_alone(tmp_path):
    where = str(tmp_path / "a.db")
    engine = old(where, "v3")
    with engine.begin() as connection:
        connection.execute(text("UPDATE schema_version SET version = 99"))
    before = rows(engine), shape(engine)
    engine.dispose()
    for opened in (open_store, schema_of):
        with pytest.raises(BadFile) as caught:
            opened(where)
        assert f"has tables of version 99, this audit reads version {tables.SCHEMA_VERSION}; install" in str(
            caught.value
        )
        assert "\n" not in str(caught.value)
    assert (rows(engine), shape(engine)) == before
    engine.dispose()


def test_a_database_without_its_version_is_refused(tmp_path):
    where = str(tmp_path / "a.db")
    engine = old(where, "v3")
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM schema_version"))
    engine.dispose()
    for opened in (open_store, schema_of):
        with pytest.raises(BadFile, match="does not say which version its tables have"):
            opened(where)


def test_the_steps_lead_from_the_first_version_to_the_newest():
    from alembic.script import ScriptDirectory

    from audit.store import migrations

    scripts = ScriptDirectory(str(Path(migrations.__file__).parent))
    revisions = [step.revision for step in scripts.walk_revisions()]
    assert revisions == [str(number) for number in range(tables.SCHEMA_VERSION, migrations.FIRST, -1)]


def test_questions_judged_before_there_was_a_column_for_it_are_filled(tmp_path):
    where = tmp_path / "a.db"
    with sqlite3.connect(where) as other:
        other.executescript((SCHEMAS / "v2.sqlite.sql").read_text(encoding="utf-8"))
        other.execute("INSERT INTO schema_version VALUES (2)")
        other.execute("INSERT INTO input VALUES (1, 'i', '[]', 'en')")
        for id, role in ((1, "annotator"), (2, "manager"), (3, "gold")):
            other.execute("INSERT INTO annotator VALUES (?, ?, ?, NULL, '', 0, '2026-01-01')", (id, role, role))
        for id in (1, 2, 3):
            other.execute(
                "INSERT INTO question (id, key, task, kind, input_id, annotators) VALUES (?, ?, 't', 'input', 1, 2)",
                (id, id),
            )
        judged = [(1, 1, "a", None), (1, 2, "b", None), (2, 1, "a", None), (2, 2, "a", None), (2, 2, "withdrawn", 4)]
        for judgement in [*judged, (3, 1, "a", None), (3, 3, "a", None)]:
            other.execute(
                "INSERT INTO judgement (question_id, annotator_id, round, answer, guideline, decided_at, supersedes) "
                "VALUES (?, ?, 1, ?, 1, '2026-01-01', ?)",
                judgement,
            )
    other.close()
    engine = open_store(str(where))
    with engine.connect() as connection:
        filled = connection.execute(text("SELECT filled FROM question ORDER BY id")).scalars().all()
    assert filled == [1, 0, 0]  # two people; one of two withdrew; a person and gold
    engine.dispose()


def test_the_file_gives_back_what_the_old_tables_took(tmp_path):
    where = tmp_path / "a.db"
    engine = old(str(where), "v3")
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) "
            "INSERT INTO verdict SELECT i, 1, 0, NULL, NULL FROM n"
        )
    engine.dispose()
    before = where.stat().st_size
    open_store(str(where)).dispose()
    # A row is kept once, not once in the table and its key again in an index.
    assert where.stat().st_size < 0.65 * before


def test_open_questions_say_which_studies_wait_for_them(tmp_path):
    where = str(tmp_path / "a.db")
    engine = old(where, "v7")
    with engine.begin() as connection:
        # Question n is about input n, which is a member of group n, drawn by sample n of study n; 1 and 2 of one more.
        connection.execute(text("UPDATE question SET priority = 1 WHERE id < 3"))
        connection.execute(text("UPDATE question SET priority = NULL WHERE id = 3"))
        connection.execute(text("UPDATE member SET input_id = 1 WHERE group_id = 2"))
    engine.dispose()
    opened = open_store(where)
    with opened.connect() as connection:
        studies = connection.execute(text("SELECT studies FROM question ORDER BY id")).scalars().all()
    assert studies == [",1,2,", ",2,", ""]
    opened.dispose()
