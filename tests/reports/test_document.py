"""The declared keys of a report, and the JSON Schema that is published."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError
from totals import report_of_totals

from audit.reports.document import check_document, json_schema

SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "report.schema.json"
ROW = {"task": "sentiment", "relation": "MR1.1", "system": "a", "satisfied": 8, "violated": 2, "judged": 8, "false": 4}


def test_the_published_schema_is_that_of_the_code():
    """`python -m audit.reports.document > docs/reference/report.schema.json` renews it."""
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == json_schema()


@pytest.mark.parametrize(
    ("place", "key", "value"), [("cells", "judged", "8"), ("cells", "fs", 0.5), ("overall", "cells", 1.5)]
)
def test_a_key_that_is_not_declared_or_of_another_type_is_refused(place, key, value):
    document = report_of_totals([ROW], {"audit": "0"})
    entry = document[place][0] if place == "cells" else document[place]
    entry[key] = value
    with pytest.raises(ValidationError, match=key):
        check_document(document)
