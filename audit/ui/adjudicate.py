"""The page *Adjudicate*: disputed and flagged questions, and causes.

Whoever decides is told neither relations nor systems: they could sway the answer.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import streamlit as st
from sqlalchemy import Engine, select

from audit.judging import adjudications
from audit.judging.accounts import ADJUDICATORS
from audit.judging.adjudications import Opinion
from audit.judging.asides import COMMENT
from audit.judging.queue import Shown, show
from audit.store.core import question
from audit.tasks.questions import UNSURE
from audit.ui import session
from audit.ui.causes import cause_card
from audit.ui.decision import (
    ON_SCREEN,
    decided,
    decision_fields,
    later_button,
    prefill,
    put_last,
    show_beside_form,
    show_opinions,
)
from audit.ui.language import html, press, single_choice, t
from audit.ui.question import FIELD, guideline_button, heading, ignore_held_keys, on_screen, put_on_screen

ROLES = ADJUDICATORS
_LATER = "adjudicate-later"
"""Questions that this session put off."""
_MODE = "adjudicate-mode"
DISPUTED, FLAGS, CAUSES = "disputed", "flags", "causes"


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
    waiting = {
        DISPUTED: adjudications.disputes(engine, account.id),
        FLAGS: adjudications.flagged_ids(engine, account.id),
    }
    labels = {
        DISPUTED: t("adjudicate.disputed", count=len(waiting[DISPUTED])),
        FLAGS: t("flagged.flags", count=len(waiting[FLAGS])),
        CAUSES: t("causes.causes"),
    }
    mode = single_choice(t("menu.adjudicate"), labels, _MODE, label_visibility="collapsed")
    if mode == CAUSES:
        cause_card(ROLES)
    else:
        _question_card(engine, account.id, mode, waiting[mode])


def _question_card(engine: Engine, account_id: int, mode: str, ids: Sequence[int]) -> None:
    """The question that is on the screen, while it waits; else the first one. Where somebody else has decided it, the
    page says so, since what was chosen is gone with it."""
    before_mode, before = st.session_state.get(ON_SCREEN, ((None, None),))[0]
    if before_mode != mode:
        before = None
    if before is not None and before not in ids:
        st.warning(t("adjudicate.gone"), icon=":material/info:")
    if not ids:
        st.session_state.pop(ON_SCREEN, None)
        heading(t("adjudicate.nothing" if mode == DISPUTED else "flagged.nothing"))
        _undo_button(engine, account_id)
        return
    question_id = before if before in ids else put_last(_LATER, ids)[0]
    put_on_screen(ON_SCREEN, (mode, question_id))
    with engine.connect() as connection:
        shown = show(connection, question_id)
        waits = connection.execute(select(question.c.waits).where(question.c.id == question_id)).scalar_one()
    people = adjudications.opinions(engine, account_id, question_id)
    st.caption(t("dispute.count" if mode == DISPUTED else "flagged.count", count=len(ids)))
    st.html(_situation_html(people, mode == FLAGS, waits))
    with show_beside_form(shown):
        show_opinions(people, shown)
        said = [opinion.answer for opinion in people if opinion.answer not in (None, UNSURE)]
        decision_fields(shown, f"allow-{shown.id}", t("reason.why_flagged" if mode == FLAGS else "reason.why"), said)
        with st.container(key="judge-together"):
            press(
                t("adjudicate.settle"), f"settle-{shown.id}", _settle, engine, account_id, shown, mode,
                shortcut="Enter", type="primary", width="stretch",
            )  # fmt: skip
        if mode == FLAGS:
            with st.container(key="send-back", border=True):
                st.text_area(t("flagged.note"), max_chars=FIELD, height=68, key=f"note-{shown.id}")
                press(
                    t("flagged.send_back"), f"back-{shown.id}", _send_back, engine, account_id, shown.id, shortcut="b",
                    help=t("flagged.send_back_help"),
                )  # fmt: skip
        with st.container(key="beside", horizontal=True, gap="small"):
            _undo_button(engine, account_id)
            later_button(_LATER, shown.id, str(shown.id))
            guideline_button(str(shown.id))


def _situation_html(people: Sequence[Opinion], flagged: bool, waits: int) -> str:
    """Why the question is here and what waits for it, in plain sentences without a relation or a system."""
    answers = [opinion.answer for opinion in people if opinion.answer]
    why = "flagged.why" if flagged else "dispute.why_unsure" if set(answers) == {UNSURE} else "dispute.why"
    count = sum(bool(opinion.flags) for opinion in people) if flagged else len(answers)
    sentences = [t(why, count=count), t("dispute.waits" if waits else "dispute.waits_nothing", count=waits)]
    return f'<p class="audit-facts">{html(t("dispute.between").join(sentences))}</p>'


def _undo_button(engine: Engine, account_id: int) -> None:
    press(
        t("annotate.undo"), "undo-decision", _undo, engine, account_id, shortcut="z", type="tertiary",
        help=t("adjudicate.undo_help"),
    )  # fmt: skip


@contextmanager
def _storing(done: str, icon: str) -> Iterator[None]:
    """For what stores a decision: the next question comes, also after a refusal, and the page says what was done."""
    try:
        yield
    finally:
        st.session_state.pop(ON_SCREEN, None)
    session.say_next(done, icon)


@session.callback
def _settle(engine: Engine, account_id: int, shown: Shown, mode: str) -> None:
    on_screen(ON_SCREEN, (mode, shown.id))
    if decision := decided(shown, f"allow-{shown.id}"):
        with _storing(t("adjudicate.done"), ":material/check:"):
            adjudications.adjudicate(engine, account_id, shown.id, decision.labels, decision.words, decision.code)


@session.callback
def _send_back(engine: Engine, account_id: int, question_id: int) -> None:
    if on_screen(ON_SCREEN, (FLAGS, question_id)) is None:
        return
    note = str(st.session_state.get(f"note-{question_id}") or "")
    with _storing(t("flagged.sent_back"), ":material/reply:"):
        adjudications.send_back(engine, account_id, question_id, note[:COMMENT])


@session.callback
def _undo(engine: Engine, account_id: int) -> None:
    """Take the last decision back, and show its question again with what was chosen and written."""
    before = adjudications.take_back(engine, account_id)
    if before is None:
        session.say_next(t("adjudicate.nothing_to_undo"), ":material/info:")
        return
    id = before.shown.id
    st.session_state[_MODE] = FLAGS if id in adjudications.flagged_ids(engine, account_id) else DISPUTED
    put_on_screen(ON_SCREEN, (st.session_state[_MODE], id))
    prefill(f"allow-{id}", before)
    session.say_next(t("adjudicate.undone"), ":material/undo:")
