"""The page *Judge*: one question per screen, answered by key or click.

Nothing here knows a system, an output or anybody else's answer: `audit.judging.queue.Shown` has none of them.
"""

import hashlib
import secrets
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from functools import cache, wraps
from typing import ParamSpec, TypeVar

import streamlit as st
from sqlalchemy import Engine

from audit.errors import AuditError, Refused
from audit.judging.accounts import ROLES
from audit.judging.invitations import completion_code
from audit.judging.judgements import (
    UNDOS,
    Feedback,
    Training,
    flag,
    judge,
    judging_mode,
    skip,
    train,
    undo,
    undone,
)
from audit.judging.order import block_of
from audit.judging.queue import Queue, Shown, elsewhere, last_block, next_question, queue_of, show
from audit.judging.training import Attempt
from audit.judging.words import guideline_before
from audit.messages import message
from audit.tasks import Output, get_task
from audit.tasks.classification import NONE_OF_THEM
from audit.tasks.questions import SCALES, UNSURE
from audit.ui import session
from audit.ui.language import html, label_name, plain, press, sentence, t, task_name, translated
from audit.ui.marks import mark_names, marks_names
from audit.ui.question import (
    FIELD,
    LEAST,
    answer_bar,
    answer_name,
    answer_names,
    answers_of,
    asked_in_words,
    grades_of,
    guideline_shown,
    heading,
    ignore_held_keys,
    labels_together,
    shortcut,
    show_question,
)

# The training round on the page *Judge*: questions with known answers, what is right after each, and the score.
#
# Answered by the same keys as all others, and `n` goes on. Nothing here lets anybody in: the claim asks again
# (`audit.judging.control_questions`).

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
_DRAWER = "guideline-open"
_READ = "guidelines-read"
"""(task, kind, version of the guideline) of the questions that this session has begun with, having seen it."""
_BLOCK = "block"
"""What the keys mean now (`audit.judging.order.block_of`)."""
_SWITCHED_ON = "switched-on"
"""(the question on the screen, the labels that are on), where a text may have several"""


def training_card(engine: Engine, account_id: int, training: Training | None) -> bool:
    """The card of the training round. Returns whether there was one."""
    session.show_last()
    result: Attempt | None = st.session_state.get(_RESULT)
    if feedback := st.session_state.get(_FEEDBACK):
        _feedback(*feedback)
    elif result and (result.passed or training is None):
        heading(t("training.passed_title"))
        st.success(t("training.passed", right=result.right, of=result.questions), icon=":material/check_circle:")
        _go_on(t("training.to_judging"), "to-judging", _close_result)
    elif training is None:
        return False
    elif result or (training.answered == 0 and st.session_state.get(_BEGUN) != training.attempt):
        _introduction(training)  # after a failed attempt with its score
    else:
        _training_question(engine, account_id, training)
    return True


def _introduction(training: Training) -> None:
    heading(t("measure.training"))
    values = {"questions": training.questions, "mark": f"{100 * training.mark:.0f}"}
    if training.last is not None:
        st.warning(
            t("training.failed", right=training.last.right, of=training.last.questions), icon=":material/replay:"
        )
        st.write(t("training.again", **values))
    else:
        st.write(t("training.what", **values))
    _go_on(t("first.enter"), f"begin-{training.attempt}", _begin, training.attempt)
    with st.container(key="guideline", border=True):
        st.markdown(guideline_shown(training.shown).text)


def _training_question(engine: Engine, account_id: int, training: Training) -> None:
    shown, place = training.shown, f"{training.attempt}-{training.answered}"
    st.caption(t("training.progress", number=training.answered + 1, of=training.questions, right=training.right))
    show_question(shown, text=not marks_names(shown))
    _guideline_drawer(shown)
    with answer_bar():
        answer_buttons(shown, f"training-{place}", _training_answer, engine, account_id, shown)
        with st.container(key="beside", horizontal=True, gap="small"):
            _small_button("guideline", f"training-{place}", "g", _toggle_guideline)
    if st.session_state.get(_TRAINING_SHOWN, (None,))[0] != place:
        st.session_state[_TRAINING_SHOWN] = (place, datetime.now(UTC))


def _feedback(shown: Shown, feedback: Feedback) -> None:
    """The text again, the answer to it, what is right and why; with signs and words, not colours alone."""
    show_question(shown)
    allowed = plain(answer_names(feedback.allowed, shown))
    answer = plain(answer_name(feedback.answer, shown))
    if feedback.right:
        st.success(t("training.right", answer=answer), icon=":material/check_circle:")
        if len(feedback.allowed) > 1:
            st.write(t("training.allowed", answer=allowed))
    else:
        st.error(t("training.wrong", answer=answer, right=allowed), icon=":material/cancel:")
    if feedback.explanation:
        st.markdown(plain(feedback.explanation))
    _go_on(t("gate.go_on"), f"seen-{feedback.question_id}", _close_feedback)


