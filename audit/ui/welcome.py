"""What somebody sees who is not logged in: the way to log in."""

import streamlit as st
from streamlit.errors import StreamlitAuthError

from audit.ui import database, session, settings
from audit.ui.language import language_switch, t, translated
from audit.ui.literal import plain, sentence
from audit.ui.provider import claims_of_session

SSO = "sso"
"""The query parameter with which the page that logs in sends people to the identity provider."""


def page() -> None:
    """A link to the page that logs in, or on to the identity provider, or why it is of no use."""
    provider = settings.provider()
    if provider and SSO in st.query_params and claims_of_session() is None:
        try:
            st.login(provider["name"]) if provider["name"] else st.login()
        except StreamlitAuthError as problem:  # Authlib is not installed, or a setting in secrets.toml is missing
            st.error(plain(str(problem)))
        return
    _, middle, _ = st.columns([1, 2, 1])
    with middle:
        st.title(t("welcome.title"))
        st.write(t("welcome.what"))
        engine = database.engine()
        reason = session.why_not(engine)
        if reason:
            st.warning(plain(sentence(translated(reason))), icon=":material/info:")
            st.button(t("app.log_out"), key="leave", on_click=session.leave_provider, args=(engine,))
        else:
            st.info(t("app.logged_out"), icon=":material/info:")
            st.html(session.link_to_log_in())
        language_switch()
