"""Answers that cannot all be true if their relation holds, and the button that sends them to the adjudicators."""

import streamlit as st
from sqlalchemy import Engine

from audit.errors import AuditError, UnknownName
from audit.false_satisfaction.contradictions import Contradiction, Side, contradictions
from audit.judging.deferral import refer
from audit.relations import get_relation
from audit.tasks import Input
from audit.ui import session
from audit.ui.asked import FIELD, readings
from audit.ui.language import direction, in_language, label_names, summary, t
from audit.ui.literal import html

PAGE = 10
"""Contradictions on one page."""
_SENT = "contradictions-sent"


def contradicting(engine: Engine, account_id: int) -> None:
    """The list, those of the most groups first."""
    if sent := st.session_state.pop(_SENT, None):
        st.success(t("contradiction.sent", count=sent), icon=":material/check:")
    found = contradictions(engine, by=account_id)
    st.write(t("contradiction.what"))
    if not found:
        st.info(t("contradiction.none"))
        return
    st.caption(t("contradiction.count", count=len(found)))
    pages = -(-len(found) // PAGE)
    page = st.number_input(t("contradiction.page", of=pages), 1, pages, key="contradiction-page") if pages > 1 else 1
    for one in found[(page - 1) * PAGE : page * PAGE]:
        _one(engine, account_id, one)


def _one(engine: Engine, account_id: int, one: Contradiction) -> None:
    name = f"{one.relation}-{one.source.question}-{one.follow_up.question}"
    with st.container(key=f"contradiction-{name.replace('.', '-')}", border=True):
        expected = label_names(one.carried)
        st.html(
            f'<p class="audit-expected"><strong>{html(one.relation)}</strong> {html(_summary(one))}<br>'
            f"{html(t('contradiction.expected', answer=expected, count=one.groups))}</p>"
        )
        left, right = st.columns(2, gap="small")
        with left:
            _side(t("role_of.source"), one.source, None)
        with right:
            _side(t("role_of.follow_up"), one.follow_up, one.source)
        if one.source.waits and one.follow_up.waits:
            st.caption(t("contradiction.waits"))
            return
        with st.form(f"refer-{name}", border=False):
            comment = st.text_input(
                t("contradiction.comment"),
                value=t("contradiction.default", relation=one.relation),
                max_chars=FIELD,
                key=f"refer-comment-{name}",
            )
            if st.form_submit_button(t("contradiction.send"), key=f"send-{name}"):
                _send(engine, account_id, one, comment)


def _side(title: str, side: Side, before: Side | None) -> None:
    """Its texts and the output that was judged with them; what differs from those of `before` is marked."""
    shown = readings(_read(side), _read(before) if before else None)
    title = in_language(title, direction(Input(side.texts, side.languages)))
    answer = label_names(side.answer)
    st.html(
        f'<section class="audit-part"><h4>{html(title)}</h4>{shown}<p class="audit-facts">'
        f"{html(t('browse.answer'))} <strong>{html(answer)}</strong> ({html(t(f'origin.{side.origin}'))}; "
        f"{html(t('contradiction.question', number=side.question))})</p></section>"
    )


def _read(side: Side) -> Input:
    """What is read of a side, as if it were one input: its texts and its output, each with its language."""
    languages = side.languages[: len(side.texts)]  # a target language has no text
    if side.output is None:
        return Input(side.texts, languages)
    return Input((*side.texts, side.output), (*languages, side.languages[-1]))


def _summary(one: Contradiction) -> str:
    try:
        english = get_relation(one.task, one.relation).summary
    except UnknownName:
        return ""
    return summary(one.task, one.relation, english)


def _send(engine: Engine, account_id: int, one: Contradiction, comment: str) -> None:
    try:
        session.still(engine, account_id)
        st.session_state[_SENT] = refer(engine, account_id, [one.source.question, one.follow_up.question], comment)
    except AuditError as problem:
        session.refused(problem)
        return
    st.rerun()
