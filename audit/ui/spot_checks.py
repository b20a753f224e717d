"""Spot checks: an adjudicator answers what people agree on, without seeing what that is."""

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.checking import check, checks_left, next_check
from audit.annotation.queue import Shown
from audit.errors import AuditError
from audit.false_satisfaction.questions import refresh_around
from audit.ui import session
from audit.ui.asked import FIELD, guideline, show_question
from audit.ui.decision import chosen_labels, desk
from audit.ui.language import t
from audit.ui.literal import html

_LATER = "check-later"
"""Questions that this session put off."""


def checking(engine: Engine, account_id: int) -> bool:
    """The most wanted question to check and the form that answers it; returns whether an answer was stored."""
    later = st.session_state.get(_LATER, [])
    shown = next_check(engine, account_id, later)
    if shown is None:
        st.html(f'<h2 class="audit-question">{html(t("check.nothing"))}</h2>')
        return False
    st.caption(t("check.count", count=checks_left(engine, account_id)))
    return _question(engine, account_id, shown)


def _question(engine: Engine, account_id: int, shown: Shown) -> bool:
    text, form = desk()
    with text:
        show_question(shown)
        with st.expander(t("annotate.guideline"), icon=":material/menu_book:"):
            st.markdown(guideline(shown))
    with form:
        with st.form(f"check-{shown.id}"):
            chosen = chosen_labels(shown, "check")
            remark = st.text_input(t("check.remark"), max_chars=FIELD, key=f"remark-{shown.id}")
            store = st.form_submit_button(t("check.store"), type="primary", key=f"store-{shown.id}")
        st.button(t("adjudicate.later"), key=f"later-{shown.id}", type="tertiary", on_click=_put_off, args=(shown.id,))
    if not store:
        return False
    try:
        check(engine, account_id, shown.id, chosen, remark)
    except AuditError as problem:
        session.refused(problem)
        return False
    refresh_around(engine, shown.id)
    return True


def _put_off(question_id: int) -> None:
    later = [id for id in st.session_state.get(_LATER, []) if id != question_id]
    st.session_state[_LATER] = [*later, question_id]
