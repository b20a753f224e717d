"""Parts that all pages that settle questions share: people's opinions, the right answer, and why they disagreed."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from audit.errors import Refused
from audit.judging.adjudications import Adjudicated, Opinion
from audit.judging.asides import check_comment
from audit.judging.causes import OTHER_REASON, REASONS
from audit.judging.queue import Shown
from audit.tasks.classification import NONE_OF_THEM
from audit.ui.language import html, plain, press, sentence, t, translated
from audit.ui.marks import mark_names, marks_names
from audit.ui.question import (
    DRAWER,
    FIELD,
    answer_name,
    answers_of,
    guideline_box,
    labels_together,
    shortcut,
    show_question,
    switch_button,
)

ON_SCREEN = "decision-shown"
"""(the list of work, the question) on the screen."""
REASON_KEYS = dict(zip(REASONS, "qwetyiop", strict=False))
"""The key of each reason: the row of letters below the digits, without those that mean something else (`r`, `u`)."""
T = TypeVar("T")


def show_beside_form(shown: Shown) -> DeltaGenerator:
    """The question with its guideline; returns the container beside it for the form, below it on a narrow screen."""
    with st.container(key="desk", horizontal=True):
        text, form = st.container(key="desk-text"), st.container(key="desk-form")
    with text:
        show_question(shown)
        if st.session_state.get(DRAWER):
            guideline_box(shown)
    return form


def show_opinions(opinions: Sequence[Opinion], shown: Shown) -> None:
    """Answers, comments and flags under numbers."""
    rows = []
    for opinion in opinions:
        answer = f" <strong>{html(answer_name(opinion.answer, shown))}</strong>" if opinion.answer else ""
        parts = [f"<br><q>{html(opinion.comment)}</q>"] if opinion.comment else []
        parts += [f"<br>{html(t('flagged.says'))} <q>{html(text)}</q>" for text in opinion.flags]
        rows.append(f"<li>{html(t('dispute.annotator', number=opinion.number))}{answer}{''.join(parts)}</li>")
    if rows:
        st.html(f'<ul class="audit-votes">{"".join(rows)}</ul>')


class Decision(NamedTuple):
    """What an adjudicator chose and wrote."""

    labels: tuple[str, ...] = ()  # That are right; of a text that may have several, their set as one label
    code: str | None = None
    words: str = ""


def decision_fields(shown: Shown, form: str, why: str, answers: Sequence[str] = ()) -> None:
    """Buttons that switch labels on and off by digit, one for each reason by letter, and a field for words.

    `form` names the form: its choices are kept under this name. `why` is said above the reasons. Where names are
    marked, a key goes through the `answers` of people. Below stands what was missing when it was to be stored.
    """
    on, chosen = _chosen(form)
    several = "adjudicate.allowed_together" if labels_together(shown) else "adjudicate.allowed"
    _title(t("column.right_answer" if shown.group else several))
    if marks_names(shown):
        mark_names(shown, form, _mark, form, answers=[*dict.fromkeys(answers)], before="".join(on[:1]))
    with st.container(key="judge", horizontal=True):
        for number, label in enumerate(() if marks_names(shown) else answers_of(shown), start=1):
            name, key = plain(answer_name(label, shown)), shortcut(label, number)
            switch_button(name, f"{form}-{label}", label in on, _switch_label, form, shown, label, shortcut=key)
    _title(why)
    with st.container(key="reasons", horizontal=True, gap="small"):
        for code in REASONS:
            switch_button(
                t(f"reason.{code}"), f"code-{form}-{code}", code == chosen, _switch_reason, form, code,
                shortcut=REASON_KEYS.get(code),
            )  # fmt: skip
    st.text_area(t("adjudicate.reason"), max_chars=FIELD, height=68, key=f"words-{form}")
    if missing := st.session_state.get(f"missing-{form}"):
        st.error(missing, icon=":material/error:")


def decided(shown: Shown, form: str) -> Decision | None:
    """What is chosen in this form; None where something is missing, which `decision_fields` then says.

    There must be a reason: words without one are another reason, and another reason needs words.
    """
    labels, code = _chosen(form)
    words = str(st.session_state.get(f"words-{form}") or "").strip()
    code = code or (OTHER_REASON if words else None)
    lacks = "no_label" if not labels else "no_reason" if not code else "no_words" if code == OTHER_REASON else ""
    try:
        check_comment(words)
    except Refused as problem:
        st.session_state[f"missing-{form}"] = sentence(translated(problem.sentence))
        return None
    if lacks and not (lacks == "no_words" and words):
        st.session_state[f"missing-{form}"] = t(f"adjudicate.{lacks}")
        return None
    return Decision(("+".join(labels),) if labels_together(shown) else labels, code, words)


def prefill(form: str, settled: Adjudicated) -> None:
    """Have the form begin with what was decided; for callbacks, before it is shown."""
    together = settled.allowed and labels_together(settled.shown)
    _choose(form, tuple(settled.allowed[0].split("+") if together else settled.allowed), settled.code)
    st.session_state[f"words-{form}"] = settled.reason


def _chosen(form: str) -> tuple[tuple[str, ...], str | None]:
    """The labels that are on in this form, and the reason that is chosen."""
    chosen: tuple[tuple[str, ...], str | None] = st.session_state.get(f"decision-{form}", ((), None))
    return chosen


def _choose(form: str, labels: tuple[str, ...], code: str | None) -> None:
    st.session_state[f"decision-{form}"] = (labels, code)
    st.session_state.pop(f"missing-{form}", None)


def _switch_label(form: str, shown: Shown, label: str) -> None:
    """Switch a label on or off. Whether a relation holds has one answer; none of the labels excludes the others."""
    on, code = _chosen(form)
    excluding = {NONE_OF_THEM} if labels_together(shown) else set()
    alone = shown.group is not None or label in excluding
    after = {label} - set(on) if alone else (set(on) ^ {label}) - excluding
    _choose(form, tuple(option for option in answers_of(shown) if option in after), code)


def _mark(form: str, answer: str) -> None:
    _choose(form, (answer,), _chosen(form)[1])


def _switch_reason(form: str, code: str) -> None:
    labels, before = _chosen(form)
    _choose(form, labels, None if before == code else code)


def _title(text: str) -> None:
    st.html(f'<p class="audit-field">{html(text)}</p>')


def later_button(key: str, item: object, name: str) -> None:
    """The button that puts an item off; `key` names the list of the session that it goes to."""
    press(t("adjudicate.later"), f"later-{name}", put_off, key, item, shortcut="s", type="tertiary")


def put_off(key: str, item: object) -> None:
    """Put an item behind all others of a list, in this session."""
    st.session_state.pop(ON_SCREEN, None)
    st.session_state[key] = [*(other for other in st.session_state.get(key, []) if other != item), item]


def put_last(key: str, items: Iterable[T]) -> list[T]:
    """The items with those that this session put off last, in the order in which they were put off."""
    later: list[Any] = st.session_state.get(key, [])
    return sorted(items, key=lambda item: later.index(item) if item in later else -1)
