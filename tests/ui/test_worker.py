"""The worker answers line by line, refuses in one sentence, and outlives what goes wrong."""

import json
import subprocess
import sys

import pytest

from audit.errors import AuditError, BadFile, NotAllowed
from audit.judging.accounts import add_account
from audit.reports.study import study_report
from audit.store import open_store
from audit.ui.worker import answer_line, read_answer, request_line

DEFAULTS = {"whose": "both", "target": "population", "delta": 0.0}


def ask(database, name, **values):
    return read_answer(answer_line(request_line(name, database, [1], values)))


@pytest.mark.slow
def test_the_report_is_the_report(judged):
    engine = open_store(judged)
    assert ask(judged, "report", **DEFAULTS) == study_report(engine)


def test_totals_and_agreement_are_for_managers(judged):
    engine = open_store(judged)
    mia, odd = (
        add_account(engine, name, role, "long enough").id for name, role in (("mia", "manager"), ("odd", "annotator"))
    )
    assert ask(judged, "totals", by=mia)["judgements"]["week"] >= 0
    assert ask(judged, "agreement", by=mia)[0]["annotators"] == ["anna", "ben"]
    for name in ("totals", "agreement"):
        with pytest.raises(NotAllowed, match="odd has the role annotator"):
            ask(judged, name, by=odd)


def test_what_is_refused_is_one_sentence_of_its_class(tmp_path):
    with pytest.raises(BadFile, match="there is no database"):
        ask(str(tmp_path / "none.db"), "report", **DEFAULTS)
    engine = open_store(str(tmp_path / "empty.db"), create=True)
    engine.dispose()
    with pytest.raises(AuditError, match="there are no studies yet"):
        ask(str(tmp_path / "empty.db"), "report", **DEFAULTS)


def test_what_goes_wrong_is_told_and_ends_nothing(capsys):
    with pytest.raises(AuditError, match=r"the computation failed \(TypeError\)"):
        ask("audit.db", "totals", nonsense=1)
    assert "nonsense" in capsys.readouterr().err


@pytest.mark.slow
def test_a_process_of_its_own_answers_and_ends_with_its_stdin(judged):
    """As the app runs it: answers in order, one a line, and nothing else on stdout."""
    lines = [
        request_line("nothing", judged, [1], {}),
        request_line("report", judged, [1], DEFAULTS),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "audit.ui.worker"],
        input="".join(lines), capture_output=True, text=True, check=True, timeout=400,
    )  # fmt: skip
    failed, report = map(json.loads, done.stdout.splitlines())
    assert "KeyError" in str(failed["refused"])
    assert report["answer"]["cells"]
