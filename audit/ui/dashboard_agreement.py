"""How well people agree: coefficients, over time, between each two, and which labels they take for each other."""

from typing import Any

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import Account
from audit.reports.dashboard_charts import agreement_chart, confusion_chart
from audit.reports.words import UNKNOWN, percent
from audit.ui.choice import one_of
from audit.ui.dashboard_parts import chart, table, take_along
from audit.ui.language import label_name, t, task_name, translated
from audit.ui.literal import plain
from audit.ui.results_parts import heading
from audit.ui.workshop import computed, current

COLUMNS = ("coefficient", "level", "estimate", "low", "high", "items", "note")
STRETCHES = ("stretch", "coefficient", "estimate", "low", "high", "items")
PAIRS = ("one", "other", "items", "percent_agreement", "cohen_kappa", "gwet_ac1")
SHOWN = ("percent_agreement", "krippendorff_alpha")
"""Coefficients that are shown over time."""


def section(engine: Engine, account: Account) -> None:
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
    columns = [name for name in COLUMNS if name not in ("level", "note") or any(row[name] for row in rows)]
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
    return t(f"coefficient.{name}")


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f}"
