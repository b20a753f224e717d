"""The dashboard: how far the judging is, how well people agree, what comes out, and what is still to do. For managers.

Only the open section is computed, and redrawn by itself: what takes long is computed in another process
(`audit.ui.background_cache`), so that annotators' clicks do not wait for a manager's numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import Account, kept_accounts
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
from audit.ui.background_cache import computed, current
from audit.ui.dashboard_parts import Drawn, chart, moment, study_of, table, take_along, tiles
from audit.ui.language import (
    known_or,
    label_name,
    language_name,
    one_of,
    plain,
    t,
    task_name,
    translated,
    whose_answers,
)
from audit.ui.results_parts import heading

# How well people agree: coefficients, over time, between each two, and which labels they take for each other.

AGREEMENT_COLUMNS = ("coefficient", "level", "estimate", "low", "high", "items", "note")
STRETCHES = ("stretch", "coefficient", "estimate", "low", "high", "items")
PAIRS = ("one", "other", "items", "percent_agreement", "cohen_kappa", "gwet_ac1")
SHOWN = ("percent_agreement", "krippendorff_alpha")
"""Coefficients that are shown over time."""


def agreement_section(engine: Engine, account: Account) -> None:
    """One kind of question at a time."""
    found = current(engine, "agreement", {"by": account.id}, "agreement")
    questions = computed(engine, "totals", {"by": account.id}).value["questions"]
    if filled := questions["filled"]:
        share = percent(questions["split"] / filled)
        st.markdown(plain(t("dashboard.split", split=questions["split"], filled=f"{filled:,}", share=share)))
    if not found.value:
        st.info(t("dashboard.no_agreement"), icon=":material/info:")
        return
    names = [" · ".join((t(f"kind.{one['kind']}"), task_name(one["task"]))) for one in found.value]
    chosen = 0
    if len(names) > 1:
        chosen = one_of(t("dashboard.kind"), dict(enumerate(names)), "dashboard-kind")
    report = found.value[chosen]
    key = (report["task"], report["kind"], found.state)
    st.caption(t("dashboard.agreement_legend", items=f"{report['items']:,}", people=len(report["annotators"])))
    _coefficients(report)
    _over_time(report, key)
    _confusions(report, key)
    _pairs(report)
    for note in report["notes"]:
        st.caption(plain(translated(note)))


def _coefficients(report: dict[str, Any]) -> None:
    rows = [one | {"coefficient": _named(one["name"])} for one in report["coefficients"]]
    # Weights and notes are rare: their columns are there where they say something.
    columns = [name for name in AGREEMENT_COLUMNS if name not in ("level", "note") or any(row[name] for row in rows)]
    table("coefficients", rows, columns)
    take_along("agreement", rows, columns)


def _over_time(report: dict[str, Any], key: tuple[Any, ...]) -> None:
    rows = [
        one | {"stretch": int(part["value"]), "coefficient": _named(one["name"]), "name": _named(one["name"])}
        for part in report["groups"]
        for one in part["coefficients"]
        if one["name"] in SHOWN and one["level"] is None
    ]
    rows.sort(key=lambda row: row["stretch"])
    if not rows:
        return
    heading(t("dashboard.agreement_time"))
    st.caption(t("dashboard.stretch_legend"))
    titles = (t("sheet.stretch"), t("sheet.estimate"))
    numbers = "; ".join(f"{row['stretch']} {row['name']} {_number(row['estimate'])}" for row in rows)
    drawn = chart(
        "agreement-time",
        key,
        lambda palette: agreement_chart(rows, titles, palette),
        t("dashboard.agreement_alt", numbers=numbers),
    )
    take_along("agreement-over-time", rows, STRETCHES, [("agreement_time", drawn)])


def _confusions(report: dict[str, Any], key: tuple[Any, ...]) -> None:
    heading(t("dashboard.confusions"))
    st.caption(t("dashboard.confusions_legend"))
    labels = [label_name(label) for label in report["labels"]]
    rows = [
        {"label": one, "other": other, "times": number}
        for one, row in zip(labels, report["confusions"], strict=True)
        for other, number in zip(labels, row, strict=True)
    ]
    numbers = "; ".join(f"{row['label']} / {row['other']} {row['times']}" for row in rows)
    drawn = chart(
        "confusions",
        key,
        lambda palette: confusion_chart(report["confusions"], labels, palette),
        t("dashboard.confusions_alt", numbers=numbers),
    )
    take_along("confusions", rows, ("label", "other", "times"), [("confusions", drawn)])


def _pairs(report: dict[str, Any]) -> None:
    if len(report["annotators"]) < 3:
        return
    heading(t("dashboard.pairs"))
    table("pairs", report["pairs"], PAIRS)
    take_along("pairs-of-annotators", report["pairs"], PAIRS)


def _named(name: str) -> str:
    return known_or(f"coefficient.{name}", name)


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f}"


# Rates and the ranking of a relation as they firm up while people judge.

WHOSE: tuple[Whose, ...] = ("both", "people")
RATES = ("fs_rate", "sr_genuine")
FIRMING_COLUMNS = (
    "judgements",
    "until",
    "system",
    "judged",
    "fs_rate",
    "fs_low",
    "fs_high",
    "sr_observed",
    "sr_genuine",
    "sr_genuine_low",
    "sr_genuine_high",
    "p_best",
)


def firming_section(engine: Engine, _account: Account) -> None:
    """One relation at a time; all of them are computed together."""
    whose, rate = _choose()
    found = current(engine, "history", {"whose": whose}, "firming")
    points = found.value["points"]
    relations = [one for one in found.value["relations"] if any(any(some["judged"]) for some in one["systems"])]
    if len(points) < 2:
        st.info(t("dashboard.no_history"), icon=":material/info:")
    if not relations:
        st.info(t("dashboard.no_rates"), icon=":material/info:")
        return
    names = [f"{one['relation']} · {study_of(one)}" for one in relations]
    chosen = st.selectbox(
        t("results.relation"),
        range(len(names)),
        index=most_moved(relations),
        format_func=names.__getitem__,
        key="dashboard-relation",
        persist_state="session",
    )
    entry = relations[chosen]
    st.markdown(plain(winner(entry)))
    dashed = f" {t('dashboard.firming_dashed')}" if rate == "sr_genuine" else ""
    st.caption(t("dashboard.firming_legend") + dashed)
    key = (whose, rate, entry["task"], entry["study"], entry["relation"], found.state)
    titles = (t("sheet.judgements"), t(f"sheet.{rate}"))
    rates = chart(
        "firming",
        key,
        lambda palette: firming_chart(points, entry["systems"], rate, titles, palette),
        _firming_words(entry, rate),
    )
    heading(t("dashboard.best"))
    st.caption(t("dashboard.best_legend"))
    best = chart(
        "best",
        key,
        lambda palette: best_chart(points, entry["systems"], (titles[0], t("sheet.p_best")), palette),
        _firming_words(entry, "p_best"),
    )
    if best is None:
        st.info(t("dashboard.no_ranking"), icon=":material/info:")
    rows = _firming_rows(points, entry)
    table("firming", rows, FIRMING_COLUMNS, height=320)
    take_along("as-they-firm-up", rows, FIRMING_COLUMNS, [("firming_picture", rates), ("best", best)])


def _choose() -> tuple[Whose, str]:
    rates = {one: t(f"dashboard.{one}") for one in RATES}
    with st.container(horizontal=True):
        whose = whose_answers(WHOSE, "dashboard-whose")
        rate = one_of(t("dashboard.rate"), rates, "dashboard-rate", persist_state="session")
    return whose, rate


def most_moved(relations: Sequence[dict[str, Any]]) -> int:
    """The place of the relation that people's judgements told most about: the one whose judged groups grew most."""
    grown = [sum(one["judged"][-1] - one["judged"][0] for one in entry["systems"]) for entry in relations]
    return grown.index(max(grown))


