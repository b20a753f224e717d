"""Parts that all pages that settle questions share: people's opinions, the right answer, and why they disagreed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st
from sqlalchemy import Engine
from streamlit.delta_generator import DeltaGenerator

from audit.annotation.causes import OTHER_REASON, REASONS
from audit.annotation.queue import Shown
from audit.judging.adjudications import Opinion, opinions, reveal_names
from audit.tasks.classification import NONE_OF_THEM
from audit.ui import session
from audit.ui.language import html, label_name, plain, t
from audit.ui.question import FIELD, answers_of, guideline_shown, labels_together, show_question

_NAMES = "adjudicate-names"
"""(question id, names by number): the names that were revealed; they vanish with the next question."""
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


def show_opinions(engine: Engine, account_id: int, shown: Shown) -> None:
    """Answers, comments and flags under numbers, and the button that reveals the names."""
    people_opinions = opinions(engine, account_id, shown.id)
    named_question, names = st.session_state.get(_NAMES, (None, {}))
    if named_question != shown.id:
        st.session_state.pop(_NAMES, None)
        names = {}
    if not people_opinions:
        return
    st.html(opinions_html(people_opinions, names, shown.task))
    if not names:
        st.button(
            t("dispute.reveal"),
            key=f"reveal-{shown.id}",
            type="tertiary",
            icon=":material/visibility:",
            help=t("dispute.reveal_help"),
            on_click=_reveal_names,
            args=(engine, account_id, shown.id),
        )


def chosen_labels(
    shown: Shown, prefix: str = "allow", preselected: Sequence[str] = (), heading: str | None = None
) -> list[str]:
    """The fields for the right answer: one label for a group, one or more for a text. Where a text may have several
    labels, those that are chosen are one answer.

    `heading` stands above the fields of a text, in place of the usual one.
    """
    names = {label: plain(label_name(label, shown.task)) for label in shown.labels}
    if shown.group:
        selected = st.radio(
            t("adjudicate.holds"),
            shown.labels,
            index=shown.labels.index(preselected[0]) if preselected else None,
            format_func=names.__getitem__,
            horizontal=True,
            key=f"{prefix}-{shown.id}",
        )
        return [selected] if selected else []
    together = labels_together(shown)
    st.write(heading or t("adjudicate.allowed_together" if together else "adjudicate.allowed"))
    before = preselected[0].split("+") if together and preselected else preselected
    options = answers_of(shown)
    chosen = [
        label
        for column, label in zip(st.columns(len(options)), options, strict=True)
        if column.checkbox(names[label], value=label in before, key=f"{prefix}-{shown.id}-{label}")
    ]
    if not together or not chosen:
        return chosen
    if NONE_OF_THEM in chosen and len(chosen) > 1:
        st.warning(plain(t("adjudicate.none_or_labels", none=names[NONE_OF_THEM])), icon=":material/info:")
        return []
    return ["+".join(chosen)]


def reason_fields(shown: Shown, code: str | None = None, written: str = "") -> tuple[str | None, str]:
    """The fields for the reason: its code and a text. A text without a code has the code `other`."""
    codes = list(REASONS)
    names = {name: t(f"reason.{name}") for name in codes}
    chosen = st.selectbox(
        t("reason.why"),
        codes,
        index=None if code is None else codes.index(code),
        format_func=names.__getitem__,
        placeholder=t("reason.why"),
        label_visibility="collapsed",
        key=f"code-{shown.id}",
    )
    text = st.text_area(
        t("adjudicate.reason"),
        value=written,
        max_chars=FIELD,
        height=80,
        placeholder=t("adjudicate.reason"),
        label_visibility="collapsed",
        key=f"reason-{shown.id}",
    )
    return (chosen or (OTHER_REASON if text.strip() else None)), text


def guideline_drawer(shown: Shown) -> None:
    """The guideline of a question, closed at first."""
    with st.expander(t("annotate.guideline"), icon=":material/menu_book:"):
        st.markdown(guideline_shown(shown).text)


def later_button(key: str, question_id: int) -> None:
    """The button that puts a question off; `key` names the list of the session that it goes to."""
    st.button(
        t("adjudicate.later"),
        key=f"later-{question_id}",
        type="tertiary",
        on_click=put_off,
        args=(key, question_id),
    )


def put_off(key: str, item: object) -> None:
    """Put an item behind all others of a list, in this session."""
    st.session_state[key] = [*(other for other in put_off_items(key) if other != item), item]


def put_off_items(key: str) -> list[Any]:
    """The items of a list that this session put off, in the order in which it did."""
    return list(st.session_state.get(key, []))


def put_last(key: str, items: Iterable[T]) -> list[T]:
    """The items with those that this session put off last, in the order in which they were put off."""
    later = put_off_items(key)
    return sorted(items, key=lambda item: later.index(item) if item in later else -1)


def opinions_html(opinions: Sequence[Opinion], names: Mapping[int, str], task: str) -> str:
    """Opinions as an HTML list, under numbers, with the names that were revealed."""
    rows = []
    for opinion in opinions:
        annotator = t("dispute.annotator", number=opinion.number)
        name = f" ({html(names[opinion.number])})" if opinion.number in names else ""
        answer = f" <strong>{html(label_name(opinion.answer, task))}</strong>" if opinion.answer else ""
        saw = f" · {html(t('dispute.saw'))}" if opinion.saw else ""
        parts = [f"<br><q>{html(opinion.comment)}</q>"] if opinion.comment else []
        parts += [f"<br>{html(t('flagged.says'))} <q>{html(text)}</q>" for text in opinion.flags]
        rows.append(f"<li>{html(annotator)}{name}{answer}{saw}{''.join(parts)}</li>")
    return f'<ul class="audit-votes">{"".join(rows)}</ul>'


@session.callback
def _reveal_names(engine: Engine, account_id: int, question_id: int) -> None:
    st.session_state[_NAMES] = (question_id, reveal_names(engine, account_id, question_id))
