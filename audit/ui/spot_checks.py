"""Spot checks: an adjudicator answers what people agree on, without seeing what that is."""

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.queue import Shown
from audit.judging.adjudications import check, next_check
from audit.ui.asked import FIELD, show_question
from audit.ui.decision import chosen_labels, desk, guideline_drawer, later_button, put_off_in, settles
from audit.ui.language import t
from audit.ui.literal import html

_LATER = "check-later"
"""Questions that this session put off."""


def checking(engine: Engine, account_id: int, left: int) -> bool:
    """Of so many, the most wanted question to check and its form; returns whether an answer was stored."""
    shown = next_check(engine, account_id, put_off_in(_LATER))
    if shown is None:
        st.html(f'<h2 class="audit-question">{html(t("check.nothing"))}</h2>')
        return False
    st.caption(t("check.count", count=left))
    return _question(engine, account_id, shown)


def _question(engine: Engine, account_id: int, shown: Shown) -> bool:
    text, form = desk()
    with text:
        show_question(shown)
        guideline_drawer(shown)
    with form:
        with st.form(f"check-{shown.id}"):
            chosen = chosen_labels(shown, "check")
            remark = st.text_input(t("check.remark"), max_chars=FIELD, key=f"remark-{shown.id}")
            store = st.form_submit_button(t("check.store"), type="primary", key=f"store-{shown.id}")
        later_button(_LATER, shown.id)
    return store and settles(lambda: check(engine, account_id, shown.id, chosen, remark))