def winner(entry: dict[str, Any]) -> str:
    """Who is best now, and how sure that is, in one sentence."""
    if entry["winner"] is None:
        return t("dashboard.no_winner")
    return t("dashboard.winner", system=entry["winner"], chance=percent(entry["p_winner"], 0))


def _firming_rows(points: list[dict[str, Any]], entry: dict[str, Any]) -> list[dict[str, Any]]:
    lists = ("judged", *FIRMING_COLUMNS[4:])
    return [
        {"judgements": point["judgements"], "until": moment(point["until"]), "system": one["system"]}
        | {name: one[name][at] for name in lists}
        for at, point in enumerate(points)
        for one in entry["systems"]
    ]


def _firming_words(entry: dict[str, Any], name: str) -> str:
    numbers = "; ".join(
        f"{one['system']} " + " → ".join(percent(value, 0) for value in one[name]) for one in entry["systems"]
    )
    return t("dashboard.firming_alt", relation=entry["relation"], rate=t(f"sheet.{name}"), numbers=numbers)


# How many more questions until each relation's rates are known well enough, its winner or its order decided.

GOALS = {"half-width": "two-phase", "winner": "always-valid", "order": "always-valid"}
"""What is wanted, and the design by which it is counted: the one that stops as soon as it may."""
NEEDS_COLUMNS = ("relation", "half_width", "winner", "order", "leads")
TOTALS = ("goal", "questions", "answers", "hours", "ends")
HALF_WIDTH = 0.05
DELTA = 0.02


