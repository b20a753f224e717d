"""The page *Adjudicate*: disputed and flagged questions, causes, and own adjudications."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import streamlit as st
from sqlalchemy import Engine

from audit.errors import AuditError, Refused
from audit.judging import adjudications
from audit.judging.accounts import ADJUDICATORS
from audit.judging.adjudications import Adjudicated, Opinion, flagged_ids, send_back
from audit.judging.asides import COMMENT
from audit.judging.queue import Shown, show
from audit.messages import message
from audit.store.core import adjudication, answer, count_rows
from audit.studies.impact import Consequence, consequences
from audit.tasks import Input
from audit.tasks.questions import UNSURE
from audit.ui import session
from audit.ui.background_cache import studies_state
from audit.ui.causes import cause_card
from audit.ui.decision import (
    ON_SCREEN,
    decided,
    decision_fields,
    guideline_button,
    later_button,
    prefill,
    put_last,
    show_beside_form,
    show_opinions,
)
from audit.ui.language import direction, html, output_words, press, single_choice, t
from audit.ui.question import FIELD, LEAST, answer_names, heading, ignore_held_keys

# Disputed and flagged questions: what waits for one, what people said of it, and the form that settles it.
#
# Whoever decides is told neither relations nor systems: they could sway the answer.

_DISPUTES_LATER = "adjudicate-later"
"""Questions that this session put off."""
ORDER = "adjudicate-order"
ORDERS = ("consequence", "wanted")
_REFRESH_AFTER = 25
"""Consequences are computed again after so many new answers; after a new dispute or adjudication at once."""
_MODE = "adjudicate-mode"
DISPUTED, FLAGS, CAUSES, MINE = "disputed", "flags", "causes", "mine"


def dispute_card(engine: Engine, account_id: int, ids: list[int]) -> None:
    """The disputed question with the most consequences, or the most urgent."""
    if not ids:
        _nothing(engine, account_id, DISPUTED, t("adjudicate.nothing"))
        return
    by_id = {consequence.question_id: consequence for consequence in _consequences_of(engine, account_id, ids)}
    count_column, order_column = st.columns(2, vertical_alignment="center")
    names = {order: t(f"dispute.{order}") for order in ORDERS}
    order = order_column.selectbox(
        t("dispute.order"), ORDERS, format_func=names.__getitem__, key=ORDER, label_visibility="collapsed",
        on_change=_begin_again,
    )  # fmt: skip
    question_id = _on_screen(DISPUTED, put_last(_DISPUTES_LATER, by_id if order == ORDERS[0] else ids))
    count_column.caption(t("dispute.count", count=len(ids)))
    _settle_form(engine, account_id, question_id, DISPUTED, by_id.get(question_id))


def flagged_card(engine: Engine, account_id: int) -> None:
    """The most urgent flagged question."""
    ids = flagged_ids(engine, account_id)
    if not ids:
        _nothing(engine, account_id, FLAGS, t("flagged.nothing"))
        return
    st.caption(t("flagged.count", count=len(ids)))
    _settle_form(engine, account_id, _on_screen(FLAGS, put_last(_DISPUTES_LATER, ids)), FLAGS, None)


def _settle_form(engine: Engine, account_id: int, question_id: int, mode: str, consequence: Consequence | None) -> None:
    with engine.connect() as connection:
        shown = show(connection, question_id)
    people = adjudications.opinions(engine, account_id, question_id)
    _keep_on_screen(mode, shown.id)
    st.html(_situation_html(people, mode == FLAGS, consequence))
    with show_beside_form(shown):
        show_opinions(people, shown)
        said = [opinion.answer for opinion in people if opinion.answer not in (None, UNSURE)]
        why = t("reason.why_flagged" if mode == FLAGS else "reason.why")
        decision_fields(shown, f"allow-{shown.id}", why, said)
        _store_button(t("adjudicate.settle"), f"settle-{shown.id}", _settle, engine, account_id, shown, mode)
        if mode == FLAGS:
            with st.container(key="send-back", border=True):
                st.text_area(t("flagged.note"), max_chars=FIELD, height=68, key=f"note-{shown.id}")
                press(
                    t("flagged.send_back"), f"back-{shown.id}", _send_back, engine, account_id, shown.id, shortcut="b",
                    help=t("flagged.send_back_help"),
                )  # fmt: skip
        with st.container(key="beside", horizontal=True, gap="small"):
            _undo_button(engine, account_id)
            later_button(_DISPUTES_LATER, shown.id, str(shown.id))
            guideline_button(shown)


@session.callback
def _settle(engine: Engine, account_id: int, shown: Shown, mode: str) -> None:
    _require_on_screen(mode, shown.id)
    if decision := decided(shown, f"allow-{shown.id}"):
        with _storing():
            adjudications.adjudicate(engine, account_id, shown.id, decision.labels, decision.words, decision.code)


@session.callback
def _send_back(engine: Engine, account_id: int, question_id: int) -> None:
    if _require_on_screen(FLAGS, question_id) < LEAST:
        return
    note = str(st.session_state.get(f"note-{question_id}") or "")
    with _storing(t("flagged.sent_back"), ":material/reply:"):
        send_back(engine, account_id, question_id, note[:COMMENT])


@session.callback
def _undo(engine: Engine, account_id: int) -> None:
    """Take the last decision back, and show its question again with what was chosen and written."""
    before = adjudications.take_back(engine, account_id)
    if before is None:
        session.say_next(t("adjudicate.nothing_to_undo"), ":material/info:")
        return
    id = before.shown.id
    mode = FLAGS if id in flagged_ids(engine, account_id) else DISPUTED
    st.session_state[_MODE] = mode
    st.session_state[ON_SCREEN] = (mode, id, datetime.now(UTC))
    prefill(f"allow-{id}", before)
    session.say_next(t("adjudicate.undone"), ":material/undo:")


def _situation_html(people: Sequence[Opinion], flagged: bool, consequence: Consequence | None) -> str:
    """Why the question is here and what waits for it, in plain sentences without a relation or a system."""
    answers = [opinion.answer for opinion in people if opinion.answer]
    flags = sum(bool(opinion.flags) for opinion in people)
    if flagged:
        sentences = [t("flagged.why", count=flags)]
    elif set(answers) == {UNSURE}:
        sentences = [t("dispute.why_unsure", count=len(answers))]
    else:
        sentences = [t("dispute.why", count=len(answers))]
    if consequence is not None:
        sentences.append(t("dispute.waits" if consequence.pairs else "dispute.waits_nothing", count=consequence.pairs))
    return f'<p class="audit-facts">{html(t("dispute.between").join(sentences))}</p>'


# What all cards have: the question stays on the screen until it is decided or put off, and Enter stores.


def _on_screen(mode: str, ids: Sequence[int]) -> int:
    """The question that is on the screen, while it is among these; else the first of them."""
    id = _wanted(mode)
    return id if id is not None and id in ids else ids[0]


def _wanted(mode: str) -> int | None:
    on_screen, id, _ = st.session_state.get(ON_SCREEN, (None, None, None))
    return id if on_screen == mode else None


def _keep_on_screen(mode: str, question_id: int | None) -> None:
    """Remember what is on the screen. Where another question of the same list was, and this person has not decided it,
    somebody else has: the page says so, since what was chosen is gone with it."""
    before = _wanted(mode)
    if before is not None and before != question_id:
        st.warning(t("adjudicate.gone"), icon=":material/info:")
    if question_id is None:
        _begin_again()
    elif st.session_state.get(ON_SCREEN, (None, None))[:2] != (mode, question_id):
        st.session_state[ON_SCREEN] = (mode, question_id, datetime.now(UTC))


def _begin_again() -> None:
    st.session_state.pop(ON_SCREEN, None)


def _require_on_screen(mode: str, question_id: int) -> timedelta:
    """How long this question has been on the screen. Raises Refused for another one."""
    now = datetime.now(UTC)
    on_screen, id, since = st.session_state.get(ON_SCREEN, (None, None, now))
    if (on_screen, id) != (mode, question_id):
        raise Refused(message("refused.other_question"))
    shown_for: timedelta = now - since
    return shown_for


@contextmanager
def _storing(done: str | None = None, icon: str = ":material/check:") -> Iterator[None]:
    """For what stores a decision: the next question comes, also after a refusal, and the page says what was done."""
    try:
        yield
    finally:
        _begin_again()
    session.say_next(done or t("adjudicate.done"), icon)


def _store_button(text: str, key: str, action: Callable[..., None], *args: object) -> None:
    with st.container(key="judge-together"):
        press(text, key, action, *args, shortcut="Enter", type="primary", width="stretch")


def _undo_button(engine: Engine, account_id: int) -> None:
    press(
        t("annotate.undo"), "undo-decision", _undo, engine, account_id, shortcut="z", type="tertiary",
        help=t("adjudicate.undo_help"),
    )  # fmt: skip


def _nothing(engine: Engine, account_id: int, mode: str, text: str) -> None:
    _keep_on_screen(mode, None)
    heading(text)
    _undo_button(engine, account_id)


def _consequences_of(engine: Engine, account_id: int, ids: list[int]) -> list[Consequence]:
    with engine.connect() as connection:
        answers, settled = (count_rows(connection, table) for table in (answer, adjudication))
    key = (*studies_state(engine), settled, answers // _REFRESH_AFTER, tuple(ids))
    try:
        return _consequences(engine, account_id, key)
    except AuditError:
        # No outputs were checked yet, so no question has consequences.
        return [Consequence(id) for id in ids]


@st.cache_data(max_entries=8, show_spinner=False)
def _consequences(_engine: Engine, _account_id: int, key: tuple[Any, ...]) -> list[Consequence]:
    return consequences(_engine, _account_id, key[-1])


# The last adjudications of this adjudicator: a list, and the form that changes the reopened one.

_CHANGING = "adjudicate-changing"
"""The adjudication that is reopened."""
_EXCERPT = 140


def own_adjudications_card(engine: Engine, account_id: int) -> None:
    """The last adjudications with a button each, or the reopened one."""
    own = adjudications.my_adjudications(engine, account_id)
    chosen = next((settled for settled in own if settled.id == st.session_state.get(_CHANGING)), None)
    if chosen is not None:
        _change_form(engine, account_id, chosen)
        return
    if not own:
        _nothing(engine, account_id, MINE, t("settled.nothing"))
        return
    st.caption(t("settled.count", count=len(own)))
    for settled in own:
        with st.container(border=True):
            line, change = st.columns([6, 1], vertical_alignment="center")
            line.html(_adjudication_html(settled))
            change.button(t("own.change"), key=f"change-{settled.id}", on_click=_reopen, args=(settled,))
    _undo_button(engine, account_id)


def _change_form(engine: Engine, account_id: int, settled: Adjudicated) -> None:
    st.caption(t("settled.changing"))
    shown = settled.shown
    with show_beside_form(shown):
        show_opinions(adjudications.opinions(engine, account_id, shown.id), shown)
        decision_fields(shown, f"again-{settled.id}", t("reason.why_changed"))
        _store_button(t("settled.store"), f"store-again-{settled.id}", _store_change, engine, account_id, settled)
        press(t("settled.leave"), f"leave-{settled.id}", _reopen, None, type="tertiary")


@session.callback
def _store_change(engine: Engine, account_id: int, settled: Adjudicated) -> None:
    if decision := decided(settled.shown, f"again-{settled.id}"):
        adjudications.change_adjudication(
            engine, account_id, settled.id, decision.labels, decision.words, decision.code
        )
        _reopen(None)
        session.say_next(t("adjudicate.done"))


def _reopen(settled: Adjudicated | None) -> None:
    st.session_state[_CHANGING] = settled and settled.id
    if settled is not None:
        prefill(f"again-{settled.id}", settled)


def _adjudication_html(settled: Adjudicated) -> str:
    output = [output_words(settled.shown.output, settled.shown.task)] if settled.shown.output else []
    text = " ".join([*output, *settled.shown.texts])
    reason = t(f"reason.{settled.code}") if settled.code else ""
    facts = (
        f"{settled.decided_at:%Y-%m-%d %H:%M} UTC",
        direction(Input(settled.shown.texts, settled.shown.languages)),
        reason,
        settled.reason,
    )
    excerpt = f"{text[:_EXCERPT]}{'…' if len(text) > _EXCERPT else ''}"
    return (
        f"<p><strong>{html(answer_names(settled.allowed, settled.shown))}</strong> · "
        f'<span lang="{html(settled.shown.languages[0])}">{html(excerpt)}</span></p>'
        f'<p class="audit-facts">{html(" · ".join(filter(None, facts)))}</p>'
    )


ROLES = ADJUDICATORS


def page() -> None:
    """The page on which adjudicators decide."""
    session.require_role(session.engine(), *ROLES)
    ignore_held_keys()
    _card()


@st.fragment
@session.report_problems
def _card() -> None:
    """The chosen kind of work with its number of questions, and its card. A key reruns only this."""
    engine, account = session.enter(*ROLES)
    session.show_last(st.toast)
    ids = adjudications.disputes(engine, account.id)
    labels = {
        DISPUTED: t("adjudicate.disputed", count=len(ids)),
        FLAGS: t("flagged.flags", count=len(flagged_ids(engine, account.id))),
        CAUSES: t("causes.causes"),
        MINE: t("settled.mine"),
    }
    mode = single_choice(t("menu.adjudicate"), labels, _MODE, label_visibility="collapsed")
    if mode == CAUSES:
        cause_card(ROLES)
    elif mode == FLAGS:
        flagged_card(engine, account.id)
    elif mode == MINE:
        own_adjudications_card(engine, account.id)
    else:
        dispute_card(engine, account.id, ids)
