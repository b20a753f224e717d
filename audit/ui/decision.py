"""Parts that all pages that settle questions share: people's opinions, the right answer, and why they disagreed."""

from collections.abc import Callable, Iterable, Sequence
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
from audit.ui.question import FIELD, answer_name, answers_of, guideline_shown, labels_together, shortcut, show_question

ON_SCREEN = "decision-shown"
"""(the list of work, the question on the screen, since when)"""
_DRAWER = "decision-guideline"
_MISSING = "decision-missing"
"""(the form, the field, what is wrong with it)"""
_LABELS, _WHY, _WORDS = "labels", "why", "words"
REASON_KEYS = dict(zip(REASONS, "qwetyiop", strict=False))
"""The key of each reason: the row of letters below the digits, without those that mean something else (`r`, `u`)."""
T = TypeVar("T")


def show_beside_form(shown: Shown) -> DeltaGenerator:
    """The question with its guideline; returns the container beside it for the form, below it on a narrow screen."""
    with st.container(key="desk", horizontal=True):
        text, form = st.container(key="desk-text"), st.container(key="desk-form")
    with text:
        show_question(shown)
        if st.session_state.get(_DRAWER):
            with st.container(key="guideline", border=True):
                st.markdown(guideline_shown(shown).text)
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
    marked, a key goes through the `answers` of people. What is missing stands below the field that it is missing in.
    """
    on, chosen = _chosen(form)
    several = "adjudicate.allowed_together" if labels_together(shown) else "adjudicate.allowed"
    _title(t("column.right_answer" if shown.group else several))
    if marks_names(shown):
        mark_names(shown, form, _mark, form, answers=[*dict.fromkeys(answers)], before="".join(on[:1]))
    with st.container(key="judge", horizontal=True):
        for number, label in enumerate(() if marks_names(shown) else answers_of(shown), start=1):
            name, key = plain(answer_name(label, shown)), shortcut(label, number)
            _switch(name, f"{form}-{label}", key, label in on, _switch_label, form, shown, label)
    _problem(form, _LABELS)
    _title(why)
    with st.container(key="reasons", horizontal=True, gap="small"):
        for code in REASONS:
            _switch(
                t(f"reason.{code}"), f"code-{form}-{code}", REASON_KEYS.get(code), code == chosen, _switch_reason,
                form, code,
            )  # fmt: skip
    _problem(form, _WHY)
    st.text_area(t("adjudicate.reason"), max_chars=FIELD, height=68, key=f"words-{form}")
    _problem(form, _WORDS)


def decided(shown: Shown, form: str) -> Decision | None:
    """What is chosen in this form; None where something is missing, which `decision_fields` then says below its field.

    There must be a reason: words without one are another reason, and another reason needs words.
    """
    st.session_state.pop(_MISSING, None)
    labels, code = _chosen(form)
    words = str(st.session_state.get(f"words-{form}") or "").strip()
    code = code or (OTHER_REASON if words else None)
    try:
        check_comment(words)
    except Refused as problem:
        field, missing = _WORDS, sentence(translated(problem.sentence))
    else:
        if labels and code and (words or code != OTHER_REASON):
            return Decision(("+".join(labels),) if labels_together(shown) else labels, code, words)
        field = _WORDS if labels and code else _WHY if labels else _LABELS
        missing = t(
            {_LABELS: "adjudicate.no_label", _WHY: "adjudicate.no_reason", _WORDS: "adjudicate.no_words"}[field]
        )
    st.session_state[_MISSING] = (form, field, missing)
    return None


def prefill(form: str, settled: Adjudicated) -> None:
    """Have the form begin with what was decided; for callbacks, before it is shown."""
    together = settled.allowed and labels_together(settled.shown)
    st.session_state[f"decision-{form}"] = (
        tuple(settled.allowed[0].split("+") if together else settled.allowed), settled.code,
    )  # fmt: skip
    st.session_state[f"words-{form}"] = settled.reason


def _chosen(form: str) -> tuple[tuple[str, ...], str | None]:
    """The labels that are on in this form, and the reason that is chosen."""
    chosen: tuple[tuple[str, ...], str | None] = st.session_state.get(f"decision-{form}", ((), None))
    return chosen


def _switch(text: str, key: str, shortcut: str | None, on: bool, action: Callable[..., None], *args: object) -> None:
    icon = ":material/check_box:" if on else ":material/check_box_outline_blank:"
    press(text, key, action, *args, shortcut=shortcut, type="primary" if on else "secondary", icon=icon)


def _switch_label(form: str, shown: Shown, label: str) -> None:
    """Switch a label on or off. Whether a relation holds has one answer; none of the labels excludes the others."""
    on, code = _chosen(form)
    excluding = {NONE_OF_THEM} if labels_together(shown) else set()
    alone = shown.group is not None or label in excluding
    after = {label} - set(on) if alone else (set(on) ^ {label}) - excluding
    st.session_state[f"decision-{form}"] = (tuple(option for option in answers_of(shown) if option in after), code)
    st.session_state.pop(_MISSING, None)


def _mark(form: str, answer: str) -> None:
    st.session_state[f"decision-{form}"] = ((answer,), _chosen(form)[1])
    st.session_state.pop(_MISSING, None)


def _switch_reason(form: str, code: str) -> None:
    labels, before = _chosen(form)
    st.session_state[f"decision-{form}"] = (labels, None if before == code else code)
    st.session_state.pop(_MISSING, None)


def _problem(form: str, field: str) -> None:
    where, wrong, text = st.session_state.get(_MISSING, (None, None, ""))
    if (where, wrong) == (form, field):
        st.error(text, icon=":material/error:")


def _title(text: str) -> None:
    st.html(f'<p class="audit-field">{html(text)}</p>')


def guideline_button(shown: Shown) -> None:
    """The button that opens and closes the guideline."""
    press(t("annotate.guideline"), f"guideline-{shown.id}", _toggle_guideline, shortcut="g", type="tertiary")


def _toggle_guideline() -> None:
    st.session_state[_DRAWER] = not st.session_state.get(_DRAWER, False)


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
