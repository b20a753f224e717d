"""Opening a database: SQLite by default, PostgreSQL by URL."""

import json
import logging
import os
import re
import sqlite3
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from sqlalchemy import Engine, create_engine, event, inspect
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DataError,
    IntegrityError,
    InvalidatePoolError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    SQLAlchemyError,
)
from sqlmodel import SQLModel

from audit.errors import AuditError, BadFile, NotInstalled
from audit.files import refuse_no_file
from audit.store import migrations, row_sums, tables
from audit.store.brought import expect_brought

# What a database says when it cannot do what it was asked for, in one sentence of ours: full, locked, damaged.

_OTHERWISE = (DataError, IntegrityError, NotSupportedError, ProgrammingError)
"""What a database says of a statement or its values: those who write are asked, not those who keep the database."""
_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR_SHORT_READ")
_DAMAGE_SAID = ("no such ", "could not decode", "malformed", "user-defined function raised")
"""Parts of what SQLite and its driver say of tables that are gone and texts that are none, which have no code."""


class DatabaseProblem(AuditError, OperationalError):
    """A database cannot be read or written now: full, locked, read-only, gone, damaged. What was committed is kept.

    It is an error of SQLAlchemy's, too, for those who wait and try again (`audit.runner.coordinator`).
    """

    def __init__(self, sentence: str, statement: str | None, orig: BaseException, gone: bool = False):
        OperationalError.__init__(self, statement, None, orig, hide_parameters=True, connection_invalidated=gone)
        self._sentence = sentence

    @property
    def sentence(self) -> str:
        return self._sentence

    def __str__(self) -> str:
        return self._sentence


def damaged(name: object, reason: object) -> str:
    """The sentence of a damaged database.

    >>> damaged("a.db", "file is not a database")
    'the database a.db is damaged (file is not a database); look with `audit doctor` and bring a backup back with `audit restore`'
    """  # noqa: E501
    return (
        f"the database {name} is damaged ({one_line(reason)}); look with `audit doctor` and bring a backup back "
        "with `audit restore`"
    )


def unreadable(name: object, problem: BaseException) -> str:
    """The sentence of a file that cannot even be opened, which may never have been a database."""
    reason = one_line(problem)
    if "malformed" in reason:
        return damaged(name, reason)
    return (
        f"{name} is not a database of audit: {reason}; if it was one, look with `audit doctor` and bring a backup "
        "back with `audit restore`"
    )


def is_damage(problem: BaseException) -> bool:
    """Whether a driver's error says that a file is damaged.

    >>> is_damage(sqlite3.DatabaseError("no such table: study")), is_damage(sqlite3.OperationalError("disk I/O error"))
    (True, False)
    """
    if not isinstance(problem, sqlite3.Error):
        return False
    code = getattr(problem, "sqlite_errorname", None) or ""
    return code.startswith(_DAMAGE) or any(words in str(problem).lower() for words in _DAMAGE_SAID)


_IN_A_FUNCTION = "user-defined function raised exception"
"""What SQLite says when Ctrl-C or SIGTERM comes while it calls our sums of rows, which raise nothing themselves."""


def explain(engine: Engine, name: str) -> None:
    """Let whatever goes wrong with this database be raised as DatabaseProblem, and an interrupt as what it is."""

    @event.listens_for(engine, "handle_error")
    def explained(context: Any) -> BaseException | None:
        problem, orig = context.sqlalchemy_exception, context.original_exception
        if _IN_A_FUNCTION in str(orig):
            return KeyboardInterrupt()
        if not isinstance(problem, DatabaseError) or isinstance(problem, _OTHERWISE):
            return None
        refusal = f"the database refused: {one_line(orig)}; what was stored before is kept"
        sentence = damaged(name, orig) if is_damage(orig) else refusal
        return DatabaseProblem(sentence, context.statement, orig, bool(context.is_disconnect))


def one_line(problem: object) -> str:
    """What an error says, on one line."""
    return " ".join(str(problem).split())


# Is what a file of SQLite holds what audit makes: its tables, columns and indexes, and nothing that acts by itself.
#
# A trigger, a view in the place of a table, a generated column or a default of somebody else's does things when audit
# writes that nobody sees: one made an annotator a manager at the next login.

