"""Inspections: an adjudicator sees what people agree on and all that they said, and confirms or changes it."""

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.answers import Vote
from audit.annotation.aside import COMMENT
from audit.annotation.inspecting import Inspection, inspect, inspections_left, next_inspection
from audit.errors import AuditError
from audit.false_satisfaction.questions import refresh_around
from audit.ui import session
from audit.ui.asked import guideline, show_question
from audit.ui.language import t
from audit.ui.literal import html

INSPECTIONS = "inspections"
_LATER = "inspect-later"
"""Questions that this session put off."""


def mode(engine: Engine, account_id: int) -> dict[str, str]:
    """The name of this list for the control that chooses one; nothing where no question has the protocol `shown`."""
    left = inspections_left(engine, account_id)
    return {} if left is None else {INSPECTIONS: t("inspect.inspections", count=left)}


def inspecting(engine: Engine, account_id: int) -> bool:
    """The inspection that has waited longest and the form for it; returns whether an answer was stored."""
    one = next_inspection(engine, account_id, st.session_state.get(_LATER, []))
    if one is None:
        st.html(f'<h2 class="audit-question">{html(t("inspect.nothing"))}</h2>')
        return False
    st.caption(t("inspect.count", count=inspections_left(engine, account_id)))
    done = _question(engine, account_id, one)
    with st.expander(t("annotate.guideline"), icon=":material/menu_book:"):
        st.markdown(guideline(one.shown))
    return done


def _question(engine: Engine, account_id: int, one: Inspection) -> bool:
    shown, agreed = one.shown, one.votes[0].answer
    show_question(shown)
    st.html(_votes(one.votes))
    confirm = st.button(
        t("inspect.confirm", answer=t(f"label.{agreed}")), type="primary", key=f"confirm-{shown.id}", width="stretch"
    )
    with st.form(f"inspect-{shown.id}"):
        st.write(t("inspect.other"))
        chosen = [
            label
            for place, label in zip(st.columns(len(shown.labels)), shown.labels, strict=True)
            if place.checkbox(t(f"label.{label}"), key=f"inspect-{shown.id}-{label}")
        ]
        remark = st.text_area(t("inspect.why"), max_chars=COMMENT - 100, height=80, key=f"inspect-{shown.id}-why")
        change = st.form_submit_button(t("inspect.change"), key=f"change-{shown.id}")
    st.button(t("adjudicate.later"), key=f"later-{shown.id}", type="tertiary", on_click=_put_off, args=(shown.id,))
    if not confirm and not change:
        return False
    try:
        inspect(engine, account_id, shown.id, [agreed] if confirm else chosen, "" if confirm else remark)
    except AuditError as problem:
        session.refused(problem)
        return False
    refresh_around(engine, shown.id)
    return True


def _votes(votes: list[Vote]) -> str:
    """The votes in the order in which they were given, as an HTML list: letters in the place of names."""
    rows = []
    for number, vote in enumerate(votes):
        comment = f"<br><q>{html(vote.comment)}</q>" if vote.comment else ""
        who = html(t("dispute.annotator", number=number + 1))
        rows.append(f"<li>{who} <strong>{html(t(f'label.{vote.answer}'))}</strong>{comment}</li>")
    return f'<ul class="audit-votes">{"".join(rows)}</ul>'


def _put_off(question_id: int) -> None:
    later = [id for id in st.session_state.get(_LATER, []) if id != question_id]
    st.session_state[_LATER] = [*later, question_id]
