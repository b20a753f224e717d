"""Every report that a test of this room makes is checked against the published schema."""

import json
from functools import wraps
from pathlib import Path
from typing import Any

import jsonschema
import pytest

SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "report.schema.json"


def check_document(document: Any) -> None:
    """Raise ValidationError, which names the place, where a document is not as the schema says."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads(json.dumps(document, allow_nan=False)))


@pytest.fixture(autouse=True)
def _documents_are_as_declared(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    make = getattr(request.module, "study_report", None)
    if make is not None:

        @wraps(make)
        def report(*args: Any, **options: Any) -> Any:
            document = make(*args, **options)
            check_document(document)
            return document

        monkeypatch.setattr(request.module, "study_report", report)
