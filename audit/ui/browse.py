"""Looking at groups: texts, outputs, answers, and why a satisfaction is false."""

from collections.abc import Sequence
from typing import Any, TypeVar

import streamlit as st
from sqlalchemy import Engine
from streamlit.delta_generator import DeltaGenerator

from audit.errors import UnknownName
from audit.relations import get_relation
from audit.studies.browse import (
    READERS,
    STATES,
    Detail,
    GroupFilter,
    Page,
    Part,
    browse,
    choices,
)
from audit.studies.browse import detail as group_detail
from audit.studies.impact import cause_of
from audit.tasks import base_of
from audit.ui import session
from audit.ui.language import (
    direction,
    html,
    in_language,
    label_name,
    label_names,
    language,
    output_words,
    press,
    summary,
    t,
    text_html,
)
from audit.ui.question import input_html, legend_html, members_html
from audit.ui.study_choice import choose_study

T = TypeVar("T")
ROLES = READERS
SIZE = 20
"""Lines on a page."""
_HEIGHT = 9
"""Lines of the table that are seen at once: below them the selected group begins on a screen of 720 pixels."""
_TABLE_ROW = 35
_TRAIL = "browse-trail"
"""(wish, the cursors of the pages up to and including this one)"""
_EXCERPT = 120


def page() -> None:
    """Filters, a page of groups, and the selected group in full."""
    engine, account = session.enter(*ROLES)
    blind = account.role == "adjudicator"
    if blind:
        st.caption(t("browse.blind"))
    wish = _filters(engine, account.id, [state for state in STATES if not (blind and state == "waiting")])
    trail = trail_of(_TRAIL, wish)
    groups = browse(engine, account.id, wish, trail[-1], SIZE)
    selected = _table(groups, len(trail)) if groups.lines else None
    if selected is None:
        st.info(t("browse.go_on" if groups.next else "browse.nothing"))
    pager(trail, groups.next, ("browse.back", "browse.next"))
    if selected is not None:
        _detail(engine, account.id, groups.lines[selected].group_id, groups.lines[selected].system_id)


def _filters(engine: Engine, account_id: int, states: Sequence[str]) -> GroupFilter:
    study, (relations, systems) = choose_study(engine, account_id, says_pooled=False), choices(engine, account_id)
    columns = st.columns([1, 1, 1, 1.4])
    relation = _filter(columns[0], "relation", relations)
    system = _filter(columns[1], "system", systems)
    state = _filter(columns[2], "state", {state: t(f"state.{state}") for state in states})
    search = columns[3].text_input(
        t("browse.search"), max_chars=200, key="browse-search", placeholder=t("browse.search_place"),
        help=t("browse.search_help"), icon=":material/search:", autocomplete="off",
    )  # fmt: skip
    return GroupFilter(study, relation, system, state, search.strip())


def _filter(column: DeltaGenerator, field: str, names: dict[T, str]) -> T | None:
    options, label = [None, *names], t(f"browse.{field}")
    names_or_all = lambda option: t("browse.all") if option is None else names[option]  # noqa: E731
    return column.selectbox(label, options, format_func=names_or_all, key=f"browse-{field}")


def _table(groups: Page, number: int) -> int:
    """Show the page as a table. Returns the index of the selected line, or of the first where none is selected."""
    rows = [
        {
            t("browse.state"): t(f"state.{line.state}"),
            t("browse.relation"): line.relation,
            t("browse.system"): line.system,
            t("browse.row"): line.row,
            t("browse.text"): line.text[:_EXCERPT] + ("…" if len(line.text) > _EXCERPT else ""),
        }
        for line in groups.lines
    ]
    event = st.dataframe(
        rows,
        hide_index=True,
        height=_TABLE_ROW * (min(len(rows), _HEIGHT) + 1) + 3,
        column_config={t("browse.text"): st.column_config.TextColumn(width="large")},
        on_select="rerun",
        selection_mode="single-row-required",
        # Another page, another table: a selection never points into the page before.
        key=f"browse-table-{language()}-{number}-{groups.lines[0].group_id}-{groups.lines[0].system_id}",
    )
    selected = list(event.selection.rows)
    return selected[0] if selected and selected[0] < len(groups.lines) else 0


def trail_of(key: str, wish: object) -> list[Any]:
    """The beginnings of the pages that were opened of a list, the first to the present; of another wish, the first."""
    before, trail = st.session_state.get(key, (wish, [None]))
    st.session_state[key] = wish, trail = (wish, trail if before == wish else [None])
    return trail


def pager(trail: list[Any], following: Any, names: tuple[str, str]) -> None:
    """Buttons to the page before and after, by the codes of their texts; `following` is where the next page begins,
    None: there is none."""
    (back, back_key), (forward, forward_key) = ((t(name), name.replace(".", "-")) for name in names)
    icons = ":material/arrow_back:", ":material/arrow_forward:"
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        press(back, back_key, trail.pop, disabled=len(trail) == 1, icon=icons[0])
        st.caption(t("browse.page", number=len(trail)), text_alignment="center", width="content")
        press(forward, forward_key, trail.append, following, disabled=following is None, icon=icons[1])


def _detail(engine: Engine, account_id: int, group_id: int, system_id: int) -> None:
    group = group_detail(engine, account_id, group_id, system_id)
    st.html(_heading(group) + _cause(cause_of(engine, account_id, group_id, system_id)))
    parts = members(group)
    st.html(legend_html(parts, t("differences.marked")) + "".join(parts))


