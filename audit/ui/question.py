"""Questions on the screen: texts to be judged, an output with its text, or the texts of a group."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache
from itertools import chain, count
from typing import Any

import streamlit as st

from audit.annotation.answers import SCALES, UNSURE
from audit.annotation.deferral import COMMENT
from audit.annotation.guidelines import Guideline, guideline_of
from audit.annotation.queue import Shown, ShownGroup
from audit.relations.asking import group_question, text_names
from audit.resources import data_file
from audit.tasks import Input, get_task
from audit.tasks.classification import NONE_OF_THEM, Classification
from audit.ui.language import (
    difference_html,
    direction,
    html,
    in_language,
    label_name,
    language,
    language_name,
    plain,
    question_of,
    summary,
    t,
    task_wording,
    text_html,
    words_here,
)

FIELD = COMMENT + 1
"""Characters that a comment field takes: one more than allowed, so that a long comment is refused and not cut."""
LEAST = timedelta(milliseconds=150)
"""Nobody reads and judges in less time: an answer so soon was meant for the question before."""
LONG = 400
"""Characters of a text from which on members stand side by side, so that they scroll together."""
_SCREEN = 560
"""Characters that fit on a screen of 720 pixels above the answers."""
_KEYS = 9
"""Answers that have a digit as their key; later ones are clicked."""
_LABELS = "{labels}"
"""The place in a guideline where the task's labels are listed."""


def heading(text: str) -> None:
    """A heading as large as a question."""
    st.html(heading_html(text))


def heading_html(text: str) -> str:
    """The same as HTML."""
    return f'<h2 class="audit-question">{html(text)}</h2>'


def show_question(shown: Shown) -> None:
    """The question and its texts. `shown` knows nothing of systems and verdicts, and no output but the one that
    the question is about."""
    title = heading_html(asked_in_words(shown))
    if shown.group is None:
        texts = list(zip(shown.texts, shown.languages, strict=False))  # a target language has no text
        if shown.output is not None:
            sections = _pair_sections(shown.task, shown, shown.output)
            st.html(title + _sections_html(sections, _exceeds_screen([*shown.texts, shown.output])))
        elif len(texts) > 1:
            st.html(title + _sections_html(_text_sections(texts, shown.task), _exceeds_screen(shown.texts)))
        else:
            st.html(title + "".join(text_html(text, code, "audit-large") for text, code in texts))
        return
    revealing = shown.group.reveals_outputs and all(member.role != "link" for member in shown.group.members)
    note = f'<p class="audit-expected">{html(t("group.reveals"))}</p>' if revealing else ""
    st.html(title + note)
    st.html(_group_html(shown.group))


def asked_in_words(shown: Shown) -> str:
    """What is asked, in this session's language and the database's words."""
    if shown.group is None:
        return t(f"scale.{shown.kind}") if shown.kind in SCALES else question_of(shown.task)
    relation, own = shown.group.relation, words_here().of(shown.task)
    said = summary(shown.task, relation, shown.group.summary)
    return group_question(shown.task, relation, shown.group.follow_ups, language(), summary=said, own=own)


def guideline_shown(shown: Shown) -> Guideline:
    """The guideline of a question in this session's language, with its version."""
    guideline_text = guideline_of(shown.task, shown.kind, language(), words_here().of(shown.task))
    if _LABELS not in guideline_text.text:
        return guideline_text
    labels = "\n".join(f"- **{plain(label_name(label, shown.task))}**" for label in answers_of(shown))
    return replace(guideline_text, text=guideline_text.text.replace(_LABELS, labels))


def labels_together(shown: Shown) -> tuple[str, ...]:
    """The labels of which a text may have several, for a question that is about them; else none."""
    task = get_task(shown.task) if shown.group is None and shown.kind not in SCALES else None
    return task.parts if isinstance(task, Classification) else ()


def answers_of(shown: Shown) -> tuple[str, ...]:
    """What an annotator chooses from: the labels; of a task with sets of labels the single ones, and none of them."""
    parts = labels_together(shown)
    return (*parts, NONE_OF_THEM) if parts else shown.labels


def answer_name(answer: str, shown: Shown) -> str:
    """How an answer to a question reads: a label of its task, or a rating in words."""
    rating = shown.kind in SCALES and answer != UNSURE
    return t(f"scale.{shown.kind}_{answer}") if rating else label_name(answer, shown.task)