def _begin(attempt: int) -> None:
    st.session_state[_BEGUN] = attempt
    st.session_state.pop(_RESULT, None)


@session.callback
def _training_answer(engine: Engine, account_id: int, shown: Shown, answer: str) -> None:
    now = datetime.now(UTC)
    place, shown_at = st.session_state.get(_TRAINING_SHOWN, (None, now))
    if now < shown_at + LEAST:
        st.session_state[_TRAINING_SHOWN] = (place, now)
        return
    feedback = train(engine, account_id, shown.id, answer, shown_at=shown_at)
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
        press(text, f"training-{key}", action, *args, shortcut=GO_ON, type="primary")


def _guideline_drawer(shown: Shown) -> None:
    """The version of the question's guideline, and the guideline itself.

    It stands beside the text where the window is wide, else below it where its drawer was opened; the key closes the
    one and opens the other (data/ui/style.css), since only the browser knows how wide it is.
    """
    guideline = guideline_shown(shown)
    with st.container(key="guideline-below" if st.session_state.get(_DRAWER) else "guideline-beside", border=True):
        st.markdown(guideline.text)
        st.caption(t("annotate.guideline_version", version=guideline.version))


# The gate: before questions of another task or kind than those before, what they ask, without any question; for whoever
# has never judged such a one, with the guideline. No key answers here; `n` begins, and the question is on the screen
# from then on.


def _gate_closed(engine: Engine, account_id: int, shown: Shown) -> bool:
    """Whether the keys mean something else than just before, or this person has never judged such a question and has
    not begun with them in this session."""
    block = block_of(shown.task, shown.kind)
    if st.session_state.get(_REOPENED) is not None:
        st.session_state[_BLOCK] = block  # `z` goes back to it, so its keys are known
    if _BLOCK not in st.session_state:
        st.session_state[_BLOCK] = last_block(engine, account_id) or block
    return st.session_state[_BLOCK] != block or _is_new(engine, account_id, shown)


def _is_new(engine: Engine, account_id: int, shown: Shown) -> bool:
    version = guideline_shown(shown).version
    if (shown.task, shown.kind, version) in st.session_state.get(_READ, ()):
        return False
    return _last_version_judged_by(engine, account_id, shown, version) is None


def _gate(engine: Engine, account_id: int, shown: Shown) -> None:
    """What will be asked, by which keys it is answered, and to whom it is new the guideline with its examples."""
    is_new = _is_new(engine, account_id, shown)
    heading(t("gate.title" if is_new else "gate.switch_title", task=task_name(shown.task)))
    st.write(t("gate.what" if is_new else "gate.switch"))
    st.markdown(f"{t('gate.question')} **{plain(asked_in_words(shown))}**")
    keys = [
        f"`{key}`\u00a0{plain(answer_name(answer, shown))}"
        for number, answer in enumerate((*answers_of(shown), UNSURE), start=1)
        if (key := shortcut(answer, number))
    ]
    st.markdown(f"{t('gate.keys')} {' · '.join(keys)}")
    with st.container(key="gate"):
        args = (shown.task, shown.kind, guideline_shown(shown).version)
        begin = t("first.enter" if is_new else "gate.go_on")
        press(begin, "gate-begin", _open_gate, *args, shortcut=GO_ON, type="primary")
        if not is_new:
            _small_button("undo", f"gate-{_browser_id(shown.id)}", "z", _undo, engine, account_id)
    if is_new:
        with st.container(key="guideline", border=True):
            st.markdown(guideline_shown(shown).text)


def _open_gate(task: str, kind: str, version: int) -> None:
    st.session_state[_BLOCK] = block_of(task, kind)
    st.session_state[_READ] = {*st.session_state.get(_READ, ()), (task, kind, version)}


