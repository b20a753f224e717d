"""The dashboard: progress, agreement, rates and rankings over time, questions still needed. For managers.

Only the open section is computed, and redrawn by itself. Numbers that take long are computed in another process
(`audit.ui.background_cache`), so that annotators' clicks do not wait for a manager's numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st
from sqlalchemy import Engine

from audit.judging.accounts import Account, account_details
from audit.reports.dashboard_charts import (
    confusion_chart,
    progress_chart,
)
from audit.reports.words import percent
from audit.tasks.questions import ORIGINS
from audit.ui import session
from audit.ui.background_cache import computed, computed_with_freshness
from audit.ui.dashboard_parts import RATES as CELL_RATES
from audit.ui.dashboard_parts import (
    chart,
    heading,
    table,
    tiles,
)
from audit.ui.language import (
    label_name,
    language_name,
    plain,
    single_choice,
    t,
    task_name,
    text_or,
    translated,
)
from audit.ui.next_step import show_next_step
from audit.ui.study_choice import choose_study, study_name

# How well people agree: coefficients, overall and over time, between each two people, and which labels they confuse.

AGREEMENT_COLUMNS = ("coefficient", "level", "estimate", "low", "high", "items", "note")
PAIRS = ("one", "other_annotator", "items", "percent_agreement", "cohen_kappa", "gwet_ac1")


def agreement_section(engine: Engine, account: Account, study: int | None) -> None:
    """Agreement on one kind of question at a time."""
    answer = computed_with_freshness(engine, "agreement", {"by": account.id, "study": study}, "agreement")
    questions = computed(engine, "totals", {"by": account.id, "study": study}).value["questions"]
    if filled := questions["filled"]:
        share = percent(questions["split"] / filled)
        st.markdown(plain(t("dashboard.split", split=questions["split"], filled=f"{filled:,}", share=share)))
    if not answer.value:
        st.info(t("dashboard.no_agreement"), icon=":material/info:")
        return
    names = [" · ".join((t(f"kind.{report['kind']}"), task_name(report["task"]))) for report in answer.value]
    index = 0
    if len(names) > 1:
        index = single_choice(t("dashboard.kind"), dict(enumerate(names)), "dashboard-kind")
    report = answer.value[index]
    key = (report["task"], report["kind"], study, answer.state)
    st.caption(t("dashboard.agreement_legend", items=f"{report['items']:,}", people=len(report["annotators"])))
    _coefficients(report)
    _confusions(report, key)
    _pairs(report)
    for note in report["notes"]:
        st.caption(plain(translated(note)))


def _coefficients(report: dict[str, Any]) -> None:
    rows = [
        coefficient
        | {"coefficient": _coefficient_name(coefficient["name"]), "note": translated(coefficient["note"] or "") or None}
        for coefficient in report["coefficients"]
    ]
    # Weights and notes are rare: their columns are there where they say something.
    columns = [name for name in AGREEMENT_COLUMNS if name not in ("level", "note") or any(row[name] for row in rows)]
    table("coefficients", rows, columns)


def _confusions(report: dict[str, Any], key: tuple[Any, ...]) -> None:
    heading(t("dashboard.confusions"))
    st.caption(t("dashboard.confusions_legend"))
    labels = [label_name(label, report["task"]) for label in report["labels"]]
    rows = [
        {"label": label, "other_annotator": other, "times": number}
        for label, row in zip(labels, report["confusions"], strict=True)
        for other, number in zip(labels, row, strict=True)
    ]
    numbers = t("list.semicolon").join(f"{row['label']} / {row['other_annotator']} {row['times']}" for row in rows)
    build = partial(confusion_chart, report["confusions"], labels)
    chart("confusions", key, build, t("dashboard.confusions_alt", numbers=numbers), "confusions")
    table("confusions", rows, ("label", "other_annotator", "times"))


def _pairs(report: dict[str, Any]) -> None:
    if len(report["annotators"]) < 3:
        return
    heading(t("dashboard.pairs"))
    pairs = [pair | {"other_annotator": pair["other"]} for pair in report["pairs"]]
    table("pairs", pairs, PAIRS)


def _coefficient_name(name: str) -> str:
    return text_or(f"coefficient.{name}", name)


# Progress: totals, pace, and every cell.

PROGRESS_COLUMNS = ("study", "relation", "system", "drawn", "settled", "judged", "waiting", *CELL_RATES[1:4])


def progress_section(engine: Engine, account: Account, study: int | None) -> None:
    """The totals first, then the cells, which take longer to count."""
    totals = computed_with_freshness(engine, "totals", {"by": account.id, "study": study}, "totals").value
    _progress_totals(totals["questions"], totals["judgements"])
    of_groups = totals["questions"]["open_groups"]
    parts = {"texts": f"{totals['questions']['open'] - of_groups:,}", "groups": f"{of_groups:,}"}
    st.caption(plain(t("dashboard.open_is", **parts)))
    people = account_details(engine, by=account.id)
    if any(person.role == "annotator" and not person.disabled for person in people):  # else what comes next says it
        warn_of_unread(totals["unread"])
    st.markdown(" ".join(plain(line) for line in pace_lines(totals)))
    _cells(engine, study, any(totals["questions"][origin] for origin in ORIGINS))


def _progress_totals(questions: dict[str, int], judgements: dict[str, int]) -> None:
    numbers = [("open", questions["open"]), *((f"by_{origin}", questions[origin]) for origin in ORIGINS)]
    numbers += [(name, questions[name]) for name in ("disputed", "flagged", "audits")]
    numbers += [(name, judgements[name]) for name in ("today", "week")]
    tiles([(t(f"dashboard.{name}"), f"{number:,}") for name, number in numbers if number or name == "open"])


def warn_of_unread(unread: Sequence[Mapping[str, Any]]) -> None:
    """Warn of questions that no account may answer; `unread` as in the totals."""
    for entry in unread:
        languages = t("browse.and").join(map(language_name, entry["languages"]))
        values = {"number": f"{entry['questions']:,}", "languages": plain(languages)}
        st.warning(t("unread.nobody", count=entry["questions"], **values), icon=":material/translate:")


LEAST_HOURS = 0.1
"""Hours of work below which no pace is said: a few answers say nothing of the next thousand."""


def pace_lines(totals: dict[str, Any]) -> list[str]:
    """Sentences on how fast people judge and when they will be done; on the next step where nobody judges."""
    pace, remaining = totals["pace"], totals["judgements"]["left"]
    if not pace["judgements"]:
        return [t("dashboard.nobody_lately" if remaining else "dashboard.nothing_left")]
    lines = []
    enough = pace["per_hour"] is not None and pace["hours"] >= LEAST_HOURS
    if enough:
        hour, day = (f"{pace[name]:,.0f}" for name in ("per_hour", "per_day"))
        lines.append(t("dashboard.pace", hour=hour, day=day, hours=f"{pace['hours']:,.1f}"))
    if not remaining:
        return [*lines, t("dashboard.nothing_left")]
    lines.append(t("dashboard.left", count=remaining, number=f"{remaining:,}"))
    if enough and pace["ends"] is not None:
        lines.append(t("dashboard.ends", day=pace["ends"][:10]))
    return lines


def _cells(engine: Engine, study: int | None, answered: bool) -> None:
    cells = computed_with_freshness(engine, "cells", {"study": study}, "progress")
    if not cells.value:
        st.info(t("dashboard.nothing_drawn"), icon=":material/info:")
        return
    if not answered:
        st.info(t("dashboard.nothing_answered"), icon=":material/info:")
    st.caption(t("dashboard.progress_legend"))
    keys = list(dict.fromkeys((cell["task"], cell["study"]) for cell in cells.value))
    for task, id in keys:
        study_cells = [cell for cell in cells.value if (cell["task"], cell["study"]) == (task, id)]
        if len(keys) > 1:
            st.markdown(f"**{plain(study_name(study_cells[0]))}**")
        build, alt = partial(progress_chart, study_cells), _progress_alt(study_cells)
        chart(f"judged-{task}-{id}", (cells.state,), build, alt, "judged_map")
    rows = [cell | {"study": study_name(cell)} for cell in cells.value]
    table("cells", rows, PROGRESS_COLUMNS, height=420 if len(rows) > 11 else "auto")


def _progress_alt(cells: list[dict[str, Any]]) -> str:
    numbers = t("list.semicolon").join(
        f"{cell['relation']} {cell['system']} {cell['judged']}/{cell['drawn']}" for cell in cells
    )
    return t("dashboard.progress_alt", numbers=numbers)


ROLES = ("manager",)
SECTIONS: dict[str, Callable[[Engine, Account, int | None], None]] = {
    "progress": progress_section,
    "agreement": agreement_section,
}
TAB = "dashboard-tab"


def page() -> None:
    """The sections as tabs; only the open one is computed."""
    engine, account = session.enter(*ROLES)
    show_next_step(engine, account, "dashboard")
    study = choose_study(engine, account.id)
    tabs = st.tabs([t(f"dashboard.{name}") for name in SECTIONS], key=TAB, on_change="rerun")
    for name, tab in zip(SECTIONS, tabs, strict=True):
        if tab.open:
            with tab:
                _section(name, study)


@st.fragment
@session.report_problems
def _section(name: str, study: int | None) -> None:
    """One section; widgets in it rerun only this. It checks the role again: a fragment runs without its page."""
    engine = session.engine()
    account = session.require_role(engine, *ROLES)
    SECTIONS[name](engine, account, study)
