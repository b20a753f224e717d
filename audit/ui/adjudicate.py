"""The page *Adjudicate*: disputed and flagged questions, inspections, spot checks, causes, and own adjudications."""

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
from audit.store.core import adjudication, answer
from audit.tasks import Input
from audit.ui import session
from audit.ui.background_cache import stakes, state
from audit.ui.causes import cause_card
from audit.ui.decision import (
    PROBLEM,
    chosen_labels,
    guideline_drawer,
    later_button,
    opinions_html,
    put_last,
    put_off_items,
    reason_fields,
    show_opinions,
    side_by_side,
    try_store,
)
from audit.ui.language import direction, html, label_name, label_names, plain, single_choice, t
from audit.ui.question import FIELD, show_question

# Disputed and flagged questions: the consequences of one, what people said of it, and the form that settles it.

_DISPUTES_LATER = "adjudicate-later"
"""Questions that this session put off."""
SENT_BACK = "adjudicate-sent-back"
ORDER = "adjudicate-order"
ORDERS = ("consequence", "wanted")
_SETTLE = "settle-"
"""Prefix of the key of the button that settles a question."""
_REFRESH_AFTER = 25
"""Consequences are computed again after so many new answers; after a new dispute or adjudication at once."""
_MAX_NAMES = 6
"""Names that a sentence lists; the others are left out."""


def dispute_card(engine: Engine, account_id: int, ids: list[int]) -> bool:
    """The disputed question with the most consequences, or the most urgent; returns whether one was settled."""
    _say_too_late(ids)
    if not ids:
        st.html(f'<h2 class="audit-question">{html(t("adjudicate.nothing"))}</h2>')
        return False
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
    return _settle_form(engine, account_id, question_id, flagged=False)


def flagged_card(engine: Engine, account_id: int) -> bool:
    """The most urgent flagged question; returns whether one was settled."""
    ids = flagged_ids(engine, account_id)
    _say_too_late(ids)
    if not ids:
        st.html(f'<h2 class="audit-question">{html(t("flagged.nothing"))}</h2>')
        return False
    st.caption(t("flagged.count", count=len(ids)))
    return _settle_form(engine, account_id, put_last(_DISPUTES_LATER, ids)[0], flagged=True)


def _settle_form(engine: Engine, account_id: int, question_id: int, flagged: bool) -> bool:
    with engine.connect() as connection:
        shown = show(connection, question_id)
    text, form = side_by_side()
    with text:
        show_question(shown)
        guideline_drawer(shown)
    with form:
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
    return settle and try_store(lambda: adjudicate(engine, account_id, shown.id, labels, reason, code))


def _say_too_late(ids: list[int]) -> None:
    """Warn where the question that was just settled on the screen is not in `ids` any more: its form is gone, and
    nothing is stored."""
    pressed = (key for key, value in st.session_state.items() if value is True and str(key).startswith(_SETTLE))
    if any(int(str(key).removeprefix(_SETTLE)) not in ids for key in pressed):
        st.warning(t("adjudicate.too_late"), icon=":material/info:")