def needs_section(engine: Engine, account: Account) -> None:
    """Three goals beside each other. It reads every group, so it is begun by a button."""
    st.markdown(t("dashboard.needs_what", points=f"{100 * HALF_WIDTH:g}", delta=f"{100 * DELTA:g}"))
    if not st.session_state.get("dashboard-needs") and not st.button(
        t("dashboard.needs_begin"), key="needs-begin", icon=":material/calculate:"
    ):
        return
    st.session_state["dashboard-needs"] = True
    found = current(engine, "needs", {"half_width": HALF_WIDTH, "delta": DELTA}, "needs")
    pace = computed(engine, "totals", {"by": account.id}).value["pace"]
    _need_totals(found.value, pace["per_hour"], pace["per_day"])
    rows = by_relation(found.value)
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
    numbers = "; ".join(f"{bar['name']} {bar['goal']} {bar['to_go']}" for bar in bars)
    titles = (t("sheet.questions"), t("dashboard.decided"))
    drawn = chart(
        "needs",
        (found.state,),
        lambda palette: needs_chart(bars, list(goals.values()), titles, palette),
        t("dashboard.needs_alt", numbers=numbers),
    )
    shown = [row | {"relation": row["name"]} for row in rows]
    table("needs", shown, NEEDS_COLUMNS, height=420 if len(rows) > 11 else "auto")
    take_along("how-many-more", shown, NEEDS_COLUMNS, [("needs_picture", drawn)])
    for note in dict.fromkeys(note for goal in GOALS for note in found.value[goal]["notes"]):
        st.caption(plain(translated(note)))


def by_relation(plans: dict[str, Any]) -> list[dict[str, Any]]:
    """A row a relation: name, half_width, winner and order (questions to go; 0: decided; None: one system), leads."""
    rows: dict[tuple[int, str], dict[str, Any]] = {}
    several = len({one["study"] for one in plans["half-width"]["relations"]}) > 1
    corpora = {one["study"]: one.get("corpus") for one in plans["half-width"]["cells"]}
    for goal, design in GOALS.items():
        for one in plans[goal]["relations"]:
            name = one["relation"]
            if several:
                name += f" · {study_of({'study': one['study'], 'corpus': corpora.get(one['study']) or one['task']})}"
            row = rows.setdefault(
                (one["study"], one["relation"]),
                {"name": name, "half_width": None, "winner": None, "order": None, "leads": None},
            )
            # What is decided needs nothing more, however little of it was judged.
            row[goal.replace("-", "_")] = 0 if one.get("decided") else one["to_go"][design]
            if goal == "winner":
                row["leads"] = (one["order"] or [None])[0]
    return [row for row in rows.values() if any(row[name] is not None for name in ("half_width", "winner", "order"))]


