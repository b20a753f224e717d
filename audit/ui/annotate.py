"""Judging: one question a screen, answered by key or click.

Nothing here knows a system, an output or anybody else's answer: `audit.annotation.queue.Shown` has none of them.
"""

from datetime import UTC, datetime, timedelta

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import ROLES
from audit.annotation.answers import UNSURE
from audit.annotation.judging import judge, undo
from audit.annotation.queue import Shown, next_question, queue_of, show
from audit.errors import AuditError, Refused
from audit.false_satisfaction.questions import refresh_around
from audit.ui import database, session
from audit.ui.asked import guideline, show_question
from audit.ui.held_keys import ignore_held_keys
from audit.ui.language import t, translated
from audit.ui.literal import html, plain, sentence

LEAST = timedelta(milliseconds=150)
"""Nobody reads and judges a text in less: an answer so soon was meant for the question before."""
COMMENT = 2_000
_SHOWN = "shown"
"""(question id, when it came on the screen, from when an answer counts)"""
_AGAIN = "again"
"""The question whose judgement was undone last; it is shown before the queue goes on."""
_NOTE = "note"


def page() -> None:
    """The page of everybody who judges."""
    session.allowed(database.engine(), *ROLES)
    ignore_held_keys()
    _card()


@st.fragment
def _card() -> None:
    """The question, its buttons and the progress line. An answer reruns only this."""
    engine = database.engine()
    account = session.allowed(engine, *ROLES)
    shown = _next(engine, account.id)
    note = st.session_state.pop(_NOTE, None)
    if shown is None:
        st.session_state.pop(_SHOWN, None)
        _nothing_left(engine, account.id)
    else:
        _question(engine, account.id, shown)
    if note:
        st.warning(plain(sentence(note)), icon=":material/info:")
    _progress(engine, account.id)
    with st.expander(t("annotate.guideline"), icon=":material/menu_book:"):
        st.markdown(guideline(shown))
    if shown is not None and st.session_state.get(_SHOWN, (None,))[0] != shown.id:
        moment = datetime.now(UTC)
        st.session_state[_SHOWN] = (shown.id, moment, moment + LEAST)


def _next(engine: Engine, account_id: int) -> Shown | None:
    again = st.session_state.get(_AGAIN)
    if again is None:
        return next_question(engine, account_id)
    with engine.connect() as connection:
        return show(connection, again)


def _question(engine: Engine, account_id: int, shown: Shown) -> None:
    show_question(shown)
    answers = (*shown.labels, UNSURE)
    with st.container(key="judge"):
        for number, (place, answer) in enumerate(zip(st.columns(len(answers)), answers, strict=True), start=1):
            place.button(
                t(f"label.{answer}"),
                key=f"judge-{shown.id}-{answer}",
                shortcut="u" if answer == UNSURE else str(number),
                on_click=_answer,
                args=(engine, account_id, shown.id, answer),
                width="stretch",
            )
    left, right = st.columns([1, 3], vertical_alignment="bottom")
    left.button(
        t("annotate.undo"),
        key=f"undo-{shown.id}",
        shortcut="z",
        on_click=_undo,
        args=(engine, account_id),
        type="tertiary",
    )
    right.text_input(
        t("annotate.comment"),
        key=_comment_key(shown.id),
        max_chars=COMMENT,
        placeholder=t("annotate.comment"),
        label_visibility="collapsed",
    )


def _nothing_left(engine: Engine, account_id: int) -> None:
    st.html(f'<h2 class="audit-question">{html(t("annotate.nothing"))}</h2>')
    queue = queue_of(engine, account_id)
    if queue.left_for_me:
        st.write(t("annotate.nothing_now", count=queue.left_for_me))
    elif queue.in_other_languages:
        st.write(t("annotate.nothing_read", count=queue.in_other_languages))
    else:
        st.write(t("annotate.nothing_more"))
    st.button(t("annotate.look_again"), key="look-again", icon=":material/refresh:")
    st.button(
        t("annotate.undo"), key="undo-last", shortcut="z", on_click=_undo, args=(engine, account_id), type="tertiary"
    )


def _progress(engine: Engine, account_id: int) -> None:
    queue = queue_of(engine, account_id)
    st.caption(t("annotate.progress", today=queue.mine_today, mine=queue.mine, left=queue.left_for_me))


def _answer(engine: Engine, account_id: int, question_id: int, answer: str) -> None:
    """A button was pressed. Whatever is not an answer to the question on the screen changes nothing."""
    try:
        session.still(engine, account_id)
        _take(engine, account_id, question_id, answer)
    except AuditError as problem:
        st.session_state[_NOTE] = translated(str(problem))
        st.session_state.pop(_AGAIN, None)


def _take(engine: Engine, account_id: int, question_id: int, answer: str) -> None:
    shown, shown_at, _ = st.session_state.get(_SHOWN, (None, None, None))
    if shown != question_id:
        raise Refused(t("annotate.not_shown"))
    if _too_soon():
        return
    comment = str(st.session_state.get(_comment_key(question_id)) or "").strip()
    judge(engine, account_id, question_id, answer, shown_at=shown_at, comment=comment or None)
    st.session_state.pop(_AGAIN, None)
    refresh_around(engine, question_id)


def _undo(engine: Engine, account_id: int) -> None:
    try:
        session.still(engine, account_id)
        if _too_soon():
            return
        question_id = undo(engine, account_id)
        if question_id is None:
            st.session_state[_NOTE] = t("annotate.nothing_to_undo")
            return
        st.session_state[_AGAIN] = question_id
        refresh_around(engine, question_id)
    except AuditError as problem:
        st.session_state[_NOTE] = translated(str(problem))


def _too_soon() -> bool:
    """Whether the question came on the screen only just now; then says so.

    A key that is held down goes on pressing: each press puts off the moment from which one counts.
    """
    moment = datetime.now(UTC)
    question_id, shown_at, not_before = st.session_state.get(_SHOWN, (None, moment, moment))
    if moment >= not_before:
        return False
    st.session_state[_SHOWN] = (question_id, shown_at, moment + LEAST)
    st.session_state[_NOTE] = t("annotate.too_soon")
    return True


def _comment_key(question_id: int) -> str:
    return f"comment-{question_id}"
