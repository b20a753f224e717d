"""The page *Adjudicate*: disputed and flagged questions, inspections, spot checks, causes, and own adjudications."""

from typing import Any

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import ADJUDICATORS
from audit.annotation.deferral import COMMENT
from audit.annotation.queue import show
from audit.errors import AuditError
from audit.false_satisfaction.impact import Consequence, Ranking, Stakes, consequences
from audit.judging import adjudications
from audit.judging.adjudications import Adjudicated, Opinion
from audit.judging.deferral import flagged_ids, flags_left, send_back
from audit.store.core import adjudication, answer, count_rows
from audit.tasks import Input
from audit.ui import session
from audit.ui.background_cache import stakes, state
from audit.ui.causes import cause_card
from audit.ui.decision import (
    chosen_labels,
    guideline_drawer,
    later_button,
    opinions_html,
    put_last,
    put_off_items,
    reason_fields,
    show_beside_form,
    show_opinions,
    side_by_side,
)
from audit.ui.language import direction, html, label_name, label_names, output_words, plain, single_choice, t
from audit.ui.question import FIELD, heading, show_question

# Disputed and flagged questions: the consequences of one, what people said of it, and the form that settles it.

_DISPUTES_LATER = "adjudicate-later"
"""Questions that this session put off."""
ORDER = "adjudicate-order"
ORDERS = ("consequence", "wanted")
_SETTLE = "settle-"
"""Prefix of the key of the button that settles a question."""
_REFRESH_AFTER = 25
"""Consequences are computed again after so many new answers; after a new dispute or adjudication at once."""
_MAX_NAMES = 6
"""Names that a sentence lists; the others are left out."""


def dispute_card(engine: Engine, account_id: int, ids: list[int]) -> None:
    """The disputed question with the most consequences, or the most urgent."""
    _say_too_late(ids)
    if not ids:
        heading(t("adjudicate.nothing"))
        return
    by_id = {consequence.question_id: consequence for consequence in _consequences_of(engine, account_id, ids)}
    count_column, order_column = st.columns(2, vertical_alignment="center")
    names = {order: t(f"dispute.{order}") for order in ORDERS}
    order = order_column.selectbox(
        t("dispute.order"), ORDERS, format_func=names.__getitem__, key=ORDER, label_visibility="collapsed"
    )
    question_id = put_last(_DISPUTES_LATER, by_id if order == ORDERS[0] else ids)[0]
    count_column.caption(t("dispute.count", count=len(ids)))
    if question_id in by_id:
        st.html(_consequence_html(by_id[question_id]))
    _settle_form(engine, account_id, question_id, flagged=False)


def flagged_card(engine: Engine, account_id: int) -> None:
    """The most urgent flagged question."""
    ids = flagged_ids(engine, account_id)
    _say_too_late(ids)
    if not ids:
        heading(t("flagged.nothing"))
        return
    st.caption(t("flagged.count", count=len(ids)))
    _settle_form(engine, account_id, put_last(_DISPUTES_LATER, ids)[0], flagged=True)


def _settle_form(engine: Engine, account_id: int, question_id: int, flagged: bool) -> None:
    with engine.connect() as connection:
        shown = show(connection, question_id)
    with show_beside_form(shown):
        show_opinions(engine, account_id, shown)
        with st.form(f"adjudicate-{shown.id}"):
            labels = chosen_labels(shown)
            code, reason = reason_fields(shown)
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
    if settle:
        with session.changing(engine, account_id):
            adjudications.adjudicate(engine, account_id, shown.id, labels, reason, code)
            session.done(t("adjudicate.done"))


def _say_too_late(ids: list[int]) -> None:
    """Warn where the question that was just settled on the screen is not in `ids` any more: its form is gone, and
    nothing is stored."""
    pressed = (key for key, value in st.session_state.items() if value is True and str(key).startswith(_SETTLE))
    if any(int(str(key).removeprefix(_SETTLE)) not in ids for key in pressed):
        st.warning(t("adjudicate.too_late"), icon=":material/info:")


@session.callback
def _send_back(engine: Engine, account_id: int, question_id: int) -> None:
    """Send a flagged question back. The field of the reason holds the remark to the annotators."""
    remark = str(st.session_state.get(f"reason-{question_id}") or "")[:COMMENT]
    send_back(engine, account_id, question_id, remark)
    session.say_next(t("flagged.sent_back"), ":material/reply:")


