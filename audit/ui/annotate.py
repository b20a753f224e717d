"""The page *Judge*: one question per screen, answered by key or click.

Nothing here knows a system, an output or anybody else's answer: `audit.annotation.queue.Shown` has none of them.
"""

import hashlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from math import ceil

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import ROLES
from audit.annotation.activity import PAUSE, Pace, pace_of
from audit.annotation.answers import UNSURE
from audit.annotation.control_questions import Attempt
from audit.annotation.guidelines import guideline_before
from audit.annotation.queue import Earlier, Queue, Shown, elsewhere, next_question, queue_of, show
from audit.errors import AuditError, Refused
from audit.judging.deferral import flag, skip, unflag
from audit.judging.judgements import UNDOS, judge, undo, undone
from audit.judging.training import Feedback, Training, judging_mode, train
from audit.messages import message
from audit.ui import session
from audit.ui.language import html, label_name, label_names, plain, sentence, t, translated
from audit.ui.question import FIELD, guideline_shown, ignore_held_keys, shortcut, show_question

# The training round on the page *Judge*: questions with known answers, what is right after each, and the score.
#
# Answered by the same keys as all others, and `n` goes on. Nothing here lets anybody in: the claim asks again
# (`audit.annotation.control_questions`).

GO_ON = "n"
"""The key that goes on to the next training question."""
_BEGUN = "training-begun"
"""The number of the attempt that was begun in this session."""
_TRAINING_SHOWN = "training-shown"
"""(attempt and question on the screen, when it was shown)"""
_FEEDBACK = "training-said"
"""(the question that was answered last, its feedback)"""
_RESULT = "training-result"
"""The attempt whose score is on the screen."""
_PROBLEM = "training-problem"
_DRAWER = "guideline-open"


def training_card(engine: Engine, account_id: int, training: Training | None, least: timedelta) -> bool:
    """The card of the training round. Returns whether there was one. Answers sooner than `least` are not counted."""
    if problem := st.session_state.pop(_PROBLEM, None):
        session.show_refusal(problem)
    if feedback := st.session_state.get(_FEEDBACK):
        _feedback(*feedback)
    elif result := st.session_state.get(_RESULT):
        _result(result, training)
    elif training is None:
        return False
    elif training.answered == 0 and st.session_state.get(_BEGUN) != training.attempt:
        _introduction(training)
    else:
        _training_question(engine, account_id, training, least)
    return True


def _introduction(training: Training) -> None:
    _heading(t("training.title"))
    values = {"questions": training.questions, "mark": f"{100 * training.mark:.0f}"}
    if training.last is not None:
        st.warning(
            t("training.failed", right=training.last.right, of=training.last.questions), icon=":material/replay:"
        )
        st.write(t("training.again", **values))
    else:
        st.write(t("training.what", **values))
    _go_on(t("training.begin"), f"begin-{training.attempt}", _begin, training.attempt)
    with st.container(key="guideline", border=True):
        st.markdown(guideline_shown(training.shown).text)


def _training_question(engine: Engine, account_id: int, training: Training, least: timedelta) -> None:
    shown, place = training.shown, f"{training.attempt}-{training.answered}"
    st.caption(t("training.progress", number=training.answered + 1, of=training.questions, right=training.right))
    show_question(shown)
    answers = (*shown.labels, UNSURE)
    with st.container(key="judge", horizontal=True):
        for number, answer in enumerate(answers, start=1):
            st.button(
                plain(label_name(answer, shown.task)),
                key=f"judge-training-{place}-{answer}",
                shortcut=shortcut(answer, number),
                on_click=_training_answer,
                args=(engine, account_id, shown, answer, least),
                width="stretch",
            )
    with st.container(key="beside", horizontal=True, gap="small"):
        st.button(
            t("annotate.guideline"),
            key=f"guideline-training-{place}",
            shortcut="g",
            on_click=_toggle_guideline,
            type="tertiary",
        )
    _training_guideline(shown)
    if st.session_state.get(_TRAINING_SHOWN, (None,))[0] != place:
        st.session_state[_TRAINING_SHOWN] = (place, datetime.now(UTC))


