"""Letting answers go stale on the page, and what the annotator is told."""

import pytest
from app_driver import Prepared, blocks, go, in_both, open_app, said
from sqlalchemy import func, select

from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.unit import rebuild
from audit.judging.words import guideline_of, set_words
from audit.store import table_of, tables
from audit.tasks import wording
from audit.ui.language import plain, text_in

REASON = "neutral is wider now; see <b>page 2</b>"


@pytest.fixture
def judged(prepared: Prepared) -> Prepared:
    """Two people agree on four questions, which are then asked in other words."""
    for account in (prepared.ann, prepared.ben):
        for _ in range(4):
            shown = next_question(prepared.engine, account.id)
            judge(prepared.engine, account.id, shown.id, "positive")  # type: ignore[union-attr]
    rebuild(prepared.engine)
    set_words(prepared.engine, "sentiment", "sentences", {"question": "Is it praise?"}, change=True)
    return prepared


def number(prepared: Prepared) -> int:
    with prepared.engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(table_of(tables.Judgement))).scalar_one()


def button(app, label: str):
    return next(button for button in app.button if button.label == label)


@pytest.mark.slow
@in_both
def test_choose_look_confirm_and_answer_again(judged: Prepared, language: str) -> None:
    app = go(open_app(judged.boss, language), "stale")
    assert not app.exception
    numbers = {"judgements": 8, "people": 2, "adjudications": 0}
    version = guideline_of("sentiment", "input").version
    (option,) = app.selectbox[0].options
    task, kind = wording("sentiment", language).name, text_in(language, "kind.input")
    assert option == text_in(language, "stale.option", task=task, kind=kind, below=version + 1, **numbers)
    # Without the tick nothing goes, and without a reason neither.
    button(app, text_in(language, "stale.go")).click().run()
    assert text_in(language, "stale.need_confirm") in said(app)
    app.checkbox[-1].set_value(True)
    button(app, text_in(language, "stale.go")).click().run()
    assert text_in(language, "stale.reason_needed")[:12].lower() in said(app).lower()
    assert number(judged) == 8
    app.text_area[0].set_value(REASON)
    app.checkbox[-1].set_value(True)
    button(app, text_in(language, "stale.go")).click().run()
    assert text_in(language, "stale.went", **numbers) in said(app)
    assert number(judged) == 16
    page = open_app(judged.ann, language)
    assert plain(text_in(language, "stale.again", version=version, reason=REASON)) in said(page)
    assert "<b>" not in blocks(page)
