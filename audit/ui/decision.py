"""What the ways of settling a question share: what people said of it, the right answer, and why they disagreed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st
from sqlalchemy import Engine
from streamlit.delta_generator import DeltaGenerator

from audit.annotation.causes import OTHER_REASON, REASONS
from audit.annotation.queue import Shown
from audit.errors import AuditError
from audit.judging.adjudications import Opinion, opinions, reveal_names
from audit.ui import session
from audit.ui.language import html, label_name, plain, t
from audit.ui.question import FIELD, guideline

_NAMES = "adjudicate-names"
"""(question id, names by number): they were asked for, and vanish with the next question."""
PROBLEM = "adjudicate-problem"
"""What a callback could not do; the page says it in its next run."""
T = TypeVar("T")


def desk() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Two places side by side, the text and what is done about it; one above the other where there is no room."""
    with st.container(key="desk", horizontal=True):
        return st.container(key="desk-text"), st.container(key="desk-form")


def what_people_said(engine: Engine, account_id: int, shown: Shown) -> None:
    """Answers, comments and flags under numbers, and the button that reveals the names."""
    found = opinions(engine, account_id, shown.id)
    of, names = st.session_state.get(_NAMES, (None, {}))
    if of != shown.id:
        st.session_state.pop(_NAMES, None)
        names = {}
    if not found:
        return
    st.html(listed(found, names))
    if not names:
        st.button(
            t("dispute.reveal"),
            key=f"reveal-{shown.id}",
            type="tertiary",
            icon=":material/visibility:",
            help=t("dispute.reveal_help"),
            on_click=_reveal,
            args=(engine, account_id, shown.id),
        )


def chosen_labels(
    shown: Shown, prefix: str = "allow", before: Sequence[str] = (), words: str | None = None
) -> list[str]:
    """The fields for the right answer: of a group one, of a text several where more than one may stand.

    `words` stand above the fields of a text, in place of the usual ones.
    """
    names = {label: plain(label_name(label, shown.task)) for label in shown.labels}
    if shown.group:
        only = st.radio(
            t("adjudicate.holds"),
            shown.labels,
            index=shown.labels.index(before[0]) if before else None,
            format_func=names.__getitem__,
            horizontal=True,
            key=f"{prefix}-{shown.id}",
        )
        return [only] if only else []
    st.write(words or t("adjudicate.allowed"))
    return [
        label
        for place, label in zip(st.columns(len(shown.labels)), shown.labels, strict=True)
        if place.checkbox(names[label], value=label in before, key=f"{prefix}-{shown.id}-{label}")
    ]


def why(shown: Shown, code: str | None = None, written: str = "") -> tuple[str | None, str]:
    """The fields for the reason: its code and what is written to it. Writing without choosing is `other`."""
    codes = list(REASONS)
    names = {one: t(f"reason.{one}") for one in codes}
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


def settles(store: Callable[[], object]) -> bool:
    """Store what settles a question, or say why not; whether it was stored."""
    try:
        store()
    except AuditError as problem:
        session.refused(problem)
        return False
    return True


def guideline_drawer(shown: Shown) -> None:
    """The guideline of a question, to be opened."""
    with st.expander(t("annotate.guideline"), icon=":material/menu_book:"):
        st.markdown(guideline(shown))


def later_button(key: str, question_id: int) -> None:
    """The button that puts a question off; `key` is that of the session's list."""
    st.button(
        t("adjudicate.later"),
        key=f"later-{question_id}",
        type="tertiary",
        on_click=put_off,
        args=(key, question_id),
    )


def put_off(key: str, one: object) -> None:
    """Put one behind all others of a list, in this session."""
    st.session_state[key] = [*(other for other in put_off_in(key) if other != one), one]


def put_off_in(key: str) -> list[Any]:
    """What this session put off of a list, in the order in which it did."""
    return list(st.session_state.get(key, []))


def put_last(key: str, some: Iterable[T]) -> list[T]:
    """Those that this session put off come last, in the order in which they were put off."""
    later = put_off_in(key)
    return sorted(some, key=lambda one: later.index(one) if one in later else -1)


def listed(found: Sequence[Opinion], names: Mapping[int, str]) -> str:
    """What was said as an HTML list; numbers, and names where somebody asked for them."""
    rows = []
    for one in found:
        who = t("dispute.annotator", number=one.number)
        named = f" ({html(names[one.number])})" if one.number in names else ""
        said = f" <strong>{html(label_name(one.answer))}</strong>" if one.answer else ""
        seen = f" · {html(t('dispute.saw'))}" if one.saw else ""
        parts = [f"<br><q>{html(one.comment)}</q>"] if one.comment else []
        parts += [f"<br>{html(t('flagged.says'))} <q>{html(text)}</q>" for text in one.flags]
        rows.append(f"<li>{html(who)}{named}{said}{seen}{''.join(parts)}</li>")
    return f'<ul class="audit-votes">{"".join(rows)}</ul>'


def _reveal(engine: Engine, account_id: int, question_id: int) -> None:
    try:
        session.still(engine, account_id)
        st.session_state[_NAMES] = (question_id, reveal_names(engine, account_id, question_id))
    except AuditError as problem:
        st.session_state[PROBLEM] = problem
