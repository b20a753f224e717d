"""The dashboard: progress, agreement, rates and rankings over time, questions still needed, and people. For managers.

Only the open section is computed, and redrawn by itself. Numbers that take long are computed in another process
(`audit.ui.background_cache`), so that annotators' clicks do not wait for a manager's numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import Account, account_details
from audit.annotation.answers import ORIGINS
from audit.false_satisfaction.resolution import Whose
from audit.reports.dashboard_charts import (
    agreement_chart,
    best_chart,
    confusion_chart,
    firming_chart,
    needs_chart,
    people_chart,
    progress_chart,
)
from audit.reports.words import UNKNOWN, percent
from audit.store import tables
from audit.ui import session
from audit.ui.background_cache import computed, computed_with_freshness
from audit.ui.dashboard_parts import RATES as CELL_RATES
from audit.ui.dashboard_parts import (
    ShownChart,
    chart,
    chosen_index,
    download_buttons,
    heading,
    minute_of,
    table,
    tiles,
)
from audit.ui.language import (
    in_language,
    label_name,
    language_name,
    plain,
    single_choice,
    t,
    task_name,
    text_or,
    translated,
    whose_answers,
)
from audit.ui.next_step import show_next_step
from audit.ui.study_choice import choose_study, study_name, study_names
from audit.ui.validity import validity_section

# How well people agree: coefficients, overall and over time, between each two people, and which labels they confuse.

AGREEMENT_COLUMNS = ("coefficient", "level", "estimate", "low", "high", "items", "note")
STRETCHES = ("stretch", "coefficient", "estimate", "low", "high", "items")
PAIRS = ("one", "other_annotator", "items", "percent_agreement", "cohen_kappa", "gwet_ac1")
OVER_TIME = ("percent_agreement", "krippendorff_alpha")
"""Coefficients that are shown over time."""


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
    _over_time(report, key)
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
    download_buttons("agreement", rows, columns)


def _over_time(report: dict[str, Any], key: tuple[Any, ...]) -> None:
    rows = [
        coefficient
        | {
            "stretch": int(part["value"]),
            "coefficient": _coefficient_name(coefficient["name"]),
            "name": _coefficient_name(coefficient["name"]),
        }
        for part in report["groups"]
        for coefficient in part["coefficients"]
        if coefficient["name"] in OVER_TIME and coefficient["level"] is None
    ]
    rows.sort(key=lambda row: row["stretch"])
    if not rows:
        return
    heading(t("dashboard.agreement_time"))
    st.caption(t("dashboard.stretch_legend"))
    titles = (t("column.stretch"), t("column.estimate"))
    numbers = t("list.semicolon").join(f"{row['stretch']} {row['name']} {_number(row['estimate'])}" for row in rows)
    picture = chart(
        "agreement-time",
        key,
        lambda palette: agreement_chart(rows, titles, palette),
        t("dashboard.agreement_alt", numbers=numbers),
    )
    download_buttons("agreement-over-time", rows, STRETCHES, [("agreement_time", picture)])


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
    picture = chart(
        "confusions",
        key,
        lambda palette: confusion_chart(report["confusions"], labels, palette),
        t("dashboard.confusions_alt", numbers=numbers),
    )
    download_buttons("confusions", rows, ("label", "other_annotator", "times"), [("confusions", picture)])


def _pairs(report: dict[str, Any]) -> None:
    if len(report["annotators"]) < 3:
        return
    heading(t("dashboard.pairs"))
    pairs = [pair | {"other_annotator": pair["other"]} for pair in report["pairs"]]
    table("pairs", pairs, PAIRS)
    download_buttons("pairs-of-annotators", pairs, PAIRS)


def _coefficient_name(name: str) -> str:
    return text_or(f"coefficient.{name}", name)


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f}"


# Rates and the ranking of a relation as they firm up while people judge.

WHOSE: tuple[Whose, ...] = ("both", "people")
RATES = ("fs_rate", "sr_genuine")
FIRMING_COLUMNS = ("judgements", "until", "system", "judged", *CELL_RATES, "p_best")


def firming_section(engine: Engine, _account: Account, study: int | None) -> None:
    """Rates of one relation at a time; all of them are computed together."""
    whose, rate = _answers_and_rate()
    answer = computed_with_freshness(engine, "history", {"whose": whose, "study": study}, "firming")
    points = answer.value["points"]
    relations = [
        entry for entry in answer.value["relations"] if any(any(system["judged"]) for system in entry["systems"])
    ]
    if len(points) < 2:
        st.info(t("dashboard.no_history"), icon=":material/info:")
    if not relations:
        st.info(t("dashboard.no_rates"), icon=":material/info:")
        return
    names = [entry["relation"] + (f" · {study_name(entry)}" if study is None else "") for entry in relations]
    index = chosen_index(names, "dashboard-relation", most_moved(relations))
    entry = relations[index]
    st.markdown(plain(winner_sentence(entry)))
    dashed_note = f" {t('dashboard.firming_dashed')}" if rate == "sr_genuine" else ""
    st.caption(t("dashboard.firming_legend") + dashed_note)
    key = (whose, rate, entry["task"], entry["study"], entry["relation"], answer.state)
    titles = (t("column.judgements"), t(f"column.{rate}"))
    rates = chart(
        "firming",
        key,
        lambda palette: firming_chart(points, entry["systems"], rate, titles, palette),
        _firming_alt(entry, rate),
    )
    heading(t("dashboard.best"))
    st.caption(t("dashboard.best_legend"))
    best = chart(
        "best",
        key,
        lambda palette: best_chart(points, entry["systems"], (titles[0], t("column.p_best")), palette),
        _firming_alt(entry, "p_best"),
    )
    if best is None:
        st.info(t("dashboard.no_ranking"), icon=":material/info:")
    rows = _firming_rows(points, entry)
    table("firming", rows, FIRMING_COLUMNS, height=320)
    download_buttons("as-they-firm-up", rows, FIRMING_COLUMNS, [("firming_picture", rates), ("best", best)])


def _answers_and_rate() -> tuple[Whose, str]:
    rates = {name: t(f"dashboard.{name}") for name in RATES}
    with st.container(horizontal=True):
        whose = whose_answers(WHOSE, "dashboard-whose")
        rate = single_choice(t("dashboard.rate"), rates, "dashboard-rate", persist_state="session")
    return whose, rate


def most_moved(relations: Sequence[dict[str, Any]]) -> int:
    """The index of the relation whose number of judged groups grew most."""
    growth = [sum(system["judged"][-1] - system["judged"][0] for system in entry["systems"]) for entry in relations]
    return growth.index(max(growth))


def winner_sentence(entry: dict[str, Any]) -> str:
    """The system that is best now, and how sure that is, in one sentence."""
    if entry["winner"] is None:
        return t("dashboard.no_winner")
    return t("dashboard.winner", system=entry["winner"], chance=percent(entry["p_winner"], 0))


def _firming_rows(points: list[dict[str, Any]], entry: dict[str, Any]) -> list[dict[str, Any]]:
    lists = ("judged", *FIRMING_COLUMNS[4:])
    return [
        {"judgements": point["judgements"], "until": minute_of(point["until"]), "system": system["system"]}
        | {name: system[name][index] for name in lists}
        for index, point in enumerate(points)
        for system in entry["systems"]
    ]


def _firming_alt(entry: dict[str, Any], name: str) -> str:
    numbers = t("list.semicolon").join(
        f"{system['system']} " + " → ".join(percent(value, 0) for value in system[name]) for system in entry["systems"]
    )
    return t("dashboard.firming_alt", relation=entry["relation"], rate=t(f"column.{name}"), numbers=numbers)


# How many more questions it takes until the rates of each relation are precise enough, its winner or its order decided.

GOALS = {"half-width": "shared", "winner": "always-valid", "order": "always-valid"}
"""Goal -> the design for which its questions are counted: the one that stops as soon as it may."""
NEEDS_COLUMNS = ("relation", "half_width", "winner", "order", "leads")
TOTALS = ("goal", "questions_to_go", "answers", "hours", "ends")
HALF_WIDTH = 0.05
DELTA = 0.02


def needs_section(engine: Engine, account: Account, study: int | None) -> None:
    """Three goals side by side. It reads every group, so a button starts it."""
    st.markdown(t("dashboard.needs_what", points=f"{100 * HALF_WIDTH:g}", delta=f"{100 * DELTA:g}"))
    if not st.session_state.get("dashboard-needs") and not st.button(
        t("dashboard.needs_begin"), key="needs-begin", icon=":material/calculate:"
    ):
        return
    st.session_state["dashboard-needs"] = True
    answer = computed_with_freshness(
        engine, "needs", {"half_width": HALF_WIDTH, "delta": DELTA, "study": study}, "needs"
    )
    pace = computed(engine, "totals", {"by": account.id, "study": study}).value["pace"]
    _need_totals(answer.value, pace["per_hour"], pace["per_day"])
    rows = by_relation(answer.value)
    if not rows:
        st.info(t("dashboard.needs_none"), icon=":material/info:")
        return
    heading(t("dashboard.needs_relations"))
    st.caption(t("dashboard.needs_legend"))
    goals = {goal: t(f"goal.{goal.replace('-', '_')}") for goal in GOALS}
    bars = [
        {"name": row["name"], "goal": goals[goal], "to_go": row[goal.replace("-", "_")]}
        for row in rows
        for goal in GOALS
    ]
    numbers = t("list.semicolon").join(f"{bar['name']} {bar['goal']} {bar['to_go']}" for bar in bars)
    titles = (t("column.questions_to_go"), t("dashboard.decided"))
    picture = chart(
        "needs",
        (study, answer.state),
        lambda palette: needs_chart(bars, list(goals.values()), titles, palette),
        t("dashboard.needs_alt", numbers=numbers),
    )
    named_rows = [row | {"relation": row["name"]} for row in rows]
    table("needs", named_rows, NEEDS_COLUMNS, height=420 if len(rows) > 11 else "auto")
    download_buttons("how-many-more", named_rows, NEEDS_COLUMNS, [("needs_picture", picture)])
    for note in dict.fromkeys(note for goal in GOALS for note in answer.value[goal]["notes"]):
        st.caption(plain(translated(note)))


def by_relation(plans: dict[str, Any]) -> list[dict[str, Any]]:
    """One row per relation: name, half_width, winner, order (questions to go; 0: decided; None: one system), leads."""
    rows: dict[tuple[int, str], dict[str, Any]] = {}
    several_studies = len({entry["study"] for entry in plans["half-width"]["relations"]}) > 1
    corpora = {entry["study"]: entry.get("corpus") for entry in plans["half-width"]["cells"]}
    for goal, design in GOALS.items():
        for entry in plans[goal]["relations"]:
            name = entry["relation"]
            if several_studies:
                corpus = corpora.get(entry["study"]) or entry["task"]
                name += f" · {study_name({'study': entry['study'], 'corpus': corpus})}"
            row = rows.setdefault(
                (entry["study"], entry["relation"]),
                {"name": name, "half_width": None, "winner": None, "order": None, "leads": None},
            )
            # A decided relation needs no more questions, however few were judged.
            row[goal.replace("-", "_")] = 0 if entry.get("decided") else entry["to_go"][design]
            if goal == "winner":
                row["leads"] = (entry["order"] or [None])[0]
    return [row for row in rows.values() if any(row[name] is not None for name in ("half_width", "winner", "order"))]


def _need_totals(plans: dict[str, Any], per_hour: float | None, per_day: float | None) -> None:
    rows = []
    for goal, design in GOALS.items():
        total = next(entry for entry in plans[goal]["designs"] if entry["design"] == design)
        days = total["answers"] / per_day if per_day else None
        rows.append(
            {
                "goal": t(f"goal.{goal.replace('-', '_')}"),
                "questions_to_go": total["to_go"],
                "answers": total["answers"],
                "hours": total["answers"] / per_hour if per_hour else None,
                "ends": None if days is None or days > 36_500 else f"{tables.now() + timedelta(days=days):%Y-%m-%d}",
            }
        )
    table("needs-totals", rows, TOTALS)
    if per_hour is None:
        st.caption(t("dashboard.needs_no_pace"))
    download_buttons("how-many-more-in-all", rows, TOTALS)


# The people who judge: how much, how fast, and how often their answer was the settled one.

PEOPLE_COLUMNS = (
    "name",
    "role",
    "judgements",
    "today",
    "seconds",
    "unsure_share",
    "settled",
    "agreed_share",
    "languages",
    "seen_at",
)


def people_section(engine: Engine, account: Account, study: int | None) -> None:
    """A table and a chart of judgements. No ranking: the pace is for planning, not for comparing people."""
    answer = computed_with_freshness(engine, "people", {"by": account.id, "study": study}, "people")
    # Somebody may open the app without judging anything; no other number changes then.
    last_seen = {entry.name: entry.seen_at for entry in account_details(engine, by=account.id)}
    st.caption(t("dashboard.people_legend"))
    rows = [
        person
        | {
            "role": in_language(t(f"role.{person['role']}"), t("accounts.disabled") if person["disabled"] else ""),
            "seen_at": minute_of(seen_at.isoformat()) if (seen_at := last_seen.get(person["name"])) else None,
            "languages": ", ".join(person["languages"]),
        }
        for person in answer.value
    ]
    table("people", rows, PEOPLE_COLUMNS)
    numbers = t("list.semicolon").join(f"{row['name']} {row['judgements']}" for row in rows)
    picture = chart(
        "people",
        (study, answer.state),
        lambda palette: people_chart(answer.value, palette),
        t("dashboard.people_alt", numbers=numbers),
    )
    if picture is None:
        st.info(t("dashboard.nobody_judged"), icon=":material/info:")
    download_buttons("annotators", rows, PEOPLE_COLUMNS, [("people_picture", picture)])


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
        warn_of_unread(totals["unread"], study_names(engine, account.id))
    st.markdown(" ".join(plain(line) for line in pace_lines(totals)))
    _cells(engine, study, any(totals["questions"][origin] for origin in ORIGINS))


def _progress_totals(questions: dict[str, int], judgements: dict[str, int]) -> None:
    numbers = [("open", questions["open"]), *((f"by_{origin}", questions[origin]) for origin in ORIGINS)]
    numbers += [(name, questions[name]) for name in ("disputed", "flagged", "audits", "checks")]
    numbers += [(name, judgements[name]) for name in ("today", "week")]
    tiles([(t(f"dashboard.{name}"), f"{number:,}") for name, number in numbers])


def warn_of_unread(unread: Sequence[Mapping[str, Any]], studies: Mapping[int, str]) -> None:
    """A warning for each set of languages that too few accounts read, or of studies that too few work on; `unread` as
    in the totals, `studies` are names by id."""
    for entry in unread:
        languages = t("browse.and").join(map(language_name, entry["languages"]))
        names = t("browse.and").join(studies.get(id, str(id)) for id in entry["studies"])
        values = {"number": f"{entry['questions']:,}", "languages": plain(languages), "wanted": entry["wanted"]}
        message = ("few" if entry["readers"] else "nobody") + ("_assigned" if names else "")
        readers = entry["readers"] + entry["others"]
        st.warning(
            t(f"unread.{message}", count=entry["questions"], readers=readers, studies=plain(names), **values),
            icon=":material/assignment_ind:" if names else ":material/translate:",
        )


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
    pictures: list[tuple[str, ShownChart | None]] = []
    keys = list(dict.fromkeys((cell["task"], cell["study"]) for cell in cells.value))
    for task, id in keys:
        study_cells = [cell for cell in cells.value if (cell["task"], cell["study"]) == (task, id)]
        if len(keys) > 1:
            st.markdown(f"**{plain(study_name(study_cells[0]))}**")
        name = f"judged-{task}-{id}"
        picture = chart(name, (cells.state,), partial(progress_chart, study_cells), _progress_alt(study_cells))
        if len(keys) == 1:
            pictures.append(("judged_map", picture))
        elif picture is not None:
            picture.button(name, "judged_map")
    rows = _progress_rows(cells.value)
    table("cells", rows, PROGRESS_COLUMNS, height=420 if len(rows) > 11 else "auto")
    download_buttons("progress", rows, PROGRESS_COLUMNS, pictures)


def _progress_rows(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [cell | {"study": study_name(cell)} for cell in cells]


def _progress_alt(cells: list[dict[str, Any]]) -> str:
    numbers = t("list.semicolon").join(
        f"{cell['relation']} {cell['system']} {cell['judged']}/{cell['drawn']}" for cell in cells
    )
    return t("dashboard.progress_alt", numbers=numbers)


ROLES = ("manager",)
SECTIONS: dict[str, Callable[[Engine, Account, int | None], None]] = {
    "progress": progress_section,
    "agreement": agreement_section,
    "firming": firming_section,
    "needs": needs_section,
    "people": people_section,
    "validity": validity_section,
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
