"""Judging: one question a screen, answered by key or click.

Nothing here knows a system, an output or anybody else's answer: `audit.annotation.queue.Shown` has none of them.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import ROLES
from audit.annotation.answers import UNSURE
from audit.annotation.aside import COMMENT, flag, said_before, skip
from audit.annotation.guidelines import guideline_before
from audit.annotation.judging import UNDOS, judge, undo, undone
from audit.annotation.pace import PAUSE, Pace, pace_of
from audit.annotation.queue import Shown, next_question, queue_of, show
from audit.annotation.unflagging import unflag
from audit.errors import AuditError, Refused
from audit.false_satisfaction.questions import refresh_around
from audit.ui import database, session
from audit.ui.asked import guideline_shown, show_question
from audit.ui.held_keys import ignore_held_keys
from audit.ui.language import t, translated
from audit.ui.literal import html, plain, sentence

LEAST = timedelta(milliseconds=150)
"""Nobody reads and judges a text in less: an answer so soon was meant for the question before."""
PACE_KEPT = timedelta(seconds=30)
"""How long a pace on the screen stands before it is worked out anew: it reads the whole day's judgements."""
_SHOWN = "shown"
"""(question id, when it came on the screen, from when an answer counts)"""
_AGAIN = "again"
"""The question whose judgement was undone last; it is shown before the queue goes on."""
_NOTE = "note"
_DONE = "done"
"""What the last key did, where the next question does not say so itself."""
_DRAWER = "guideline-open"
_PACE = "pace"
"""(when it was worked out, the pace)"""


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
    note, done = st.session_state.pop(_NOTE, None), st.session_state.pop(_DONE, None)
    if shown is None:
        st.session_state.pop(_SHOWN, None)
        _nothing_left(engine, account.id)
    else:
        _question(engine, account.id, shown)
    if done:
        st.info(done, icon=":material/check:")
    if note:
        st.warning(plain(sentence(note)), icon=":material/info:")
    _progress(engine, account.id)
    _guideline(engine, account.id, shown)
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
    st.text_input(
        t("annotate.comment"),
        key=_comment_key(shown.id),
        max_chars=COMMENT,
        placeholder=t("annotate.comment"),
        label_visibility="collapsed",
    )
    with st.container(key="beside", horizontal=True, gap="small"):
        _small("undo", shown.id, "z", _undo, engine, account_id)
        _small("skip", shown.id, "s", _skip, engine, account_id, shown.id)
        _small("flag", shown.id, "f", _flag, engine, account_id, shown.id)
        _small("guideline", shown.id, "g", _drawer)
    skipped, sent_back = said_before(engine, account_id, shown.id)
    if sent_back is not None:
        st.info(plain(t("annotate.sent_back_saying", remark=sent_back) if sent_back else t("annotate.sent_back")))
    elif skipped:
        st.caption(t("annotate.skipped_before"))