_ACTING = re.compile(r"\bcheck\b|\bcollate\b|\bgenerated\b|\bon conflict\b|\bdeferrable\b|\bstrict\b|\bas ?\(")
"""Words of a table's definition that change what writing to it does, and that SQLite's lists of columns do not show."""
Objects = dict[tuple[str, str], Any]


def unexpected_objects(execute: Callable[[str], Iterable[Any]], acting: bool = False) -> list[str]:
    """What is in a file that audit did not make, or made in another way, each in words; empty: nothing.

    `execute` runs a statement of SQL on the main file, and gives its rows. `acting`: only triggers and views, of which
    no version of the tables has any.

    >>> import sqlite3
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.execute("CREATE VIEW annotator AS SELECT 1")
    >>> unexpected_objects(connection.execute, acting=True)
    ["the view 'annotator'"]
    """
    if acting:
        kinds = "SELECT type, name FROM main.sqlite_master WHERE type IN ('trigger', 'view') ORDER BY name"
        return [f"the {kind} {name!r}" for kind, name in execute(kinds)]
    expected, present = _expected_objects(), _objects(execute)
    differences = [f"the {kind} {name!r}" for kind, name in present.keys() - expected.keys()]
    differences += [f"no {kind} {name!r}" for kind, name in expected.keys() - present.keys()]
    for key in expected.keys() & present.keys():
        if expected[key] != present[key]:
            differences.append(_difference(*key, expected[key], present[key]))
    return sorted(differences)


def _difference(kind: str, name: str, expected: Any, present: Any) -> str:
    if kind == "table":
        columns, more = {column[0] for column in expected[0]}, {column[0] for column in present[0]}
        if added := sorted(more - columns):
            return f"the column {name}.{added[0]!r}"
    return f"another {kind} {name!r} than audit's"


def _objects(execute: Callable[[str], Iterable[Any]]) -> Objects:
    """(kind, name) -> what matters of it. SQLite's own bookkeeping is left out."""
    objects: Objects = {}
    for kind, name, of, sql in list(execute("SELECT type, name, tbl_name, sql FROM main.sqlite_master")):
        if kind == "table" and name in ("sqlite_sequence", "sqlite_stat1", "sqlite_stat4"):
            continue
        if kind == "index" and sql is None:
            continue  # what UNIQUE and PRIMARY KEY make: a part of the table
        objects[kind, str(name)] = _table(execute, str(name), sql or "") if kind == "table" else (of, _plain(sql or ""))
    return objects


def _table(execute: Callable[[str], Iterable[Any]], name: str, sql: str) -> Any:
    quoted = name.replace('"', '""')
    columns = {
        (str(column), str(kind).upper(), bool(needed), None if default is None else str(default), key, hidden)
        for _, column, kind, needed, default, key, hidden in execute(f'PRAGMA table_xinfo("{quoted}")')
    }
    foreign = {tuple(row[2:]) for row in execute(f'PRAGMA foreign_key_list("{quoted}")')}
    unique = set()
    for _, index, is_unique, origin, partial in list(execute(f'PRAGMA index_list("{quoted}")')):
        if origin != "c":
            listed = str(index).replace('"', '""')
            columns_of = tuple((row[2], row[3], row[4]) for row in execute(f'PRAGMA index_xinfo("{listed}")') if row[5])
            unique.add((columns_of, is_unique, origin, partial))
    written = _plain(sql)
    acting = sorted(set(_ACTING.findall(written)))
    return columns, foreign, unique, acting, written.startswith("create virtual"), "without rowid" in written


def _plain(sql: str) -> str:
    """Without quotes, comments and differences of spaces, in small letters: renaming a table quotes its name."""
    bare = re.sub(r"--[^\n]*|/\*.*?\*/", " ", sql, flags=re.DOTALL).lower()
    return " ".join(re.sub(r'["`\[\]]|if not exists', "", bare).split())


@cache
def _expected_objects() -> Objects:
    """What a new database has."""
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        SQLModel.metadata.create_all(connection)
        return _objects(lambda sql: connection.exec_driver_sql(sql).all())


