"""Computes what takes long in a process of its own, so that a server goes on answering people meanwhile.

`python -m audit.ui.worker` reads a request a line from stdin, as JSON, and writes an answer a line to stdout: it
ends with its stdin, so that it never outlives whoever began it. What a database holds is read once per state of it.
"""

import json
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from functools import cache, lru_cache
from typing import Any, TextIO

from sqlalchemy import ColumnElement, Engine

from audit import errors
from audit.errors import AuditError
from audit.exchange.export import backup_file, export_archive
from audit.false_satisfaction.questions import asked_by
from audit.false_satisfaction.resolution import Whose
from audit.judging.activity import overview
from audit.messages import from_wire, message, to_wire
from audit.reports.agreement import stored_agreement
from audit.reports.document import Entry, ReportDocument
from audit.reports.evidence import Evidence, evidence
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


def request_line(ask: str, database: str, state: object, values: dict[str, Any]) -> str:
    """One request: what is asked, of which database in which state, with which values.

    >>> request_line("totals", "audit.db", [1], {})
    '{"ask": "totals", "database": "audit.db", "state": [1], "values": {}}\\n'
    """
    request = {"ask": ask, "database": database, "state": state, "values": values}
    return json.dumps(request | _with_messages(values)) + "\n"


def answer_line(line: str) -> str:
    """The answer to one request: `{"answer": ...}`, or `{"refused": sentence, "kind": class}` for an AuditError.

    Whatever else goes wrong is refused, too, and told to stderr: one request must not end the process of all.

    >>> answer_line(request_line("totals", "no/such.db", [], {"by": "relation"}))[:41]
    '{"refused": "there is no database no/such'
    """
    request = json.loads(line)
    try:
        values = from_wire(request["values"], request.get("messages", {}))
        answer = ASKS[request["ask"]](request["database"], json.dumps(request["state"]), **values)
        return _line({"answer": answer})
    except AuditError as problem:
        return _line({"refused": problem.sentence, "kind": type(problem).__name__})
    except Exception as problem:
        traceback.print_exc()
        failed = message("worker.failed", kind=type(problem).__name__)
        return _line({"refused": failed, "kind": "AuditError"})


def _line(content: dict[str, Any]) -> str:
    return json.dumps(content | _with_messages(content), ensure_ascii=False, allow_nan=False) + "\n"


def _with_messages(content: dict[str, Any]) -> dict[str, Any]:
    """What lets the other side know which of the texts are sentences of the catalogue; empty where none is."""
    messages = to_wire(content)
    return {"messages": messages} if messages else {}


def read_answer(line: str) -> Any:
    """What an answer line holds. Raises an AuditError if the request was refused.

    >>> read_answer('{"answer": [1]}')
    [1]
    """
    answer = json.loads(line)
    answer = from_wire(answer, messages) if (messages := answer.pop("messages", None)) else answer
    if "refused" not in answer:
        return answer["answer"]
    kind = getattr(errors, answer["kind"], AuditError)
    # Errors with several arguments cannot be rebuilt from their text, so they come back as AuditError.
    raise kind(answer["refused"]) if kind.__init__ is AuditError.__init__ else AuditError(answer["refused"])


def main(requests: TextIO, answers: TextIO) -> None:
    """Answer every request until there are no more. Whatever else a computation prints goes to stderr."""
    with redirect_stdout(sys.stderr):
        for line in requests:
            answers.write(answer_line(line))
            answers.flush()


def _report(
    database: str,
    state: str,
    *,
    whose: Whose,
    target: Target,
    delta: float,
    study: int | None = None,
) -> ReportDocument:
    """The report of a study, or of all."""
    basis = _evidence(database, state, whose, study)
    return report_of(basis, target=target, delta=delta)


def _agreement(database: str, _state: str, *, by: int, study: int | None = None) -> list[Entry]:
    return stored_agreement(_engine(database), by, _among(database, study))


def _quality(
    database: str, _state: str, *, by: int, groups: bool, task: str | None = None, study: int | None = None
) -> Entry:
    record = judging_record(_engine(database), _among(database, study), by=by)
    return quality_report(record, task, kind="group" if groups else None)


def _judges(database: str, _state: str, *, by: int) -> Entry:
    return judges_report(_engine(database), by=by)


def _totals(database: str, state: str, *, by: int, study: int | None = None) -> Entry:
    """The counts of the database, or those of a study: what is open there is what its report says."""
    engine = _engine(database)
    counts = overview(engine, by, _among(database, study))
    if study is not None and counts.questions.open + counts.questions.audits:
        counts = counts._replace(questions=_evidence(database, state, "both", study).open)
    return totals(counts)


def _html(_database: str, _state: str, *, report: ReportDocument, language: str) -> str:
    return to_html(report, language)


def _export(database: str, _state: str, *, by: int, pseudonymise: bool) -> str:
    """The path of a zip file, in a folder of its own that the asker deletes."""
    return str(export_archive(_engine(database), by=by, pseudonymise=pseudonymise))


def _backup(database: str, _state: str, *, by: int) -> str:
    """The path of a backup, in a folder of its own that the asker deletes."""
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
def _evidence(database: str, state: str, whose: Whose, study: int | None = None) -> Evidence:
    return evidence(_engine(database), whose, study)


def _among(database: str, study: int | None) -> ColumnElement[bool] | None:
    """The condition that a question is one of this study; None: of all."""
    if study is None:
        return None
    with _engine(database).connect() as connection:
        return asked_by(connection, [study])


if __name__ == "__main__":
    with suppress(OSError):
        os.nice(POLITE)
    # Only answers go into the pipe: whatever a library prints goes to stderr.
    kept = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    with suppress(KeyboardInterrupt, BrokenPipeError):
        main(sys.stdin, kept)