def _small(name: str, question_id: int, key: str, action: Callable[..., None], *args: object) -> None:
    """A button beside the answers. The question is in its key: a press meant for another one finds no button."""
    st.button(
        t(f"annotate.{name}"), key=f"{name}-{question_id}", shortcut=key, on_click=action, args=args, type="tertiary"
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
    """Today's count, what is left, one's own pace, and a hint when a pause is due."""
    queue, pace = queue_of(engine, account_id), _pace(engine, account_id)
    parts = [t("annotate.progress", today=queue.mine_today, mine=queue.mine, left=queue.left_for_me)]
    if pace.seconds is not None:
        parts.append(t("annotate.pace", seconds=f"{pace.seconds:.0f}"))
    st.caption(" · ".join(parts))
    if pace.tired:
        minutes = int(pace.since_pause.total_seconds() // 60)
        st.caption(t("annotate.pause", minutes=minutes, pause=int(PAUSE.total_seconds() // 60)))


def _pace(engine: Engine, account_id: int) -> Pace:
    moment = datetime.now(UTC)
    at, pace = st.session_state.get(_PACE, (None, None))
    if pace is None or moment - at >= PACE_KEPT:
        pace = pace_of(engine, account_id)
        st.session_state[_PACE] = (moment, pace)
    return pace


def _guideline(engine: Engine, account_id: int, shown: Shown | None) -> None:
    """The guideline's version, whether it is new to this person, and the guideline itself where its drawer is open."""
    one = guideline_shown(shown)
    before = guideline_before(engine, account_id, shown.task, shown.kind) if shown else None
    if before is not None and before < one.version:
        # Until the first judgement by the new version: then that is what was judged by last.
        st.info(t("annotate.guideline_changed", version=one.version, before=before), icon=":material/menu_book:")
    st.caption(t("annotate.guideline_version", version=one.version))
    if st.session_state.get(_DRAWER):
        with st.container(key="guideline", border=True):
            st.markdown(one.text)


def _drawer() -> None:
    st.session_state[_DRAWER] = not st.session_state.get(_DRAWER, False)


def _answer(engine: Engine, account_id: int, question_id: int, answer: str) -> None:
    """A button was pressed. Whatever is not an answer to the question on the screen changes nothing."""
    with _saying_refusals():
        session.still(engine, account_id)
        shown_at = _on_screen(question_id)
        if shown_at is None:
            return
        judge(engine, account_id, question_id, answer, shown_at=shown_at, comment=_comment(question_id) or None)
        st.session_state.pop(_AGAIN, None)
        refresh_around(engine, question_id)


def _skip(engine: Engine, account_id: int, question_id: int) -> None:
    with _saying_refusals():
        session.still(engine, account_id)
        if _on_screen(question_id) is None:
            return
        skip(engine, account_id, question_id)
        st.session_state.pop(_AGAIN, None)
        st.session_state[_DONE] = t("annotate.skipped")


def _flag(engine: Engine, account_id: int, question_id: int) -> None:
    with _saying_refusals():
        session.still(engine, account_id)
        if _on_screen(question_id) is None:
            return
        comment = _comment(question_id)
        if not comment:
            st.session_state[_NOTE] = t("annotate.flag_needs_comment")
            return
        flag(engine, account_id, question_id, comment)
        st.session_state.pop(_AGAIN, None)
        st.session_state[_DONE] = t("annotate.flagged")


def _undo(engine: Engine, account_id: int) -> None:
    with _saying_refusals():
        session.still(engine, account_id)
        if _too_soon():
            return
        flagged = unflag(engine, account_id)
        if flagged is not None:
            st.session_state[_AGAIN] = flagged
            st.session_state[_DONE] = t("annotate.unflagged")
            return
        question_id = undo(engine, account_id)
        if question_id is None:
            st.session_state[_NOTE] = t("annotate.nothing_to_undo")
            return
        last = undone(engine, account_id)
        if last is not None:
            st.session_state[_DONE] = t(
                "annotate.undone", answer=t(f"label.{last.answer}"), number=last.in_a_row, most=UNDOS
            )
        st.session_state[_AGAIN] = question_id
        refresh_around(engine, question_id)


@contextmanager
def _saying_refusals() -> Iterator[None]:
    """For callbacks that write: what is refused is said on the page."""
    try:
        yield
    except AuditError as problem:
        st.session_state[_NOTE] = translated(str(problem))
        st.session_state.pop(_AGAIN, None)


def _on_screen(question_id: int) -> datetime | None:
    """When this question came on the screen; None where that was only just now. Raises Refused for another one."""
    shown, shown_at, _ = st.session_state.get(_SHOWN, (None, None, None))
    if shown != question_id:
        raise Refused(t("annotate.not_shown"))
    return None if _too_soon() else shown_at


def _comment(question_id: int) -> str:
    return str(st.session_state.get(_comment_key(question_id)) or "").strip()


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