LOG = logging.getLogger(__name__)
BACKENDS = ("sqlite", "postgresql")
"""Kinds of database whose SQL the bulk writes speak."""
POOL = 20
"""Connections that a process keeps open, and as many more while it needs them; a PostgreSQL server takes 100."""
FRESH = 1.0
"""Seconds since its last use in which a connection to a server is taken for good."""
PATIENCE = 30.0
"""Seconds to wait for another process that writes the same file of SQLite."""
_USED = "used"
_MUCH = ("cache_size=-131072", "wal_autocheckpoint=8000")
"""Kibibytes of a connection's pages (at most: it takes what it touches), and pages before they go to the file."""
_dumps = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
"""One encoder for all values: `json.dumps` makes one for each, which takes longer than encoding a text."""


NEW: dict[Path, "weakref.ref[Engine]"] = {}
"""Files that this process has made, which nobody may have wanted (`take_back`), and the engine of each."""


_BEFORE_WORK = (*tables.OWN, "study", "source", "input", "relation", "system", "chunk_lease", "plan", "log", "setting")
"""Tables that are filled before anything is executed or anybody has answered: the same command fills them again."""


def open_store(where: str, create: bool = False) -> Engine:
    """The engine of a database, by path or SQLAlchemy URL; `create` makes the tables where there are none.

    Tables of an older version are brought to this one (`audit.store.migrations`). Raises BadFile when there is no such
    database (and `create` is false), when it cannot be opened, is of a newer version, or is something else; AuditError
    for a URL that is none or of another kind; NotInstalled when its driver is absent.
    """
    while True:
        file = file_of(where)
        new = create and file is not None and not os.path.exists(file)
        engine, name = _connect(where, create)
        with _explained(engine, name):
            _check_schema(engine, create, name)
            with engine.connect() as connection:
                expect_brought(connection)
        if file is None or file.exists():
            break
        engine.dispose()  # another process took its new file back while this one opened it
    if new and file is not None:
        NEW[file.absolute()] = weakref.ref(engine)
    return engine


def take_back() -> None:
    """Delete the databases that this process made, where they hold no work and no other process has them open.

    For a command that is refused: what was not there before is not there after. A file that another process has open
    stays: SQLite lets nobody change how a file keeps its journal while others have it. Whoever opens it after that
    waits for the lock, finds that there is no such file any more, and begins again (`open_store`).
    """
    while NEW:
        file, reference = NEW.popitem()
        if engine := reference():
            engine.dispose()
        if not file.is_file():
            continue
        with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as alone:
            try:
                alone.execute("PRAGMA journal_mode=DELETE").fetchall()
                alone.execute("BEGIN EXCLUSIVE")
                names = [table.name for table in SQLModel.metadata.sorted_tables if table.name not in _BEFORE_WORK]
                if any(alone.execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone() for name in names):  # noqa: S608
                    alone.execute("ROLLBACK")
                    alone.execute("PRAGMA journal_mode=WAL").fetchall()
                    continue
            except sqlite3.Error:
                continue  # somebody else has it
            for suffix in ("", "-wal", "-shm"):
                file.with_name(file.name + suffix).unlink(missing_ok=True)


def _connect(where: str, create: bool = False) -> tuple[Engine, str]:
    """The engine, and what messages call its database; nothing was asked of it yet."""
    url, file = _url(where), file_of(where)
    name = str(file) if file else url.render_as_string()
    if file:
        _check_path(file, create)
        if create and "uri" not in url.query:
            _make_private(file)
    try:
        # Errors name the statement, never its values: hashes of passwords and texts stay out of logs.
        engine = create_engine(url, json_serializer=_dumps, hide_parameters=True, **_pool(url, file))
    except ModuleNotFoundError as missing:
        raise NotInstalled(
            f"the database driver {missing.name} is not installed; install it with `pip install 'audit[postgres]'`"
        ) from None
    except SQLAlchemyError as problem:
        raise AuditError(f"the database {name!r} cannot be used: {one_line(problem)}") from None
    explain(engine, name)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _pragmas)
        event.listen(engine, "connect", row_sums.watch)
    else:
        _try_idle_connections(engine)
    return engine, name


