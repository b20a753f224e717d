"""Inspections: an adjudicator sees what people agree on and all that they said, and confirms or changes it."""

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.disputes import Opinion
from audit.judging.adjudications import Inspection, inspect, next_inspection
from audit.ui.asked import FIELD, show_question
from audit.ui.decision import chosen_labels, guideline_drawer, later_button, listed, put_off_in, settles
from audit.ui.language import label_name, t
from audit.ui.literal import html, plain

INSPECTIONS = "inspections"
_LATER = "inspect-later"
"""Questions that this session put off."""


def mode(left: int | None) -> dict[str, str]:
    """The name of this list, in which so many are left; nothing where no question has the protocol `shown` (None)."""
    return {} if left is None else {INSPECTIONS: t("inspect.inspections", count=left)}


def inspecting(engine: Engine, account_id: int, left: int) -> bool:
    """Of so many, the inspection that has waited longest and its form; returns whether an answer was stored."""
    one = next_inspection(engine, account_id, put_off_in(_LATER))
    if one is None:
        st.html(f'<h2 class="audit-question">{html(t("inspect.nothing"))}</h2>')
        return False
    st.caption(t("inspect.count", count=left))
    done = _question(engine, account_id, one)
    guideline_drawer(one.shown)
    return done


def _question(engine: Engine, account_id: int, one: Inspection) -> bool:
    shown, agreed = one.shown, one.votes[0].answer
    show_question(shown)
    # In the order in which they were given, by numbers in the place of names.
    votes = enumerate(one.votes, start=1)
    st.html(listed([Opinion(number, vote.answer, vote.comment) for number, vote in votes], {}))
    said = t("inspect.confirm", answer=plain(label_name(agreed)))
    confirm = st.button(said, type="primary", key=f"confirm-{shown.id}", width="stretch")
    with st.form(f"inspect-{shown.id}"):
        chosen = chosen_labels(shown, "inspect", words=t("inspect.other"))
        remark = st.text_area(t("inspect.why"), max_chars=FIELD, height=80, key=f"inspect-{shown.id}-why")
        change = st.form_submit_button(t("inspect.change"), key=f"change-{shown.id}")
    later_button(_LATER, shown.id)
    allowed, remark = ([agreed], "") if confirm else (chosen, remark)
    return (confirm or change) and settles(lambda: inspect(engine, account_id, shown.id, allowed, remark))
