"""Who is logged in. The browser's cookie says so, the database is asked on every run; the session remembers no role."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import Account
from audit.annotation.clients import browser
from audit.annotation.identity import account_of_identity
from audit.annotation.logins import account_of, cookie_key, end_login, form_token, identity_key
from audit.errors import AuditError, NotAllowed
from audit.store.soundness import explained
from audit.ui import cookies, database, settings
from audit.ui.language import language, t, translated
from audit.ui.literal import html, plain, sentence
from audit.ui.provider import claims_of_session

Arguments = ParamSpec("Arguments")
_WHOSE = "state-belongs-to"
"""The id of the account that this session's state belongs to."""
_ENDED = "login-ended"
"""Set when a login has ended while its page is still on the screen."""
_KEPT = ("language", _ENDED)


def cookie_token() -> str | None:
    """The token in the cookie that this session of a page came with."""
    return st.context.cookies.get(cookies.login_name())


def client() -> str:
    """What is stored with an answer of the browser that it was given in."""
    return browser(st.context.headers.get("User-Agent"))


def login_key() -> bytes | None:
    """The key of the login that the browser's cookie stands for; None where there is no cookie."""
    token = cookie_token()
    return cookie_key(token) if token else None


def current(engine: Engine) -> Account | None:
    """The account that is logged in, read from the database; None where nobody is, or no longer."""
    try:
        account = _logged_in(engine)
    except NotAllowed:
        account = None
    whose = st.session_state.get(_WHOSE)
    if account is None or whose not in (None, account.id):
        # What somebody typed and saw is not for whoever comes next in the same browser.
        forget()
    if account is not None:
        st.session_state[_WHOSE] = account.id
    elif whose is not None:
        st.session_state[_ENDED] = True
    return account


def why_not(engine: Engine) -> str | None:
    """Why somebody whom a provider has sent is not let in; None where there is nothing to say."""
    try:
        _logged_in(engine)
    except NotAllowed as problem:
        return str(problem)
    return None


def still(engine: Engine, account_id: int) -> None:
    """Raises NotAllowed unless this account is still logged in here.

    For callbacks: Streamlit runs them before the page, with what the page knew when it was shown.
    """
    account = current(engine)
    if account is None or account.id != account_id:
        raise NotAllowed("you are not logged in any more; log in again")


def allowed(engine: Engine, *roles: str) -> Account:
    """The account that is logged in, if it has one of the roles; else says so and ends the page.

    Every page begins with this: that a page is not in somebody's menu does not keep them from it.
    """
    account = current(engine)
    if account is None and st.session_state.pop(_ENDED, False):
        st.rerun()  # of the whole page, also from a fragment: the menu and the name on it go, too
    if account is None or account.role not in roles:
        st.error(t("app.not_allowed" if account else "app.logged_out"))
        if account is None:
            st.html(link_to_log_in())
        st.stop()
    return account


def link_to_log_in() -> str:
    """A link to the page that logs in, as HTML."""
    return f'<a class="audit-button" href="{cookies.root()}/login">{html(t("welcome.log_in"))}</a>'


def leaving_form() -> str | None:
    """The form that logs out by HTTP, as HTML; None for a login by a provider, which Streamlit ends."""
    token = cookie_token()
    if token is None:
        return None
    return (
        f'<form method="post" action="{cookies.root()}/logout">'
        f'<button class="audit-button" type="submit">{html(t("app.log_out"))}</button>'
        f'<input type="hidden" name="form" value="{form_token(token)}">'
        f'<input type="hidden" name="lang" value="{language()}"></form>'
    )


def leave_provider(engine: Engine) -> None:
    """End a login by a provider in every tab, and take Streamlit's cookie from the browser."""
    claims = claims_of_session()
    if claims is not None:
        end_login(engine, identity_key(claims))
    forget()
    st.logout()


def forget() -> None:
    """Forget everything that somebody did here."""
    for key in list(st.session_state):
        if key not in _KEPT:
            del st.session_state[key]


def refused(problem: Exception) -> None:
    """Show what an `audit.errors` class says, in the session's language where it is known there."""
    st.warning(plain(sentence(translated(str(problem)))), icon=":material/info:")


def guarded(show: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """A page or a part of one that says in a sentence why it cannot be shown: a refusal, a full disk, a damaged file.

    Fragments need it for themselves: Streamlit runs them without the page that they are on.
    """

    @wraps(show)
    def shown(*given: Arguments.args, **named: Arguments.kwargs) -> None:
        try:
            with explained(database.where()):
                show(*given, **named)
        except AuditError as problem:
            refused(problem)

    return shown


def _logged_in(engine: Engine) -> Account | None:
    limits = settings.limits()
    key = login_key()
    account = account_of(engine, key, limits) if key else None
    if account is not None:
        return account
    claims = claims_of_session()
    provider = settings.provider()
    return account_of_identity(engine, claims, provider["claim"], limits) if claims and provider else None