@contextmanager
def _explained(engine: Engine, name: str) -> Iterator[None]:
    """Problems of opening in one sentence; the engine is closed then."""
    try:
        yield
    except OperationalError as problem:
        engine.dispose()
        if problem.orig is not None and is_damage(problem.orig):
            raise BadFile(unreadable(name, problem.orig)) from None
        raise BadFile(f"cannot open the database {name}: {one_line(problem.orig)}") from None
    except SQLAlchemyError as problem:
        engine.dispose()
        reason = one_line(getattr(problem, "orig", problem))
        raise BadFile(f"{name} is not a database of audit: {reason}") from None
    except BadFile:
        engine.dispose()
        raise


def _pool(url: URL, file: Path | None) -> dict[str, Any]:
    """Connections that are kept: the app has a thread for each click, and opening a connection takes longer than one.

    The one that was used last is used next, so that few are at work and those are warm.
    """
    if file is None and url.get_backend_name() == "sqlite":
        return {}  # in memory: one connection is the database
    return {"pool_size": POOL, "max_overflow": POOL, "pool_use_lifo": True}


def _try_idle_connections(engine: Engine) -> None:
    """Try a connection before it is used, where nobody used it for `FRESH`: the server may have been started again.

    SQLAlchemy's `pool_pre_ping` tries it each time: a click takes eight from the pool, and each try is a journey.
    """

    @event.listens_for(engine, "checkin")
    def used(_connection: Any, record: Any) -> None:
        record.info[_USED] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def tried(connection: Any, record: Any, _proxy: Any) -> None:
        if time.monotonic() - record.info.get(_USED, 0.0) < FRESH:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as problem:
            # Those that are older than this are taken for gone, too; the pool opens another and goes on.
            raise InvalidatePoolError from problem


def file_of(where: str) -> Path | None:
    """The file of a database, or None where it is on a server or in memory. Raises AuditError for no name at all."""
    url = _url(where)
    is_file = url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:")
    return Path(str(url.database)) if is_file else None


def _url(where: str) -> URL:
    """The URL of a path or URL. A path is taken as it is: `a?b.db` is a file name, not a query."""
    if not where.strip():
        raise AuditError(
            "the name of the database is empty; name a path or an SQLAlchemy URL such as sqlite:///audit.db"
        )
    if "://" not in where:
        return URL.create("sqlite", database=where)
    try:
        url = make_url(where)
    except (ArgumentError, ValueError):  # ValueError: a port that is no number
        without_password = where.split("@")[-1]  # what stands before an @ may be a password
        raise AuditError(
            f"the database {without_password!r} is neither a path nor an SQLAlchemy URL such as sqlite:///audit.db"
        ) from None
    if url.get_backend_name() not in BACKENDS:
        raise AuditError(
            f"{url.render_as_string()!r}: unknown kind of database; use a path, sqlite:/// or postgresql+psycopg://"
        )
    return url


def _check_path(path: Path, create: bool) -> None:
    """Raises BadFile for a file that is not there, or can never be a database."""
    try:
        exists = path.exists()
    except OSError as problem:
        raise BadFile(f"cannot open the database {path}: {problem.strerror}") from None
    if path.is_dir():
        raise BadFile(f"{path} is a folder; name the file of a database, for example {path / 'audit.db'}")
    if exists:
        refuse_no_file(path)
    if not exists and not create:
        raise BadFile(f"there is no database {path}; make one with `audit run` or name another")


