"""Opening a database: what is refused, in which words, and that nothing is left behind."""

import sqlite3
from contextlib import contextmanager

import pytest
from sqlalchemy import Column, MetaData, Table, inspect, text
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import SQLModel

from audit.errors import AuditError, BadFile
from audit.store import open_store, tables


@contextmanager
def made_by_another(where):
    """A new database, to be changed into what another version or checkout would have made; closed at the end."""
    engine = open_store(where, create=True)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def test_a_new_database_has_the_tables_and_opens_again(tmp_path):
    where = str(tmp_path / "a.db")
    engine = open_store(where, create=True)
    assert {"study", "source", "verdict", "judgement"} <= set(inspect(engine).get_table_names())
    engine.dispose()
    again = open_store(where)
    with again.connect() as connection:
        assert connection.execute(text("SELECT version FROM schema_version")).scalars().all() == [tables.SCHEMA_VERSION]


def test_opening_for_making_twice_changes_nothing(tmp_path, content):
    first = content(open_store(str(tmp_path / "a.db"), create=True))
    assert content(open_store(str(tmp_path / "a.db"), create=True)) == first


@pytest.mark.parametrize("url", [False, True])
def test_an_absent_database_is_named_and_not_made(tmp_path, url):
    where = tmp_path / "absent.db"
    with pytest.raises(BadFile, match=r"there is no database .*absent\.db; make one with `audit run`"):
        open_store(f"sqlite:///{where}" if url else str(where))
    assert not where.exists()


@pytest.mark.parametrize("name", ["a?b.db", "a%20b.db", "a#b.db", "ein Ärger.db", "影评.db"])
def test_a_path_is_taken_as_it_is(tmp_path, name):
    open_store(str(tmp_path / name), create=True).dispose()
    assert (tmp_path / name).exists()
    open_store(str(tmp_path / name)).dispose()


def test_a_database_of_something_else_is_refused_and_left_alone(tmp_path):
    where = tmp_path / "other.db"
    with sqlite3.connect(where) as other:
        other.execute("CREATE TABLE cats (name TEXT)")
    other.close()
    for create in (False, True):
        with pytest.raises(BadFile, match="a database of something else"):
            open_store(str(where), create=create)
    with sqlite3.connect(where) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("cats",)]


def test_another_version_of_the_tables_is_refused(tmp_path):
    where = str(tmp_path / "a.db")
    with made_by_another(where) as connection:
        connection.execute(text("UPDATE schema_version SET version = 99"))
    with pytest.raises(BadFile, match=f"tables of version 99, this audit reads version {tables.SCHEMA_VERSION}"):
        open_store(where)


LATER = ("audit", "audit_draw", "spot_check", "login", "aside", "setting", "known", "cause", "log", "plan", "job")
"""Tables that databases of version 1 lack."""
COLUMNS = {
    "question": ("filled", "protocol", "waits"),
    "sample": ("protocol",),
    "judgement": ("saw", "client", "withdrawn_by"),
    "adjudication": ("code", "guideline"),
    "lease": ("round", "saw"),
}
"""Columns that they lack."""


def test_a_database_of_version_1_gains_the_new_tables_and_keeps_what_it_has(tmp_path):
    where = str(tmp_path / "a.db")
    with made_by_another(where) as connection:
        for name in reversed(LATER):
            connection.execute(text(f"DROP TABLE {name}"))
        connection.execute(text("DROP INDEX ix_question_next"))
        # SQLite does not drop a column that a foreign key names; the old table was without it.
        _rebuilt_without(connection, COLUMNS)
        _judged_before_filled(connection)
        connection.execute(text("UPDATE schema_version SET version = 1"))
        connection.execute(text("INSERT INTO relation (task, name, version, params) VALUES ('t', 'MR1', '1', '{}')"))
    for _ in range(2):
        engine = open_store(where)
        with engine.connect() as connection:
            assert connection.execute(text("SELECT version FROM schema_version")).scalars().all() == [
                tables.SCHEMA_VERSION
            ]
            for table, columns in COLUMNS.items():
                assert set(columns) <= {column["name"] for column in inspect(connection).get_columns(table)}
            assert connection.execute(text("SELECT DISTINCT protocol, waits FROM question")).all() == [("blind", 0)]
            assert connection.execute(text("SELECT name FROM relation")).scalars().all() == ["MR1"]
            assert connection.execute(text("SELECT count(*) FROM audit")).scalar() == 0
            assert connection.execute(text("SELECT count(*) FROM login")).scalar() == 0
            filled = connection.execute(text("SELECT filled FROM question ORDER BY id")).scalars().all()
            assert filled == [1, 0, 0]  # two people; one of two withdrew; a person and gold
            assert "ix_question_next" in {index["name"] for index in inspect(connection).get_indexes("question")}
        engine.dispose()


def _rebuilt_without(connection, columns):
    """Tables that hold nothing yet, made again without these columns."""
    for name, gone in columns.items():
        table = SQLModel.metadata.tables[name]
        old = Table(
            name,
            MetaData(),
            *(
                Column(one.name, one.type, primary_key=one.primary_key, nullable=one.nullable)
                for one in table.columns
                if one.name not in gone
            ),
        )
        connection.execute(text(f"DROP TABLE {name}"))
        old.create(connection)