def answer_buttons(shown: Shown, place: str, action: Callable[..., None], *args: object) -> None:
    """A button for each answer, which comes after `args` when `action` is called. Its key holds the question (`place`),
    so that a press meant for another one does nothing."""
    if labels_together(shown):
        _label_switches(shown, place, action, *args)
        return
    if marks_names(shown):
        mark_names(shown, place, action, *args)
    graded = grades_of(shown)
    with (
        st.container(key="judge-graded", gap="xsmall") if graded else nullcontext(),
        st.container(key="judge", horizontal=True),
    ):
        labels = () if marks_names(shown) else shown.labels
        for number, answer in enumerate((*labels, UNSURE), start=1):
            if graded and answer in (graded[0][0], graded[1][0]):
                st.html(
                    f'<p class="audit-grade">{html(t("browse.right" if answer in graded[0] else "browse.wrong"))}</p>'
                )
            press(
                plain(answer_name(answer, shown)), f"judge-{place}-{answer}", action, *args, answer,
                shortcut=shortcut(answer, number), width="stretch",
            )  # fmt: skip


def _label_switches(shown: Shown, place: str, action: Callable[..., None], *args: object) -> None:
    """Where a text may have several labels: a button that switches each of them on and off, and one that stores those
    that are on. Nothing is on at first, so a key that is held down stores nothing."""
    chosen = _chosen(place)
    together = get_task(shown.task).checked(Output("+".join(chosen))).label if chosen else None
    with st.container(key="judge", horizontal=True):
        for number, label in enumerate(answers_of(shown), start=1):
            press(
                plain(answer_name(label, shown)), f"switch-{place}-{label}", _switch, place, label,
                shortcut=str(number), type="primary" if label in chosen else "secondary",
                icon=":material/check_box:" if label in chosen else ":material/check_box_outline_blank:",
                width="stretch",
            )  # fmt: skip
        press(
            plain(answer_name(UNSURE, shown)), f"judge-{place}-{UNSURE}", action, *args, UNSURE, shortcut="u",
            width="stretch",
        )  # fmt: skip
    words = answer_name(together or NONE_OF_THEM, shown)
    with st.container(key="judge-together"):
        press(
            plain(t("annotate.confirm" if together else "annotate.confirm_nothing", labels=words)),
            f"judge-{place}-together", action, *args, together, shortcut="Enter", disabled=together is None,
            width="stretch",
        )  # fmt: skip


def _chosen(place: str) -> tuple[str, ...]:
    where, labels = st.session_state.get(_SWITCHED_ON, (None, ()))
    return labels if where == place else ()


def _switch(place: str, label: str) -> None:
    """Switch a label on or off; none of them and a label switch each other off."""
    on = _chosen(place)
    if label in on:
        after = tuple(other for other in on if other != label)
    elif label == NONE_OF_THEM:
        after = (label,)
    else:
        after = (*(other for other in on if other != NONE_OF_THEM), label)
    st.session_state[_SWITCHED_ON] = (place, after)


def _small_button(name: str, place: str, key: str, action: Callable[..., None], *args: object) -> None:
    press(t(f"annotate.{name}"), f"{name}-{place}", action, *args, shortcut=key, type="tertiary")


# Why there is no question just now.


def why_nothing(engine: Engine, account_id: int) -> None:
    """Why there is no question: all are answered, others are at the remaining ones, or they are in other languages."""
    queue, with_others = queue_of(engine, account_id), elsewhere(engine, account_id)
    heading(t("earlier.nothing_now" if with_others else "annotate.nothing"))
    if with_others:
        st.write(t("annotate.nothing_now", count=with_others))
    if queue.in_other_languages:
        st.write(t("annotate.nothing_read", count=queue.in_other_languages))
    if not with_others:
        if queue.left_for_me or not queue.in_other_languages:
            # Between the two readings somebody may have let go of a question: then the button below finds it.
            st.write(t("earlier.look" if queue.left_for_me else "annotate.nothing_more"))
        if queue.mine and not queue.left_for_me and (code := completion_code(engine, account_id)):
            st.success(plain(t("invite.finished", completion=code)), icon=":material/check:")


T = TypeVar("T")
Arguments = ParamSpec("Arguments")
COUNTS_MAX_AGE = timedelta(seconds=30)
"""How long counts stand, which read the whole queue: each answer changes them by one; after a skip, a flag or an undo
they are counted again."""
_SHOWN = "shown"
"""(question id, when it was shown, from when an answer counts)"""
_REOPENED = "again"
"""The question whose judgement was undone last; it is shown before the queue goes on."""
_NOTE = "note"
_DONE = "done"
"""What the last key did, where the next question does not show it."""
_HAS_HIDDEN = "mixed"
"""Whether hidden questions come between the others."""
ABOUT = 10
"""With hidden questions, the number of questions left is rounded to tens: else one that does not count would show."""
_COUNTS = "counts"
"""(when they were counted, the counts)"""
_JUDGED_BY = "judged-by"
"""(task, kind, study) -> the version of the guideline by which this person last judged such a question"""


