"""What somebody sees who is not logged in: the way to log in."""

import streamlit as st

from audit.ui import database, session
from audit.ui.language import language_switch, t, translated
from audit.ui.literal import plain, sentence


def page() -> None:
    """A link to the page that logs in, or why somebody whom a provider has sent is not let in."""
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
