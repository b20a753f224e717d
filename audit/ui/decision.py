"""Parts that all pages that settle questions share: people's opinions, the right answer, and why they disagreed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from audit.errors import Refused
from audit.judging.adjudications import Opinion
from audit.judging.asides import check_comment
from audit.judging.causes import OTHER_REASON, REASONS
from audit.judging.queue import Shown
from audit.tasks.classification import NONE_OF_THEM
from audit.ui.language import html, label_name, plain, press, sentence, t, translated
from audit.ui.question import FIELD, answers_of, guideline_shown, labels_together, shortcut, show_question

ON_SCREEN = "decision-shown"
"""(the list of work, the question on the screen, since when)"""
_DRAWER = "decision-guideline"
T = TypeVar("T")


def side_by_side() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Two containers side by side, for the text and the form; one above the other on a narrow screen."""
    with st.container(key="desk", horizontal=True):
        return st.container(key="desk-text"), st.container(key="desk-form")


def show_beside_form(shown: Shown) -> DeltaGenerator:
    """The question with its guideline; returns the container beside it, for the form."""
    text, form = side_by_side()
    with text:
        show_question(shown)
        guideline_drawer(shown)
    return form


def show_opinions(shown: Shown, people_opinions: Sequence[Opinion]) -> None:
    """Answers, comments and flags under numbers."""
    if people_opinions:
        st.html(opinions_html(people_opinions, shown.task))


@dataclass(frozen=True)
class Decision:
    """What an adjudicator chose and wrote."""

    labels: tuple[str, ...] = ()
    """The labels that are right; of a text that may have several, their set as one label."""
    code: str | None = None
    words: str = ""


NOTHING_CHOSEN = Decision()
REASON_KEYS = dict(zip(REASONS, "qwetyiop", strict=False))
"""The key of each reason: the row of letters below the digits, without those that mean something else (`r`, `u`)."""
_ON = "decision-on"
"""(the form, the labels that are on)"""
_REASON = "decision-reason"
"""(the form, the reason that is chosen)"""
_MISSING = "decision-missing"
"""(the form, the field, what is wrong with it)"""
_LABELS, _WHY, _WORDS = "labels", "why", "words"


def decision_fields(
    shown: Shown,
    form: str,
    *,
    why: str | None = None,
    words: str,
    heading: str | None = None,
    before: Decision = NOTHING_CHOSEN,
) -> None:
    """Buttons that switch labels on and off by digit, one for each reason by letter, and a field for words.

    `form` names the form: its choices are kept under this name, and begin as `before`. `why` is said above the reasons;
    without it there are none. What is missing stands below the field that it is missing in.
    """
    _label_switches(shown, form, before, heading)
    _problem(form, _LABELS)
    if why is not None:
        _reason_switches(form, before, why)
        _problem(form, _WHY)
    st.session_state.setdefault(_words_key(form), before.words)
    st.text_area(words, max_chars=FIELD, height=68, key=_words_key(form))
    _problem(form, _WORDS)


def decided(shown: Shown, form: str, *, reason: bool = False, before: Decision = NOTHING_CHOSEN) -> Decision | None:
    """What is chosen in this form; None where something is missing, which `decision_fields` then says below its field.

    With `reason` there must be one: words without one are another reason, and another reason needs words.
    """
    st.session_state.pop(_MISSING, None)
    labels = on_in(form, before)
    words = str(st.session_state.get(_words_key(form)) or "").strip()
    code = _reason_in(form, before) or (OTHER_REASON if reason and words else None)
    try:
        check_comment(words)
    except Refused as problem:
        missing(form, sentence(translated(problem.sentence)), _WORDS)
        return None
    if not labels:
        missing(form, t("adjudicate.no_label"), _LABELS)
    elif reason and code is None:
        missing(form, t("adjudicate.no_reason"), _WHY)
    elif reason and code == OTHER_REASON and not words:
        missing(form, t("adjudicate.no_words"), _WORDS)
    else:
        together = bool(labels_together(shown))
        return Decision(("+".join(labels),) if together else labels, code if reason else None, words)
    return None


def missing(form: str, text: str, field: str = _WORDS) -> None:
    """Have the form say this below its field for words, or below another one."""
    st.session_state[_MISSING] = (form, field, text)


def prefill(form: str, decision: Decision) -> None:
    """Have the form begin with these choices; for callbacks, before it is shown."""
    st.session_state[_ON] = (form, decision.labels)
    st.session_state[_REASON] = (form, decision.code)
    st.session_state[_words_key(form)] = decision.words


def parts_of(shown: Shown, labels: Sequence[str]) -> tuple[str, ...]:
    """The labels of an answer as the form has them: those of a set one by one."""
    return tuple(labels[0].split("+")) if labels and labels_together(shown) else tuple(labels)