def page() -> None:
    """The page on which all roles judge."""
    session.require_role(session.engine(), *ROLES)
    ignore_held_keys()
    _card()


@st.fragment
@session.report_problems
def _card() -> None:
    """The question, its buttons and the progress line. An answer reruns only this."""
    engine, account = session.enter(*ROLES)
    way = judging_mode(engine, account.id)
    if training_card(engine, account.id, way.training):
        return
    st.session_state[_HAS_HIDDEN] = way.mixed
    shown = _next(engine, account.id)
    note, action_done = st.session_state.pop(_NOTE, None), st.session_state.pop(_DONE, None)
    if shown is not None and _gate_closed(engine, account.id, shown):
        st.session_state.pop(_SHOWN, None)
        _gate(engine, account.id, shown)
        if note:
            st.warning(plain(sentence(note)), icon=":material/info:")
        return
    if shown is None:
        st.session_state.pop(_SHOWN, None)
        _nothing_left(engine, account.id)
    else:
        show_question(shown, shown.compared_with, text=not marks_names(shown))
        _reminders(shown)
        _guideline(engine, account.id, shown)
    with answer_bar() if shown is not None else nullcontext():
        # What the last key did stands above the answers: below them nobody would see it.
        if action_done:
            st.info(action_done, icon=":material/check:")
        if note:
            st.warning(plain(sentence(note)), icon=":material/info:")
        if shown is not None:
            _answers(engine, account.id, shown)
        _progress(engine, account.id, shown)
    if shown is not None and st.session_state.get(_SHOWN, (None,))[0] != shown.id:
        now = datetime.now(UTC)
        st.session_state[_SHOWN] = (shown.id, now, now + LEAST)


def _next(engine: Engine, account_id: int) -> Shown | None:
    question_id = st.session_state.get(_REOPENED)
    if question_id is None:
        return next_question(engine, account_id)
    with engine.connect() as connection:
        return show(connection, question_id, account_id)


def _answers(engine: Engine, account_id: int, shown: Shown) -> None:
    place = _browser_id(shown.id)
    answer_buttons(shown, place, _answer, engine, account_id, shown.id)
    with st.container(key="beside", horizontal=True, gap="small"):
        st.text_input(
            t("annotate.comment"), key=_comment_key(shown.id), max_chars=FIELD, placeholder=t("annotate.comment_key"),
            label_visibility="collapsed",
        )  # fmt: skip
        _small_button("undo", place, "z", _undo, engine, account_id)
        _small_button("skip", place, "s", _skip, engine, account_id, shown.id)
        if shown.kind not in SCALES:  # no adjudicator looks at ratings
            _small_button("flag", place, "f", _flag, engine, account_id, shown.id)
        _small_button("guideline", place, "g", _toggle_guideline)


def _reminders(shown: Shown) -> None:
    remembered = shown.remembered
    if remembered.sent_back:
        st.info(plain(t("annotate.sent_back_saying", remark=remembered.sent_back)))
    elif remembered.sent_back is not None:
        st.info(plain(t("annotate.sent_back")))
    elif remembered.skipped:
        st.caption(t("annotate.skipped_before"))
    if stale := remembered.stale:
        st.info(plain(t("stale.again", version=stale[0], reason=stale[1])), icon=":material/update:")


def _nothing_left(engine: Engine, account_id: int) -> None:
    st.session_state.pop(_COUNTS, None)
    why_nothing(engine, account_id)
    st.button(t("annotate.look_again"), key="look-again", icon=":material/refresh:")
    _small_button("undo", "last", "z", _undo, engine, account_id)


def _progress(engine: Engine, account_id: int, shown: Shown | None) -> None:
    queue = recent(_COUNTS, COUNTS_MAX_AGE, queue_of, engine, account_id)
    share, said = done_and_left(queue)
    if shown is not None:
        said += f" · {t('annotate.guideline_version', version=guideline_shown(shown).version)}"
    st.progress(share)
    st.caption(said, help=t("annotate.why_fewer") if queue.left_for_me else None)


