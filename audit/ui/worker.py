"""What takes long, computed in a process of its own, so that a server goes on answering people meanwhile.

A `Request` is a job of `audit.runner.executors`; what a database holds is read once per state of it.
"""

import os
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Engine

from audit.errors import AuditError
from audit.exchange.export import backup_file, export_archive
from audit.false_satisfaction.questions import asked_by
from audit.false_satisfaction.resolution import Whose
from audit.judging.activity import overview
from audit.messages import message
from audit.reports.agreement import stored_agreement
from audit.reports.document import Entry, ReportDocument
from audit.reports.evidence import Evidence, evidence, open_of
from audit.reports.html import to_html
from audit.reports.judges import judges_report
from audit.reports.progress import totals
from audit.reports.quality import quality_report
from audit.reports.record import judging_record
from audit.reports.study import report_of
from audit.statistics.intervals import Target
from audit.store import open_store

POLITE = 10
"""Niceness of the process: those that answer people come first."""
_CACHED_STATES = 3
"""States of databases whose evidence is kept: a million groups are hundreds of megabytes."""


@dataclass(frozen=True)
class Request:
    """What is asked, of which database in which state, with which values."""

    ask: str
    database: str
    state: Any
    values: dict[str, Any]
    limit: None = None

    def work(self) -> tuple[Any, float]:
        """Return the answer, and how many seconds it took. Raises AuditError for whatever goes wrong."""
        began = time.monotonic()
        try:
            return ASKS[self.ask](self.database, self.state, **self.values), time.monotonic() - began
        except AuditError as problem:
            # Errors with several arguments cannot be pickled, so they come back as AuditError.
            kind = type(problem) if type(problem).__init__ is AuditError.__init__ else AuditError
            raise kind(problem.sentence) from None
        except Exception as problem:
            traceback.print_exc()
            raise AuditError(message("worker.failed", kind=type(problem).__name__)) from None


def be_polite() -> None:
    """Give way to the process that answers people."""
    with suppress(OSError):
        os.nice(POLITE)


def _report(
    database: str, state: Any, *, whose: Whose, target: Target, delta: float, study: int | None = None
) -> ReportDocument:
    basis = _evidence(database, state, whose, study)
    return report_of(basis, target=target, delta=delta)


def _agreement(database: str, _state: Any, *, by: int, study: int | None = None) -> list[Entry]:
    return stored_agreement(_engine(database), by, _among(database, study))


def _quality(
    database: str, _state: Any, *, by: int, groups: bool, task: str | None = None, study: int | None = None
) -> Entry:
    record = judging_record(_engine(database), _among(database, study), by=by)
    return quality_report(record, task, kind="group" if groups else None)


def _judges(database: str, _state: Any, *, by: int) -> Entry:
    return judges_report(_engine(database), by=by)


def _totals(database: str, state: Any, *, by: int, study: int | None = None) -> Entry:
    """The counts of the database, or those of a study: what is open there is what its report says."""
    engine = _engine(database)
    counts = overview(engine, by, _among(database, study))
    if study is not None and counts.questions.open + counts.questions.audits:
        counts = counts._replace(questions=open_of(_evidence(database, state, "both", study)))
    return totals(counts)


def _html(database: str, state: Any, *, language: str, **values: Any) -> str:
    return to_html(_report(database, state, **values), language)


def _export(database: str, _state: Any, *, by: int, pseudonymise: bool) -> str:
    """The path of a zip file, in a folder of its own that the asker deletes."""
    return str(export_archive(_engine(database), by=by, pseudonymise=pseudonymise))


def _backup(database: str, _state: Any, *, by: int) -> str:
    return str(backup_file(_engine(database), by=by))


ASKS: dict[str, Callable[..., Any]] = {
    "report": _report,
    "totals": _totals,
    "agreement": _agreement,
    "quality": _quality,
    "judges": _judges,
    "html": _html,
    "export": _export,
    "backup": _backup,
}
"""What can be asked, by name."""
LONG = ("export", "backup")
"""Requests that take long even if a report does not: a server sends them to another process."""


@cache
def _engine(database: str) -> Engine:
    return open_store(database)


@lru_cache(maxsize=_CACHED_STATES)
def _evidence(database: str, state: Any, whose: Whose, study: int | None = None) -> Evidence:
    return evidence(_engine(database), whose, study)


def _among(database: str, study: int | None) -> ColumnElement[bool] | None:
    if study is None:
        return None
    with _engine(database).connect() as connection:
        return asked_by(connection, [study])
