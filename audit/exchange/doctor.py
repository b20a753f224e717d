"""`audit doctor`: is this database sound, and what to do where it is not. Looks, and changes nothing."""

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, select

from audit.errors import AuditError, first_line
from audit.false_satisfaction.questions import queue_difference
from audit.judging.answers import settled_answers, wrongly_filled
from audit.store import open_store, pieces, tables
from audit.store.copying import page_faults
from audit.store.core import answer, question
from audit.store.engine import file_of

LEAST_SPACE = 1 << 30
"""Bytes that should be free: a backup of a large study, or a day of judging, and room to spare."""
_IDS = 10
"""Numbers of questions that a finding names."""
_REBUILD = "run `audit doctor --rebuild`, which writes answers and queue anew"
_RESTORE = "put a backup in its place, or ask on the project's page with what `audit doctor` prints as JSON"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. `advice` says what to do where it is not `ok`."""

    check: str
    ok: bool
    found: str
    advice: str | None = None


def doctor(where: str) -> list[Check]:
    """Return every check of a database, in the order in which to mend things; the first ones are about its file.

    A check that cannot read what it needs is a finding, and the others go on.
    """
    file = file_of(where)
    checks = _file_checks(file) if file is not None and file.is_file() else []
    try:
        engine = open_store(where)
    except AuditError as problem:
        return [*checks, Check("opens", False, str(problem), "name another, or put a backup in its place")]
    except Exception as problem:  # a damaged file may end in anything, and must not end the doctor
        return [*checks, _unreadable("opens", problem)]
    checks.append(Check("opens", True, f"tables of version {tables.SCHEMA_VERSION}"))
    for name, (look, good) in CHECKS.items():
        try:
            with engine.connect() as connection:
                checks.append(_check(name, look(connection), good, _REBUILD))
        except Exception as problem:  # as above
            checks.append(_unreadable(name, problem))
    engine.dispose()
    return checks


def _check(name: str, faults: Iterable[str], good: str, advice: str) -> Check:
    summary = "; ".join(faults)
    return Check(name, not summary, summary or good, advice if summary else None)


def _unreadable(name: str, problem: Exception) -> Check:
    return Check(name, False, f"cannot be read ({type(problem).__name__}: {first_line(problem)})", _RESTORE)


def _file_checks(file: Path) -> list[Check]:
    """Return the checks of a file; they run before anything else opens it."""
    free, needed = shutil.disk_usage(file.absolute().parent).free, max(LEAST_SPACE, file.stat().st_size)
    left = f"{free / 2**30:.1f} GiB free"
    advice = f"free space until {needed / 2**30:.1f} GiB are left: a full disk stops judging"
    disk = _check("disk", [left] if free < needed else [], left, advice)
    return [_check("file", page_faults(file), "whole", _RESTORE), disk]


def _answer_faults(connection: Connection) -> list[str]:
    """The stored answers are those that follow from the history."""
    ids = list(connection.execute(select(question.c.id).order_by(question.c.id)).scalars())
    differing = 0
    for piece in pieces(ids):
        rows = connection.execute(select(answer).where(answer.c.question_id.in_(piece)))
        stored = {(row.question_id, row.origin): sorted(row.allowed) for row in rows}
        rebuilt = {key: sorted(allowed) for key, allowed in settled_answers(connection, piece).items()}
        differing += len({key[0] for key in stored.keys() | rebuilt.keys() if stored.get(key) != rebuilt.get(key)})
    faults = [f"{differing:,} of {len(ids):,} questions have another answer than their history"] if differing else []
    if misfiled := wrongly_filled(connection):
        faults.append(f"{misfiled:,} questions are wrong about whether they have all their votes")
    return faults


def _queue_faults(connection: Connection) -> list[str]:
    """People are asked what drawn groups wait for, in the order in which these want it, and nothing else."""
    queue = queue_difference(connection)
    faults = [f"{queue.absent:,} questions that drawn groups wait for were never made"] if queue.absent else []
    waits = (queue.misplaced, "that drawn groups wait for: not asked, or not in their place")
    for ids, what in (waits, (queue.idle, "asked that no drawn group waits for")):
        if ids:
            more = " ..." if len(ids) > _IDS else ""
            faults.append(f"{len(ids):,} questions ({', '.join(map(str, ids[:_IDS]))}{more}) {what}")
    return faults


CHECKS: dict[str, tuple[Callable[[Connection], list[str]], str]] = {
    "answers": (_answer_faults, "as the history has them"),
    "queue": (_queue_faults, "people are asked what drawn groups wait for"),
}
"""What is looked at in the tables, and what a sound database is."""
