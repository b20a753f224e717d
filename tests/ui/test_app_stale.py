"""Letting answers go stale on the page, and what the annotator is told."""

import pytest
from app_driver import Prepared, blocks, go, in_both, open_app, said
from sqlalchemy import func, select

from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.unit import rebuild
from audit.judging.words import guideline_of
from audit.store import table_of, tables
from audit.ui.language import plain, text_in

REASON = "neutral is wider now; see <b>page 2</b>"


@pytest.fixture
def judged(prepared: Prepared) -> Prepared:
    """Two people agree on four questions."""
    for account in (prepared.ann, prepared.ben):
        for _ in range(4):
            shown = next_question(prepared.engine, account.id)
            judge(prepared.engine, account.id, shown.id, "positive")  # type: ignore[union-attr]
    rebuild(prepared.engine)
    return prepared


def number(prepared: Prepared) -> int:
    with prepared.engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(table_of(tables.Judgement))).scalar_one()


@pytest.mark.slow
@in_both
def test_choose_look_confirm_and_answer_again(judged: Prepared, language: str) -> None:
    app = go(open_app(judged.boss, language), "stale")
    assert not app.exception
    app.multiselect(key="stale-labels").set_value(["positive"]).run()
    numbers = {"judgements": 8, "people": 2, "adjudications": 0, "questions": 4}
    assert text_in(language, "stale.would", **numbers) in said(app)
    go_on = "stale-go-8-0-4-2"
    assert app.button(key=go_on).disabled
    app.checkbox(key="stale-sure-8-0-4-2").set_value(True).run()
    app.button(key=go_on).click().run()
    assert text_in(language, "stale.reason_needed")[:12].lower() in said(app).lower()
    assert number(judged) == 8
    app.text_area(key="stale-reason").set_value(REASON)
    app.button(key=go_on).click().run()
    assert text_in(language, "stale.went", **numbers) in said(app)
    assert number(judged) == 16
    page = open_app(judged.ann, language)
    version = guideline_of("sentiment", "input").version
    assert plain(text_in(language, "stale.again", version=version, reason=REASON)) in said(page)
    assert "<b>" not in blocks(page)