def _need_totals(plans: dict[str, Any], per_hour: float | None, per_day: float | None) -> None:
    rows = []
    for goal, design in GOALS.items():
        of = next(one for one in plans[goal]["designs"] if one["design"] == design)
        days = of["answers"] / per_day if per_day else None
        rows.append(
            {
                "goal": t(f"goal.{goal.replace('-', '_')}"),
                "questions": of["to_go"],
                "answers": of["answers"],
                "hours": of["answers"] / per_hour if per_hour else None,
                "ends": None if days is None or days > 36_500 else f"{tables.now() + timedelta(days=days):%Y-%m-%d}",
            }
        )
    table("needs-totals", rows, TOTALS)
    if per_hour is None:
        st.caption(t("dashboard.needs_no_pace"))
    take_along("how-many-more-in-all", rows, TOTALS)


# Who judges: how much, how fast, and how often they say what was settled in the end.

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


def people_section(engine: Engine, account: Account) -> None:
    """A table and a chart of judgements. No ranking: the pace is for planning, not for comparing people."""
    found = current(engine, "people", {"by": account.id}, "people")
    # Somebody may come without judging anything, which changes no number but this.
    seen = {one.name: one.seen_at for one in kept_accounts(engine, by=account.id)}
    st.caption(t("dashboard.people_legend"))
    rows = [
        one
        | {
            "role": t(f"role.{one['role']}") + (f" ({t('accounts.disabled')})" if one["disabled"] else ""),
            "seen_at": moment(at.isoformat()) if (at := seen.get(one["name"])) else None,
            "languages": ", ".join(one["languages"]),
        }
        for one in found.value
    ]
    table("people", rows, PEOPLE_COLUMNS)
    numbers = "; ".join(f"{one['name']} {one['judgements']}" for one in rows)
    drawn = chart(
        "people",
        (found.state,),
        lambda palette: people_chart(found.value, palette),
        t("dashboard.people_alt", numbers=numbers),
    )
    if drawn is None:
        st.info(t("dashboard.nobody_judged"), icon=":material/info:")
    take_along("annotators", rows, PEOPLE_COLUMNS, [("people_picture", drawn)])


# How far the judging is: totals, pace, and every cell.

PROGRESS_COLUMNS = (
    "study",
    "relation",
    "system",
    "drawn",
    "settled",
    "judged",
    "waiting",
    "fs_rate",
    "fs_low",
    "fs_high",
)


def progress_section(engine: Engine, account: Account) -> None:
    """The totals come first; the cells when they are counted."""
    found = current(engine, "totals", {"by": account.id}, "totals").value
    _progress_totals(found["questions"], found["judgements"])
    warn_of_unread(found["unread"])
    st.markdown(" ".join(plain(line) for line in pace_lines(found)))
    _cells(engine, any(found["questions"][origin] for origin in ORIGINS))


def _progress_totals(questions: dict[str, int], judgements: dict[str, int]) -> None:
    numbers = [("open", questions["open"]), *((f"by_{origin}", questions[origin]) for origin in ORIGINS)]
    numbers += [(name, questions[name]) for name in ("disputed", "flagged", "audits", "checks")]
    numbers += [(name, judgements[name]) for name in ("today", "week")]
    tiles([(t(f"dashboard.{name}"), f"{number:,}") for name, number in numbers])