def shortcut(answer: str, number: int) -> str | None:
    """The key of an answer: its number up to 9; `u` for unsure; None for later ones."""
    return "u" if answer == UNSURE else str(number) if number <= _KEYS else None


def _pair_sections(task: str, shown: Shown, output: str) -> list[str]:
    """The texts and the output that is judged with them; for translation each with the name of its language. An output
    that is a code, such as "unanswerable", is said in words."""
    task_input = Input(shown.texts, shown.languages)
    words = task_wording(task)
    name, code = words.output, task_input.output_language
    if task_input.target is None:
        texts = _text_sections(list(zip(shown.texts, shown.languages, strict=True)), task)
    else:
        title = in_language(words.texts[0], language_name(task_input.languages[0]))
        texts = [_section_html(title, text_html(task_input.text, task_input.languages[0]))]
        name = in_language(name, language_name(code))
    if output in words.outputs:
        said = f'<div class="audit-text audit-says" tabindex="0">{html(words.outputs[output])}</div>'
        return [*texts, _section_html(name, said, "audit-output")]
    return [*texts, _section_html(name, text_html(output, code), "audit-output")]


def comparable(task_input: Input, other: Input | None, index: int) -> str | None:
    """The text of another input with which this one's can be compared word by word: at the same place, and in the same
    language; None where there is none."""
    if other is None or index >= len(other.texts) or other.languages[index] != task_input.languages[index]:
        return None
    return other.texts[index]


def _text_sections(texts: Sequence[tuple[str, str]], task: str) -> list[str]:
    """Texts of an input, each with its name; several without names are numbered."""
    named = task_wording(task).texts
    names = chain(named, (f"{t('asked.text')} {number}" for number in count(len(named) + 1)))
    return [_section_html(name, text_html(text, code)) for name, (text, code) in zip(names, texts, strict=False)]


def _section_html(name: str, content: str, kind: str = "") -> str:
    return f'<section class="{f"audit-part {kind}".strip()}"><h4>{html(name)}</h4>{content}</section>'


def _sections_html(sections: Sequence[str], beside: bool) -> str:
    """Sections one under the other, or side by side."""
    kinds = "audit-members audit-beside" if beside else "audit-members"
    return f'<div class="{kinds}" tabindex="0">{"".join(sections)}</div>'


def _exceeds_screen(texts: Sequence[str]) -> bool:
    """Whether texts one below the other exceed a small screen; a Chinese character is as wide as two others."""
    return sum(1 + (unicodedata.east_asian_width(sign) in "WF") for text in texts for sign in text) > _SCREEN


def input_html(task_input: Input, other: Input | None) -> str:
    """The texts of an input as HTML, with differences from those of `other` marked where they can be compared."""
    parts = []
    for index, (text, code) in enumerate(zip(task_input.texts, task_input.languages, strict=False)):
        counterpart = comparable(task_input, other, index)
        parts.append(text_html(text, code) if counterpart is None else difference_html(counterpart, text, code))
    return "".join(parts)


def _group_html(group: ShownGroup) -> str:
    """Source and follow-ups as HTML, with the words that differ marked; in the source only where there is one other."""
    first = group.members[0].input
    names = text_names([member.role for member in group.members], len(first.texts), language())
    parts = []
    for number, (name, member) in enumerate(zip(names, group.members, strict=True)):
        other = first if number else group.members[1].input if len(group.members) == 2 else None
        languages = language_name(member.input.languages[0]) if member.role == "link" else direction(member.input)
        parts.append(_section_html(in_language(name, languages), input_html(member.input, other)))
    return _sections_html(parts, any(len(text) > LONG for member in group.members for text in member.input.texts))


# A key that is held down, and a second click of a double click, count once.
#
# Streamlit's shortcuts fire on every keydown, the repeats of a held key included, and those would judge questions that
# nobody has read. The browser knows which events are repeats, so they are dropped there; the server's own guard
# (`annotate.LEAST`) stands behind it.


def ignore_held_keys() -> None:
    """Drop repeated keydowns and clicks of the judging buttons on this page."""
    _component()(key="held-keys", data={"guideline": t("annotate.guideline")})


@cache
def _component() -> Any:
    script = data_file("ui/held_keys.js").read_text(encoding="utf-8")
    return st.components.v2.component("audit_held_keys", js=script)
