"""Who is logged in. The cookie names the login, the database is read on every run; the session remembers no role."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec

import streamlit as st
from sqlalchemy import Engine

from audit.errors import AuditError, NotAllowed
from audit.judging.accounts import Account
from audit.judging.answers import command
from audit.judging.sign_in import account_of
from audit.judging.words import words_of
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
    """Return the login in the cookie that this session of a page came with."""
    return st.context.cookies.get(settings.login_cookie_name())


def client() -> str:
    """What is stored with an answer about where it was given."""
    return command("app")


def current_account(engine: Engine) -> Account | None:
    """Return the account that is logged in, read from the database; None where nobody is, or no longer."""
    account = account_of(engine, cookie_token())
    owner = st.session_state.get(_OWNER)
    if account is None or owner not in (None, account.id):
        # The next person at the same browser must not see what the last one typed and saw.
        clear_state()
    if account is not None:
        st.session_state[_OWNER] = account.id
    elif owner is not None:
        st.session_state[_ENDED] = True
    return account


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


def logout_form() -> str:
    """Return the form that logs out by HTTP, as HTML."""
    return (
        f'<form method="post" action="{settings.root()}/logout?lang={language()}">'
        f'<button class="audit-button" type="submit">{html(t("app.log_out"))}</button></form>'
    )


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


report_problems = showing_refusals()
"""Decorator of a page or a part of one, as `showing_refusals`; fragments, which Streamlit runs without their page, need
their own."""


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


def do(engine: Engine, account_id: int, action: Callable[..., object], *args: object, done: str, **more: Any) -> None:
    """Do what was asked for by a button, with `by` this account, and show the page anew, which says that it is `done`;
    or show why it is refused."""
    with changing(engine, account_id):
        action(engine, *args, by=account_id, **more)
        say_next(done)
        st.rerun()


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
