"""A report is of one state of the database, whatever people answer while it is read."""

import pytest
from sqlalchemy import func, select

from audit.judging.accounts import add_account
from audit.judging.adjudications import adjudicate
from audit.reports import evidence
from audit.store import open_store, table_of, tables


def interrupt(monkeypatch, module, section, where):
    """Let an adjudicator settle a question just before `section` of a report is read; returns what undoes that."""
    elsewhere, read = open_store(where), getattr(module, section)
    adjudicator = add_account(elsewhere, f"ada-{section}", "adjudicator", "long enough").id
    answer = table_of(tables.Answer)
    others = select(answer.c.question_id).where(answer.c.origin != "gold")
    with elsewhere.connect() as connection:
        query = select(func.min(answer.c.question_id)).where(answer.c.question_id.not_in(others))
        question_id = connection.execute(query).scalar_one()
    calls = []

    def interrupted(*arguments, **options):
        if not calls:
            calls.append(adjudicate(elsewhere, adjudicator, question_id, ["neutral"], "neither", "slip"))
        return read(*arguments, **options)

    monkeypatch.setattr(module, section, interrupted)
    return calls


@pytest.mark.slow
@pytest.mark.parametrize("section", ["named_falses", "signature", "plan_adherence"])
def test_an_answer_between_two_sections_changes_nothing_in_that_report(judged, section, monkeypatch):
    from audit.reports.study import study_report

    engine = open_store(judged)
    before = study_report(engine)
    calls = interrupt(monkeypatch, evidence, section, judged)
    assert study_report(engine) == before
    assert calls
    after = study_report(engine)
    assert after["signature"]["answers"] != before["signature"]["answers"]
    assert after["disputes"] != before["disputes"]
