"""Who is logged in. The cookie names the login, the database is read on every run; the session remembers no role."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec

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
from audit.annotation.words import words_of
from audit.errors import AuditError, NotAllowed
from audit.messages import message
from audit.store import open_store, reading
from audit.ui import settings
from audit.ui.language import html, language, plain, remember_words, sentence, t, translated

# The database of this server: one engine for all sessions.

VARIABLE = "AUDIT_DB"
DEFAULT = "audit.db"


def database_url() -> str:
    """Path or URL of the database."""
    return os.environ.get(VARIABLE) or DEFAULT


def engine() -> Engine:
    """The engine of the database. Raises what `audit.store.open_store` raises; failures are not cached."""
    return _engine(database_url())


@st.cache_resource(show_spinner=False)
def _engine(database: str) -> Engine:
    return open_store(database)


# The claims of an identity provider, which `st.login` left in the browser and Streamlit verified.

COOKIE = "_streamlit_user"
_STREAMLIT_FIELDS = ("is_logged_in", "origin", "tokens")
"""Fields that Streamlit adds to the claims; a cookie and a session do not have the same ones."""


def claims_of(user_info: Mapping[str, Any]) -> dict[str, Any]:
    """The claims without the fields that Streamlit adds.

    >>> claims_of({"email": "ann@example.org", "is_logged_in": True})
    {'email': 'ann@example.org'}
    """
    return {name: value for name, value in user_info.items() if name not in _STREAMLIT_FIELDS}


def claims_of_session() -> dict[str, Any] | None:
    """The claims of this session of a page; None without a provider's login, or where no provider is set up."""
    if settings.provider_settings() is None or not st.user.is_logged_in:
        return None
    return claims_of(st.user.to_dict())


def provider_login_url(name: str | None) -> str:
    """The URL of the identity provider of this name (None: the only one), which leads back to the app.

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
    content = json.loads(signed)
    return claims_of(content) if content.get("is_logged_in") is True else None


Arguments = ParamSpec("Arguments")
_OWNER = "state-belongs-to"
"""The id of the account that this session's state belongs to."""
_ENDED = "login-ended"
"""Set when a login has ended while its page is still on the screen."""
_DONE = "done-last"
"""(what the last run did, its icon)"""
_PROBLEM = "refused-last"
"""The refusal of a callback."""
_PERMANENT_KEYS = ("language", _ENDED)


_PAGES = "pages-of-menu"


def remember_pages(pages: Mapping[str, Any]) -> None:
    """Keep the pages of the menu of this run of the script, by name, for links to them."""
    st.session_state[_PAGES] = dict(pages)


def page_of(name: str) -> Any:
    """The page of this name in the menu, for `st.page_link`; None where the menu does not have it."""
    return st.session_state.get(_PAGES, {}).get(name)


def cookie_token() -> str | None:
    """The token in the cookie that this session of a page came with."""
    return st.context.cookies.get(settings.login_cookie_name())


def client() -> str:
    """The description of the browser that is stored with an answer."""
    return browser(st.context.headers.get("User-Agent"))


def login_key() -> bytes | None:
    """The key of the login that the browser's cookie stands for; None where there is no cookie."""
    token = cookie_token()
    return cookie_key(token) if token else None


def current_account(engine: Engine) -> Account | None:
    """The account that is logged in, read from the database; None where nobody is, or no longer."""
    try:
        account = _account_logged_in(engine)
    except NotAllowed:
        account = None
    owner = st.session_state.get(_OWNER)
    if account is None or owner not in (None, account.id):
        # The next person at the same browser must not see what the last one typed and saw.
        clear_state()
    if account is not None:
        st.session_state[_OWNER] = account.id
    elif owner is not None:
        st.session_state[_ENDED] = True
    return account


def refusal_reason(engine: Engine) -> str | None:
    """Why a visitor from a provider is not let in; None where there is no such reason."""
    try:
        _account_logged_in(engine)
    except NotAllowed as problem:
        return problem.sentence
    return None


def require_login(engine: Engine, account_id: int) -> None:
    """Raises NotAllowed unless this account is still logged in here.

    For callbacks: Streamlit runs them before the page, with the arguments of the time when it was shown.
    """
    account = current_account(engine)
    if account is None or account.id != account_id:
        raise NotAllowed(message("account.no_longer"))


