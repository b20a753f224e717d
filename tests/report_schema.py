"""The published schema of reports, and whether a document is as it says."""

import json
from pathlib import Path
from typing import Any

import jsonschema

SCHEMA = Path(__file__).parents[1] / "docs" / "reference" / "report.schema.json"


def check_document(document: Any) -> None:
    """Raise ValidationError, which names the place, where a document is not as the schema says."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads(json.dumps(document, allow_nan=False)))