def _make_private(path: Path) -> None:
    """Where there is no file yet, make it, empty, for its owner alone: SQLite gives its logs the same permissions."""
    try:
        os.close(os.open(os.path.realpath(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError:
        return  # there already, or SQLite says why it cannot be


def _pragmas(connection: Any, _record: Any) -> None:
    for pragma in (f"busy_timeout={PATIENCE * 1000:.0f}", "foreign_keys=ON", "synchronous=FULL"):
        connection.execute(f"PRAGMA {pragma}")


def schema_of(where: str) -> int:
    """The version of a database's tables, which are left as they are. Raises what `open_store` raises."""
    engine, name = _connect(where)
    with _explained(engine, name):
        table_names = set(inspect(engine).get_table_names())
        version = _version(engine, name) if "schema_version" in table_names else _refuse(table_names, name)
    engine.dispose()
    return version


def readable(where: str) -> Engine | None:
    """The engine of a database that is only read, and must not be changed for that; None where there is none yet.

    Raises BadFile for one of an older version, which opening would bring to this one, and what `open_store` raises.
    """
    file = file_of(where)
    if file is not None and not file.exists():
        return None
    if (version := schema_of(where)) < tables.SCHEMA_VERSION:
        raise BadFile(
            f"{where} has tables of version {version}, and is only read here; `audit migrate` brings them to "
            f"{tables.SCHEMA_VERSION}"
        )
    return open_store(where)


def write_much(engine: Engine) -> None:
    """Give connections to a file of SQLite more memory than the app's many need, as one that writes millions of rows.

    Keys of contents are random: without it each new input would read and write pages that were there a moment ago.
    """
    if engine.dialect.name != "sqlite" or engine.url.database in (None, "", ":memory:"):
        return

    if not event.contains(engine, "connect", _more_memory):
        event.listen(engine, "connect", _more_memory)
        engine.dispose()  # those that are open would not have it


def _more_memory(connection: Any, _record: Any) -> None:
    for pragma in _MUCH:
        connection.execute(f"PRAGMA {pragma}")


def _check_schema(engine: Engine, create: bool, name: str) -> None:
    table_names = set(inspect(engine).get_table_names())
    version = _version(engine, name) if "schema_version" in table_names else None
    if version is None and (table_names or not create):
        _refuse(table_names, name)
    if engine.dialect.name == "sqlite":
        _write_ahead(engine)
    if version is None:
        with migrations.alone(engine) as connection:
            # Somebody else may have made them meanwhile.
            if not inspect(connection).has_table("schema_version"):
                SQLModel.metadata.create_all(connection, checkfirst=False)  # there is none
                marked = SQLModel.metadata.tables["schema_version"].insert()
                connection.execute(marked, {"version": tables.SCHEMA_VERSION})
                if engine.dialect.name == "sqlite":
                    row_sums.fill(connection)
        _begin_anew(engine)
        version = _version(engine, name)
    if version < tables.SCHEMA_VERSION:
        migrations.migrate(engine, name)
        _begin_anew(engine)
    if engine.dialect.name == "sqlite":
        _warn(engine, name)


def _begin_anew(engine: Engine) -> None:
    """New connections keep the sums of the new tables; in memory there is one, and nothing that a disk could change."""
    if engine.url.database not in (None, "", ":memory:"):
        engine.dispose()


def _warn(engine: Engine, name: str) -> None:
    """Say of a file what is in it that audit did not make: it may act when audit writes."""
    with engine.connect() as connection:
        strange = unexpected_objects(lambda sql: connection.exec_driver_sql(sql).all())
    if strange:
        LOG.warning("%s has %s, which audit did not make; look with `audit doctor`", name, ", ".join(strange[:3]))


def _write_ahead(engine: Engine) -> None:
    """Let readers and a writer of a file work at once; the file keeps it. New and restored ones do not have it yet.

    SQLite waits for other processes by itself, but not here: while one writes, it says at once that the file is locked.
    Whoever comes second finds it done.
    """
    until = time.monotonic() + PATIENCE
    with engine.connect() as connection:
        while True:
            try:
                connection.exec_driver_sql("PRAGMA journal_mode=WAL")
                return
            except OperationalError as problem:
                code = getattr(problem.orig, "sqlite_errorcode", 0)
                if code & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
            time.sleep(0.01)


def _version(engine: Engine, name: str) -> int:
    """The version of the tables; raises BadFile for one that this audit cannot read."""
    with engine.connect() as connection:
        version = migrations.recorded(connection)
    if version is None or version < migrations.FIRST:
        raise BadFile(f"{name} does not say which version its tables have; restore it from a backup")
    if version > tables.SCHEMA_VERSION:
        raise BadFile(
            f"{name} has tables of version {version}, this audit reads version {tables.SCHEMA_VERSION}; install "
            "the audit that made them, or a later one"
        )
    return version


def _refuse(table_names: set[str], name: str) -> NoReturn:
    if table_names:
        raise BadFile(f"{name} is a database of something else: it has tables, but none of audit's")
    raise BadFile(f"{name} is an empty database; fill it with `audit run` or `audit import-run`")