def members(group: Detail, probes: bool = True) -> list[str]:
    """The members of a group as HTML, one block each: text, output, answer, right or wrong; with or without probes.

    Probes without an output are left out, and so are those that became members of the group.
    """
    member_inputs = {part.input for part in group.parts if part.role != "probe"}
    parts = tuple(
        part
        for part in group.parts
        if part.role != "probe"
        or (probes and part.output and not part.output.absent and part.input not in member_inputs)
    )
    shown = iter(members_html([part.input for part in parts if part.role != "probe"], group.task))
    return [
        _part(
            part,
            input_html(part.input, None) if part.role == "probe" else next(shown),
            _name(parts, number),
            group.task,
        )
        for number, part in enumerate(parts)
    ]


def _cause(cause: tuple[str, str | None] | None) -> str:
    if cause is None:
        return ""
    code, comment = cause
    quote = f" <q>{html(comment)}</q>" if comment else ""
    return f'<p class="audit-facts">{html(t("browse.cause"))} <strong>{html(t(f"cause.{code}"))}</strong>{quote}</p>'


def _heading(group: Detail) -> str:
    facts = [group.corpus, t("browse.row_named", row=group.row), f"{group.system} {group.version}"]
    if group.value is not None:
        is_similarity = base_of(group.task) == "translation"  # a similarity, and no difference of two scores
        value = f"{group.value:.3f}" if is_similarity else f"{group.value:+.3f}"
        facts.append(t("browse.compared" if is_similarity else "browse.value", value=value))
    if group.reason:
        facts.append(group.reason)
    return (
        f'<h2 class="audit-question">{html(group.relation)} · {html(t(f"state.{group.state}"))}</h2>'
        f"<p>{html(summary_of(group))}</p><p>{html(_why(group))}{_holds(group)}</p>"
        f'<p class="audit-facts">{html(" · ".join(facts))}</p>'
    )


def summary_of(group: Detail) -> str:
    """What the group's relation does, in this session's language; empty where it is not registered."""
    try:
        return summary(group.task, group.relation, get_relation(group.task, group.relation).summary)
    except UnknownName:
        return ""


def _why(group: Detail) -> str:
    wrong = [_name(group.parts, number) for number, part in enumerate(group.parts) if part.wrong]
    if group.state == "false":
        return t("browse.why_false", parts=t("browse.and").join(wrong))
    if group.state in ("violated", "undrawn") and wrong:
        return t("browse.why_wrong", parts=t("browse.and").join(wrong))
    return t(f"browse.why_{group.state}")


def _holds(group: Detail) -> str:
    """Whether people judged that the relation holds in the group; empty where they were not asked."""
    if group.holds is None:
        return ""
    if group.holds == "waiting":
        return f"<br>{html(t('browse.holds_waiting'))}"
    return f"<br>{html(t(f'browse.{group.holds}', origin=t(f'origin.{group.holds_origin}')))}"


def _name(parts: tuple[Part, ...], number: int) -> str:
    """`source`, `follow-up 2`: numbered where there are several of a role."""
    role = parts[number].role
    same_role = [index for index, part in enumerate(parts) if part.role == role]
    return t(f"role_of.{role}") + (f" {same_role.index(number) + 1}" if len(same_role) > 1 else "")


def _part(part: Part, shown: str, name: str, task: str) -> str:
    texts = [shown]
    if part.output is not None and part.output.text:
        output = text_html(output_words(part.output.text, task), part.input.output_language)
        texts.append(f'<div class="audit-output">{output}</div>')
    if part.output is not None and (reasoning := (part.output.details or {}).get("reasoning")):
        told = text_html(reasoning, part.input.output_language)
        texts.append(f"<details><summary>{html(t('browse.reasoning'))}</summary>{told}</details>")
    return (
        f'<section class="audit-part"><h3>{html(in_language(name, direction(part.input)))}</h3>{"".join(texts)}'
        f'<p class="audit-facts">{html(t("browse.output"))} <strong>{html(_output(part, task))}</strong> · '
        f"{html(t('browse.answer'))} <strong>{html(_answer(part, task))}</strong>{_mark(part)}</p></section>"
    )


def _output(part: Part, task: str) -> str:
    if part.output is None or part.output.absent:
        return t("list.none")
    if part.output.error:
        return t("browse.error", error=part.output.error)
    words = [label_name(part.output.label, task, part.input.texts)] if part.output.label else []
    words += [t("browse.text_above")] if part.output.text else []
    words += [f"({part.output.score:.3f})"] if part.output.score is not None else []
    return " ".join(words)


def _answer(part: Part, task: str) -> str:
    if not part.allowed:
        return t("browse.no_answer")
    origin, code = part.origin.removeprefix("carried "), "carried" if part.origin.startswith("carried ") else "direct"
    return t(f"browse.{code}", labels=label_names(part.allowed, task, part.input.texts), origin=t(f"origin.{origin}"))


def _mark(part: Part) -> str:
    number = "" if part.question is None else f" · {html(t('browse.question', number=part.question))}"
    if part.wrong is None:
        return number
    sign, key = ("✗", "browse.wrong") if part.wrong else ("✓", "browse.right")
    return f' <span class="audit-{"wrong" if part.wrong else "right"}">{sign} {html(t(key))}</span>{number}'
