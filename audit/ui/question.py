"""Questions on the screen: texts to be judged, an output with its text, or the texts of a group."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import chain, count, islice

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from audit.judging.asides import COMMENT
from audit.judging.own_answers import OwnAnswer
from audit.judging.queue import Shown, ShownGroup
from audit.judging.words import Guideline, guideline_of
from audit.relations.asking import group_question, text_names
from audit.tasks import Input, Output, get_task
from audit.tasks.classification import NONE_OF_THEM, Classification
from audit.tasks.questions import SCALES, UNSURE
from audit.text.differences import paired_texts
from audit.ui.language import (
    Side,
    component,
    difference_html,
    direction,
    html,
    in_language,
    label_name,
    language,
    language_name,
    plain,
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
_PINNED = 200
"""Letters of an output up to which it stays on a narrow screen while the text is read on."""
_LONG_ALONE = 600
"""Letters of a text from which on it is set smaller."""
_GRADES = 5
"""Answers from which on right and wrong ones stand in rows of their own."""
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


def show_question(shown: Shown, compared_with: Sequence[str] | None = None, text: bool = True) -> None:
    """The question and its texts. `shown` knows nothing of systems and verdicts, and no output but the one that
    the question is about.

    `compared_with` are the texts of the version that this person judged last, in the order of `shown.texts`: of a
    question about a text or several, what differs from them is marked, with what was left out in its place.
    """
    title = heading_html(asked_in_words(shown))
    if not text:  # it stands where names are marked in it
        st.html(title)
        return
    if shown.group is None:
        texts = _texts_html(shown, compared_with)
        marked = _version_html(shown, compared_with, texts) if compared_with else ""
        if shown.output is not None:
            sections = _pair_sections(shown.task, shown, texts, shown.output)
            body = _sections_html(sections, _exceeds_screen([*shown.texts, shown.output]))
        elif len(texts) > 1:
            sections = _text_sections(texts, shown.task)
            above = sections[: len(texts) > 2]  # what two texts answer stands over both
            body = "".join(above) + _sections_html(sections[len(above) :], _exceeds_screen(shown.texts))
        else:
            body = texts[0]
        st.html(title + marked + body)
        return
    revealing = shown.group.reveals_outputs and all(member.role != "link" for member in shown.group.members)
    note = f'<p class="audit-expected">{html(t("group.reveals"))}</p>' if revealing else ""
    st.html(title + note)
    st.html(_group_html(shown.group, shown.task))


def asked_in_words(shown: Shown) -> str:
    """What is asked, in this session's language and the database's words."""
    if shown.group is None:
        return t(f"scale.{shown.kind}") if shown.kind in SCALES else task_wording(shown.task, shown.study_id).question
    relation, own = shown.group.relation, words_here().of(shown.task, shown.study_id)
    said = summary(shown.task, relation, shown.group.summary)
    return group_question(shown.task, relation, shown.group.follow_ups, language(), summary=said, own=own)


def guideline_shown(shown: Shown) -> Guideline:
    """The guideline of a question in this session's language, with its version."""
    own = words_here().of(shown.task, shown.study_id)
    guideline_text = guideline_of(shown.task, shown.kind, language(), own)
    if _LABELS not in guideline_text.text:
        return guideline_text
    labels = "\n".join(f"- **{plain(answer_name(label, shown))}**" for label in answers_of(shown))
    return replace(guideline_text, text=guideline_text.text.replace(_LABELS, labels))


def labels_together(shown: Shown) -> tuple[str, ...]:
    """The labels of which a text may have several, for a question that is about them; else none."""
    task = get_task(shown.task) if shown.group is None and shown.kind not in SCALES else None
    return task.parts if isinstance(task, Classification) else ()


def answers_of(shown: Shown) -> tuple[str, ...]:
    """What an annotator chooses from: the labels; of a task with sets of labels the single ones, and none of them."""
    parts = labels_together(shown)
    return (*parts, NONE_OF_THEM) if parts else shown.labels