def _feedback(shown: Shown, feedback: Feedback) -> None:
    """The text again, the answer to it, what is right and why; with signs and words, not colours alone."""
    show_question(shown)
    allowed = plain(label_names(feedback.allowed, shown.task))
    answer = plain(label_name(feedback.answer, shown.task))
    if feedback.right:
        st.success(t("training.right", answer=answer), icon=":material/check_circle:")
        if len(feedback.allowed) > 1:
            st.write(t("training.allowed", answer=allowed))
    else:
        st.error(t("training.wrong", answer=answer, right=allowed), icon=":material/cancel:")
    if feedback.explanation:
        st.markdown(plain(feedback.explanation))
    _go_on(t("training.go_on"), f"seen-{feedback.question_id}", _close_feedback)


def _result(result: Attempt, training: Training | None) -> None:
    values = {"right": result.right, "of": result.questions}
    if result.passed or training is None:
        _heading(t("training.passed_title"))
        st.success(t("training.passed", **values), icon=":material/check_circle:")
        _go_on(t("training.to_judging"), "to-judging", _close_result)
        return
    # The introduction of the next attempt says the score and shows the guideline.
    _introduction(training)


def _begin(attempt: int) -> None:
    st.session_state[_BEGUN] = attempt
    st.session_state.pop(_RESULT, None)


def _training_answer(engine: Engine, account_id: int, shown: Shown, answer: str, least: timedelta) -> None:
    now = datetime.now(UTC)
    place, shown_at = st.session_state.get(_TRAINING_SHOWN, (None, now))
    if now < shown_at + least:
        st.session_state[_TRAINING_SHOWN] = (place, now)
        return
    try:
        session.require_login(engine, account_id)
        feedback = train(engine, account_id, shown.id, answer, shown_at=shown_at)
    except AuditError as problem:
        st.session_state[_PROBLEM] = problem
        return
    st.session_state[_FEEDBACK] = (shown, feedback)


def _close_feedback() -> None:
    _, feedback = st.session_state.pop(_FEEDBACK)
    if feedback.finished is not None:
        st.session_state[_RESULT] = feedback.finished


def _close_result() -> None:
    st.session_state.pop(_RESULT, None)


def _toggle_guideline() -> None:
    st.session_state[_DRAWER] = not st.session_state.get(_DRAWER, False)


def _go_on(text: str, key: str, action: Callable[..., None], *args: object) -> None:
    with st.container(key="go-on"):
        st.button(text, key=f"training-{key}", shortcut=GO_ON, on_click=action, args=args, type="primary")


def _training_guideline(shown: Shown) -> None:
    guideline = guideline_shown(shown)
    st.caption(t("annotate.guideline_version", version=guideline.version))
    if st.session_state.get(_DRAWER):
        with st.container(key="guideline", border=True):
            st.markdown(guideline.text)


def _heading(text: str) -> None:
    st.html(f'<h2 class="audit-question">{html(text)}</h2>')


# The work of others on the same questions, as far as an annotator may see it: earlier answers under the protocol
# `shown`, and why there is no question just now.


def show_earlier(earlier: Sequence[Earlier]) -> None:
    """Under the protocol `shown`: the earlier answers without names, and the question whether the annotator agrees."""
    if not earlier:
        return
    rows = "".join(
        f"<li>{_earlier_answer_html(answer, number, len(earlier))}</li>" for number, answer in enumerate(earlier)
    )
    st.html(f'<ul class="audit-votes audit-earlier">{rows}</ul><p class="audit-agree">{html(t("earlier.agree"))}</p>')


def why_nothing(engine: Engine, account_id: int) -> None:
    """Why there is no question: all are answered, others are at the remaining ones, or they are in other languages."""
    queue, others = queue_of(engine, account_id), elsewhere(engine, account_id)
    remaining = others.with_others + others.awaiting_first
    st.html(f'<h2 class="audit-question">{html(t("earlier.nothing_now" if remaining else "annotate.nothing"))}</h2>')
    if others.awaiting_first:
        st.write(t("earlier.awaiting_first", count=others.awaiting_first))
    if others.with_others:
        st.write(t("annotate.nothing_now", count=others.with_others))
    if others.free_at is not None:
        minutes = max(1, ceil((others.free_at - datetime.now(UTC)).total_seconds() / 60))
        st.caption(t("earlier.free_at", count=minutes))
    if queue.in_other_languages:
        st.write(t("annotate.nothing_read", count=queue.in_other_languages))
    elif not remaining:
        # Between the two readings somebody may have let go of a question: then the button below finds it.
        st.write(t("earlier.look" if queue.left_for_me else "annotate.nothing_more"))


