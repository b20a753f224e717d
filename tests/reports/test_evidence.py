"""A report is of one state of the database, whatever people answer while it is read."""

import pytest
from sqlalchemy import select

from audit.judging.accounts import add_account
from audit.judging.adjudications import adjudicate
from audit.reports import study
from audit.reports.study import study_report
from audit.store import open_store
from audit.store.core import answer


@pytest.mark.slow
@pytest.mark.parametrize("section", ["named_falses", "plan_adherence"])
def test_an_answer_between_two_sections_changes_nothing_in_that_report(judged, section, monkeypatch):
    engine, elsewhere, read, calls = open_store(judged), open_store(judged), getattr(study, section), []
    adjudicator = add_account(elsewhere, "eve", "adjudicator", "long enough").id
    with elsewhere.connect() as connection:
        others = select(answer.c.question_id).where(answer.c.origin != "gold")
        id = (
            connection.execute(select(answer.c.question_id).where(answer.c.question_id.not_in(others)))
            .scalars()
            .first()
        )

    def interrupted(*arguments, **options):
        if not calls:
            calls.append(adjudicate(elsewhere, adjudicator, id, ["neutral"], "neither", "slip"))
        return read(*arguments, **options)

    before = study_report(engine)
    monkeypatch.setattr(study, section, interrupted)
    assert study_report(engine) == before
    assert calls
    after = study_report(engine)
    assert after["signature"]["answers"] != before["signature"]["answers"]
    assert after["disputes"] != before["disputes"]