def grades_of(shown: Shown) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Of a question about an output with many answers, those that say it is right, and those that say it is wrong; None
    for others."""
    if shown.output is None or len(shown.labels) < _GRADES:
        return None
    task, output = get_task(shown.task), Output(text=shown.output)
    wrong = tuple(label for label in shown.labels if task.is_wrong(output, {label}))
    right = tuple(label for label in shown.labels if label not in wrong)
    return (right, wrong) if right and wrong and shown.labels == (*right, *wrong) else None


def answer_name(answer: str, shown: Shown | OwnAnswer) -> str:
    """How an answer to a question reads: a label of its task, or a rating in words."""
    rating = shown.kind in SCALES and answer != UNSURE
    return t(f"scale.{shown.kind}_{answer}") if rating else label_name(answer, shown.task, shown.texts, shown.study_id)


def answer_names(answers: Iterable[str], shown: Shown) -> str:
    """Several answers to a question, with "or" between them."""
    return t("browse.or").join(answer_name(answer, shown) for answer in answers)


def shortcut(answer: str, number: int) -> str | None:
    """The key of an answer: its number up to 9; `u` for unsure; None for later ones."""
    return "u" if answer == UNSURE else str(number) if number <= _KEYS else None


def _texts_html(shown: Shown, compared_with: Sequence[str] | None) -> list[str]:
    size = "" if len(shown.texts) > 1 or shown.output is not None else _size(shown.texts)
    pairs = list(zip(shown.texts, shown.languages, strict=False))  # a target language has no text
    if not compared_with:
        return [text_html(text, code, size) for text, code in pairs]
    counterparts = paired_texts(compared_with, shown.texts)
    return [
        text_html(text, code, size) if at is None else difference_html(compared_with[at], text, code, "both", size=size)
        for (text, code), at in zip(pairs, counterparts, strict=True)
    ]


def _version_html(shown: Shown, compared_with: Sequence[str], texts: Sequence[str]) -> str:
    """That this is another version of the text before, on purpose, and what its marks mean."""
    same = tuple(compared_with) == shown.texts
    line = f'<p class="audit-expected">{html(t("differences.same_text" if same else "differences.version"))}</p>'
    return line + legend_html(texts, t("differences.since_last"))


def _size(texts: Sequence[str]) -> str:
    return "audit-large audit-long" if _width(texts) > _LONG_ALONE else "audit-large"


def _pair_sections(task: str, shown: Shown, texts: Sequence[str], output: str) -> list[str]:
    """The texts and the output that is judged with them; for translation each with the name of its language. An output
    that is a code, such as "unanswerable", is said in words."""
    task_input = Input(shown.texts, shown.languages)
    words = task_wording(task)
    name, code = words.output, task_input.output_language
    if task_input.target is None:
        sections = _text_sections(texts, task)
    else:
        sections = [_section_html(in_language(words.texts[0], language_name(task_input.languages[0])), texts[0])]
        name = in_language(name, language_name(code))
    said = text_html(output, code)
    if output in words.outputs:
        said = f'<div class="audit-text audit-says" tabindex="0">{html(words.outputs[output])}</div>'
    kind = "audit-output audit-short" if _width([output]) <= _PINNED else "audit-output"
    return [*sections, _section_html(name, said, kind)]


def counterpart(task_input: Input, other: Input | None, index: int) -> tuple[str, bool] | None:
    """The text of another input of which this one's is a version, in the same language, and whether it stands at
    another place there; None where there is none."""
    if other is None or index >= len(task_input.texts):
        return None
    # Only texts of one language can have changed places: a translation's output is no version of another's text.
    places = paired_texts(other.texts, task_input.texts) if len({*task_input.languages, *other.languages}) == 1 else []
    at = places[index] if places else index if index < len(other.texts) else None
    if at is None or other.languages[at] != task_input.languages[index]:
        return None
    return other.texts[at], at != index


def _text_sections(texts: Sequence[str], task: str) -> list[str]:
    return [_section_html(name, text) for name, text in zip(_text_names(task, len(texts)), texts, strict=True)]


def _text_names(task: str, number: int) -> list[str]:
    """Names of so many texts of an input; several without names are numbered."""
    named = task_wording(task).texts
    return list(islice(chain(named, (f"{t('asked.text')} {at}" for at in count(len(named) + 1))), number))


def _section_html(name: str, content: str, kind: str = "") -> str:
    return f'<section class="{f"audit-part {kind}".strip()}"><h3>{html(name)}</h3>{content}</section>'


def _sections_html(sections: Sequence[str], beside: bool) -> str:
    kinds = "audit-members audit-beside" if beside else "audit-members"
    return f'<div class="{kinds}">{"".join(sections)}</div>'


def _exceeds_screen(texts: Sequence[str]) -> bool:
    return _width(texts) > _SCREEN


def _width(texts: Sequence[str]) -> int:
    """How much room texts take, in letters; a Chinese sign is as wide as two of them."""
    return sum(1 + (unicodedata.east_asian_width(sign) in "WF") for text in texts for sign in text)


def input_html(task_input: Input, other: Input | None, side: Side = "after", task: str | None = None) -> str:
    """The texts of an input as HTML, with differences from those of `other` marked where they can be compared (`side`
    as of `difference_html`). With a task, several texts have their names."""
    texts = []
    for index, (text, code) in enumerate(zip(task_input.texts, task_input.languages, strict=False)):
        pair = counterpart(task_input, other, index)
        if pair is None:
            texts.append(text_html(text, code))
        else:
            before, after = (text, pair[0]) if side == "before" else (pair[0], text)
            texts.append(difference_html(before, after, code, side, moved=pair[1]))
    if task is None or len(texts) < 2:
        return "".join(texts)
    names = _text_names(task, len(texts))
    return "".join(f'<p class="audit-name">{html(name)}</p>{text}' for name, text in zip(names, texts, strict=True))


def members_html(inputs: Sequence[Input], task: str | None = None) -> list[str]:
    """The inputs of a group's members as HTML, the source first, with what differs marked.

    Of two that can be compared, each shows what the other has not. Where several are compared with the source, it
    stands as it is, and each shows what was left out in its place.
    """
    source, *others = inputs
    compared = [other for other in others if counterpart(other, source, 0) is not None]
    alone = len(compared) == 1
    parts = [input_html(source, compared[0] if alone else None, "before", task)]
    return parts + [input_html(other, source, "after" if alone else "both", task) for other in others]


def legend_html(shown: str | Iterable[str], title: str) -> str:
    """What the marks in this HTML mean, as HTML; empty where nothing is marked."""
    text = shown if isinstance(shown, str) else "".join(shown)
    meanings = [
        f"{begin}{html(t(f'differences.{name}'))}{end}"
        for begin, end, name in (
            ("<ins>", "</ins>", "added"),
            ("<del>", "</del>", "left_out"),
            ('<mark class="audit-moved">', "</mark>", "moved"),
        )
        if begin in text
    ]
    if not meanings:
        return ""
    following = f'<span class="audit-next">{html(t("differences.next"))} <kbd>D</kbd></span>'
    return f'<p class="audit-legend">{html(title)} {" ".join(meanings)} {following}</p>'


def answer_bar() -> DeltaGenerator:
    """The container of the answers: it stays at the bottom of the screen while the text above it is read on, and says
    when there is more of it."""
    bar = st.container(key="answer-bar", gap="xsmall")
    bar.html(
        f'<p class="audit-more" aria-hidden="true">▾ {html(t("differences.more"))} '
        f"<kbd>{html(t('differences.space'))}</kbd></p>"
    )
    return bar


def _group_html(group: ShownGroup, task: str | None = None) -> str:
    first = group.members[0].input
    names = text_names([member.role for member in group.members], len(first.texts), language())
    shown = members_html([member.input for member in group.members], task)
    parts = []
    for name, member, texts in zip(names, group.members, shown, strict=True):
        languages = language_name(member.input.languages[0]) if member.role == "link" else direction(member.input)
        parts.append(_section_html(in_language(name, languages), texts))
    beside = any(len(text) > LONG for member in group.members for text in member.input.texts)
    return legend_html(parts, t("differences.marked")) + _sections_html(parts, beside)


# A key that is held down, and a second click of a double click, count once.
#
# Streamlit's shortcuts fire on every keydown, the repeats of a held key included, and those would judge questions that
# nobody has read. The browser knows which events are repeats, so they are dropped there; the server's own guard
# (`annotate.LEAST`) stands behind it.


def ignore_held_keys() -> None:
    """Drop repeated keydowns and clicks of the judging buttons on this page."""
    component("held_keys")(key="held-keys", data={"guideline": t("annotate.guideline")})
