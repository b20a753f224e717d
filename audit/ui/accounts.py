"""Who may log in: for managers."""

from collections.abc import Callable
from dataclasses import asdict

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import (
    LONGEST,
    Account,
    AccountDetails,
    account_details,
    add_account,
    disable_account,
    enable_account,
    own_account,
    set_password,
)
from audit.annotation.accounts import ROLES as accounts_ROLES
from audit.annotation.activity import unread_questions
from audit.errors import AuditError
from audit.ui import session, settings
from audit.ui.dashboard import warn_of_unread
from audit.ui.language import html, t

ROLES = ("manager",)
_DONE = "accounts-done"
"""The key of the text that says what was done before this run."""


def page() -> None:
    """The list of accounts, the form that adds one, and what changes one."""
    engine = session.engine()
    account = session.allowed(engine, *ROLES)
    known = account_details(engine, by=account.id)
    st.subheader(t("menu.accounts"))
    st.dataframe([_row(one) for one in known], hide_index=True)
    warn_of_unread([asdict(one) for one in unread_questions(engine, by=account.id)])
    if done := st.session_state.pop(_DONE, None):
        st.success(t(f"accounts.{done}"), icon=":material/check:")
    _adding(engine)
    _changing(engine, known)


def _row(one: AccountDetails) -> dict[str, str]:
    seen = f"{one.seen_at:%Y-%m-%d %H:%M} UTC" if one.seen_at else t("accounts.never")
    return {
        t("accounts.name"): one.name,
        t("accounts.role"): t(f"role.{one.role}"),
        t("accounts.state"): t("accounts.disabled" if one.disabled else "accounts.enabled"),
        t("accounts.seen"): seen,
        t("accounts.languages"): ", ".join(one.languages),
    }


def _adding(engine: Engine) -> None:
    st.subheader(t("accounts.add"))
    by_provider = settings.provider_settings() is not None
    with st.form("add-account"):
        # Fields take one character more than is allowed: what is too long is refused, not cut.
        name = st.text_input(t("accounts.name"), max_chars=81, autocomplete="off")
        role = st.selectbox(t("accounts.role"), accounts_ROLES, format_func=lambda one: t(f"role.{one}"))
        password = st.text_input(
            t("accounts.password"), type="password", max_chars=LONGEST + 1, autocomplete="new-password"
        )
        without = st.checkbox(t("accounts.no_password")) if by_provider else False
        languages = st.text_input(
            t("accounts.which_languages"), max_chars=1_000, autocomplete="off", help=t("accounts.languages_help")
        )
        sent = st.form_submit_button(t("accounts.add"), type="primary")
    if sent:
        codes = [code.strip() for code in languages.split(",") if code.strip()]
        given = None if without else password
        _do(engine, "added", lambda by: add_account(engine, name, role, given, languages=codes, by=by))


def _changing(engine: Engine, known: list[AccountDetails]) -> None:
    st.subheader(t("accounts.change"))
    by_id = {one.id: one for one in known}
    chosen = by_id[
        st.selectbox(t("accounts.name"), list(by_id), format_func=lambda id: by_id[id].name, key="change-who")
    ]
    name = chosen.name
    with st.form(f"change-{chosen.id}", clear_on_submit=True):
        password = st.text_input(
            t("accounts.new_password"), type="password", max_chars=LONGEST + 1, autocomplete="new-password"
        )
        sent = st.form_submit_button(t("accounts.set_password"))
    if sent:
        _do(engine, "password_set", lambda by: set_password(engine, name, password, by=by))
    if chosen.disabled:
        if st.button(t("accounts.enable"), key=f"enable-{chosen.id}"):
            _do(engine, "was_enabled", lambda by: enable_account(engine, name, by=by))
    elif st.button(t("accounts.disable"), key=f"disable-{chosen.id}"):
        _do(engine, "was_disabled", lambda by: disable_account(engine, name, by=by))


def _do(engine: Engine, done: str, change: Callable[[int], Account]) -> None:
    """Make a change as the manager who is logged in now, and say so in the next run; or say why not."""
    try:
        change(session.allowed(engine, *ROLES).id)
    except AuditError as problem:
        session.refused(problem)
        return
    st.session_state[_DONE] = done
    st.rerun()


# One's own account: what it is, and the way to another password.


def account_page() -> None:
    """Name, role and languages of whoever is logged in."""
    engine = session.engine()
    account = session.allowed(engine, *accounts_ROLES)
    mine = own_account(engine, account.id)
    st.subheader(t("menu.account"))
    languages = ", ".join(mine.languages) or t("account.all_languages")
    facts = (
        (t("accounts.name"), mine.name),
        (t("accounts.role"), t(f"role.{mine.role}")),
        (t("accounts.languages"), languages),
    )
    rows = "".join(f"<dt>{html(name)}</dt><dd>{html(value)}</dd>" for name, value in facts)
    st.html(f'<dl class="audit-orders">{rows}</dl>')
    if mine.has_password and session.cookie_token():
        st.html(f'<a class="audit-button" href="{settings.root()}/password">{html(t("account.title"))}</a>')
    else:
        st.caption(t("account.no_password"))
