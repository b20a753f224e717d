"""Settling questions on which people disagree or that they flagged, and checking some on which they agree."""

from typing import Any

import streamlit as st
from sqlalchemy import Engine, func, select

from audit.annotation.accounts import ADJUDICATORS
from audit.annotation.deferral import COMMENT
from audit.annotation.queue import Shown, show
from audit.errors import AuditError
from audit.false_satisfaction.impact import Consequence, Ranking, Stakes, consequences
from audit.judging.adjudications import (
    Adjudicated,
    Inspection,
    Opinion,
    adjudicate,
    change_adjudication,
    check,
    checks_left,
    disputes,
    inspect,
    inspections_left,
    my_adjudications,
    next_check,
    next_inspection,
)
from audit.judging.deferral import flagged_ids, flags_left, send_back
from audit.store import table_of, tables
from audit.tasks import Input
from audit.ui import session
from audit.ui.background_cache import stakes, state
from audit.ui.causes import causing
from audit.ui.decision import (
    PROBLEM,
    chosen_labels,
    desk,
    guideline_drawer,
    later_button,
    listed,
    put_last,
    put_off_in,
    settles,
    what_people_said,
    why,
)
from audit.ui.language import direction, html, label_name, label_names, one_of, plain, t
from audit.ui.question import FIELD, show_question

# Disputed and flagged questions: what hangs on one, what people said of it, and the form that settles it.

_DISPUTES_LATER = "adjudicate-later"
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
    first = put_last(_DISPUTES_LATER, by_id if order == ORDERS[0] else ids)[0]
    place.caption(t("dispute.count", count=len(ids)))
    if first in by_id:
        st.html(_hanging(by_id[first]))
    return _dispute(engine, account_id, first, flagged=False)


def flagged(engine: Engine, account_id: int) -> bool:
    """The most wanted flagged question; returns whether one was settled."""
    ids = flagged_ids(engine, account_id)
    _say_too_late(ids)
    if not ids:
        st.html(f'<h2 class="audit-question">{html(t("flagged.nothing"))}</h2>')
        return False
    st.caption(t("flagged.count", count=len(ids)))
    return _dispute(engine, account_id, put_last(_DISPUTES_LATER, ids)[0], flagged=True)


def _dispute(engine: Engine, account_id: int, question_id: int, flagged: bool) -> bool:
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
        later_button(_DISPUTES_LATER, shown.id)
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


# Inspections: an adjudicator sees what people agree on and all that they said, and confirms or changes it.

INSPECTIONS = "inspections"
_INSPECTIONS_LATER = "inspect-later"
"""Questions that this session put off."""


def inspection_mode(left: int | None) -> dict[str, str]:
    """The name of this list, in which so many are left; nothing where no question has the protocol `shown` (None)."""
    return {} if left is None else {INSPECTIONS: t("inspect.inspections", count=left)}


def inspecting(engine: Engine, account_id: int, left: int) -> bool:
    """Of so many, the inspection that has waited longest and its form; returns whether an answer was stored."""
    one = next_inspection(engine, account_id, put_off_in(_INSPECTIONS_LATER))
    if one is None:
        st.html(f'<h2 class="audit-question">{html(t("inspect.nothing"))}</h2>')
        return False
    st.caption(t("inspect.count", count=left))
    done = _inspection(engine, account_id, one)
    guideline_drawer(one.shown)
    return done


def _inspection(engine: Engine, account_id: int, one: Inspection) -> bool:
    shown, agreed = one.shown, one.votes[0].answer
    show_question(shown)
    # In the order in which they were given, by numbers in the place of names.
    votes = enumerate(one.votes, start=1)
    st.html(listed([Opinion(number, vote.answer, vote.comment) for number, vote in votes], {}))
    said = t("inspect.confirm", answer=plain(label_name(agreed, shown.task)))
    confirm = st.button(said, type="primary", key=f"confirm-{shown.id}", width="stretch")
    with st.form(f"inspect-{shown.id}"):
        chosen = chosen_labels(shown, "inspect", words=t("inspect.other"))
        remark = st.text_area(t("inspect.why"), max_chars=FIELD, height=80, key=f"inspect-{shown.id}-why")
        change = st.form_submit_button(t("inspect.change"), key=f"change-{shown.id}")
    later_button(_INSPECTIONS_LATER, shown.id)
    allowed, remark = ([agreed], "") if confirm else (chosen, remark)
    return (confirm or change) and settles(lambda: inspect(engine, account_id, shown.id, allowed, remark))


# What this adjudicator settled lately, to be changed: a list, and the form of the one that is reopened.

_CHANGING = "adjudicate-changing"
"""The adjudication that is reopened."""
_EXCERPT = 140


def settled(engine: Engine, account_id: int) -> bool:
    """The last ones with a button each, or the reopened one; returns whether one was changed."""
    found = my_adjudications(engine, account_id)
    chosen = next((one for one in found if one.id == st.session_state.get(_CHANGING)), None)
    if chosen is not None:
        return _change(engine, account_id, chosen)
    if not found:
        st.html(f'<h2 class="audit-question">{html(t("settled.nothing"))}</h2>')
        return False
    st.caption(t("settled.count", count=len(found)))
    for one in found:
        with st.container(border=True):
            line, change = st.columns([6, 1], vertical_alignment="center")
            line.html(_line(one))
            change.button(t("settled.change"), key=f"change-{one.id}", on_click=_reopen, args=(one.id,))
    return False


