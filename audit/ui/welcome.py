"""Logging in."""

import streamlit as st

from audit.errors import NotAllowed
from audit.ui import database, session
from audit.ui.language import language_switch, t


def page() -> None:
    """Name and password; a session that fails repeatedly has to wait."""
    _, middle, _ = st.columns([1, 2, 1])
    with middle:
        st.title(t("welcome.title"))
        st.write(t("welcome.what"))
        with st.form("log-in"):
            name = st.text_input(t("welcome.name"), autocomplete="username")
            password = st.text_input(t("welcome.password"), type="password", autocomplete="current-password")
            sent = st.form_submit_button(t("welcome.log_in"), type="primary", width="stretch")
        if sent:
            try:
                session.enter(database.engine(), name, password)
            except NotAllowed as problem:
                session.refused(problem)
            else:
                st.rerun()
        language_switch()
