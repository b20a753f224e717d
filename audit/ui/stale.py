"""Making answers stale after the guideline or the labels changed. For managers, who choose and confirm."""

import streamlit as st

from audit.judging.staleness import Outdated, mark_stale, outdated
from audit.ui import session
from audit.ui.language import t, task_name
from audit.ui.question import FIELD

ROLES = ("manager",)


def page() -> None:
    """The form that chooses among answers by earlier versions and says how many there are; its button withdraws
    them."""
    engine, account = session.enter(*ROLES)
    st.header(t("stale.title"))
    st.write(t("stale.what"))
    session.show_last()
    names = {entry[:3]: t("stale.option", **entry._asdict() | _words(entry)) for entry in outdated(engine, account.id)}
    if not names:
        st.info(t("stale.none"))
        return
    with st.form("stale"):
        chosen = st.selectbox(t("stale.choose"), list(names), format_func=names.__getitem__)
        reason = st.text_area(t("stale.reason"), max_chars=FIELD, height=80)
        confirmed = st.checkbox(t("stale.confirm"))
        if not st.form_submit_button(t("stale.go"), type="primary"):
            return
    if not confirmed:
        st.warning(t("stale.need_confirm"), icon=":material/info:")
        return
    with session.changing(engine, account.id):
        gone = mark_stale(engine, account.id, *chosen, reason, client=session.client())
        session.done(t("stale.went", judgements=gone.judgements, adjudications=gone.adjudications))


def _words(entry: Outdated) -> dict[str, str]:
    return {"task": task_name(entry.task), "kind": t(f"kind.{entry.kind}")}
