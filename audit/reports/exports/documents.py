"""The documents with published numbers that an export has in it: what `audit replay` recomputes."""

import json
from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine

from audit.annotation.ratings import stored_ratings
from audit.errors import AuditError
from audit.reports.agreement import agreement_report
from audit.reports.study import study_report

DOCUMENTS: dict[str, Callable[[Engine], dict[str, Any]]] = {
    "report.json": study_report,
    "agreement.json": lambda engine: agreement_report(stored_ratings(engine)),
}
"""By file: how the document is made from a database, with the settings that a command has by default."""


def document(name: str, engine: Engine) -> dict[str, Any] | None:
    """A document of a database; None where there is nothing yet to say (nothing checked, fewer than two annotators)."""
    try:
        return DOCUMENTS[name](engine)
    except AuditError:
        return None


def written(document: dict[str, Any]) -> str:
    """A document as a file has it; `audit report --json` prints the same."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
