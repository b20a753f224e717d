"""The page *My answers*, through the app itself."""

import pytest
from app_driver import HOSTILE, Prepared, blocks, go, in_both, open_app, rows, said
from streamlit.testing.v1 import AppTest

from audit.judging.accounts import Account
from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.store import tables
from audit.ui.language import text_in

pytestmark = pytest.mark.usefixtures("no_waiting")


def judged(prepared: Prepared, account: Account, *answers: str) -> list[int]:
    """The questions that this account was asked and answered so."""
    ids = []
    for answer in answers:
        ids.append(next_question(prepared.engine, account.id).id)
        judge(prepared.engine, account.id, ids[-1], answer, comment=f"about {answer}" if answer == "neutral" else None)
    return ids


def page_of(account: Account, language: str = "en") -> AppTest:
    app = go(open_app(account, language), "answers")
    assert not app.exception
    return app


def openers(app: AppTest) -> list:
    """The buttons that open the answers of the page, from its top."""
    return [button for button in app.button if str(button.key).startswith("own-open-")]


def press(app: AppTest, answer: str) -> None:
    next(button for button in app.button if str(button.key).endswith(f"-{answer}")).click().run()
    assert not app.exception


@in_both
def test_an_answer_is_found_and_changed(prepared: Prepared, language: str) -> None:
    def words(key: str, **values: str) -> str:
        return text_in(language, key, **values)

    judged(prepared, prepared.ann, "positive", "neutral", "negative")
    judged(prepared, prepared.ben, "unsure")
    app = page_of(prepared.ann, language)
    assert len(openers(app)) == 3
    assert [button.label for button in openers(app)] == [words("own.change")] * 3
    app.text_input(key="own-search").set_value("ABOUT NEU").run()
    assert len(openers(app)) == 1
    openers(app)[0].click().run()
    field = next(field for field in app.text_input if str(field.key).startswith("comment-own-"))
    assert field.value == "about neutral"
    field.set_value("clearer now").run()
    press(app, "negative")
    names = [words(f"label.sentiment.{label}") for label in ("neutral", "negative")]
    assert words("own.changed", before=names[0], after=names[1]) in said(app)
    last = rows(prepared, tables.Judgement)[-1]
    assert (last["answer"], last["comment"], last["supersedes"]) == ("negative", "clearer now", 2)
    assert None not in (last["shown_at"], last["client"])
    assert openers(app) == []  # it says something else now, and the search is still there


@pytest.mark.slow
def test_texts_are_shown_as_they_are_and_nothing_of_systems_and_others(prepared: Prepared) -> None:
    while (shown := next_question(prepared.engine, prepared.ann.id)) is not None:
        judge(prepared.engine, prepared.ann.id, shown.id, "positive")
    while (shown := next_question(prepared.engine, prepared.ben.id)) is not None:
        judge(prepared.engine, prepared.ben.id, shown.id, "negative", comment="of ben")
    app = page_of(prepared.ann)
    app.text_input(key="own-search").set_value("alert(1)").run()
    assert openers(app)
    assert HOSTILE not in blocks(app)
    assert "&lt;script&gt;" in blocks(app)
    app.text_input(key="own-search").set_value("").run()
    everything = blocks(app) + said(app)
    for opener in range(3):
        openers(app)[opener].click().run()
        everything += blocks(app) + said(app)
        next(button for button in app.button if str(button.key).startswith("back-own-")).click().run()
    for hidden in ("vader", "textblob", "MR1.4", "MR3.1", "of ben", ">ben<"):
        assert hidden not in everything
