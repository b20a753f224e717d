"""The page *My answers*: what somebody has answered, to be searched and, while it is open, changed.

It is as blind as *Judge*: no system, no output but the one that is asked about, and nobody else's answer. Question
numbers are not in it, since they could give hidden questions away.
"""

from contextlib import suppress
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st
from sqlalchemy import Engine

from audit.errors import Refused
from audit.judging.accounts import ROLES
from audit.judging.judgements import change, flag_answer
from audit.judging.own_answers import LONGEST, OwnAnswer, OwnFilter, own_answer, own_answers, own_labels
from audit.judging.queue import Shown, queue_of
from audit.messages import message
from audit.tasks.questions import SCALES
from audit.ui import annotate, session
from audit.ui.browse import pager, trail_of
from audit.ui.language import html, label_name, plain, press, t
from audit.ui.question import (
    answer_bar,
    answer_name,
    comment_field,
    comment_in,
    guideline_shown,
    ignore_held_keys,
    on_screen,
    put_on_screen,
    show_question,
)

SIZE = 20
"""Answers on a page."""
_EXCERPT = 160
"""Characters of a text that its row shows."""
_OPENED = "own-opened"
"""The question that is open."""
_TRAIL = "own-trail"
"""(what was looked for, where the pages up to the present one begin)"""


def page() -> None:
    """On which all roles look at their own answers."""
    session.require_role(session.engine(), *ROLES)
    ignore_held_keys()
    _card()


@st.fragment
@session.report_problems
def _card() -> None:
    engine, account = session.enter(*ROLES)
    opened = st.session_state.get(_OPENED)
    if opened is not None:
        try:
            entry, shown, reply = own_answer(engine, account.id, opened[0])
        except Refused:
            _close()  # it is on the screen of *Judge* again, or went stale
        else:
            _question(engine, account.id, entry, shown, reply)
            return
    st.progress(*annotate.done_and_left(queue_of(engine, account.id)))
    session.show_last()
    _list(engine, account.id)


# The list.


def _list(engine: Engine, account_id: int) -> None:
    wanted = _filters(engine, account_id)
    trail = trail_of(_TRAIL, wanted)
    page = own_answers(engine, account_id, wanted, trail[-1], SIZE)
    if not page.answers:
        st.info(t("own.nothing" if wanted == OwnFilter() and len(trail) == 1 else "own.nothing_found"))
    with st.container(key="own-rows", gap="xsmall"):
        for entry in page.answers:
            _row(entry)
    if len(trail) > 1 or page.next is not None:
        pager(trail, page.next, ("own.newer", "own.older"))


def _filters(engine: Engine, account_id: int) -> OwnFilter:
    labels = own_labels(engine, account_id)
    names = {answer: label_name(answer, task) for task, answers in labels.items() for answer in answers}
    left, right = st.columns(2)
    search = left.text_input(
        t("own.search"), key="own-search", max_chars=LONGEST, icon=":material/search:", autocomplete="off",
        persist_state="session",
    )  # fmt: skip
    answer = right.selectbox(
        t("own.answer"), [None, *names], key="own-answer", persist_state="session",
        format_func=lambda option: t("browse.all") if option is None else names.get(option, option),
    )  # fmt: skip
    flagged = st.toggle(t("own.flagged"), key="own-with", persist_state="session")
    return OwnFilter(search=search.strip(), answer=answer, flagged=flagged)


def _row(entry: OwnAnswer) -> None:
    text = entry.texts[0]
    excerpt = html(text[:_EXCERPT]) + ("…" if len(text) > _EXCERPT else "")
    facts = [f"<strong>{html(answer_name(entry.answer, entry))}</strong>", html(_when(entry))]
    if entry.flagged:
        facts.append(html(t("own.is_flagged")))
    comment = f"<br><q>{html(entry.comment)}</q>" if entry.comment else ""
    place = annotate.opaque_id(entry.question_id)
    with st.container(key=f"own-row-{place}", horizontal=True, vertical_alignment="center", border=True):
        st.html(
            f'<p class="audit-own" lang="{html(entry.languages[0])}">{excerpt}</p>'
            f'<p class="audit-facts">{" · ".join(facts)}{comment}</p>',
            width="stretch",
        )
        press(
            t("own.change" if entry.closed is None else "own.open"), f"own-open-{place}", _open, entry.question_id,
            width="content",
        )  # fmt: skip


def _when(entry: OwnAnswer) -> str:
    """When it was answered, by the clock of whoever looks; by UTC where the browser does not say its time zone."""
    zone: tzinfo = UTC
    with suppress(ZoneInfoNotFoundError, ValueError):
        zone = ZoneInfo(st.context.timezone) if st.context.timezone else UTC
    return f"{entry.decided_at.astimezone(zone):%Y-%m-%d %H:%M}" + (" UTC" if zone is UTC else "")


# One answer: its question with the buttons of the page *Judge*, or why it stays as it is; and a flag.


def _question(engine: Engine, account_id: int, entry: OwnAnswer, shown: Shown, reply: str | None) -> None:
    place = f"own-{annotate.opaque_id(shown.id)}"
    show_question(shown)
    if reply:
        st.info(plain(t("annotate.sent_back_saying", remark=reply)))
    with st.expander(t("annotate.guideline"), icon=":material/menu_book:"):
        st.markdown(guideline_shown(shown).text)
    answer = plain(answer_name(entry.answer, entry))
    with answer_bar():
        session.show_last()
        st.caption(t("own.yours", answer=answer, when=_when(entry)))
        if entry.closed is None:
            annotate.answer_buttons(shown, place, _change, engine, account_id, shown.id)
        else:
            st.info(t(f"own.closed_{entry.closed}"), icon=":material/lock:")
        with st.container(key="beside", horizontal=True, gap="small"):
            comment_field(_comment_key(shown.id), entry.comment)
            if entry.kind not in SCALES and not entry.flagged:  # no adjudicator looks at ratings
                args = (engine, account_id, shown.id)
                press(t("annotate.flag"), f"flag-{place}", _flag, *args, shortcut="f", type="tertiary")
            press(t("own.back"), f"back-{place}", _close, shortcut="Escape", type="tertiary")
        if entry.flagged:
            st.caption(t("own.is_flagged"))


def _open(question_id: int) -> None:
    put_on_screen(_OPENED, question_id)


def _close() -> None:
    st.session_state.pop(_OPENED, None)


def _comment_key(question_id: int) -> str:
    return f"comment-own-{annotate.opaque_id(question_id)}"


@session.callback
def _change(engine: Engine, account_id: int, question_id: int, answer: str) -> None:
    """Store another answer; one that was meant for a question that is not open changes nothing."""
    if (opened_at := on_screen(_OPENED, question_id)) is None:
        raise Refused(message("annotate.too_soon"))
    comment = comment_in(_comment_key(question_id)) or None
    before = change(
        engine, account_id, question_id, answer, shown_at=opened_at, comment=comment, client=session.client()
    )
    _close()
    if (answer, comment or "") == (before.answer, before.comment):
        session.say_next(t("own.same"), ":material/info:")
        return
    words = [plain(answer_name(label, before)) for label in (before.answer, answer)]
    said = t("own.comment_changed") if words[0] == words[1] else t("own.changed", before=words[0], after=words[1])
    session.say_next(said)


@session.callback
def _flag(engine: Engine, account_id: int, question_id: int) -> None:
    flag_answer(engine, account_id, question_id, comment_in(_comment_key(question_id)))
    _close()
    session.say_next(t("own.now_flagged"), ":material/flag:")
