"""How many more questions until each relation's rates are known well enough, its winner or its order decided."""

from datetime import timedelta
from typing import Any

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import Account
from audit.reports.dashboard_charts import needs_chart
from audit.store import tables
from audit.ui.dashboard_parts import chart, study_of, table, take_along
from audit.ui.language import t, translated
from audit.ui.literal import plain
from audit.ui.results_parts import heading
from audit.ui.workshop import computed, current

GOALS = {"half-width": "two-phase", "winner": "always-valid", "order": "always-valid"}
"""What is wanted, and the design by which it is counted: the one that stops as soon as it may."""
COLUMNS = ("relation", "half_width", "winner", "order", "leads")
TOTALS = ("goal", "questions", "answers", "hours", "ends")
HALF_WIDTH = 0.05
DELTA = 0.02


def section(engine: Engine, account: Account) -> None:
    """Three goals beside each other. It reads every group, so it is begun by a button."""
    st.markdown(t("dashboard.needs_what", points=f"{100 * HALF_WIDTH:g}", delta=f"{100 * DELTA:g}"))
    if not st.session_state.get("dashboard-needs") and not st.button(
        t("dashboard.needs_begin"), key="needs-begin", icon=":material/calculate:"
    ):
        return
    st.session_state["dashboard-needs"] = True
    found = current(engine, "needs", {"half_width": HALF_WIDTH, "delta": DELTA}, "needs")
    pace = computed(engine, "totals", {"by": account.id}).value["pace"]
    _totals(found.value, pace["per_hour"], pace["per_day"])
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
    table("needs", shown, COLUMNS, height=420 if len(rows) > 11 else "auto")
    take_along("how-many-more", shown, COLUMNS, [("needs_picture", drawn)])
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


def _totals(plans: dict[str, Any], per_hour: float | None, per_day: float | None) -> None:
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