def _consequence_html(consequence: Consequence) -> str:
    """The consequences of a question, as HTML. Which answer favours which system must not be shown here."""
    if not consequence.pairs:
        return f'<p class="audit-facts">{html(t("dispute.hangs_nothing"))}</p>'
    facts = t(
        "dispute.hangs",
        count=consequence.pairs,
        relations=_name_list(consequence.relations),
        systems=_name_list(consequence.systems),
    )
    lines = [html(facts)]
    lines += [f"<strong>{html(_ranking_text('dispute.winner', ranking))}</strong>" for ranking in consequence.winners]
    lines += [html(_ranking_text("dispute.order_of", ranking)) for ranking in consequence.orders]
    return f'<p class="audit-facts">{"<br>".join(lines)}</p>'


def _ranking_text(key: str, ranking: Ranking) -> str:
    return t(key, relation=ranking.relation, systems=_name_list(ranking.systems))


def _name_list(names: tuple[str, ...]) -> str:
    return t("dispute.comma").join(names[:_MAX_NAMES]) + ("" if len(names) <= _MAX_NAMES else " …")


def _consequences_of(engine: Engine, account_id: int, ids: list[int]) -> list[Consequence]:
    with engine.connect() as connection:
        answers, settled = (count_rows(connection, table) for table in (answer, adjudication))
    try:
        version = state(engine)
        key = (*version, settled, answers // _REFRESH_AFTER, tuple(ids))
        return _consequences(engine, account_id, stakes(engine, account_id, version), key)
    except AuditError:
        # No outputs were checked yet, so no question has consequences.
        return [Consequence(id) for id in ids]


@st.cache_data(max_entries=8, show_spinner=False)
def _consequences(_engine: Engine, _account_id: int, _stakes: Stakes, key: tuple[Any, ...]) -> list[Consequence]:
    return consequences(_engine, _account_id, key[-1], _stakes)


# Inspections: an adjudicator sees the answer that people agree on and all votes, and confirms or changes it.

INSPECTIONS = "inspections"
_INSPECTIONS_LATER = "inspect-later"
"""Questions that this session put off."""


def inspection_mode(remaining: int | None) -> dict[str, str]:
    """The mode of inspections and its name with their number; empty where no question has the protocol `shown`."""
    return {} if remaining is None else {INSPECTIONS: t("inspect.inspections", count=remaining)}


def inspection_card(engine: Engine, account_id: int, remaining: int) -> None:
    """The inspection that has waited longest and its form."""
    inspection = adjudications.next_inspection(engine, account_id, put_off_items(_INSPECTIONS_LATER))
    if inspection is None:
        heading(t("inspect.nothing"))
        return
    shown, agreed = inspection.shown, inspection.votes[0].answer
    st.caption(t("inspect.count", count=remaining))
    show_question(shown)
    # In the order in which they were given, with numbers in place of names.
    votes = enumerate(inspection.votes, start=1)
    st.html(opinions_html([Opinion(number, vote.answer, vote.comment) for number, vote in votes], {}, shown.task))
    confirm_text = t("inspect.confirm", answer=plain(label_name(agreed, shown.task)))
    confirm = st.button(confirm_text, type="primary", key=f"confirm-{shown.id}", width="stretch")
    with st.form(f"inspect-{shown.id}"):
        chosen = chosen_labels(shown, "inspect", heading=t("inspect.other"))
        remark = st.text_area(t("inspect.why"), max_chars=FIELD, height=80, key=f"inspect-{shown.id}-why")
        change = st.form_submit_button(t("inspect.change"), key=f"change-{shown.id}")
    later_button(_INSPECTIONS_LATER, shown.id)
    if confirm or change:
        with session.changing(engine, account_id):
            adjudications.inspect(engine, account_id, shown.id, *(([agreed], "") if confirm else (chosen, remark)))
            session.done(t("adjudicate.done"))
    guideline_drawer(shown)


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
        heading(t("settled.nothing"))
        return
    st.caption(t("settled.count", count=len(own)))
    for settled in own:
        with st.container(border=True):
            line, change = st.columns([6, 1], vertical_alignment="center")
            line.html(_adjudication_html(settled))
            change.button(t("settled.change"), key=f"change-{settled.id}", on_click=_reopen, args=(settled.id,))


def _change_form(engine: Engine, account_id: int, settled: Adjudicated) -> None:
    st.caption(t("settled.changing"))
    text, form = side_by_side()
    with text:
        show_question(settled.shown)
    with form:
        if not settled.is_check:
            # The votes behind a spot check are never shown.
            show_opinions(engine, account_id, settled.shown)
        code, reason = None, settled.reason
        with st.form(f"settled-{settled.id}"):
            labels = chosen_labels(settled.shown, f"again-{settled.id}", settled.allowed)
            if settled.is_check:
                reason = st.text_input(
                    t("check.remark"), value=settled.reason, max_chars=FIELD, key=f"remark-again-{settled.id}"
                )
            else:
                code, reason = reason_fields(settled.shown, settled.code, settled.reason)
            with st.container(horizontal=True):
                store = st.form_submit_button(t("settled.store"), type="primary", key=f"store-again-{settled.id}")
                st.form_submit_button(t("settled.leave"), key=f"leave-{settled.id}", on_click=_reopen, args=(None,))
    if store:
        with session.changing(engine, account_id):
            adjudications.change_adjudication(engine, account_id, settled.id, labels, reason, code)
            st.session_state.pop(_CHANGING, None)
            session.done(t("adjudicate.done"))


def _reopen(adjudication_id: int | None) -> None:
    st.session_state[_CHANGING] = adjudication_id


def _adjudication_html(settled: Adjudicated) -> str:
    output = [output_words(settled.shown.output, settled.shown.task)] if settled.shown.output else []
    text = " ".join([*output, *settled.shown.texts])
    reason = t("settled.check") if settled.is_check else t(f"reason.{settled.code}") if settled.code else ""
    facts = (
        f"{settled.decided_at:%Y-%m-%d %H:%M} UTC",
        direction(Input(settled.shown.texts, settled.shown.languages)),
        reason,
        settled.reason,
    )
    excerpt = f"{text[:_EXCERPT]}{'…' if len(text) > _EXCERPT else ''}"
    return (
        f"<p><strong>{html(label_names(settled.allowed, settled.shown.task))}</strong> · {html(excerpt)}</p>"
        f'<p class="audit-facts">{html(" · ".join(filter(None, facts)))}</p>'
    )


# Spot checks: an adjudicator answers a question on which people agree, without seeing their answer.

_CHECKS_LATER = "check-later"
"""Questions that this session put off."""


def spot_check_card(engine: Engine, account_id: int, remaining: int) -> None:
    """The next question to check and its form."""
    shown = adjudications.next_check(engine, account_id, put_off_items(_CHECKS_LATER))
    if shown is None:
        heading(t("check.nothing"))
        return
    st.caption(t("check.count", count=remaining))
    with show_beside_form(shown):
        with st.form(f"check-{shown.id}"):
            chosen = chosen_labels(shown, "check")
            remark = st.text_input(t("check.remark"), max_chars=FIELD, key=f"remark-{shown.id}")
            store = st.form_submit_button(t("check.store"), type="primary", key=f"store-{shown.id}")
        later_button(_CHECKS_LATER, shown.id)
        if store:
            with session.changing(engine, account_id):
                adjudications.check(engine, account_id, shown.id, chosen, remark)
                session.done(t("adjudicate.done"))


ROLES = ADJUDICATORS
_MODE = "adjudicate-mode"
DISPUTED, FLAGS, CHECKS, CAUSES, MINE = "disputed", "flags", "checks", "causes", "mine"


def page() -> None:
    """The page: the chosen mode with its number of questions, and its card."""
    engine, account = session.enter(*ROLES)
    session.show_last(st.toast)
    ids = adjudications.disputes(engine, account.id)
    checks, inspections = (
        adjudications.checks_left(engine, account.id),
        adjudications.inspections_left(engine, account.id),
    )
    labels = {
        DISPUTED: t("check.disputed", count=len(ids)),
        FLAGS: t("flagged.flags", count=flags_left(engine, account.id)),
        CHECKS: t("check.checks", count=checks),
        **inspection_mode(inspections),
        CAUSES: t("causes.causes"),
        MINE: t("settled.mine"),
    }
    mode = single_choice(t("menu.adjudicate"), labels, _MODE, label_visibility="collapsed")
    if mode == CAUSES:
        cause_card(ROLES)
    elif mode == CHECKS:
        spot_check_card(engine, account.id, checks)
    elif mode == INSPECTIONS:
        inspection_card(engine, account.id, inspections or 0)
    elif mode == FLAGS:
        flagged_card(engine, account.id)
    elif mode == MINE:
        own_adjudications_card(engine, account.id)
    else:
        dispute_card(engine, account.id, ids)
