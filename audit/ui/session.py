"""Who is logged in. The session keeps an account's id and nothing else of it; role and name are read anew each time."""

import time

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import ROLES, Account, log_in, require
from audit.errors import NotAllowed
from audit.ui.language import t, translated
from audit.ui.literal import plain, sentence

_ACCOUNT = "account_id"
_FAILURES = "failures"
_NOT_BEFORE = "not_before"
_KEPT = ("language",)
FREE_FAILURES = 2
"""Wrong passwords before a session has to wait."""
LONGEST_WAIT = 60
"""Seconds."""
_LONGEST = 1_000
"""Characters of a name or password that are looked at: hashing a megabyte would keep the server busy."""


def enter(engine: Engine, name: str, password: str) -> None:
    """Log in. Raises NotAllowed for wrong credentials, and while a session waits after several failures."""
    left = seconds_to_wait()
    if left:
        raise NotAllowed(t("welcome.wait", count=left))
    try:
        account = log_in(engine, name[:_LONGEST], password[:_LONGEST])
    except NotAllowed:
        failures = st.session_state.get(_FAILURES, 0) + 1
        st.session_state[_FAILURES] = failures
        if failures > FREE_FAILURES:
            wait = min(LONGEST_WAIT, 2 ** (failures - FREE_FAILURES))
            st.session_state[_NOT_BEFORE] = time.monotonic() + wait
        raise
    leave()
    st.session_state[_ACCOUNT] = account.id


def leave() -> None:
    """Log out: forget everything but the language."""
    for key in list(st.session_state):
        if key not in _KEPT:
            del st.session_state[key]


def seconds_to_wait() -> int:
    """Whole seconds until this session may try a password again."""
    return max(0, int(st.session_state.get(_NOT_BEFORE, 0.0) - time.monotonic() + 0.999))


def current(engine: Engine) -> Account | None:
    """The account that is logged in, read from the database; None where nobody is, or it was disabled."""
    id = st.session_state.get(_ACCOUNT)
    if id is None:
        return None
    try:
        with engine.connect() as connection:
            return require(connection, id, *ROLES)
    except NotAllowed:
        leave()
        return None


def allowed(engine: Engine, *roles: str) -> Account:
    """The account that is logged in, if it has one of the roles; else says so and ends the page.

    Every page begins with this: that a page is not in somebody's menu does not keep them from it.
    """
    account = current(engine)
    if account is None or account.role not in roles:
        st.error(t("app.not_allowed" if account else "app.logged_out"))
        st.stop()
    return account


def refused(problem: Exception) -> None:
    """Show what an `audit.errors` class says, in the session's language where it is known there."""
    st.warning(plain(sentence(translated(str(problem)))), icon=":material/info:")
