"""The training round on the page *Judge*: questions with known answers, what is right after each, and the score.

Answered by the same keys as all others, and `n` goes on. Nothing here lets anybody in: the claim asks again
(`audit.annotation.trained`).
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.answers import UNSURE
from audit.annotation.queue import Shown
from audit.annotation.trained import Attempt
from audit.errors import AuditError
from audit.judging.training import Feedback, Training, train
from audit.ui import session
from audit.ui.asked import guideline_shown, shortcut, show_question
from audit.ui.language import label_name, label_names, t
from audit.ui.literal import html, plain

GO_ON = "n"
"""The key that goes on."""
_BEGUN = "training-begun"
"""The number of the attempt that was begun in this session."""
_SHOWN = "training-shown"
"""(attempt and question on the screen, when it came there)"""
_SAID = "training-said"
"""(the question that was answered last, its feedback)"""
_RESULT = "training-result"
"""The attempt whose score is on the screen."""
_PROBLEM = "training-problem"
_DRAWER = "guideline-open"


def training_card(engine: Engine, account_id: int, training: Training | None, least: timedelta) -> bool:
    """What somebody in training sees; whether there was anything. `least`: an answer sooner was meant for another."""
    if problem := st.session_state.pop(_PROBLEM, None):
        session.refused(problem)
    if said := st.session_state.get(_SAID):
        _feedback(*said)
    elif result := st.session_state.get(_RESULT):
        _result(result, training)
    elif training is None:
        return False
    elif training.answered == 0 and st.session_state.get(_BEGUN) != training.attempt:
        _introduction(training)
    else:
        _question(engine, account_id, training, least)
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


def _question(engine: Engine, account_id: int, training: Training, least: timedelta) -> None:
    shown, place = training.shown, f"{training.attempt}-{training.answered}"
    st.caption(t("training.progress", number=training.answered + 1, of=training.questions, right=training.right))
    show_question(shown)
    answers = (*shown.labels, UNSURE)
    with st.container(key="judge", horizontal=True):
        for number, answer in enumerate(answers, start=1):
            st.button(
                plain(label_name(answer)),
                key=f"judge-training-{place}-{answer}",
                shortcut=shortcut(answer, number),
                on_click=_answer,
                args=(engine, account_id, shown, answer, least),
                width="stretch",
            )
    with st.container(key="beside", horizontal=True, gap="small"):
        st.button(
            t("annotate.guideline"), key=f"guideline-training-{place}", shortcut="g", on_click=_drawer, type="tertiary"
        )
    _guideline(shown)
    if st.session_state.get(_SHOWN, (None,))[0] != place:
        st.session_state[_SHOWN] = (place, datetime.now(UTC))


def _feedback(shown: Shown, said: Feedback) -> None:
    """The text again, what was said of it, what is right and why; signs and words, not colours alone."""
    show_question(shown)
    allowed = plain(label_names(said.allowed))
    given = plain(label_name(said.answer))
    if said.right:
        st.success(t("training.right", answer=given), icon=":material/check_circle:")
        if len(said.allowed) > 1:
            st.write(t("training.allowed", answer=allowed))
    else:
        st.error(t("training.wrong", answer=given, right=allowed), icon=":material/cancel:")
    if said.explanation:
        st.markdown(plain(said.explanation))
    _go_on(t("training.go_on"), f"seen-{said.question_id}", _seen)


def _result(result: Attempt, training: Training | None) -> None:
    values = {"right": result.right, "of": result.questions}
    if result.passed or training is None:
        _heading(t("training.passed_title"))
        st.success(t("training.passed", **values), icon=":material/check_circle:")
        _go_on(t("training.to_judging"), "to-judging", _leave)
        return
    # The introduction of the next attempt says the score and shows the guideline.
    _introduction(training)


def _begin(attempt: int) -> None:
    st.session_state[_BEGUN] = attempt
    st.session_state.pop(_RESULT, None)


def _answer(engine: Engine, account_id: int, shown: Shown, answer: str, least: timedelta) -> None:
    moment = datetime.now(UTC)
    place, shown_at = st.session_state.get(_SHOWN, (None, moment))
    if moment < shown_at + least:
        st.session_state[_SHOWN] = (place, moment)
        return
    try:
        session.still(engine, account_id)
        said = train(engine, account_id, shown.id, answer, shown_at=shown_at)
    except AuditError as problem:
        st.session_state[_PROBLEM] = problem
        return
    st.session_state[_SAID] = (shown, said)


def _seen() -> None:
    _, said = st.session_state.pop(_SAID)
    if said.finished is not None:
        st.session_state[_RESULT] = said.finished


def _leave() -> None:
    st.session_state.pop(_RESULT, None)


def _drawer() -> None:
    st.session_state[_DRAWER] = not st.session_state.get(_DRAWER, False)


def _go_on(text: str, key: str, action: Callable[..., None], *args: object) -> None:
    with st.container(key="go-on"):
        st.button(text, key=f"training-{key}", shortcut=GO_ON, on_click=action, args=args, type="primary")


def _guideline(shown: Shown) -> None:
    one = guideline_shown(shown)
    st.caption(t("annotate.guideline_version", version=one.version))
    if st.session_state.get(_DRAWER):
        with st.container(key="guideline", border=True):
            st.markdown(one.text)


def _heading(text: str) -> None:
    st.html(f'<h2 class="audit-question">{html(text)}</h2>')
