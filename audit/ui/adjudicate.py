"""Settling questions on which people disagree or that they flagged, and checking some on which they agree."""

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.answers import Vote
from audit.annotation.checking import checks_left
from audit.annotation.flagged import Flagged, flagged, flags_left, send_back
from audit.annotation.judging import Disputed, adjudicate, disputed
from audit.annotation.queue import Shown
from audit.errors import AuditError
from audit.false_satisfaction.questions import refresh_around
from audit.ui import database, session
from audit.ui.asked import FIELD, guideline, show_question
from audit.ui.language import t
from audit.ui.literal import html
from audit.ui.spot_checks import checking

ROLES = ("adjudicator", "manager")
_LATER = "adjudicate-later"
"""Questions that this session put off."""
_DONE = "adjudicate-done"
_MODE = "adjudicate-mode"
_SENT_BACK = "adjudicate-sent-back"
_PROBLEM = "adjudicate-problem"
DISPUTED, FLAGS, CHECKS = "disputed", "flags", "checks"


def page() -> None:
    """The most wanted disputed or flagged question with the form that settles it, or a question to check."""
    engine = database.engine()
    account = session.allowed(engine, *ROLES)
    if st.session_state.pop(_DONE, False):
        st.toast(t("adjudicate.done"), icon=":material/check:")
    if st.session_state.pop(_SENT_BACK, False):
        st.toast(t("flagged.sent_back"), icon=":material/reply:")
    if problem := st.session_state.pop(_PROBLEM, None):
        session.refused(problem)
    waiting = disputed(engine, account.id)
    left = checks_left(engine, account.id)
    labels = {
        DISPUTED: t("check.disputed", count=len(waiting)),
        FLAGS: t("flagged.flags", count=flags_left(engine, account.id)),
        CHECKS: t("check.checks", count=left),
    }
    mode = st.segmented_control(
        t("menu.adjudicate"),
        list(labels),
        default=DISPUTED,
        required=True,
        format_func=labels.__getitem__,
        key=_MODE,
        label_visibility="collapsed",
    )
    if mode == CHECKS:
        if checking(engine, account.id):
            _again()
        return
    if mode == FLAGS:
        _first(engine, account.id, flagged(engine, account.id), "flagged")
        return
    _first(engine, account.id, waiting, "adjudicate")


def _again() -> None:
    """Begin the page anew after something was stored, and say so there."""
    st.session_state[_DONE] = True
    st.rerun()


def _first(engine: Engine, account_id: int, waiting: list[Disputed] | list[Flagged], texts: str) -> None:
    """The most wanted question and the form that settles it; `texts` is the section of the app's texts about these."""
    _put_last(waiting)
    if not waiting:
        st.html(f'<h2 class="audit-question">{html(t(f"{texts}.nothing"))}</h2>')
        return
    st.caption(t(f"{texts}.count", count=len(waiting)))
    _question(engine, account_id, waiting[0])
    with st.expander(t("annotate.guideline"), icon=":material/menu_book:"):
        st.markdown(guideline(waiting[0].shown))


def _put_last(waiting: list[Disputed] | list[Flagged]) -> None:
    """Those that this session put off come last, in the order in which they were put off."""
    later = st.session_state.get(_LATER, [])
    waiting.sort(key=lambda one: later.index(one.shown.id) if one.shown.id in later else -1)


def _question(engine: Engine, account_id: int, one: Disputed | Flagged) -> None:
    shown = one.shown
    show_question(shown)
    if isinstance(one, Flagged):
        st.html(_comments(one))
    if one.votes:
        st.html(_votes(one.votes))
    with st.form(f"adjudicate-{shown.id}"):
        chosen = _chosen(shown)
        reason = st.text_area(t("adjudicate.reason"), max_chars=FIELD, height=80, key=f"reason-{shown.id}")
        with st.container(horizontal=True):
            settle = st.form_submit_button(t("adjudicate.settle"), type="primary", key=f"settle-{shown.id}")
            if isinstance(one, Flagged):
                st.form_submit_button(
                    t("flagged.send_back"),
                    key=f"back-{shown.id}",
                    help=t("flagged.send_back_help"),
                    on_click=_send_back,
                    args=(engine, account_id, shown.id),
                )
    st.button(t("adjudicate.later"), key=f"later-{shown.id}", type="tertiary", on_click=_put_off, args=(shown.id,))
    if settle:
        try:
            adjudicate(engine, account_id, shown.id, chosen, reason)
        except AuditError as problem:
            session.refused(problem)
            return
        refresh_around(engine, shown.id)
        _again()


def _send_back(engine: Engine, account_id: int, question_id: int) -> None:
    """The remark is what stands in the field of the reason."""
    try:
        session.still(engine, account_id)
        send_back(engine, account_id, question_id, str(st.session_state.get(f"reason-{question_id}") or ""))
        st.session_state[_SENT_BACK] = True
    except AuditError as problem:
        st.session_state[_PROBLEM] = problem


def _chosen(shown: Shown) -> list[str]:
    """The fields for the right answer: of a group one, of a text several where more than one may stand."""
    names = {label: t(f"label.{label}") for label in shown.labels}
    if shown.group:
        only = st.radio(
            t("adjudicate.holds"),
            shown.labels,
            index=None,
            format_func=names.__getitem__,
            horizontal=True,
            key=f"allow-{shown.id}",
        )
        return [only] if only else []
    st.write(t("adjudicate.allowed"))
    return [
        label
        for place, label in zip(st.columns(len(shown.labels)), shown.labels, strict=True)
        if place.checkbox(names[label], key=f"allow-{shown.id}-{label}")
    ]


def _votes(votes: list[Vote]) -> str:
    """The votes as an HTML list: letters in the place of names."""
    rows = []
    for number, vote in enumerate(votes):
        comment = f"<br><q>{html(vote.comment)}</q>" if vote.comment else ""
        who = html(t("adjudicate.annotator", letter=chr(ord("A") + number)))
        rows.append(f"<li>{who} <strong>{html(t(f'label.{vote.answer}'))}</strong>{comment}</li>")
    return f'<ul class="audit-votes">{"".join(rows)}</ul>'


def _comments(one: Flagged) -> str:
    """What was written to the flags, as an HTML list without names."""
    rows = "".join(f"<li>{html(t('flagged.says'))} <q>{html(comment)}</q></li>" for comment in one.comments)
    return f'<ul class="audit-votes">{rows}</ul>'


def _put_off(question_id: int) -> None:
    later = [id for id in st.session_state.get(_LATER, []) if id != question_id]
    st.session_state[_LATER] = [*later, question_id]