def _send_back(engine: Engine, account_id: int, question_id: int) -> None:
    """Send a flagged question back. The field of the reason holds the remark to the annotators."""
    try:
        session.require_login(engine, account_id)
        remark = str(st.session_state.get(f"reason-{question_id}") or "")[:COMMENT]
        send_back(engine, account_id, question_id, remark)
        st.session_state[SENT_BACK] = True
    except AuditError as problem:
        st.session_state[PROBLEM] = problem


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
        answers, adjudications = (
            int(connection.execute(select(func.count()).select_from(table)).scalar() or 0)
            for table in (answer, adjudication)
        )
    try:
        version = state(engine)
        key = (*version, adjudications, answers // _REFRESH_AFTER, tuple(ids))
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


def inspection_card(engine: Engine, account_id: int, remaining: int) -> bool:
    """The inspection that has waited longest and its form; returns whether an answer was stored."""
    inspection = next_inspection(engine, account_id, put_off_items(_INSPECTIONS_LATER))
    if inspection is None:
        st.html(f'<h2 class="audit-question">{html(t("inspect.nothing"))}</h2>')
        return False
    st.caption(t("inspect.count", count=remaining))
    done = _inspection_form(engine, account_id, inspection)
    guideline_drawer(inspection.shown)
    return done


def _inspection_form(engine: Engine, account_id: int, inspection: Inspection) -> bool:
    shown, agreed = inspection.shown, inspection.votes[0].answer
    show_question(shown)
    # In the order in which they were given, with numbers in place of names.
    votes = enumerate(inspection.votes, start=1)
    st.html(opinions_html([Opinion(number, vote.answer, vote.comment) for number, vote in votes], {}))
    confirm_text = t("inspect.confirm", answer=plain(label_name(agreed, shown.task)))
    confirm = st.button(confirm_text, type="primary", key=f"confirm-{shown.id}", width="stretch")
    with st.form(f"inspect-{shown.id}"):
        chosen = chosen_labels(shown, "inspect", heading=t("inspect.other"))
        remark = st.text_area(t("inspect.why"), max_chars=FIELD, height=80, key=f"inspect-{shown.id}-why")
        change = st.form_submit_button(t("inspect.change"), key=f"change-{shown.id}")
    later_button(_INSPECTIONS_LATER, shown.id)
    allowed, remark = ([agreed], "") if confirm else (chosen, remark)
    return (confirm or change) and try_store(lambda: inspect(engine, account_id, shown.id, allowed, remark))


# The last adjudications of this adjudicator: a list, and the form that changes the reopened one.

_CHANGING = "adjudicate-changing"
"""The adjudication that is reopened."""
_EXCERPT = 140


def own_adjudications_card(engine: Engine, account_id: int) -> bool:
    """The last adjudications with a button each, or the reopened one; returns whether one was changed."""
    adjudications = my_adjudications(engine, account_id)
    chosen = next(
        (adjudication for adjudication in adjudications if adjudication.id == st.session_state.get(_CHANGING)), None
    )
    if chosen is not None:
        return _change_form(engine, account_id, chosen)
    if not adjudications:
        st.html(f'<h2 class="audit-question">{html(t("settled.nothing"))}</h2>')
        return False
    st.caption(t("settled.count", count=len(adjudications)))
    for adjudication in adjudications:
        with st.container(border=True):
            line, change = st.columns([6, 1], vertical_alignment="center")
            line.html(_adjudication_html(adjudication))
            change.button(
                t("settled.change"), key=f"change-{adjudication.id}", on_click=_reopen, args=(adjudication.id,)
            )
    return False


def _change_form(engine: Engine, account_id: int, adjudication: Adjudicated) -> bool:
    st.caption(t("settled.changing"))
    text, form = side_by_side()
    with text:
        show_question(adjudication.shown)
    with form:
        if not adjudication.is_check:
            # The votes behind a spot check are never shown.
            show_opinions(engine, account_id, adjudication.shown)
        code, reason = None, adjudication.reason
        with st.form(f"settled-{adjudication.id}"):
            labels = chosen_labels(adjudication.shown, f"again-{adjudication.id}", adjudication.allowed)
            if adjudication.is_check:
                reason = st.text_input(
                    t("check.remark"), value=adjudication.reason, max_chars=FIELD, key=f"remark-again-{adjudication.id}"
                )
            else:
                code, reason = reason_fields(adjudication.shown, adjudication.code, adjudication.reason)
            with st.container(horizontal=True):
                store = st.form_submit_button(t("settled.store"), type="primary", key=f"store-again-{adjudication.id}")
                st.form_submit_button(
                    t("settled.leave"), key=f"leave-{adjudication.id}", on_click=_reopen, args=(None,)
                )
    if not store or not try_store(
        lambda: change_adjudication(engine, account_id, adjudication.id, labels, reason, code)
    ):
        return False
    st.session_state.pop(_CHANGING, None)
    return True


def _reopen(adjudication_id: int | None) -> None:
    st.session_state[_CHANGING] = adjudication_id


def _adjudication_html(adjudication: Adjudicated) -> str:
    text = " ".join([*filter(None, [adjudication.shown.output]), *adjudication.shown.texts])
    labels = label_names(adjudication.allowed)
    reason = (
        t("settled.check") if adjudication.is_check else t(f"reason.{adjudication.code}") if adjudication.code else ""
    )
    translation_direction = direction(Input(adjudication.shown.texts, adjudication.shown.languages))
    facts = " · ".join(
        part
        for part in (
            f"{adjudication.decided_at:%Y-%m-%d %H:%M} UTC",
            translation_direction,
            reason,
            adjudication.reason,
        )
        if part
    )
    return (
        f"<p><strong>{html(labels)}</strong> · {html(text[:_EXCERPT])}{'…' if len(text) > _EXCERPT else ''}</p>"
        f'<p class="audit-facts">{html(facts)}</p>'
    )


# Spot checks: an adjudicator answers a question on which people agree, without seeing their answer.

_CHECKS_LATER = "check-later"
"""Questions that this session put off."""


def spot_check_card(engine: Engine, account_id: int, remaining: int) -> bool:
    """The next question to check and its form; returns whether an answer was stored."""
    shown = next_check(engine, account_id, put_off_items(_CHECKS_LATER))
    if shown is None:
        st.html(f'<h2 class="audit-question">{html(t("check.nothing"))}</h2>')
        return False
    st.caption(t("check.count", count=remaining))
    return _spot_check_form(engine, account_id, shown)


def _spot_check_form(engine: Engine, account_id: int, shown: Shown) -> bool:
    text, form = side_by_side()
    with text:
        show_question(shown)
        guideline_drawer(shown)
    with form:
        with st.form(f"check-{shown.id}"):
            chosen = chosen_labels(shown, "check")
            remark = st.text_input(t("check.remark"), max_chars=FIELD, key=f"remark-{shown.id}")
            store = st.form_submit_button(t("check.store"), type="primary", key=f"store-{shown.id}")
        later_button(_CHECKS_LATER, shown.id)
    return store and try_store(lambda: check(engine, account_id, shown.id, chosen, remark))


ROLES = ADJUDICATORS
_DONE = "adjudicate-done"
_MODE = "adjudicate-mode"
DISPUTED, FLAGS, CHECKS, CAUSES, MINE = "disputed", "flags", "checks", "causes", "mine"


def page() -> None:
    """The page: the chosen mode with its number of questions, and its card."""
    engine = session.engine()
    account = session.require_role(engine, *ROLES)
    if st.session_state.pop(_DONE, False):
        st.toast(t("adjudicate.done"), icon=":material/check:")
    if st.session_state.pop(SENT_BACK, False):
        st.toast(t("flagged.sent_back"), icon=":material/reply:")
    if problem := st.session_state.pop(PROBLEM, None):
        session.show_refusal(problem)
    ids = disputes(engine, account.id)
    checks, inspections = checks_left(engine, account.id), inspections_left(engine, account.id)
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
        return
    if mode == CHECKS:
        done = spot_check_card(engine, account.id, checks)
    elif mode == INSPECTIONS:
        done = inspection_card(engine, account.id, inspections or 0)
    elif mode == FLAGS:
        done = flagged_card(engine, account.id)
    elif mode == MINE:
        done = own_adjudications_card(engine, account.id)
    else:
        done = dispute_card(engine, account.id, ids)
    if done:
        # Begin the page anew after something was stored, and say so there.
        st.session_state[_DONE] = True
        st.rerun()