def warn_of_unread(unread: Sequence[Mapping[str, Any]]) -> None:
    """A warning for each set of languages that too few accounts read; `unread` as in the totals."""
    for one in unread:
        languages = t("browse.and").join(map(language_name, one["languages"]))
        values = {"number": f"{one['questions']:,}", "languages": plain(languages), "wanted": one["wanted"]}
        kind = "few" if one["readers"] else "nobody"
        able = one["readers"] + one["others"]
        st.warning(t(f"unread.{kind}", count=one["questions"], readers=able, **values), icon=":material/translate:")


def pace_lines(found: dict[str, Any]) -> list[str]:
    """How fast people judge and when that ends, in sentences; the next step where nobody judges."""
    pace, left = found["pace"], found["judgements"]["left"]
    if not pace["judgements"]:
        return [t("dashboard.nobody_lately" if left else "dashboard.nothing_left")]
    lines = []
    if pace["per_hour"] is not None:
        hour, day = (f"{pace[name]:,.0f}" for name in ("per_hour", "per_day"))
        lines.append(t("dashboard.pace", hour=hour, day=day, hours=f"{pace['hours']:,.1f}"))
    if not left:
        return [*lines, t("dashboard.nothing_left")]
    lines.append(t("dashboard.left", count=left, number=f"{left:,}"))
    if pace["ends"] is not None:
        lines.append(t("dashboard.ends", day=pace["ends"][:10]))
    return lines


def _cells(engine: Engine, answered: bool) -> None:
    cells = current(engine, "cells", {}, "progress")
    if not cells.value:
        st.info(t("dashboard.nothing_drawn"), icon=":material/info:")
        return
    if not answered:
        st.info(t("dashboard.nothing_answered"), icon=":material/info:")
    st.caption(t("dashboard.progress_legend"))
    pictures: list[tuple[str, Drawn | None]] = []
    keys = list(dict.fromkeys((one["task"], one["study"]) for one in cells.value))
    for task, study in keys:
        some = [one for one in cells.value if (one["task"], one["study"]) == (task, study)]
        if len(keys) > 1:
            st.markdown(f"**{plain(study_of(some[0]))}**")
        name = f"judged-{task}-{study}"
        drawn = chart(name, (cells.state,), partial(progress_chart, some), _progress_words(some))
        if len(keys) == 1:
            pictures.append(("judged_map", drawn))
        elif drawn is not None:
            drawn.button(name, "judged_map")
    rows = _progress_rows(cells.value)
    table("cells", rows, PROGRESS_COLUMNS, height=420 if len(rows) > 11 else "auto")
    take_along("progress", rows, PROGRESS_COLUMNS, pictures)


def _progress_rows(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one | {"study": study_of(one)} for one in cells]


def _progress_words(cells: list[dict[str, Any]]) -> str:
    numbers = "; ".join(f"{one['relation']} {one['system']} {one['judged']}/{one['drawn']}" for one in cells)
    return t("dashboard.progress_alt", numbers=numbers)


ROLES = ("manager",)
SECTIONS: dict[str, Callable[[Engine, Account], None]] = {
    "progress": progress_section,
    "agreement": agreement_section,
    "firming": firming_section,
    "needs": needs_section,
    "people": people_section,
}
TAB = "dashboard-tab"


def page() -> None:
    """The sections as tabs; only the open one is computed."""
    session.allowed(session.engine(), *ROLES)
    places = st.tabs([t(f"dashboard.{name}") for name in SECTIONS], key=TAB, on_change="rerun")
    for name, place in zip(SECTIONS, places, strict=True):
        if place.open:
            with place:
                _section(name)


@st.fragment
@session.guarded
def _section(name: str) -> None:
    """One section; what is chosen in it reruns only this. Whoever is no manager any more is told so here, too."""
    engine = session.engine()
    account = session.allowed(engine, *ROLES)
    SECTIONS[name](engine, account)
