"""The declared keys of a report, and the JSON Schema that is published."""

import json
from pathlib import Path

from audit.reports.document import json_schema

SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "report.schema.json"
ROW = {"task": "sentiment", "relation": "MR1.1", "system": "a", "satisfied": 8, "violated": 2, "judged": 8, "false": 4}


def test_the_published_schema_is_that_of_the_code():
    """`python -m audit.reports.document > docs/reference/report.schema.json` renews it."""
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == json_schema()
