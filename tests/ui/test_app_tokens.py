"""Tokens of the API on the page *Account*: made, shown once, ended."""

from app_driver import Prepared, go, in_both, open_app, said

from audit.annotation.tokens import bearer_of, own_tokens
from audit.ui.language import text_in


@in_both
def test_a_token_is_made_shown_once_and_ended(prepared: Prepared, language: str) -> None:
    app = go(open_app(prepared.ann, language), "account")
    app.text_input[0].set_value("nightly export")
    next(button for button in app.button if button.label == text_in(language, "token.make")).click().run()
    assert not app.exception
    secret = app.code[0].value
    bearer = bearer_of(prepared.engine, secret)
    assert bearer is not None
    assert (bearer.account.name, bearer.role) == ("ann", "annotator")
    assert app.selectbox(key="token-role").options == [text_in(language, "role.annotator")]
    app.run()
    assert not app.code
    assert "token-new" not in app.session_state
    next(button for button in app.button if button.label == text_in(language, "token.end")).click().run()
    assert text_in(language, "token.ended") in said(app)
    assert own_tokens(prepared.engine, prepared.ann.id) == []


def test_a_token_without_a_name_is_refused(prepared: Prepared) -> None:
    app = go(open_app(prepared.ann), "account")
    next(button for button in app.button if button.label == text_in("en", "token.make")).click().run()
    assert "1 to 80 printable characters" in said(app)
    assert own_tokens(prepared.engine, prepared.ann.id) == []
