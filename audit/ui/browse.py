"""Looking at groups: texts, outputs, answers, and why a satisfaction is false."""

import streamlit as st
from sqlalchemy import Engine
from streamlit.delta_generator import DeltaGenerator

from audit.errors import UnknownName
from audit.false_satisfaction.browse import (
    READERS,
    STATES,
    Choices,
    Cursor,
    Detail,
    GroupFilter,
    Page,
    Part,
    browse,
    choices,
)
from audit.false_satisfaction.browse import detail as group_detail
from audit.false_satisfaction.impact import cause_of
from audit.relations import get_relation
from audit.tasks import base_of
from audit.ui import session
from audit.ui.language import direction, html, in_language, label_name, language, reading, summary, t
from audit.ui.question import readings

ROLES = READERS
SIZE = 8
"""Lines on a page: below them the selected group begins on a screen of 720 pixels."""
_TABLE_ROW = 35
_TRAIL = "browse-trail"
"""(wish, the cursors of the pages before this one and of this one)"""
_EXCERPT = 120


def page() -> None:
    """Filters, a page of groups, and the one that is selected in full."""
    engine = session.engine()
    account = session.allowed(engine, *ROLES)
    wish = _filters(choices(engine, account.id))
    before, trail = st.session_state.get(_TRAIL, (wish, [None]))
    if before != wish:
        trail = [None]
    st.session_state[_TRAIL] = (wish, trail)
    found = browse(engine, account.id, wish, trail[-1], SIZE)
    if not found.lines:
        st.info(t("browse.go_on" if found.next else "browse.nothing"))
        _pager(trail, found)
        return
    chosen = _table(found, len(trail))
    _pager(trail, found)
    line = found.lines[chosen]
    _detail(engine, account.id, line.group_id, line.system_id)


def _filters(all: Choices) -> GroupFilter:
    places = st.columns(4)
    studies = {id: t("browse.study_name", corpus=name, id=id) for id, name in all.studies}
    study = _filter(places[0], "study", studies)
    relation = _filter(places[1], "relation", dict(all.relations))
    system = _filter(places[2], "system", dict(all.systems))
    state = places[3].selectbox(
        t("browse.state"),
        [None, *STATES],
        format_func=lambda state: t("browse.all") if state is None else t(f"state.{state}"),
        key="browse-state",
    )
    return GroupFilter(study, relation, system, state)


def _filter(place: DeltaGenerator, what: str, names: dict[int, str]) -> int | None:
    """One choice among `names`, or all of them."""
    options: list[int | None] = [None, *names]
    return place.selectbox(
        t(f"browse.{what}"),
        options,
        format_func=lambda id: t("browse.all") if id is None else names[id],
        key=f"browse-{what}",
    )


def _table(found: Page, number: int) -> int:
    """The page as a table; the index of the selected line, the first where none is."""
    rows = [
        {
            t("browse.state"): t(f"state.{line.state}"),
            t("browse.relation"): line.relation,
            t("browse.system"): line.system,
            t("browse.row"): line.row,
            t("browse.text"): line.text[:_EXCERPT] + ("…" if len(line.text) > _EXCERPT else ""),
        }
        for line in found.lines
    ]
    event = st.dataframe(
        rows,
        hide_index=True,
        height=_TABLE_ROW * (len(rows) + 1) + 3,
        column_config={t("browse.text"): st.column_config.TextColumn(width="large")},
        on_select="rerun",
        selection_mode="single-row-required",
        # Another page, another table: a selection never points into the page before.
        key=f"browse-table-{language()}-{number}-{found.lines[0].group_id}-{found.lines[0].system_id}",
    )
    selected = list(event.selection.rows)
    return selected[0] if selected and selected[0] < len(found.lines) else 0


def _pager(trail: list[Cursor | None], found: Page) -> None:
    def back() -> None:
        trail.pop()

    def on() -> None:
        trail.append(found.next)

    left, middle, right = st.columns([1, 3, 1], vertical_alignment="center")
    left.button(
        t("browse.back"), key="browse-back", on_click=back, disabled=len(trail) == 1, icon=":material/arrow_back:"
    )
    middle.caption(t("browse.page", number=len(trail)), text_alignment="center")
    right.button(
        t("browse.next"), key="browse-next", on_click=on, disabled=found.next is None, icon=":material/arrow_forward:"
    )


def _detail(engine: Engine, account_id: int, group_id: int, system_id: int) -> None:
    found = group_detail(engine, account_id, group_id, system_id)
    st.html(_heading(found) + _cause(cause_of(engine, account_id, group_id, system_id)))
    for part in members(found):
        st.html(part)


