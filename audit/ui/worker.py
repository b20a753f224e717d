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
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Engine

from audit.corpora.slices import find_slicing
from audit.errors import AuditError
from audit.exchange.export import backup_file, export_archive
from audit.false_satisfaction.questions import asked_by
from audit.false_satisfaction.resolution import Whose
from audit.judging.activity import overview
from audit.messages import message
from audit.reports.agreement import stored_agreement
from audit.reports.document import Entry
from audit.reports.html import to_html
from audit.reports.judges import judges_report
from audit.reports.progress import totals
from audit.reports.quality import judging_record, quality_report
from audit.reports.study import Evidence, evidence, report_of, study_report
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
            return ASKS[self.ask](_Database(self.database, self.state), **self.values), time.monotonic() - began
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


class _Database(NamedTuple):
    """A database in one of its states."""

    path: str
    state: Any

    @property
    def engine(self) -> Engine:
        return _engine(self.path)

    def among(self, study: int | None) -> ColumnElement[bool] | None:
        """Return the condition that a question is one of this study; None: of all."""
        with self.engine.connect() as connection:
            return None if study is None else asked_by(connection, [study])


@cache
def _engine(path: str) -> Engine:
    return open_store(path)


@lru_cache(maxsize=_CACHED_STATES)
def _evidence(database: _Database, whose: Whose, study: int | None, slices: tuple[str, ...]) -> Evidence:
    return evidence(database.engine, whose, study, [find_slicing(name) for name in slices])


def _report(database: _Database, *, whose: Whose, study: int | None = None, slices: tuple[str, ...] = ()) -> Entry:
    return report_of(_evidence(database, whose, study, slices))


def _quality(database: _Database, *, by: int, groups: bool, task: str | None = None, study: int | None = None) -> Entry:
    record = judging_record(database.engine, database.among(study), by=by)
    return quality_report(record, task, kind="group" if groups else None)


def _totals(database: _Database, *, by: int, study: int | None = None) -> Entry:
    """The counts of the database, or those of a study: what is open there is what its report says."""
    counts = overview(database.engine, by, database.among(study))
    if study is not None and counts.questions.open + counts.questions.audits:
        counts = counts._replace(questions=_evidence(database, "both", study, ()).open)
    return totals(counts)


ASKS: dict[str, Callable[..., Any]] = {
    "report": _report,
    "study_report": lambda database, **options: study_report(database.engine, **options),
    "html": lambda database, *, language, **values: to_html(_report(database, **values), language),
    "totals": _totals,
    "agreement": lambda database, *, by, study=None: stored_agreement(database.engine, by, database.among(study)),
    "quality": _quality,
    "judges": lambda database, *, by: judges_report(database.engine, by=by),
    "export": lambda database, **how: str(export_archive(database.engine, **how)),
    "backup": lambda database, *, by: str(backup_file(database.engine, by=by)),
}
"""What can be asked, by name. Files are in a folder of their own, which the asker deletes."""
LONG = ("export", "backup")
"""Requests that take long even if a report does not: a server sends them to another process."""
