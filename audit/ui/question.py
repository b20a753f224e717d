"""What a question looks like: texts to be judged, an output with its text, or a group with the relation it should
satisfy."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import count
from typing import Any

import streamlit as st

from audit.annotation.answers import UNSURE
from audit.annotation.deferral import COMMENT
from audit.annotation.guidelines import Guideline, guideline_of
from audit.annotation.queue import Shown, ShownGroup
from audit.resources import data_file
from audit.tasks import Input, base_of, wording_of
from audit.ui.language import (
    compared,
    direction,
    html,
    in_language,
    known_or,
    label_name,
    language,
    language_name,
    plain,
    plugin_task,
    question_of,
    reading,
    summary,
    t,
)

FIELD = COMMENT + 1
"""Characters that a field for a comment takes: one more than are kept, so that what is too long is refused, not cut."""
LONG = 400
"""Characters of a text from which on members stand side by side, so that they scroll together."""
_SCREEN = 560
"""Letters that a screen of 720 pixels has room for beside the answers."""
_KEYS = 9
"""Answers that have a number for a key; those behind are clicked."""
_LABELS = "{labels}"
"""In a guideline: the task's labels are listed here."""


def show_question(shown: Shown) -> None:
    """The question, and what it is about. Nothing of a system or a verdict is in `shown`, and no output but that which
    the question itself is about."""
    if shown.group is None:
        task = base_of(shown.task)
        asked = f'<h2 class="audit-question">{html(question_of(shown.task))}</h2>'
        texts = list(zip(shown.texts, shown.languages, strict=False))  # a target language has no text
        if shown.output is not None:
            st.html(asked + _sections(_pair(task, shown, shown.output), _fills([*shown.texts, shown.output])))
        elif len(texts) > 1:
            st.html(asked + _sections(_texts(texts, shown.task), _fills(shown.texts)))
        else:
            st.html(asked + "".join(reading(text, code, "audit-large") for text, code in texts))
        return
    expected = summary(shown.task, shown.group.relation, shown.group.summary) or shown.group.relation
    st.html(
        f'<h2 class="audit-question">{html(t("group.question"))}</h2>'
        f'<p class="audit-expected">{html(t("group.relation"))} <strong>{html(expected)}</strong></p>'
    )
    st.html(_members(shown.group))


def guideline(shown: Shown) -> str:
    """The guideline of a question in this session's language, as Markdown that we wrote."""
    return guideline_shown(shown).text


def guideline_shown(shown: Shown) -> Guideline:
    """The guideline of a question in this session's language, with its version."""
    one = guideline_of(shown.task, shown.kind, language())
    if _LABELS not in one.text:
        return one
    labels = "\n".join(f"- **{plain(label_name(label, shown.task))}**" for label in shown.labels)
    return replace(one, text=one.text.replace(_LABELS, labels))


def shortcut(answer: str, number: int) -> str | None:
    """The key of an answer: its number, as far as one key is a number; `u` for unsure."""
    return "u" if answer == UNSURE else str(number) if number <= _KEYS else None


def _pair(task: str, shown: Shown, output: str) -> list[str]:
    """The texts and the output that is judged with them; of a translation each with the name of its language."""
    given = Input(shown.texts, shown.languages)
    own = plugin_task(task)
    name = known_or(f"task.{task}.output", t("asked.output"))
    name, code = (own and wording_of(own, language()).output) or name, given.output_language
    if given.target is None:
        texts = _texts(list(zip(shown.texts, shown.languages, strict=True)), task)
    else:
        title = in_language(t(f"task.{task}.text"), language_name(given.languages[0]))
        texts = [_section(title, reading(given.text, given.languages[0]))]
        name = in_language(name, language_name(code))
    return [*texts, _section(name, reading(output, code), "audit-output")]


def comparable(given: Input, other: Input | None, place: int) -> str | None:
    """The text of another input with which this one's can be compared word by word: at the same place, and in the same
    language; None where there is none."""
    if other is None or place >= len(other.texts) or other.languages[place] != given.languages[place]:
        return None
    return other.texts[place]


def _texts(texts: Sequence[tuple[str, str]], task: str) -> list[str]:
    """Texts of an input, each with its name: one is the text, several have numbers or the names of a plug-in's task."""
    own = plugin_task(task)
    if own is not None and len(named := wording_of(own, language()).texts) == len(texts):
        return [_section(name, reading(text, code)) for name, (text, code) in zip(named, texts, strict=True)]
    if len(texts) == 1:
        return [_section(t("asked.text"), reading(*texts[0]))]
    names = (known_or(f"asked.text_{number}", f"{t('asked.text')} {number}") for number in count(1))
    return [_section(name, reading(text, code)) for name, (text, code) in zip(names, texts, strict=False)]


def _section(name: str, content: str, kind: str = "") -> str:
    return f'<section class="{f"audit-part {kind}".strip()}"><h4>{html(name)}</h4>{content}</section>'


def _sections(sections: Sequence[str], beside: bool) -> str:
    """Sections one under the other, or side by side."""
    kinds = "audit-members audit-beside" if beside else "audit-members"
    return f'<div class="{kinds}" tabindex="0">{"".join(sections)}</div>'


def _fills(texts: Sequence[str]) -> bool:
    """Whether texts one under the other would not all be seen on a small screen; a Chinese sign is as wide as two."""
    return sum(1 + (unicodedata.east_asian_width(sign) in "WF") for text in texts for sign in text) > _SCREEN


def readings(given: Input, other: Input | None) -> str:
    """The texts of an input as HTML, with what differs from those of the `other` marked where they can be compared."""
    parts = []
    for place, (text, code) in enumerate(zip(given.texts, given.languages, strict=False)):
        before = comparable(given, other, place)
        parts.append(reading(text, code) if before is None else compared(before, text, code))
    return "".join(parts)


def _members(group: ShownGroup) -> str:
    """Source and follow-ups as HTML, with the words that differ marked; in the source only where there is one other."""
    roles = [member.role for member in group.members]
    first = group.members[0].input
    parts = []
    for number, member in enumerate(group.members):
        other = first if number else group.members[1].input if len(group.members) == 2 else None
        name = t(f"role_of.{member.role}")
        if roles.count(member.role) > 1:
            name += f" {roles[: number + 1].count(member.role)}"
        parts.append(_section(in_language(name, direction(member.input)), readings(member.input, other)))
    return _sections(parts, any(len(text) > LONG for member in group.members for text in member.input.texts))


# A key that is held down, and a second click of a double click, count once.
#
# Streamlit's shortcuts fire on every keydown, the repeats of a held key included, and those would judge questions that
# nobody has read. The browser knows which events are repeats, so they are dropped there; the server's own guard
# (`annotate.LEAST`) stands behind it.


def ignore_held_keys() -> None:
    """Drop repeated keydowns and clicks of the judging buttons on this page."""
    _component()(key="held-keys")


@cache
def _component() -> Any:
    script = data_file("ui/held_keys.js").read_text(encoding="utf-8")
    return st.components.v2.component("audit_held_keys", js=script)
