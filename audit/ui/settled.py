"""What this adjudicator settled lately, to be changed: a list, and the form of the one that is reopened."""

import streamlit as st
from sqlalchemy import Engine

from audit.judging.adjudications import Adjudicated, change_adjudication, my_adjudications
from audit.tasks import Input
from audit.ui.asked import FIELD, show_question
from audit.ui.decision import chosen_labels, desk, settles, what_people_said, why
from audit.ui.language import direction, label_names, t
from audit.ui.literal import html

_CHANGING = "adjudicate-changing"
"""The adjudication that is reopened."""
_EXCERPT = 140


def settled(engine: Engine, account_id: int) -> bool:
    """The last ones with a button each, or the reopened one; returns whether one was changed."""
    found = my_adjudications(engine, account_id)
    chosen = next((one for one in found if one.id == st.session_state.get(_CHANGING)), None)
    if chosen is not None:
        return _change(engine, account_id, chosen)
    if not found:
        st.html(f'<h2 class="audit-question">{html(t("settled.nothing"))}</h2>')
        return False
    st.caption(t("settled.count", count=len(found)))
    for one in found:
        with st.container(border=True):
            line, change = st.columns([6, 1], vertical_alignment="center")
            line.html(_line(one))
            change.button(t("settled.change"), key=f"change-{one.id}", on_click=_reopen, args=(one.id,))
    return False


def _change(engine: Engine, account_id: int, one: Adjudicated) -> bool:
    st.caption(t("settled.changing"))
    text, form = desk()
    with text:
        show_question(one.shown)
    with form:
        if not one.is_check:
            # Of a spot check nobody's votes are shown, before or after.
            what_people_said(engine, account_id, one.shown)
        code, written = None, one.reason
        with st.form(f"settled-{one.id}"):
            labels = chosen_labels(one.shown, f"again-{one.id}", one.allowed)
            if one.is_check:
                written = st.text_input(
                    t("check.remark"), value=one.reason, max_chars=FIELD, key=f"remark-again-{one.id}"
                )
            else:
                code, written = why(one.shown, one.code, one.reason)
            with st.container(horizontal=True):
                store = st.form_submit_button(t("settled.store"), type="primary", key=f"store-again-{one.id}")
                st.form_submit_button(t("settled.leave"), key=f"leave-{one.id}", on_click=_reopen, args=(None,))
    if not store or not settles(lambda: change_adjudication(engine, account_id, one.id, labels, written, code)):
        return False
    st.session_state.pop(_CHANGING, None)
    return True


def _reopen(adjudication_id: int | None) -> None:
    st.session_state[_CHANGING] = adjudication_id


def _line(one: Adjudicated) -> str:
    text = " ".join([*filter(None, [one.shown.output]), *one.shown.texts])
    labels = label_names(one.allowed)
    reason = t("settled.check") if one.is_check else t(f"reason.{one.code}") if one.code else ""
    into = direction(Input(one.shown.texts, one.shown.languages))
    facts = " · ".join(part for part in (f"{one.decided_at:%Y-%m-%d %H:%M} UTC", into, reason, one.reason) if part)
    return (
        f"<p><strong>{html(labels)}</strong> · {html(text[:_EXCERPT])}{'…' if len(text) > _EXCERPT else ''}</p>"
        f'<p class="audit-facts">{html(facts)}</p>'
    )