def _earlier_answer_html(earlier: Earlier, number: int, total: int) -> str:
    """One answer as HTML, with its number where there are several."""
    annotator = t("earlier.another") if total == 1 else t("dispute.annotator", number=number + 1)
    comment = f"<br><q>{html(earlier.comment)}</q>" if earlier.comment else ""
    return f"{html(annotator)} <strong>{html(label_name(earlier.answer))}</strong>{comment}"


LEAST = timedelta(milliseconds=150)
"""Nobody reads and judges a text in less time: an answer so soon was meant for the question before."""
PACE_MAX_AGE = timedelta(seconds=30)
"""How long the pace is kept before it is computed again, which reads the whole day's judgements."""
COUNTS_MAX_AGE = timedelta(seconds=30)
"""The same for counts, which read the whole queue. Until then each answer changes them by one; after a skip, a flag or
an undo they are counted again."""
_SHOWN = "shown"
"""(question id, when it was shown, from when an answer counts)"""
_REOPENED = "again"
"""The question whose judgement was undone last; it is shown before the queue goes on."""
_NOTE = "note"
_DONE = "done"
"""What the last key did, where the next question does not show it."""

_PACE = "pace"
"""(when it was computed, the pace)"""
_HAS_HIDDEN = "mixed"
"""Whether hidden questions come between the others."""
ABOUT = 10
"""With hidden questions, the number of questions left is rounded to tens: else one that does not count would show."""
_COUNTS = "counts"
"""(when they were counted, the counts)"""
_JUDGED_BY = "judged-by"
"""(task, kind) -> the version of the guideline by which this person last judged such a question, where known"""


def page() -> None:
    """The page on which all roles judge."""
    session.require_role(session.engine(), *ROLES)
    ignore_held_keys()
    _card()


@st.fragment
@session.report_problems
def _card() -> None:
    """The question, its buttons and the progress line. An answer reruns only this."""
    engine = session.engine()
    account = session.require_role(engine, *ROLES)
    way = judging_mode(engine, account.id)
    if training_card(engine, account.id, way.training, LEAST):
        return
    st.session_state[_HAS_HIDDEN] = way.mixed
    shown = _next(engine, account.id)
    note, action_done = st.session_state.pop(_NOTE, None), st.session_state.pop(_DONE, None)
    if shown is None:
        st.session_state.pop(_SHOWN, None)
        _nothing_left(engine, account.id)
    else:
        _question(engine, account.id, shown)
    if action_done:
        st.info(action_done, icon=":material/check:")
    if note:
        st.warning(plain(sentence(note)), icon=":material/info:")
    _progress(engine, account.id)
    if shown is not None:
        _guideline(engine, account.id, shown)
    if shown is not None and st.session_state.get(_SHOWN, (None,))[0] != shown.id:
        now = datetime.now(UTC)
        st.session_state[_SHOWN] = (shown.id, now, now + LEAST)


def _next(engine: Engine, account_id: int) -> Shown | None:
    question_id = st.session_state.get(_REOPENED)
    if question_id is None:
        return next_question(engine, account_id)
    with engine.connect() as connection:
        return show(connection, question_id, account_id)


def _question(engine: Engine, account_id: int, shown: Shown) -> None:
    show_question(shown)
    show_earlier(shown.earlier)
    answers = (*shown.labels, UNSURE)
    with st.container(key="judge", horizontal=True):
        for number, answer in enumerate(answers, start=1):
            st.button(
                plain(label_name(answer, shown.task)),
                key=f"judge-{_browser_id(shown.id)}-{answer}",
                shortcut=shortcut(answer, number),
                on_click=_answer,
                args=(engine, account_id, shown.id, answer),
                width="stretch",
            )
    st.text_input(
        t("annotate.comment"),
        key=_comment_key(shown.id),
        max_chars=FIELD,
        placeholder=t("annotate.comment"),
        label_visibility="collapsed",
    )
    with st.container(key="beside", horizontal=True, gap="small"):
        _small_button("undo", shown.id, "z", _undo, engine, account_id)
        _small_button("skip", shown.id, "s", _skip, engine, account_id, shown.id)
        _small_button("flag", shown.id, "f", _flag, engine, account_id, shown.id)
        _small_button("guideline", shown.id, "g", _toggle_guideline)
    remembered = shown.remembered
    if remembered.sent_back is not None:
        text = (
            t("annotate.sent_back_saying", remark=remembered.sent_back)
            if remembered.sent_back
            else t("annotate.sent_back")
        )
        st.info(plain(text))
    elif remembered.skipped:
        st.caption(t("annotate.skipped_before"))
    if stale := remembered.stale:
        st.info(plain(t("stale.again", version=stale.guideline, reason=stale.reason)), icon=":material/update:")