def _change(engine: Engine, account_id: int, one: Adjudicated) -> bool:
    st.caption(t("settled.changing"))
    text, form = desk()
    with text:
        show_question(one.shown)
    with form:
        if not one.is_check:
            # Of a spot check nobody's votes are shown, before or after.
            what_people_said(engine, account_id, one.shown)
        code, written = None, one.reason
        with st.form(f"settled-{one.id}"):
            labels = chosen_labels(one.shown, f"again-{one.id}", one.allowed)
            if one.is_check:
                written = st.text_input(
                    t("check.remark"), value=one.reason, max_chars=FIELD, key=f"remark-again-{one.id}"
                )
            else:
                code, written = why(one.shown, one.code, one.reason)
            with st.container(horizontal=True):
                store = st.form_submit_button(t("settled.store"), type="primary", key=f"store-again-{one.id}")
                st.form_submit_button(t("settled.leave"), key=f"leave-{one.id}", on_click=_reopen, args=(None,))
    if not store or not settles(lambda: change_adjudication(engine, account_id, one.id, labels, written, code)):
        return False
    st.session_state.pop(_CHANGING, None)
    return True


def _reopen(adjudication_id: int | None) -> None:
    st.session_state[_CHANGING] = adjudication_id


def _line(one: Adjudicated) -> str:
    text = " ".join([*filter(None, [one.shown.output]), *one.shown.texts])
    labels = label_names(one.allowed)
    reason = t("settled.check") if one.is_check else t(f"reason.{one.code}") if one.code else ""
    into = direction(Input(one.shown.texts, one.shown.languages))
    facts = " · ".join(part for part in (f"{one.decided_at:%Y-%m-%d %H:%M} UTC", into, reason, one.reason) if part)
    return (
        f"<p><strong>{html(labels)}</strong> · {html(text[:_EXCERPT])}{'…' if len(text) > _EXCERPT else ''}</p>"
        f'<p class="audit-facts">{html(facts)}</p>'
    )


# Spot checks: an adjudicator answers what people agree on, without seeing what that is.

_CHECKS_LATER = "check-later"
"""Questions that this session put off."""


def checking(engine: Engine, account_id: int, left: int) -> bool:
    """Of so many, the most wanted question to check and its form; returns whether an answer was stored."""
    shown = next_check(engine, account_id, put_off_in(_CHECKS_LATER))
    if shown is None:
        st.html(f'<h2 class="audit-question">{html(t("check.nothing"))}</h2>')
        return False
    st.caption(t("check.count", count=left))
    return _spot_check(engine, account_id, shown)


def _spot_check(engine: Engine, account_id: int, shown: Shown) -> bool:
    text, form = desk()
    with text:
        show_question(shown)
        guideline_drawer(shown)
    with form:
        with st.form(f"check-{shown.id}"):
            chosen = chosen_labels(shown, "check")
            remark = st.text_input(t("check.remark"), max_chars=FIELD, key=f"remark-{shown.id}")
            store = st.form_submit_button(t("check.store"), type="primary", key=f"store-{shown.id}")
        later_button(_CHECKS_LATER, shown.id)
    return store and settles(lambda: check(engine, account_id, shown.id, chosen, remark))


ROLES = ADJUDICATORS
_DONE = "adjudicate-done"
_MODE = "adjudicate-mode"
DISPUTED, FLAGS, CHECKS, CAUSES, MINE = "disputed", "flags", "checks", "causes", "mine"


def page() -> None:
    """A disputed or flagged question to settle, one to check, a cause to give, or the last ones to change."""
    engine = session.engine()
    account = session.allowed(engine, *ROLES)
    if st.session_state.pop(_DONE, False):
        st.toast(t("adjudicate.done"), icon=":material/check:")
    if st.session_state.pop(SENT_BACK, False):
        st.toast(t("flagged.sent_back"), icon=":material/reply:")
    if problem := st.session_state.pop(PROBLEM, None):
        session.refused(problem)
    ids = disputes(engine, account.id)
    checks, left = checks_left(engine, account.id), inspections_left(engine, account.id)
    labels = {
        DISPUTED: t("check.disputed", count=len(ids)),
        FLAGS: t("flagged.flags", count=flags_left(engine, account.id)),
        CHECKS: t("check.checks", count=checks),
        **inspection_mode(left),
        CAUSES: t("causes.causes"),
        MINE: t("settled.mine"),
    }
    mode = one_of(t("menu.adjudicate"), labels, _MODE, label_visibility="collapsed")
    if mode == CAUSES:
        causing(ROLES)
        return
    if mode == CHECKS:
        done = checking(engine, account.id, checks)
    elif mode == INSPECTIONS:
        done = inspecting(engine, account.id, left or 0)
    elif mode == FLAGS:
        done = flagged(engine, account.id)
    elif mode == MINE:
        done = settled(engine, account.id)
    else:
        done = disputed(engine, account.id, ids)
    if done:
        # Begin the page anew after something was stored, and say so there.
        st.session_state[_DONE] = True
        st.rerun()
