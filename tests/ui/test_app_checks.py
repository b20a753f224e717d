"""Spot checks through the app itself, in both languages."""

import pytest
from app_driver import Prepared, blocks, go, in_both, is_on, open_app, said
from sqlalchemy import select
from streamlit.testing.v1 import AppTest

from audit.annotation.queue import next_question
from audit.judging.judgements import judge
from audit.judging.samples import ask_next
from audit.sampling.samples import SampleOptions
from audit.store import table_of, tables
from audit.ui.language import text_in


@pytest.fixture
def agreed(prepared: Prepared) -> Prepared:
    """Two people called three questions neutral; agreed answers are to be checked."""
    ask_next(prepared.engine, SampleOptions(20))
    for account in (prepared.ann, prepared.ben):
        for _ in range(3):
            shown = next_question(prepared.engine, account.id)
            assert shown is not None
            judge(prepared.engine, account.id, shown.id, "neutral")
    return prepared


def checks(prepared: Prepared, language: str = "en") -> AppTest:
    """The page Adjudicate with its spot checks."""
    app = go(open_app(prepared.judge, language), "adjudicate")
    return app.segmented_control(key="adjudicate-mode").set_value("checks").run()


def waiting(prepared: Prepared) -> list[int]:
    table = table_of(tables.SpotCheck)
    with prepared.engine.connect() as connection:
        query = select(table.c.question_id).order_by(table.c.priority, table.c.question_id)
        return list(connection.execute(query).scalars())


def adjudications(prepared: Prepared) -> list[tuple[int, list[str], str]]:
    table = table_of(tables.Adjudication)
    with prepared.engine.connect() as connection:
        query = select(table.c.question_id, table.c.allowed, table.c.reason).order_by(table.c.id)
        return [tuple(row) for row in connection.execute(query)]  # type: ignore[misc]


@pytest.mark.slow
@in_both
def test_an_adjudicator_checks_without_seeing_the_votes(agreed: Prepared, language: str) -> None:
    first, second, third = waiting(agreed)
    app = checks(agreed, language)
    assert not app.exception
    assert text_in(language, "check.count", count=3) in said(app)
    # Blind: neither votes nor comments, and no box is ticked beforehand.
    assert '<ul class="audit-votes">' not in blocks(app)
    assert not any(is_on(app, f"check-{first}-{label}") for label in ("positive", "neutral", "negative"))
    app.button(key=f"store-{first}").click().run()
    assert adjudications(agreed) == []
    assert [error.value for error in app.error] == [text_in(language, "adjudicate.no_label")]
    app.button(key=f"check-{first}-negative").click().run()
    app.text_area(key=f"words-check-{first}").set_value("sarcasm")
    app.button(key=f"store-{first}").click().run()
    assert not app.exception
    assert adjudications(agreed) == [(first, ["negative"], "spot check: sarcasm")]
    # It goes on with the next check, and not back to the disputes.
    assert text_in(language, "check.count", count=2) in said(app)
    app.button(key=f"later-{second}").click().run()
    app.button(key=f"check-{third}-neutral").click().run()
    app.button(key=f"store-{third}").click().run()
    app.button(key=f"check-{second}-neutral").click().run()
    app.button(key=f"check-{second}-positive").click().run()
    app.button(key=f"store-{second}").click().run()
    assert text_in(language, "check.nothing") in blocks(app)
    assert [row[:2] for row in adjudications(agreed)][1:] == [(third, ["neutral"]), (second, ["neutral", "positive"])]
    assert waiting(agreed) == []
    # The last one is taken back: it waits again, with what was chosen.
    app.button(key="undo-decision").click().run()
    assert waiting(agreed) == [second]
    assert is_on(app, f"check-{second}-positive")
    app.button(key=f"store-{second}").click().run()
    assert waiting(agreed) == []
    assert adjudications(agreed)[-2:] == [(second, [], ""), (second, ["neutral", "positive"], "spot check")]
