"""What a report says of audits: carry errors, spot checks, and that neither was measured."""

import json

import pytest

from audit.annotation.accounts import add_account
from audit.annotation.queue import next_question
from audit.judging.adjudications import check, next_check
from audit.judging.judgements import judge
from audit.judging.samples import draw_all
from audit.reports.html import to_html
from audit.reports.sections import carry_text, check_lines, notes_of, to_terminal
from audit.reports.sections import checks as checks_section
from audit.reports.study import study_report
from audit.reports.words import Say
from audit.runner.imported import import_run, read_run
from audit.sampling.audits import Audits
from audit.sampling.draw import SampleRequest, Size
from audit.statistics.comparison import difference
from audit.statistics.corrected import most_wrong
from audit.statistics.intervals import effective_interval
from audit.store import open_store

GROUPS = 20
WRONG = (3, 7)
"""Texts of which people agree on the wrong label."""


@pytest.fixture
def engine(tmp_path):
    return imported(tmp_path)


def imported(folder, document=None):
    """Twenty groups of two systems under MR3.1, which carries every answer; both say positive, which is right.

    With `document` so many texts one after the other are of one document.
    """
    rows = [
        {
            "relation": "MR3.1", "system": system, "source": f"text {n}", "follow_ups": [f"TEXT {n}"],
            "outputs": ["positive", "positive"], "verdict": "satisfied",
            **({} if document is None else {"document": str(n // document)}),
        }
        for n in range(GROUPS)
        for system in "ab"
    ]  # fmt: skip
    path = folder / "run.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    engine = open_store(str(folder / "audit.db"), create=True)
    import_run(engine, read_run(path))
    return engine


def sampled(engine, **audits):
    """Drawn whole, one annotator a question; texts of `WRONG` are called negative, shouted ones neutral if 1 or 2."""
    draw_all(engine, SampleRequest(Size(share=1.0), annotators=1, audits=Audits(**audits)))
    ann = add_account(engine, "ann", "annotator", "long enough").id
    while shown := next_question(engine, ann):
        kind, number = shown.texts[0].split()
        label = "negative" if int(number) in WRONG else "positive"
        judge(engine, ann, shown.id, "neutral" if kind == "TEXT" and number in ("1", "2") else label)
    return engine


def checked(engine, number=None):
    """An adjudicator checks this many answers, or all: every text is positive."""
    ada = add_account(engine, "ada", "adjudicator", "long enough").id
    done = 0
    while done != number and (shown := next_check(engine, ada)):
        check(engine, ada, shown.id, ["positive"])
        done += 1
    return engine


@pytest.mark.slow
def test_carry_error_of_all_follow_ups(engine):
    report = study_report(sampled(engine, follow_ups=1.0))
    carry = report["relations"][0]["carry"]
    # 2 of 20 follow-ups have another answer than their source; both systems share them.
    exact = effective_interval(2 / 20, 20)
    assert (carry["audited"], carry["wrong"], carry["error"]) == (20, 2, 0.1)
    assert (carry["low"], carry["high"]) == pytest.approx((exact.low, exact.high))
    # Every follow-up has an answer of its own now, so that nothing rests on a carried one.
    assert (carry["rests_on_carried"], carry["effect"]) == (0.0, 0.0)
    cell = report["cells"][0]
    assert (cell["judged"], cell["false"]) == (20, 4)  # 3 and 7 by the source, 1 and 2 by their own answer
    assert (cell["fs_carry_low"], cell["fs_carry_high"]) == (cell["fs_low"], cell["fs_high"])
    assert not [note for note in notes_of(report, Say()) if "arry error" in note]
    assert carry_text(report["relations"][0], Say()).startswith(
        "carry error 10.0 [1.2–31.7], 2 of 20 audited follow-ups; 0.0"
    )
    assert "arry error 10.0" in to_terminal(report, full=True)
    assert "arry error 10.0" in to_html(report)
    assert report["signature"]["samples"][0]["audit_follow_ups"] == 1.0
    assert list(report["signature"]["audits"]) == ["carry"]


@pytest.mark.slow
def test_the_effect_of_a_carry_error_that_was_measured_in_a_part(engine):
    report = study_report(sampled(engine, follow_ups=0.5))
    carry = report["relations"][0]["carry"]
    assert carry["audited"] == 10
    cell = report["cells"][0]
    # 10 of 20 groups have audited follow-ups. Of the others those with a right source rest on what is carried.
    resting = round(carry["rests_on_carried"] * 20)
    assert 10 - len(WRONG) <= resting <= 10
    most = effective_interval(carry["wrong"] / 10, 10).high
    assert carry["effect"] == pytest.approx(resting / 20 * most)
    assert cell["fs_carry_high"] == pytest.approx(min(cell["fs_high"] + most_wrong(resting, most) / 20, 1.0))
    # Only true groups rest on it here, so that R_FS cannot be too high by it.
    assert cell["fs_carry_low"] == cell["fs_low"]


@pytest.mark.slow
def test_what_was_not_measured_is_said(engine):
    report = study_report(sampled(engine))
    carry = report["relations"][0]["carry"]
    assert (carry["audited"], carry["error"], carry["effect"]) == (0, None, None)
    assert carry["rests_on_carried"] == 18 / 20
    assert any("Carry error was not measured" in note for note in report["signature"]["notes"])
    assert "audits" not in report["signature"]
    assert report["overall"]["checks"] is None
    assert {report["cells"][0][name] for name in ("fs_checked", "fs_checked_low", "fs_carry_high")} == {None}
    assert "Checked R_FS" not in to_terminal(report, full=True)
    assert check_lines(report, Say()) == []
    assert json.loads(json.dumps(report, allow_nan=False)) == report


@pytest.mark.slow
def test_spot_checks_of_all_answers_give_the_checked_rate(engine):
    report = study_report(checked(sampled(engine, answers=1.0)), target="corpus")
    cell = report["cells"][0]
    # People called 2 of 20 false; checked, none is. All of the population was judged and checked: a point.
    assert (cell["checked"], cell["fs_checked"], cell["fs_checked_low"], cell["fs_checked_high"]) == (20, 0, 0, 0)
    assert cell["fs_rate"] == 0  # the corrected answers count
    checks = report["overall"]["checks"]
    assert (checks["answers"], checks["answers_wrong"], checks["error"]) == (20, 2, 0.1)
    assert (checks["cells"], checks["groups"], checks["added"], checks["removed"]) == (2, 40, 0, 4)
    assert (checks["fs_rate"], checks["fs_checked"], checks["bias"]) == pytest.approx((0.1, 0.0, 0.1))
    lines = check_lines(report, Say())
    assert lines[0] == "An adjudicator checked 20 answers on which people agreed: 2 wrong, 10.0 [1.2–31.7]\xa0%."
    assert "In 40 groups whose deciding answers were checked, 4 turned out true" in lines[1]
    assert "10.0 [10.0–10.0] by the protocol, 0.0 [0.0–" in lines[2]
    text = to_terminal(report, full=True)
    assert "Checked R_FS" in text
    assert "An adjudicator checked 20 answers" in text
    page = to_html(report)
    assert "What spot checks found" in page
    assert "Checked R<sub>FS</sub>" in page
    (section,) = checks_section(report, Say())
    assert [row[1:4] for row in section.parts[-1].rows] == [("MR3.1", "a", 20), ("MR3.1", "b", 20)]
    json.dumps(report, allow_nan=False)


@pytest.mark.slow
def test_spot_checks_of_a_part_correct_the_whole(engine):
    report = study_report(checked(sampled(engine, answers=0.5)), target="corpus")
    cell = report["cells"][0]
    checks = report["overall"]["checks"]
    removed = checks["removed"] // 2
    assert (cell["checked"], checks["answers"]) == (10, 10)
    own = difference(2, 20, 20, 0, removed, 10)
    assert (cell["fs_checked"], cell["fs_checked_low"], cell["fs_checked_high"]) == pytest.approx(
        (own.rate, own.low, own.high)
    )
    assert own.rate == pytest.approx(max(2 / 20 - removed / 10, 0))
    assert report["overall"]["checks_waiting"] == 0
    assert report["signature"]["samples"][0]["audit_answers"] == 0.5
    assert list(report["signature"]["audits"]) == ["checks"]
