"""Agreement in a study whose questions are about outputs (`tests/summaries.py`).

Four texts; `lead` and `first` say the same of all, `last` something else and violates the relation on one. Eleven pairs
are satisfied, and seven outputs of sources are asked about.
"""

import pytest
import summaries

from audit.reports.agreement import agreement_report, stored_agreement
from audit.reports.ratings import attributed, stored_ratings

registered = pytest.fixture(autouse=True)(summaries.registered)


def test_agreement_on_outputs(tmp_path):
    judged = summaries.study(tmp_path)
    summaries.judge_all(judged, *summaries.people(judged)[:2])
    rated = stored_ratings(judged, "summarization")
    assert rated.origin == {"task": "summarization", "about": "pairs"}
    report = agreement_report(rated, by="system", parts=attributed(judged, "system"))
    assert (report["items"], report["ratings"]) == (7, 14)
    assert {group["value"]: group["items"] for group in report["groups"]} == {"first": 4, "last": 3, "lead": 4}
    assert set(attributed(judged, "language")["value"]) == {"zh"}
    (agreement,) = stored_agreement(judged)
    assert (agreement["task"], agreement["kind"]) == ("summarization", "pair")
