"""Cells taken together: by relation, system, family of relations, and over all."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from audit.reports import charts
from audit.reports.certainty import LEVELS
from audit.reports.words import genuine_text, percent, rollup_name
from audit.statistics.rates import BOUNDS
from audit.ui.choice import one_of
from audit.ui.language import t, translated
from audit.ui.literal import plain, sentence
from audit.ui.results_audits import of_all
from audit.ui.results_parts import RATES, chart, table
from audit.ui.results_protocols import of_protocols
from audit.ui.results_source import View

_NAMED = 4
"""Cells without an estimate that a reason names."""


def tab(view: View) -> None:
    """One level at a time, as a chart and a table; what is not known says why."""
    names = {level: t(f"rollup.{level}") for level in LEVELS}
    by = one_of(t("rollup.by"), names, "results-level", LEVELS[1], persist_state="session")
    entries = [one for one in view.report["rollups"] if one["by"] == by]
    if not entries:
        st.info(t("rollup.none"))
        return
    st.caption(t("results.legend"))
    numbers = "; ".join(
        f"{rollup_name(view.report, one)} {percent(one['sr_observed'])} → {genuine_text(one)}" for one in entries
    )
    chart(
        view,
        ("rollups", by),
        lambda palette: charts.rollup_chart(view.report, by, palette),
        t("results.rates_alt", relation=t(f"rollup.{by}"), numbers=numbers),
    )
    rows = [_row(view, one) for one in entries]
    lacking = any(row["reason"] for row in rows)
    # The reason stands beside the rate that it explains, so that a phone shows both.
    false, genuine = RATES[1:4], RATES[4:]
    bounds = BOUNDS if any(one["sr_least"] is not None for one in entries) else ()
    why = ("reason",) if lacking else ()
    table(rows, ("name", RATES[0], genuine[0], *why, *bounds[4:], *genuine[1:], *false, *bounds[:4], "cells"))
    if bounds:
        st.caption(t("rollup.bounds"))
    for method in dict.fromkeys(one["method"] for one in entries if one["method"]):
        st.caption(plain(sentence(translated(method))))
    of_all(view.report)
    of_protocols(view.report)


def _row(view: View, entry: Mapping[str, Any]) -> dict[str, Any]:
    name = rollup_name(view.report, entry)
    return {**entry, "name": translated(name) if entry["by"] in ("family", "overall") else name, "reason": _why(entry)}


def _why(entry: Mapping[str, Any]) -> str | None:
    """Why there is no rate, with the first of the cells that are to blame."""
    if not entry["reason"]:
        return None
    missing = entry["missing"]
    if not missing:
        return sentence(translated(entry["reason"]))
    # What all of them share, the row's own name, need not be said again.
    parts = [name for name in ("relation", "system") if name != entry["by"]]
    names = list(dict.fromkeys(" ".join(one[part] for part in parts) for one in missing))
    dots = "" if len(names) <= _NAMED else ", …"
    key = "rollup.missing" if entry["sr_least"] is None else "rollup.bounded"
    return t(key, names=", ".join(names[:_NAMED]) + dots)
