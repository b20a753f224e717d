"""Reports, plans, agreement, exports and replays of a study whose questions are about outputs (`tests/summaries.py`).

Four texts; `lead` and `first` say the same of all, `last` something else and violates the relation on one. Eleven pairs
are satisfied, and seven outputs of sources are asked about.
"""

import pytest
import summaries

from audit.reports.agreement import agreement_report, stored_agreement
from audit.reports.ratings import attributed, stored_ratings
from audit.reports.sections import to_terminal
from audit.reports.study import study_report

registered = pytest.fixture(autouse=True)(summaries.registered)


@pytest.fixture
def judged(tmp_path):
    study = summaries.study(tmp_path)
    anna, ben, _ = summaries.people(study)
    summaries.judge_all(study, anna, ben)
    return study


@pytest.mark.slow
def test_the_report_of_a_judged_study(judged):
    report = study_report(judged)
    rates = {
        cell["system"]: (cell["sr_observed"], cell["fs_rate"]["value"], cell["sr_genuine"]["value"])
        for cell in report["cells"]
    }
    # SR_g = SR_o (1 - R_FS): all of `last`'s three satisfactions out of four are false.
    assert rates == {"first": (1, 0, 1), "lead": (1, 0, 1), "last": (0.75, 1, 0)}
    assert report["signature"]["answers"] == {"whose": "both", "people": 7}
    assert report["relations"][0]["best_genuine"] == ["first", "lead"]
    assert "summarization" in to_terminal(report, full=True)


def test_agreement_on_outputs(judged):
    rated = stored_ratings(judged, "summarization")
    assert rated.origin == {"task": "summarization", "about": "pairs"}
    report = agreement_report(rated, by="system", parts=attributed(judged, "system"))
    assert (report["items"], report["ratings"]) == (7, 14)
    assert {group["value"]: group["items"] for group in report["groups"]} == {"first": 4, "last": 3, "lead": 4}
    assert set(attributed(judged, "language")["value"]) == {"zh"}
    (agreement,) = stored_agreement(judged)
    assert (agreement["task"], agreement["kind"]) == ("summarization", "pair")
