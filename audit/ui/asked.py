"""What a question looks like: a text to be judged, or a group with the relation that it should satisfy."""

import streamlit as st

from audit.annotation.aside import COMMENT
from audit.annotation.guidelines import Guideline, guideline_of
from audit.annotation.queue import Shown, ShownGroup
from audit.ui.language import language, summary, t
from audit.ui.literal import compared, html, reading

FIELD = COMMENT + 1
"""Characters that a field for a comment takes: one more than are kept, so that what is too long is refused, not cut."""
LONG = 400
"""Characters of a text from which on members stand side by side, so that they scroll together."""


def show_question(shown: Shown) -> None:
    """The question, and what it is about. Nothing of a system, its outputs or the verdict is in `shown`."""
    if shown.group is None:
        asked = f'<h2 class="audit-question">{html(t(f"task.{shown.task}.question"))}</h2>'
        texts = [reading(text, code, "audit-large") for text, code in zip(shown.texts, shown.languages, strict=True)]
        st.html("".join([asked, *texts]))
        return
    expected = summary(shown.task, shown.group.relation, shown.group.summary) or shown.group.relation
    st.html(
        f'<h2 class="audit-question">{html(t("group.question"))}</h2>'
        f'<p class="audit-expected">{html(t("group.relation"))} <strong>{html(expected)}</strong></p>'
    )
    st.html(_members(shown.group))


def guideline(shown: Shown | None) -> str:
    """The guideline of a question in this session's language, as Markdown that we wrote."""
    return guideline_shown(shown).text


def guideline_shown(shown: Shown | None) -> Guideline:
    """The guideline of a question in this session's language, with its version; of texts where there is no question."""
    task, kind = ("sentiment", "input") if shown is None else (shown.task, shown.kind)
    return guideline_of(task, kind, language())


def _members(group: ShownGroup) -> str:
    """Source and follow-ups as HTML, with the words that differ marked; in the source only where there is one other."""
    roles = [member.role for member in group.members]
    first = group.members[0].input
    parts = []
    for number, member in enumerate(group.members):
        other = first if number else group.members[1].input if len(group.members) == 2 else None
        texts = [
            compared(other.texts[place], text, code) if other and place < len(other.texts) else reading(text, code)
            for place, (text, code) in enumerate(zip(member.input.texts, member.input.languages, strict=True))
        ]
        name = t(f"role_of.{member.role}")
        if roles.count(member.role) > 1:
            name += f" {roles[: number + 1].count(member.role)}"
        parts.append(f'<section class="audit-part"><h4>{html(name)}</h4>{"".join(texts)}</section>')
    long = any(len(text) > LONG for member in group.members for text in member.input.texts)
    kinds = "audit-members audit-beside" if long else "audit-members"
    return f'<div class="{kinds}" tabindex="0">{"".join(parts)}</div>'
