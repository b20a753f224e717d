"""Who is logged in. The browser's cookie says so, the database is asked on every run; the session remembers no role."""

import json
import os
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec

import streamlit as st
from sqlalchemy import Engine
from streamlit.errors import StreamlitAuthError

from audit.annotation.accounts import (
    Account,
    account_of,
    account_of_identity,
    cookie_key,
    end_login,
    form_token,
    identity_key,
)
from audit.annotation.answers import browser
from audit.errors import AuditError, NotAllowed
from audit.store import open_store
from audit.store.soundness import explained
from audit.ui import settings
from audit.ui.language import html, language, plain, sentence, t, translated

# The database of this server: one engine for all sessions.

VARIABLE = "AUDIT_DB"
DEFAULT = "audit.db"


def where() -> str:
    """Path or URL of the database."""
    return os.environ.get(VARIABLE) or DEFAULT


def engine() -> Engine:
    """The engine of the database. Raises what `audit.store.open_store` raises; a failure is not remembered."""
    return _engine(where())


@st.cache_resource(show_spinner=False)
def _engine(where: str) -> Engine:
    return open_store(where)


# Who somebody is according to an identity provider: what `st.login` left in the browser, verified by Streamlit.

COOKIE = "_streamlit_user"
_STREAMLITS = ("is_logged_in", "origin", "tokens")
"""What Streamlit adds to the claims; not all of it is there on every way that the claims take."""


def claims_of(found: Mapping[str, Any]) -> dict[str, Any]:
    """The claims alone.

    >>> claims_of({"email": "ann@example.org", "is_logged_in": True})
    {'email': 'ann@example.org'}
    """
    return {name: value for name, value in found.items() if name not in _STREAMLITS}


def claims_of_session() -> dict[str, Any] | None:
    """The claims of this session of a page; None where nobody came from a provider, or none is set."""
    if settings.provider_settings() is None or not st.user.is_logged_in:
        return None
    return claims_of(st.user.to_dict())


def way_to_provider(name: str | None) -> str:
    """The address that leads to the identity provider of this name (None: the only one), and back to the app.

    Raises AuditError where Authlib is not installed, or a setting in secrets.toml is missing. What `st.login` sends a
    page to; Streamlit has no public function for a server that has no page yet.
    """
    from streamlit.auth_util import validate_auth_credentials
    from streamlit.user_info import generate_login_redirect_url

    name = name or "default"
    try:
        validate_auth_credentials(name)
        return generate_login_redirect_url(name)
    except StreamlitAuthError as problem:
        raise AuditError(" ".join(str(problem).split())) from None


def claims_of_cookies(cookies: Mapping[str, str]) -> dict[str, Any] | None:
    """The claims in the cookies of a request, if their signature is Streamlit's own; else None.

    Streamlit has no public function for this: where it is pinned, a test compares the two ways.
    """
    if COOKIE not in cookies or settings.provider_settings() is None:
        return None
    from streamlit.web.server.starlette.starlette_websocket import _get_signed_cookie_with_chunks

    signed = _get_signed_cookie_with_chunks(dict(cookies), COOKIE)
    if signed is None:
        return None
    found = json.loads(signed)
    return claims_of(found) if found.get("is_logged_in") is True else None


Arguments = ParamSpec("Arguments")
_WHOSE = "state-belongs-to"
"""The id of the account that this session's state belongs to."""
_ENDED = "login-ended"
"""Set when a login has ended while its page is still on the screen."""
_KEPT = ("language", _ENDED)


def cookie_token() -> str | None:
    """The token in the cookie that this session of a page came with."""
    return st.context.cookies.get(settings.login_name())


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
    return f'<a class="audit-button" href="{settings.root()}/login">{html(t("welcome.log_in"))}</a>'


def leaving_form() -> str | None:
    """The form that logs out by HTTP, as HTML; None for a login by a provider, which Streamlit ends."""
    token = cookie_token()
    if token is None:
        return None
    return (
        f'<form method="post" action="{settings.root()}/logout">'
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
            with explained(where()):
                show(*given, **named)
        except AuditError as problem:
            refused(problem)

    return shown


def _logged_in(engine: Engine) -> Account | None:
    limits = settings.login_limits()
    key = login_key()
    account = account_of(engine, key, limits) if key else None
    if account is not None:
        return account
    claims = claims_of_session()
    provider = settings.provider_settings()
    return account_of_identity(engine, claims, provider["claim"], limits) if claims and provider else None