def require_role(engine: Engine, *roles: str) -> Account:
    """The account that is logged in, if it has one of the roles; else shows a refusal and ends the page.

    Every page begins with this: a page that is missing from the menu can still be opened by its address.
    """
    account = current_account(engine)
    if account is None and st.session_state.pop(_ENDED, False):
        st.rerun()  # of the whole page, also from a fragment: the menu and the name on it go, too
    if account is None or account.role not in roles:
        st.error(t("app.not_allowed" if account else "app.logged_out"))
        if account is None:
            st.html(login_link())
        st.stop()
    with reading(engine) as connection:
        remember_words(words_of(connection))
    return account


def enter(*roles: str) -> tuple[Engine, Account]:
    """The database and the account that is logged in, as `require_role`."""
    database = engine()
    return database, require_role(database, *roles)


def login_link() -> str:
    """A link to the login page, as HTML."""
    return f'<a class="audit-button" href="{settings.root()}/login">{html(t("welcome.log_in"))}</a>'


def logout_form() -> str | None:
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


def end_provider_login(engine: Engine) -> None:
    """End a login by a provider in every tab, and take Streamlit's cookie from the browser."""
    claims = claims_of_session()
    if claims is not None:
        end_login(engine, identity_key(claims))
    clear_state()
    st.logout()


def clear_state() -> None:
    """Remove everything from the session's state but the language and the mark of an ended login."""
    for key in list(st.session_state):
        if key not in _PERMANENT_KEYS:
            del st.session_state[key]


def show_refusal(problem: AuditError) -> None:
    """Show the message of an error, in the session's language where it has a translation."""
    st.warning(plain(sentence(translated(problem.sentence))), icon=":material/info:")


@contextmanager
def showing_refusals() -> Iterator[None]:
    """Shows an error (a refusal, a full disk, a damaged file) as a sentence."""
    try:
        yield
    except AuditError as problem:
        show_refusal(problem)


def report_problems(show: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Decorator of a page or a part of one: as `showing_refusals`.

    Fragments need their own: Streamlit runs them without the page that they are on.
    """

    @wraps(show)
    def wrapper(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        with showing_refusals():
            show(*args, **kwargs)

    return wrapper


@contextmanager
def changing(engine: Engine, account_id: int) -> Iterator[None]:
    """For what a form changes: shows why it is refused, and ends the page for whoever is not logged in any more."""
    try:
        require_login(engine, account_id)
    except NotAllowed as problem:
        show_refusal(problem)
        st.stop()
    with showing_refusals():
        yield


Action = Callable[Concatenate[Engine, int, Arguments], None]
"""A callback: its first arguments are the engine and an account's id."""


def callback(action: Action[Arguments]) -> Action[Arguments]:
    """Decorator of a callback: the account must still be logged in, and `show_last` shows in the page's next run why it
    was refused."""

    @wraps(action)
    def wrapper(engine: Engine, account_id: int, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            require_login(engine, account_id)
            action(engine, account_id, *args, **kwargs)
        except AuditError as problem:
            st.session_state[_PROBLEM] = problem

    return wrapper


def say_next(text: str, icon: str = ":material/check:") -> None:
    """Have `show_last` say in the next run what was done."""
    st.session_state[_DONE] = (text, icon)


def done(text: str) -> None:
    """Show the page anew, which says what was done."""
    say_next(text)
    st.rerun()


def show_last(show: Callable[..., object] = st.success) -> None:
    """Say what the last run or a callback did, or why it did not."""
    if last := st.session_state.pop(_DONE, None):
        show(last[0], icon=last[1])
    if problem := st.session_state.pop(_PROBLEM, None):
        show_refusal(problem)


def _account_logged_in(engine: Engine) -> Account | None:
    limits = settings.login_limits()
    key = login_key()
    account = account_of(engine, key, limits) if key else None
    if account is not None:
        return account
    claims = claims_of_session()
    provider = settings.provider_settings()
    return account_of_identity(engine, claims, provider["claim"], limits) if claims and provider else None
