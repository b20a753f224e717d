"""`audit doctor`: is this database sound, and what to do where it is not. Looks, and changes nothing."""

import os
import shlex
import shutil
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, select, text

from audit.annotation.answers import settled_answers, wrongly_filled
from audit.errors import AuditError, first_line
from audit.false_satisfaction.questions import queue_difference
from audit.store import open_store, pieces, table_of, tables
from audit.store.backup import page_faults
from audit.store.engine import file_of

LEAST_SPACE = 1 << 30
"""Bytes that should be free: a backup of a large study, or a day of judging, and room to spare."""
_LARGE_LOG = 1 << 30
_OF_OTHERS = stat.S_IRWXO
_IDS = 10
"""Numbers of questions that a finding names."""
_RESTORE = "put a backup in its place, or ask on the project's page with what `audit doctor` prints as JSON"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. `advice` says what to do where it is not `ok`."""

    check: str
    ok: bool
    found: str
    advice: str | None = None


def doctor(where: str) -> list[Check]:
    """Every check of a database, in the order in which to mend things; the first ones are about its file.

    A check that cannot read what it needs is a finding, and the others go on.
    """
    file = file_of(where)
    checks = _file_checks(file) if file is not None and file.is_file() else []
    try:
        engine = open_store(where)
    except AuditError as problem:
        advice = "name another, or put a backup in its place"
        return [*checks, Check("opens", False, str(problem), advice)]
    except Exception as problem:  # a damaged file may end in anything, and must not end the doctor
        return [*checks, Check("opens", False, _unreadable_text(problem), _RESTORE)]
    checks.append(Check("opens", True, f"tables of version {tables.SCHEMA_VERSION}"))
    try:
        for name, check in CHECKS.items():
            try:
                with engine.connect() as connection:
                    checks += check(connection, name)
            except Exception as problem:  # as above
                checks.append(Check(name, False, _unreadable_text(problem), _RESTORE))
    finally:
        engine.dispose()
    return checks


def _unreadable_text(problem: Exception) -> str:
    return f"cannot be read ({type(problem).__name__}: {first_line(problem)})"


def _file_checks(file: Path) -> list[Check]:
    """Checks that apply to a file only; they run before anything else opens it."""
    checks = [_check("file", page_faults(file), "whole", _RESTORE)]
    log = file.with_name(file.name + "-wal")
    size = log.stat().st_size if log.exists() else 0
    if size > _LARGE_LOG:
        advice = (
            "stop all that has the database open, then run `audit doctor` again: the last one to close empties the log"
        )
        checks.append(Check("size of the log", False, f"{size / 2**30:.1f} GiB", advice))
    free, needed = shutil.disk_usage(file.absolute().parent).free, max(LEAST_SPACE, file.stat().st_size)
    checks.append(
        Check(
            "disk",
            free >= needed,
            f"{free / 2**30:.1f} GiB free",
            None
            if free >= needed
            else f"free space until {needed / 2**30:.1f} GiB are left: a full disk stops judging",
        )
    )
    if os.name == "posix":
        checks.append(_permissions(file))
    return checks


def _permissions(file: Path) -> Check:
    """Whether every user of the machine can read the file; sharing it with a group may be on purpose."""
    beside = (file.with_name(file.name + end) for end in ("", "-wal", "-shm"))
    open_ = [str(path) for path in beside if path.exists() and path.stat().st_mode & _OF_OTHERS]
    return Check(
        "permissions",
        not open_,
        "every user of this machine can read it, with the hashes of passwords" if open_ else "no other user's",
        shlex.join(["chmod", "o=", *open_]) if open_ else None,
    )


def _log(connection: Connection, name: str) -> list[Check]:
    """Whether a file has a write-ahead log."""
    if connection.dialect.name != "sqlite":
        return []
    mode = str(connection.execute(text("PRAGMA journal_mode")).scalar())
    faults = [] if mode == "wal" else [f"journal mode is {mode}, so that readers block writers"]
    return [_check(name, faults, "on", "put the file on a local disk: network file systems have no write-ahead log")]


def _queue(connection: Connection, name: str) -> list[Check]:
    """People are asked what drawn groups wait for, in the order in which these want it, and nothing else."""
    queue = queue_difference(connection)
    faults = []
    if queue.absent:
        faults.append(f"{queue.absent:,} questions that drawn groups wait for were never made")
    if queue.misplaced:
        faults.append(
            f"{_question_numbers(queue.misplaced)} that drawn groups wait for: not asked, or not in their place"
        )
    if queue.idle:
        faults.append(f"{_question_numbers(queue.idle)} asked that no drawn group waits for")
    advice = "run `audit doctor --rebuild`, which brings the queue up to date"
    return [_check(name, faults, "people are asked what drawn groups wait for", advice)]


def _question_numbers(ids: Sequence[int]) -> str:
    """The number of questions, with the ids of the first ones.

    >>> _question_numbers([4, 7]), _question_numbers(range(1, 13))
    ('2 questions (4, 7)', '12 questions (1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ...)')
    """
    more = " ..." if len(ids) > _IDS else ""
    return f"{len(ids):,} questions ({', '.join(map(str, ids[:_IDS]))}{more})"


def _answers(connection: Connection, name: str) -> list[Check]:
    """The stored answers are those that follow from the history."""
    question, answer = table_of(tables.Question), table_of(tables.Answer)
    ids = [int(row[0]) for row in connection.execute(select(question.c.id).order_by(question.c.id))]
    differing = 0
    for piece in pieces(ids):
        query = select(answer.c.question_id, answer.c.origin, answer.c.allowed).where(answer.c.question_id.in_(piece))
        stored = {(int(row[0]), str(row[1])): sorted(row[2]) for row in connection.execute(query)}
        rebuilt = {key: sorted(allowed) for key, allowed in settled_answers(connection, piece).items()}
        differing += len({key[0] for key in stored.keys() | rebuilt.keys() if stored.get(key) != rebuilt.get(key)})
    faults = [f"{differing:,} of {len(ids):,} questions have another answer than their history"] if differing else []
    if misfiled := wrongly_filled(connection):
        faults.append(f"{misfiled:,} questions are wrong about whether they have all their votes")
    return [_check(name, faults, "as the history has them", "run `audit doctor --rebuild`, which writes them anew")]


def _check(name: str, faults: Iterable[str], good: str, advice: str) -> Check:
    summary = "; ".join(faults)
    return Check(name, not summary, summary or good, advice if summary else None)


CHECKS: dict[str, Callable[[Connection, str], list[Check]]] = {
    "write-ahead log": _log,
    "answers": _answers,
    "queue": _queue,
}
