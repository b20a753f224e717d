"""Disputed and flagged questions: what hangs on one, what people said of it, and the form that settles it."""

from typing import Any

import streamlit as st
from sqlalchemy import Engine, func, select

from audit.annotation.deferral import COMMENT
from audit.annotation.queue import show
from audit.errors import AuditError
from audit.false_satisfaction.consequences import Consequence, Ranking, Stakes, consequences
from audit.judging.adjudications import adjudicate
from audit.judging.deferral import flagged_ids, send_back
from audit.store import table_of, tables
from audit.ui import session
from audit.ui.asked import show_question
from audit.ui.decision import (
    PROBLEM,
    chosen_labels,
    desk,
    guideline_drawer,
    later_button,
    put_last,
    settles,
    what_people_said,
    why,
)
from audit.ui.language import t
from audit.ui.literal import html
from audit.ui.stakes import stakes, state

_LATER = "adjudicate-later"
"""Questions that this session put off."""
SENT_BACK = "adjudicate-sent-back"
ORDER = "adjudicate-order"
ORDERS = ("consequence", "wanted")
_SETTLE = "settle-"
"""What the key of the button that settles a question begins with."""
_EACH = 25
"""Settled answers after which what hangs on questions is worked out anew; a new dispute or decision does so at once."""
_NAMED = 6
"""Names that a sentence lists."""


def disputed(engine: Engine, account_id: int, ids: list[int]) -> bool:
    """The most consequential of these disputed questions, or the most wanted; returns whether one was settled."""
    _say_too_late(ids)
    if not ids:
        st.html(f'<h2 class="audit-question">{html(t("adjudicate.nothing"))}</h2>')
        return False
    by_id = {one.question_id: one for one in _weighed(engine, account_id, ids)}
    place, control = st.columns(2, vertical_alignment="center")
    names = {order: t(f"dispute.{order}") for order in ORDERS}
    order = control.selectbox(
        t("dispute.order"), ORDERS, format_func=names.__getitem__, key=ORDER, label_visibility="collapsed"
    )
    first = put_last(_LATER, by_id if order == ORDERS[0] else ids)[0]
    place.caption(t("dispute.count", count=len(ids)))
    if first in by_id:
        st.html(_hanging(by_id[first]))
    return _question(engine, account_id, first, flagged=False)


def flagged(engine: Engine, account_id: int) -> bool:
    """The most wanted flagged question; returns whether one was settled."""
    ids = flagged_ids(engine, account_id)
    _say_too_late(ids)
    if not ids:
        st.html(f'<h2 class="audit-question">{html(t("flagged.nothing"))}</h2>')
        return False
    st.caption(t("flagged.count", count=len(ids)))
    return _question(engine, account_id, put_last(_LATER, ids)[0], flagged=True)


def _question(engine: Engine, account_id: int, question_id: int, flagged: bool) -> bool:
    with engine.connect() as connection:
        shown = show(connection, question_id)
    text, form = desk()
    with text:
        show_question(shown)
        guideline_drawer(shown)
    with form:
        what_people_said(engine, account_id, shown)
        with st.form(f"adjudicate-{shown.id}"):
            labels = chosen_labels(shown)
            code, written = why(shown)
            with st.container(horizontal=True):
                settle = st.form_submit_button(t("adjudicate.settle"), type="primary", key=f"{_SETTLE}{shown.id}")
                if flagged:
                    st.form_submit_button(
                        t("flagged.send_back"),
                        key=f"back-{shown.id}",
                        help=t("flagged.send_back_help"),
                        on_click=_send_back,
                        args=(engine, account_id, shown.id),
                    )
        later_button(_LATER, shown.id)
    return settle and settles(lambda: adjudicate(engine, account_id, shown.id, labels, written, code))


def _say_too_late(ids: list[int]) -> None:
    """Say so where a question was settled on the screen that is none of these any more: its form is not there, and
    nothing is stored."""
    pressed = (key for key, value in st.session_state.items() if value is True and str(key).startswith(_SETTLE))
    if any(int(str(key).removeprefix(_SETTLE)) not in ids for key in pressed):
        st.warning(t("adjudicate.too_late"), icon=":material/info:")


def _send_back(engine: Engine, account_id: int, question_id: int) -> None:
    """The remark is what stands in the field of the reason."""
    try:
        session.still(engine, account_id)
        remark = str(st.session_state.get(f"reason-{question_id}") or "")[:COMMENT]
        send_back(engine, account_id, question_id, remark)
        st.session_state[SENT_BACK] = True
    except AuditError as problem:
        st.session_state[PROBLEM] = problem


def _hanging(one: Consequence) -> str:
    """What hangs on the question, as HTML. Which answer favours whom is not known here, and must not be."""
    if not one.pairs:
        return f'<p class="audit-facts">{html(t("dispute.hangs_nothing"))}</p>'
    facts = t("dispute.hangs", count=one.pairs, relations=_named(one.relations), systems=_named(one.systems))
    lines = [html(facts)]
    lines += [f"<strong>{html(_ranking('dispute.winner', ranking))}</strong>" for ranking in one.winners]
    lines += [html(_ranking("dispute.order_of", ranking)) for ranking in one.orders]
    return f'<p class="audit-facts">{"<br>".join(lines)}</p>'


def _ranking(key: str, one: Ranking) -> str:
    return t(key, relation=one.relation, systems=_named(one.systems))


def _named(names: tuple[str, ...]) -> str:
    return t("dispute.comma").join(names[:_NAMED]) + ("" if len(names) <= _NAMED else " …")


def _weighed(engine: Engine, account_id: int, ids: list[int]) -> list[Consequence]:
    answer, adjudication = table_of(tables.Answer), table_of(tables.Adjudication)
    with engine.connect() as connection:
        answers, adjudications = (
            int(connection.execute(select(func.count()).select_from(table)).scalar() or 0)
            for table in (answer, adjudication)
        )
    try:
        now = state(engine)
        key = (*now, adjudications, answers // _EACH, tuple(ids))
        return _consequences(engine, account_id, stakes(engine, account_id, now), key)
    except AuditError:
        # Questions without a single check behind them: nothing hangs on any of them.
        return [Consequence(id) for id in ids]


@st.cache_data(max_entries=8, show_spinner=False)
def _consequences(_engine: Engine, _account_id: int, _stakes: Stakes, key: tuple[Any, ...]) -> list[Consequence]:
    return consequences(_engine, _account_id, key[-1], _stakes)
