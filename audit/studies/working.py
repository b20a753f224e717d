"""The process of a job: it says how far it is, hears that it should stop, and leaves a last word."""

import os
import re
import signal
import socket
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, OperationalError

from audit.errors import AuditError
from audit.runner.run import Watcher
from audit.store import table_of, tables

BEAT = 1.0
"""Seconds between two looks at the row."""
SIGN = 5.0
"""Seconds after which a sign of life is written although nothing changed."""
TAIL = 8_000
"""Bytes of what was printed that the row keeps."""
_MESSAGE = 500
_LOGIN = re.compile(r"://[^\s/@]+@")


class Worker(Watcher):
    """Keeps the row of a job up to date, from a thread: training a system takes minutes in which nothing is counted."""

    def __init__(self, engine: Engine, id: int, printed: int, secrets: list[str]):
        self._engine, self._id, self._printed, self._secrets = engine, id, printed, secrets
        self._now: dict[str, Any] = {"step": "", "done": 0, "total": 0, "log": ""}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def step(self, name: str) -> None:
        """Another step begins."""
        self._now |= {"step": name, "done": 0, "total": 0}

    def begin(self, sources: int) -> None:
        self._now["total"] = sources

    def finished(self, sources: int) -> None:
        self._now["done"] += sources

    def end(self, state: str, message: str | None = None) -> None:
        """The last word."""
        self._over.set()
        self._thread.join()
        said = None if message is None else redacted(" ".join(message.split()), self._secrets)[:_MESSAGE]
        moment = tables.now()
        self._write(self._seen() | {"state": state, "message": said, "seen_at": moment, "ended_at": moment})

    def _beat(self) -> None:
        written: dict[str, Any] = {}
        last = monotonic()
        asked = False
        while not self._over.wait(BEAT):
            now = self._seen()
            try:
                if now != written or monotonic() - last > SIGN:
                    self._write(now | {"seen_at": tables.now()})
                    written, last = now, monotonic()
                stop = self._asked_to_stop()
            except OperationalError:
                continue  # locked or gone for a moment: the next beat says it
            if stop and not asked:
                asked = True
                # To the main thread, which may be waiting for a worker: nothing but a signal wakes it.
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)

    def _seen(self) -> dict[str, Any]:
        # By its place: the position in the file is shared with whoever prints.
        tail = os.pread(self._printed, TAIL, max(0, os.fstat(self._printed).st_size - TAIL))
        said = tail.decode("utf-8", "replace").replace("\0", "")
        return self._now | {"log": redacted(said, self._secrets)}

    def _write(self, values: dict[str, Any]) -> None:
        table = table_of(tables.Job)
        with self._engine.begin() as connection:
            connection.execute(table.update().where(table.c.id == self._id).values(**values))

    def _asked_to_stop(self) -> bool:
        table = table_of(tables.Job)
        with self._engine.connect() as connection:
            return connection.execute(select(table.c.state).where(table.c.id == self._id)).scalar() == "stopping"


@contextmanager
def at_work(engine: Engine, id: int, where: str) -> Iterator[tuple[Worker, int | None]]:
    """While the process works at job `id`: gives who watches it, and the account of who asked for it.

    SIGTERM and Ctrl-C stop the work; however it ends, the row says so. What the process prints is kept for the row, as
    far as it holds no password of the database at `where`. Raises AuditError where the job does not wait to be begun.
    """
    table = table_of(tables.Job)
    claimed = {"state": "running", "pid": os.getpid(), "host": socket.gethostname(), "seen_at": tables.now()}
    with engine.begin() as connection:
        mine = connection.execute(table.update().where(table.c.id == id, table.c.state == "waiting").values(**claimed))
        row = connection.execute(select(table.c.annotator_id, table.c.state).where(table.c.id == id)).first()
        if mine.rowcount != 1 and row is not None and row.state == "stopping":
            ended = {"state": "stopped", "ended_at": tables.now()}
            connection.execute(table.update().where(table.c.id == id).values(**ended))
    if mine.rowcount != 1 or row is None:
        raise AuditError(f"job {id} does not wait to be begun; begin another in the app, or leave --job out")
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    with _kept_prints() as printed:
        worker = Worker(engine, id, printed, _secrets(where))
        try:
            yield worker, row.annotator_id
        except KeyboardInterrupt:
            worker.end("stopped")
            raise
        except AuditError as problem:
            worker.end("failed", str(problem))
            raise
        except Exception as problem:
            traceback.print_exc()
            worker.end("failed", f"{type(problem).__name__}: {problem}")
            raise
        else:
            worker.end("done")
        finally:
            signal.signal(signal.SIGTERM, before)


def redacted(text: str, secrets: list[str]) -> str:
    """The text without these secrets, and without what stands before the @ of an address.

    >>> redacted("postgresql://ann:pa55word@host/db: no such pa55word", ["pa55word"])
    'postgresql://***@host/db: no such ***'
    """
    for secret in secrets:
        text = text.replace(secret, "***")
    return _LOGIN.sub("://***@", text)


def _secrets(where: str) -> list[str]:
    """Passwords in a database's address."""
    try:
        password = make_url(where).password if "://" in where else None
    except (ArgumentError, ValueError):
        password = None
    return [str(password)] if password else []


@contextmanager
def _kept_prints() -> Iterator[int]:
    """Whatever is printed meanwhile, by this process and its workers, goes to a file without a name; gives it."""
    with tempfile.TemporaryFile() as file:
        kept = {stream: os.dup(stream) for stream in (1, 2)}
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            for stream in kept:
                os.dup2(file.fileno(), stream)
            yield file.fileno()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for stream, old in kept.items():
                os.dup2(old, stream)
                os.close(old)