def members(found: Detail, probes: bool = True) -> list[str]:
    """The members of a group as HTML, one block each: text, output, answer, right or wrong; with or without probes.

    Never shown are probes that found nothing, and those that the group then took as members.
    """
    first = found.parts[0]
    counted = {part.input for part in found.parts if part.role != "probe"}
    parts = tuple(
        part
        for part in found.parts
        if part.role != "probe" or (probes and part.output and not part.output.absent and part.input not in counted)
    )
    return [_part(part, first if number else None, _name(parts, number)) for number, part in enumerate(parts)]


def _cause(given: tuple[str, str | None] | None) -> str:
    """Why the satisfaction is false, as an adjudicator said; empty where nobody did."""
    if given is None:
        return ""
    code, comment = given
    written = f" <q>{html(comment)}</q>" if comment else ""
    return f'<p class="audit-facts">{html(t("browse.cause"))} <strong>{html(t(f"cause.{code}"))}</strong>{written}</p>'


def _heading(found: Detail) -> str:
    facts = [found.corpus, t("browse.row_named", row=found.row), f"{found.system} {found.version}"]
    if found.value is not None:
        compared = base_of(found.task) == "translation"  # a similarity, and no difference of two scores
        shown = f"{found.value:.3f}" if compared else f"{found.value:+.3f}"
        facts.append(t("browse.compared" if compared else "browse.value", value=shown))
    if found.reason:
        facts.append(found.reason)
    return (
        f'<h3 class="audit-question">{html(found.relation)} · {html(t(f"state.{found.state}"))}</h3>'
        f"<p>{html(summary_of(found))}</p><p>{html(_why(found))}{_holds(found)}</p>"
        f'<p class="audit-facts">{html(" · ".join(facts))}</p>'
    )


def summary_of(found: Detail) -> str:
    """What the group's relation does, in this session's language; empty where nobody registered it."""
    try:
        return summary(found.task, found.relation, get_relation(found.task, found.relation).summary)
    except UnknownName:
        return ""


def _why(found: Detail) -> str:
    """Why the group is in its state, in one sentence."""
    wrong = [_name(found.parts, number) for number, part in enumerate(found.parts) if part.wrong]
    if found.state == "false":
        return t("browse.why_false", parts=t("browse.and").join(wrong))
    if found.state in ("violated", "undrawn") and wrong:
        return t("browse.why_wrong", parts=t("browse.and").join(wrong))
    return t(f"browse.why_{found.state}")


def _holds(found: Detail) -> str:
    """Whether people found that the relation holds in the group; empty where nobody was asked."""
    if found.holds is None:
        return ""
    if found.holds == "waiting":
        return f"<br>{html(t('browse.holds_waiting'))}"
    return f"<br>{html(t(f'browse.{found.holds}', origin=t(f'origin.{found.holds_origin}')))}"


def _name(parts: tuple[Part, ...], number: int) -> str:
    """`source`, `follow-up 2`: numbered where there are several of a role."""
    role = parts[number].role
    same = [index for index, part in enumerate(parts) if part.role == role]
    return t(f"role_of.{role}") + (f" {same.index(number) + 1}" if len(same) > 1 else "")


def _part(part: Part, source: Part | None, name: str) -> str:
    """One member as HTML: its text with what differs from the source, output, answer, right or wrong."""
    texts = [readings(part.input, None if source is None or part.role == "probe" else source.input)]
    if part.output is not None and part.output.text:
        shown = reading(part.output.text, part.input.output_language)
        texts.append(f'<div class="audit-output">{shown}</div>')
    return (
        f'<section class="audit-part"><h4>{html(in_language(name, direction(part.input)))}</h4>{"".join(texts)}'
        f'<p class="audit-facts">{html(t("browse.output"))} <strong>{html(_output(part))}</strong> · '
        f"{html(t('browse.answer'))} <strong>{html(_answer(part))}</strong>{_mark(part)}</p></section>"
    )


def _output(part: Part) -> str:
    if part.output is None or part.output.absent:
        return t("browse.none")
    if part.output.error:
        return t("browse.error", error=part.output.error)
    words = [label_name(part.output.label)] if part.output.label else []
    words += [t("browse.text_above")] if part.output.text else []
    words += [f"({part.output.score:.3f})"] if part.output.score is not None else []
    return " ".join(words)


def _answer(part: Part) -> str:
    if not part.allowed:
        return t("browse.no_answer")
    labels = t("browse.or").join(map(label_name, part.allowed))
    carried = part.origin.startswith("carried ")
    origin = t(f"origin.{part.origin.removeprefix('carried ')}")
    return t("browse.carried", labels=labels, origin=origin) if carried else f"{labels} ({origin})"


def _mark(part: Part) -> str:
    if part.wrong is None:
        return ""
    sign, key = ("✗", "browse.wrong") if part.wrong else ("✓", "browse.right")
    return f' <span class="audit-{"wrong" if part.wrong else "right"}">{sign} {html(t(key))}</span>'
