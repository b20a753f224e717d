"""Rates and the ranking of a relation as they firm up while people judge."""

from collections.abc import Sequence
from typing import Any

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import Account
from audit.false_satisfaction.settling import Whose
from audit.reports.dashboard_charts import best_chart, firming_chart
from audit.reports.words import percent
from audit.ui.choice import one_of, whose_answers
from audit.ui.dashboard_parts import chart, moment, study_of, table, take_along
from audit.ui.language import t
from audit.ui.literal import plain
from audit.ui.results_parts import heading
from audit.ui.workshop import current

WHOSE: tuple[Whose, ...] = ("both", "people")
RATES = ("fs_rate", "sr_genuine")
COLUMNS = ("judgements", "until", "system", "judged", "fs_rate", "fs_low", "fs_high", "sr_observed", "sr_genuine",
           "sr_genuine_low", "sr_genuine_high", "p_best")  # fmt: skip


def section(engine: Engine, _account: Account) -> None:
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
        _words(entry, rate),
    )
    heading(t("dashboard.best"))
    st.caption(t("dashboard.best_legend"))
    best = chart(
        "best",
        key,
        lambda palette: best_chart(points, entry["systems"], (titles[0], t("sheet.p_best")), palette),
        _words(entry, "p_best"),
    )
    if best is None:
        st.info(t("dashboard.no_ranking"), icon=":material/info:")
    rows = _rows(points, entry)
    table("firming", rows, COLUMNS, height=320)
    take_along("as-they-firm-up", rows, COLUMNS, [("firming_picture", rates), ("best", best)])


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


def _rows(points: list[dict[str, Any]], entry: dict[str, Any]) -> list[dict[str, Any]]:
    lists = ("judged", *COLUMNS[4:])
    return [
        {"judgements": point["judgements"], "until": moment(point["until"]), "system": one["system"]}
        | {name: one[name][at] for name in lists}
        for at, point in enumerate(points)
        for one in entry["systems"]
    ]


def _words(entry: dict[str, Any], name: str) -> str:
    numbers = "; ".join(
        f"{one['system']} " + " → ".join(percent(value, 0) for value in one[name]) for one in entry["systems"]
    )
    return t("dashboard.firming_alt", relation=entry["relation"], rate=t(f"sheet.{name}"), numbers=numbers)