def _small_button(name: str, question_id: int, key: str, action: Callable[..., None], *args: object) -> None:
    """A button beside the answers. Its key holds the question, so that a press meant for another one does nothing."""
    st.button(
        t(f"annotate.{name}"),
        key=f"{name}-{_browser_id(question_id)}",
        shortcut=key,
        on_click=action,
        args=args,
        type="tertiary",
    )


def _nothing_left(engine: Engine, account_id: int) -> None:
    st.session_state.pop(_COUNTS, None)
    why_nothing(engine, account_id)
    st.button(t("annotate.look_again"), key="look-again", icon=":material/refresh:")
    st.button(
        t("annotate.undo"), key="undo-last", shortcut="z", on_click=_undo, args=(engine, account_id), type="tertiary"
    )


def _progress(engine: Engine, account_id: int) -> None:
    """Today's count, the questions left, the annotator's pace, and a hint when a pause is due."""
    queue, pace = _counts(engine, account_id), _pace(engine, account_id)
    remaining = str(queue.left_for_me)
    if queue.mixed and queue.left_for_me:
        remaining = t("annotate.about", count=-(-queue.left_for_me // ABOUT) * ABOUT)
    parts = [t("annotate.progress", today=queue.mine_today, mine=queue.mine, left=remaining)]
    if pace.seconds is not None:
        parts.append(t("annotate.pace", seconds=f"{pace.seconds:.0f}"))
    st.caption(" · ".join(parts))
    if pace.tired:
        minutes = int(pace.since_pause.total_seconds() // 60)
        st.caption(t("annotate.pause", minutes=minutes, pause=int(PAUSE.total_seconds() // 60)))


def _counts(engine: Engine, account_id: int) -> Queue:
    now = datetime.now(UTC)
    stored: tuple[datetime, Queue] | None = st.session_state.get(_COUNTS)
    if stored is not None and now - stored[0] < COUNTS_MAX_AGE:
        return stored[1]
    counts = queue_of(engine, account_id)
    st.session_state[_COUNTS] = (now, counts)
    return counts


def _count_answer() -> None:
    """Move the counts by one answer. With hidden questions not every answer counts, so all are counted again."""
    counted_at, counts = st.session_state.get(_COUNTS, (None, None))
    if counts is not None and counts.mixed:
        del st.session_state[_COUNTS]
    elif counts is not None:
        today, judged, remaining = counts.mine_today + 1, counts.mine + 1, max(counts.left_for_me - 1, 0)
        st.session_state[_COUNTS] = (counted_at, replace(counts, mine_today=today, mine=judged, left_for_me=remaining))


def _pace(engine: Engine, account_id: int) -> Pace:
    now = datetime.now(UTC)
    stored: tuple[datetime, Pace] | None = st.session_state.get(_PACE)
    if stored is not None and now - stored[0] < PACE_MAX_AGE:
        return stored[1]
    pace = pace_of(engine, account_id)
    st.session_state[_PACE] = (now, pace)
    return pace


def _guideline(engine: Engine, account_id: int, shown: Shown) -> None:
    """The guideline's version, whether it is new to this person, and the guideline itself where its drawer is open."""
    guideline = guideline_shown(shown)
    previous = _last_version_judged_by(engine, account_id, shown, guideline.version)
    if previous is not None and previous < guideline.version:
        # Until the first judgement by the new version: then that is what was judged by last.
        st.info(
            t("annotate.guideline_changed", version=guideline.version, before=previous), icon=":material/menu_book:"
        )
    st.caption(t("annotate.guideline_version", version=guideline.version))
    if st.session_state.get(_DRAWER):
        with st.container(key="guideline", border=True):
            st.markdown(guideline.text)


def _last_version_judged_by(engine: Engine, account_id: int, shown: Shown, version: int) -> int | None:
    """The version by which this person last judged such a question; read again until it is the one in force."""
    versions: dict[tuple[str, str], int | None] = st.session_state.setdefault(_JUDGED_BY, {})
    kind = (shown.task, shown.kind)
    if versions.get(kind) != version:
        versions[kind] = guideline_before(engine, account_id, *kind)
    return versions[kind]


def _answer(engine: Engine, account_id: int, question_id: int, answer: str) -> None:
    """Store an answer. An answer to another question than the one on the screen changes nothing."""
    with _show_refusals():
        session.require_login(engine, account_id)
        shown_at = _on_screen(question_id)
        if shown_at is None:
            return
        comment, client = _comment(question_id) or None, session.client()
        judge(
            engine,
            account_id,
            question_id,
            answer,
            shown_at=shown_at,
            comment=comment,
            client=client,
        )
        st.session_state.pop(_REOPENED, None)
        _count_answer()


def _skip(engine: Engine, account_id: int, question_id: int) -> None:
    with _show_refusals():
        session.require_login(engine, account_id)
        if _on_screen(question_id) is None:
            return
        st.session_state.pop(_COUNTS, None)
        skip(engine, account_id, question_id)
        st.session_state.pop(_REOPENED, None)
        st.session_state[_DONE] = t("annotate.skipped")


def _flag(engine: Engine, account_id: int, question_id: int) -> None:
    with _show_refusals():
        session.require_login(engine, account_id)
        if _on_screen(question_id) is None:
            return
        comment = _comment(question_id)
        if not comment:
            st.session_state[_NOTE] = t("annotate.flag_needs_comment")
            return
        st.session_state.pop(_COUNTS, None)
        flag(engine, account_id, question_id, comment)
        st.session_state.pop(_REOPENED, None)
        st.session_state[_DONE] = t("annotate.flagged")


def _undo(engine: Engine, account_id: int) -> None:
    with _show_refusals():
        session.require_login(engine, account_id)
        if _too_soon():
            return
        st.session_state.pop(_COUNTS, None)
        flagged = unflag(engine, account_id)
        if flagged is not None:
            st.session_state[_REOPENED] = flagged
            st.session_state[_DONE] = t("annotate.unflagged")
            return
        question_id = undo(engine, account_id, client=session.client())
        if question_id is None:
            st.session_state[_NOTE] = t("annotate.nothing_to_undo")
            return
        last = undone(engine, account_id)
        if last is not None:
            st.session_state[_DONE] = t(
                "annotate.undone", answer=plain(label_name(last.answer)), number=last.in_a_row, most=UNDOS
            )
        st.session_state[_REOPENED] = question_id


@contextmanager
def _show_refusals() -> Iterator[None]:
    """For callbacks that write: the page shows the reason of a refusal."""
    try:
        yield
    except AuditError as problem:
        st.session_state[_NOTE] = translated(problem.sentence)
        st.session_state.pop(_REOPENED, None)


def _on_screen(question_id: int) -> datetime | None:
    """When this question was shown; None where that was only just now. Raises Refused for another question."""
    shown, shown_at, _ = st.session_state.get(_SHOWN, (None, None, None))
    if shown != question_id:
        raise Refused(message("annotate.not_shown"))
    return None if _too_soon() else shown_at


def _comment(question_id: int) -> str:
    return str(st.session_state.get(_comment_key(question_id)) or "").strip()


def _too_soon() -> bool:
    """Whether the question was shown only just now; then the page says so.

    A key that is held down goes on pressing: each press puts off the moment from which one counts.
    """
    now = datetime.now(UTC)
    question_id, shown_at, not_before = st.session_state.get(_SHOWN, (None, now, now))
    if now >= not_before:
        return False
    st.session_state[_SHOWN] = (question_id, shown_at, now + LEAST)
    st.session_state[_NOTE] = t("annotate.too_soon")
    return True


def _comment_key(question_id: int) -> str:
    return f"comment-{_browser_id(question_id)}"


def _browser_id(question_id: int) -> str:
    """The question's id for the browser. Not its number where there are hidden questions: that could give them away."""
    if not st.session_state.get(_HAS_HIDDEN):
        return str(question_id)
    return hashlib.blake2b(str(question_id).encode(), key=_key(), digest_size=6).hexdigest()


@cache
def _key() -> bytes:
    """A secret key of this process."""
    return secrets.token_bytes(16)