def done_and_left(queue: Queue) -> tuple[float, str]:
    """What share of their questions somebody has answered, and how many in words; with hidden questions in tens."""
    about = queue.mixed and queue.left_for_me
    left = -(-queue.left_for_me // ABOUT) * ABOUT if about else queue.left_for_me
    remaining = t("annotate.about", count=left) if about else str(left)
    said = t("annotate.progress", today=queue.mine_today, mine=queue.mine, left=remaining)
    return queue.mine / max(1, queue.mine + left), said


def recent(key: str, most: timedelta, read: Callable[[Engine, int], T], engine: Engine, account_id: int) -> T:
    """What `read` says, or what it said no longer than `most` ago."""
    now = datetime.now(UTC)
    stored: tuple[datetime, T] | None = st.session_state.get(key)
    if stored is not None and now - stored[0] < most:
        return stored[1]
    value = read(engine, account_id)
    st.session_state[key] = (now, value)
    return value


def _count_answer() -> None:
    """Move the counts by one answer. With hidden questions not every answer counts, so all are counted again."""
    counted_at, counts = st.session_state.get(_COUNTS, (None, None))
    if counts is not None and counts.mixed:
        del st.session_state[_COUNTS]
    elif counts is not None:
        today, judged, remaining = counts.mine_today + 1, counts.mine + 1, max(counts.left_for_me - 1, 0)
        st.session_state[_COUNTS] = (counted_at, counts._replace(mine_today=today, mine=judged, left_for_me=remaining))


def _guideline(engine: Engine, account_id: int, shown: Shown) -> None:
    """Whether the guideline is new to this person, and its drawer."""
    version = guideline_shown(shown).version
    previous = _last_version_judged_by(engine, account_id, shown, version)
    if previous is not None and previous < version:
        # Until the first judgement by the new version: then that is what was judged by last.
        st.info(t("annotate.guideline_changed", version=version, before=previous), icon=":material/menu_book:")
    _guideline_drawer(shown)


def _last_version_judged_by(engine: Engine, account_id: int, shown: Shown, version: int) -> int | None:
    """The version by which this person last judged such a question; read again until it is the one in force."""
    versions: dict[tuple[str, str, int | None], int | None] = st.session_state.setdefault(_JUDGED_BY, {})
    kind = (shown.task, shown.kind, shown.study_id)
    if versions.get(kind) != version:
        versions[kind] = guideline_before(engine, account_id, *kind)
    return versions[kind]


def _callback(action: session.Action[Arguments]) -> session.Action[Arguments]:
    """As `session.callback`; the reason of a refusal stands below the question."""

    @wraps(action)
    def wrapper(engine: Engine, account_id: int, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            session.require_login(engine, account_id)
            action(engine, account_id, *args, **kwargs)
        except AuditError as problem:
            st.session_state[_NOTE] = translated(problem.sentence)
            st.session_state.pop(_REOPENED, None)

    return wrapper


@_callback
def _answer(engine: Engine, account_id: int, question_id: int, answer: str) -> None:
    """Store an answer. An answer to another question than the one on the screen changes nothing."""
    if (shown_at := _on_screen(question_id)) is None:
        return
    comment, client = _comment(question_id) or None, session.client()
    judge(engine, account_id, question_id, answer, shown_at=shown_at, comment=comment, client=client)
    st.session_state.pop(_REOPENED, None)
    _count_answer()


@_callback
def _skip(engine: Engine, account_id: int, question_id: int) -> None:
    if _on_screen(question_id) is not None:
        _put_aside("annotate.skipped", lambda: skip(engine, account_id, question_id))


@_callback
def _flag(engine: Engine, account_id: int, question_id: int) -> None:
    if _on_screen(question_id) is None:
        return
    if comment := _comment(question_id):
        _put_aside("annotate.flagged", lambda: flag(engine, account_id, question_id, comment))
    else:
        st.session_state[_NOTE] = t("annotate.flag_needs_comment")


def _put_aside(done: str, action: Callable[[], None]) -> None:
    st.session_state.pop(_COUNTS, None)
    action()
    st.session_state.pop(_REOPENED, None)
    st.session_state[_DONE] = t(done)


@_callback
def _undo(engine: Engine, account_id: int) -> None:
    if _too_soon():
        return
    st.session_state.pop(_COUNTS, None)
    st.session_state.pop(_SWITCHED_ON, None)
    gone = undo(engine, account_id, client=session.client())
    if gone is None or (last := undone(engine, account_id)) is None:
        st.session_state[_NOTE] = t("annotate.nothing_to_undo")
        return
    answer = plain(label_name(last.answer, last.task))
    st.session_state[_DONE] = t("annotate.undone", answer=answer, number=last.in_a_row, most=UNDOS)
    st.session_state[_REOPENED] = last.question_id
    st.session_state[_comment_key(last.question_id)] = last.comment


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
    return opaque_id(question_id) if st.session_state.get(_HAS_HIDDEN) else str(question_id)


def opaque_id(question_id: int) -> str:
    """A name for a question that tells nothing of its number."""
    return hashlib.blake2b(str(question_id).encode(), key=_key(), digest_size=6).hexdigest()


@cache
def _key() -> bytes:
    return secrets.token_bytes(16)
