"""The accounts that may log in, for managers; and one's own account."""

from dataclasses import asdict

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import (
    LONGEST,
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
from audit.ui import session, settings
from audit.ui.dashboard import warn_of_unread
from audit.ui.language import html, t
from audit.ui.tokens import show_tokens

ROLES = ("manager",)


def page() -> None:
    """The list of accounts, the form that adds one, and the forms that change one."""
    engine, account = session.enter(*ROLES)
    accounts = account_details(engine, by=account.id)
    st.subheader(t("menu.accounts"))
    st.dataframe([_row(entry) for entry in accounts], hide_index=True)
    warn_of_unread([asdict(unread) for unread in unread_questions(engine, by=account.id)])
    session.show_last()
    _show_add_form(engine, account.id)
    _show_change_form(engine, account.id, accounts)


def _row(account: AccountDetails) -> dict[str, str]:
    last_seen = f"{account.seen_at:%Y-%m-%d %H:%M} UTC" if account.seen_at else t("accounts.never")
    return {
        t("accounts.name"): account.name,
        t("accounts.role"): t(f"role.{account.role}"),
        t("accounts.state"): t("accounts.disabled" if account.disabled else "accounts.enabled"),
        t("accounts.seen"): last_seen,
        t("accounts.languages"): ", ".join(account.languages),
    }


def _show_add_form(engine: Engine, by: int) -> None:
    st.subheader(t("accounts.add"))
    by_provider = settings.provider_settings() is not None
    with st.form("add-account"):
        # Fields take one character more than is allowed: what is too long is refused, not cut.
        name = st.text_input(t("accounts.name"), max_chars=81, autocomplete="off")
        role = st.selectbox(t("accounts.role"), accounts_ROLES, format_func=lambda role: t(f"role.{role}"))
        password = st.text_input(
            t("accounts.password"), type="password", max_chars=LONGEST + 1, autocomplete="new-password"
        )
        no_password = st.checkbox(t("accounts.no_password")) if by_provider else False
        languages = st.text_input(
            t("accounts.which_languages"), max_chars=1_000, autocomplete="off", help=t("accounts.languages_help")
        )
        submitted = st.form_submit_button(t("accounts.add"), type="primary")
    if submitted:
        codes = [code.strip() for code in languages.split(",") if code.strip()]
        initial_password = None if no_password else password
        with session.changing(engine, by):
            add_account(engine, name, role, initial_password, languages=codes, by=by)
            session.done(t("accounts.added"))


def _show_change_form(engine: Engine, by: int, accounts: list[AccountDetails]) -> None:
    st.subheader(t("accounts.change"))
    by_id = {account.id: account for account in accounts}
    chosen = by_id[
        st.selectbox(t("accounts.name"), list(by_id), format_func=lambda id: by_id[id].name, key="change-who")
    ]
    name = chosen.name
    with st.form(f"change-{chosen.id}", clear_on_submit=True):
        password = st.text_input(
            t("accounts.new_password"), type="password", max_chars=LONGEST + 1, autocomplete="new-password"
        )
        submitted = st.form_submit_button(t("accounts.set_password"))
    if submitted:
        with session.changing(engine, by):
            set_password(engine, name, password, by=by)
            session.done(t("accounts.password_set"))
    change, verb = (enable_account, "enable") if chosen.disabled else (disable_account, "disable")
    if st.button(t(f"accounts.{verb}"), key=f"{verb}-{chosen.id}"):
        with session.changing(engine, by):
            change(engine, name, by=by)
            session.done(t(f"accounts.was_{verb}d"))


# One's own account, and the link to the form that changes its password.


def account_page() -> None:
    """Name, role and languages of the account that is logged in, and its tokens of the API."""
    engine, account = session.enter(*accounts_ROLES)
    profile = own_account(engine, account.id)
    st.subheader(t("menu.account"))
    languages = ", ".join(profile.languages) or t("account.all_languages")
    facts = (
        (t("accounts.name"), profile.name),
        (t("accounts.role"), t(f"role.{profile.role}")),
        (t("accounts.languages"), languages),
    )
    rows = "".join(f"<dt>{html(name)}</dt><dd>{html(value)}</dd>" for name, value in facts)
    st.html(f'<dl class="audit-orders">{rows}</dl>')
    if profile.has_password and session.cookie_token():
        st.html(f'<a class="audit-button" href="{settings.root()}/password">{html(t("account.title"))}</a>')
    else:
        st.caption(t("account.no_password"))
    show_tokens(engine, account)
