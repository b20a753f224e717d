"""Who may log in: for managers."""

import streamlit as st

from audit.annotation.accounts import ROLES as ALL_ROLES
from audit.annotation.accounts import add_account, list_accounts
from audit.errors import AuditError
from audit.ui import database, session
from audit.ui.language import t

ROLES = ("manager",)
_ADDED = "account-added"


def page() -> None:
    """The list of accounts, and the form that adds one."""
    engine = database.engine()
    session.allowed(engine, *ROLES)
    st.subheader(t("menu.accounts"))
    st.dataframe(
        [{t("accounts.name"): one.name, t("accounts.role"): t(f"role.{one.role}")} for one in list_accounts(engine)],
        hide_index=True,
    )
    st.subheader(t("accounts.add"))
    if st.session_state.pop(_ADDED, False):
        st.success(t("accounts.added"), icon=":material/check:")
    with st.form("add-account"):
        name = st.text_input(t("accounts.name"), max_chars=80, autocomplete="off")
        role = st.selectbox(t("accounts.role"), ALL_ROLES, format_func=lambda one: t(f"role.{one}"))
        password = st.text_input(t("accounts.password"), type="password", max_chars=200, autocomplete="new-password")
        sent = st.form_submit_button(t("accounts.add"), type="primary")
    if sent:
        try:
            manager = session.allowed(engine, *ROLES)
            add_account(engine, name, role, password, by=manager.id)
        except AuditError as problem:
            session.refused(problem)
            return
        st.session_state[_ADDED] = True
        st.rerun()