def on_in(form: str, before: Decision = NOTHING_CHOSEN) -> tuple[str, ...]:
    """The labels that are on in this form."""
    where, labels = st.session_state.get(_ON, (None, ()))
    return tuple(labels) if where == form else before.labels


def _label_switches(shown: Shown, form: str, before: Decision, heading: str | None) -> None:
    several = "adjudicate.allowed_together" if labels_together(shown) else "adjudicate.allowed"
    st.html(_field_name(heading or t("column.right_answer" if shown.group else several)))
    on = on_in(form, before)
    with st.container(key="judge", horizontal=True):
        for number, label in enumerate(answers_of(shown), start=1):
            _switch_button(
                plain(label_name(label, shown.task)), f"{form}-{label}", shortcut(label, number), label in on,
                _switch_label, (form, before, shown, label),
            )  # fmt: skip


def _reason_switches(form: str, before: Decision, why: str) -> None:
    st.html(_field_name(why))
    chosen = _reason_in(form, before)
    with st.container(key="reasons", horizontal=True, gap="small"):
        for code in REASONS:
            _switch_button(
                t(f"reason.{code}"), f"code-{form}-{code}", REASON_KEYS.get(code), code == chosen, _choose,
                (form, before, code),
            )  # fmt: skip


def _switch_button(
    text: str, key: str, shortcut: str | None, on: bool, action: Callable[..., None], args: tuple[object, ...]
) -> None:
    press(
        text, key, action, *args, shortcut=shortcut, type="primary" if on else "secondary",
        icon=":material/check_box:" if on else ":material/check_box_outline_blank:",
    )  # fmt: skip


def _switch_label(form: str, before: Decision, shown: Shown, label: str) -> None:
    """Switch a label on or off. Whether a relation holds has one answer; none of the labels excludes the others."""
    on = on_in(form, before)
    excluding = {NONE_OF_THEM} if labels_together(shown) else set()
    alone = shown.group is not None or label in excluding
    after = {label} - set(on) if alone else (set(on) ^ {label}) - excluding
    st.session_state[_ON] = (form, tuple(option for option in answers_of(shown) if option in after))
    st.session_state.pop(_MISSING, None)


def _reason_in(form: str, before: Decision) -> str | None:
    where, code = st.session_state.get(_REASON, (None, None))
    return code if where == form else before.code


def _choose(form: str, before: Decision, code: str) -> None:
    st.session_state[_REASON] = (form, None if _reason_in(form, before) == code else code)
    st.session_state.pop(_MISSING, None)


def _problem(form: str, field: str) -> None:
    where, wrong, text = st.session_state.get(_MISSING, (None, None, ""))
    if where == form and wrong == field:
        st.error(text, icon=":material/error:")


def _words_key(form: str) -> str:
    return f"words-{form}"


def _field_name(text: str) -> str:
    return f'<p class="audit-field">{html(text)}</p>'


def guideline_drawer(shown: Shown) -> None:
    """The guideline of a question, where `g` has opened it."""
    if st.session_state.get(_DRAWER):
        with st.container(key="guideline", border=True):
            st.markdown(guideline_shown(shown).text)


def guideline_button(shown: Shown) -> None:
    """The button that opens and closes the guideline."""
    press(t("annotate.guideline"), f"guideline-{shown.id}", _toggle_guideline, shortcut="g", type="tertiary")


def _toggle_guideline() -> None:
    st.session_state[_DRAWER] = not st.session_state.get(_DRAWER, False)


def later_button(key: str, question_id: int) -> None:
    """The button that puts a question off; `key` names the list of the session that it goes to."""
    press(t("adjudicate.later"), f"later-{question_id}", put_off, key, question_id, shortcut="s", type="tertiary")


def put_off(key: str, item: object) -> None:
    """Put an item behind all others of a list, in this session."""
    st.session_state.pop(ON_SCREEN, None)
    st.session_state[key] = [*(other for other in put_off_items(key) if other != item), item]


def put_off_items(key: str) -> list[Any]:
    """The items of a list that this session put off, in the order in which it did."""
    return list(st.session_state.get(key, []))


def put_last(key: str, items: Iterable[T]) -> list[T]:
    """The items with those that this session put off last, in the order in which they were put off."""
    later = put_off_items(key)
    return sorted(items, key=lambda item: later.index(item) if item in later else -1)


def opinions_html(opinions: Sequence[Opinion], task: str) -> str:
    """Opinions as an HTML list, under numbers."""
    rows = []
    for opinion in opinions:
        answer = f" <strong>{html(label_name(opinion.answer, task))}</strong>" if opinion.answer else ""
        parts = [f"<br><q>{html(opinion.comment)}</q>"] if opinion.comment else []
        parts += [f"<br>{html(t('flagged.says'))} <q>{html(text)}</q>" for text in opinion.flags]
        rows.append(f"<li>{html(t('dispute.annotator', number=opinion.number))}{answer}{''.join(parts)}</li>")
    return f'<ul class="audit-votes">{"".join(rows)}</ul>'
