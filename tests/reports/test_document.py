"""The declared keys of a report, and the JSON Schema that is published."""

import json
from pathlib import Path

import pandas as pd
import pytest
from pydantic import ValidationError

from audit.reports.build import Groups, build_report
from audit.reports.document import check_document, json_schema
from audit.reports.validity import Findings

SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "report.schema.json"
ROW = {"task": "sentiment", "relation": "MR1.1", "system": "a", "satisfied": 8, "violated": 2, "judged": 8, "false": 4}


def test_the_published_schema_is_that_of_the_code():
    """`python -m audit.reports.document > docs/reference/report.schema.json` renews it."""
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == json_schema()


@pytest.mark.parametrize(
    ("place", "key", "value"), [("cells", "judged", "8"), ("cells", "fs", 0.5), ("overall", "cells", 1.5)]
)
def test_a_key_that_is_not_declared_or_of_another_type_is_refused(place, key, value):
    document = build_report(pd.DataFrame([ROW]), {"audit": "0"})
    entry = document[place][0] if place == "cells" else document[place]
    entry[key] = value
    with pytest.raises(ValidationError, match=key):
        check_document(document)


def test_checked_answers_that_decide_no_judged_group_leave_the_counts_of_groups_unknown():
    """As it is until the groups of which an adjudicator checked an answer are judged: nothing was added or removed."""
    key = ["study", "task", "relation", "system"]
    cells = pd.DataFrame(columns=[*key, "rests_true", "rests_false", "protocol_judged", "protocol_false"])
    follow_ups = pd.DataFrame(columns=[*key, "group_id", "source", "follow_up", "wrong", "cluster"])
    checks = pd.DataFrame(columns=[*key, "source", "cluster", "protocol", "checked"])
    answers = pd.DataFrame({"source": [1, 2, 3], "cluster": [1, 2, 3], "wrong": [0, 1, 0]})
    judged = pd.DataFrame(columns=[*key, "source", "false"])
    audits = Findings(cells, follow_ups, checks, answers, 0, 2)
    document = build_report(pd.DataFrame([ROW]), {"audit": "0"}, target="corpus", groups=Groups(judged, audits=audits))
    check_document(document)
    totals = document["overall"]["checks"]
    assert (totals["answers"], totals["answers_wrong"], totals["groups"]) == (3, 1, 0)
    assert [totals[name] for name in ("added", "removed")] == [None, None]
    assert document["overall"]["checks_waiting"] == 2
