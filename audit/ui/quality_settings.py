"""The form of the settings of judging."""

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.settings import BOUNDS, change_settings, settings_of
from audit.errors import AuditError
from audit.ui import session
from audit.ui.language import t

_DONE = "quality-settings-done"


def judging_settings(engine: Engine, account_id: int) -> None:
    """The settings as they are, to be changed all at once."""
    with engine.connect() as connection:
        now = settings_of(connection)
    if st.session_state.pop(_DONE, False):
        st.success(t("judging.done"), icon=":material/check:")
    with st.form("judging-settings"):
        values: dict[str, float] = {}
        for name, most in (("pass_mark", 100.0), ("gold_share", 50.0), ("repeat_share", 50.0)):
            shown = st.number_input(
                t(f"judging.{name}"),
                min_value=0.0,
                max_value=most,
                value=100 * getattr(now, name),
                step=1.0,
                format="%.1f",
                help=t(f"judging.{name}_help"),
                key=f"judging-{name}",
            )
            values[name] = round(shown / 100, 6)
        after = BOUNDS["repeat_after"]
        values["repeat_after"] = st.number_input(
            t("judging.repeat_after"), int(after.least), int(after.most), value=now.repeat_after,
            help=t("judging.repeat_after_help"), key="judging-repeat_after",
        )  # fmt: skip
        values["fastest"] = st.number_input(
            t("judging.fastest"), 0.0, 60.0, value=float(now.fastest), step=0.1, format="%.1f",
            help=t("judging.fastest_help"), key="judging-fastest",
        )  # fmt: skip
        sent = st.form_submit_button(t("judging.save"), type="primary")
    if not sent:
        return
    try:
        session.still(engine, account_id)
        change_settings(engine, account_id, values)
    except AuditError as problem:
        session.refused(problem)
        return
    st.session_state[_DONE] = True
    st.rerun()