def _judged_before_filled(connection):
    """Three questions that want two people, and their judgements."""
    connection.execute(text("INSERT INTO input (id, key, texts, languages) VALUES (1, 'i', '[]', 'en')"))
    for name, role in (("ann", "annotator"), ("bob", "manager"), ("gold", "gold")):
        connection.execute(
            text(
                "INSERT INTO annotator (name, role, languages, disabled, created_at) "
                "VALUES (:n, :r, '', 0, '2026-01-01')"
            ),
            {"n": name, "r": role},
        )
    for id in (1, 2, 3):
        connection.execute(
            text(
                "INSERT INTO question (id, key, task, kind, input_id, annotators) VALUES (:id, :id, 't', 'input', 1, 2)"
            ),
            {"id": id},
        )
    judged = [(1, 1, "a", None), (1, 2, "b", None), (2, 1, "a", None), (2, 2, "a", None), (2, 2, "withdrawn", 4)]
    for question, annotator, answer, supersedes in [*judged, (3, 1, "a", None), (3, 3, "a", None)]:
        connection.execute(
            text(
                "INSERT INTO judgement (question_id, annotator_id, round, answer, guideline, decided_at, supersedes) "
                "VALUES (:q, :a, 1, :answer, 1, '2026-01-01', :s)"
            ),
            {"q": question, "a": annotator, "answer": answer, "s": supersedes},
        )


def test_a_database_of_version_2_gains_a_table_that_came_later(tmp_path):
    where = str(tmp_path / "a.db")
    with made_by_another(where) as connection:
        connection.execute(text("DROP TABLE aside"))
        connection.execute(text("INSERT INTO relation (task, name, version, params) VALUES ('t', 'MR1', '1', '{}')"))
    engine = open_store(where)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM aside")).scalar() == 0
        assert connection.execute(text("SELECT name FROM relation")).scalars().all() == ["MR1"]
    engine.dispose()


def test_a_table_of_the_same_name_with_other_columns_is_refused(tmp_path):
    where = tmp_path / "a.db"
    with sqlite3.connect(where) as other:
        other.execute("CREATE TABLE schema_version (number TEXT)")
    other.close()
    with pytest.raises(BadFile, match=r"cannot open the database|is not a database of audit"):
        open_store(str(where))


@pytest.mark.parametrize("create", [False, True])
def test_a_text_file_is_refused_and_left_alone(tmp_path, create):
    where = tmp_path / "notes.txt"
    where.write_text("this is no database, only a text that is long enough to be looked at\n" * 20, encoding="utf-8")
    before = where.read_bytes()
    with pytest.raises(BadFile, match=r"notes\.txt is not a database of audit: file is not a database"):
        open_store(str(where), create=create)
    assert where.read_bytes() == before


def test_an_empty_file_is_no_database_to_read_but_one_to_fill(tmp_path):
    where = tmp_path / "empty.db"
    where.touch()
    with pytest.raises(BadFile, match="is an empty database; fill it with `audit run`"):
        open_store(str(where))
    assert inspect(open_store(str(where), create=True)).has_table("study")


def test_a_folder_is_refused(tmp_path):
    for create in (False, True):
        with pytest.raises(BadFile, match="is a folder; --db names the file"):
            open_store(str(tmp_path), create=create)


def test_an_unwritable_place_is_refused(tmp_path):
    # A file where a folder is needed: it stops root too, which a folder without write permission would not.
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(BadFile, match="cannot open the database"):
        open_store(str(tmp_path / "file" / "a.db"), create=True)
    with pytest.raises(BadFile, match="cannot open the database"):
        open_store(str(tmp_path / "no folder" / "a.db"), create=True)
    with pytest.raises(BadFile, match="cannot open the database"):
        open_store(str(tmp_path / ("n" * 400)), create=True)


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("", "--db is empty"),
        ("mysql://root:secret@host/db", "unknown kind of database"),
        ("nonsense://x", "unknown kind of database"),
        ("://", "neither a path nor an SQLAlchemy URL"),
        ("postgresql://me:secret@host:port/db", "neither a path nor an SQLAlchemy URL"),
        ("sqlite+nonsense:///a.db", "cannot be used"),
    ],
)
def test_bad_urls_are_refused_in_one_line_without_the_password(where, says):
    with pytest.raises(AuditError) as caught:
        open_store(where, create=True)
    assert says in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_that_does_not_answer_is_one_line_without_the_password():
    pytest.importorskip("psycopg")
    with pytest.raises(BadFile) as caught:
        open_store("postgresql+psycopg://me:secret@127.0.0.1:1/db")
    assert "cannot open the database postgresql+psycopg://me:***@127.0.0.1:1/db" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_sqlite_keeps_what_is_committed_and_waits_for_others(tmp_path):
    with open_store(str(tmp_path / "a.db"), create=True).connect() as connection:
        read = {name: connection.execute(text(f"PRAGMA {name}")).scalar() for name in ("journal_mode", "foreign_keys")}
        assert read == {"journal_mode": "wal", "foreign_keys": 1}
        assert connection.execute(text("PRAGMA busy_timeout")).scalar() >= 5_000
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2


def test_errors_name_no_values(tmp_path):
    engine = open_store(str(tmp_path / "a.db"), create=True)
    with pytest.raises(SQLAlchemyError) as caught, engine.begin() as connection:
        connection.execute(text("INSERT INTO nowhere VALUES (:value)"), {"value": "a secret"})
    assert "nowhere" in str(caught.value)
    assert "a secret" not in str(caught.value)


def test_an_index_that_another_stands_for_is_replaced(tmp_path):
    # A database of this version that another checkout made: all columns are there, the queue's index is an older one.
    where = str(tmp_path / "a.db")
    with made_by_another(where) as connection:
        connection.execute(text("DROP INDEX ix_question_next"))
        connection.execute(text("CREATE INDEX ix_question_queue ON question (filled, priority, kind, id)"))
    for _ in range(2):
        engine = open_store(where)
        indexes = {index["name"]: index["column_names"] for index in inspect(engine).get_indexes("question")}
        assert indexes["ix_question_next"] == ["filled", "priority", "waits", "kind", "id"]
        assert "ix_question_queue" not in indexes
        engine.dispose()


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
