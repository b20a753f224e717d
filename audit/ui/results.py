"""Results: for managers."""

import json
from functools import partial

import streamlit as st

from audit.errors import AuditError
from audit.reports import charts
from audit.reports.build import Report
from audit.reports.primary_words import ENGLISH, primary_lines
from audit.reports.words import notes_of, signature_line
from audit.ui import (
    database,
    results_causes,
    results_preferences,
    results_relation,
    results_source,
    results_together,
    results_values,
    session,
)
from audit.ui.headlines import headlines
from audit.ui.language import language, t, texts, translated
from audit.ui.literal import html, plain, with_commands
from audit.ui.plan_texts import plan_texts
from audit.ui.results_parts import RATES, cells_table, chart, how, whole
from audit.ui.results_source import View
from audit.ui.workshop import fresh, made

ROLES = ("manager",)
TABS = ("relations", "together", "preferences", "heat", "cells", "values", "causes")
TAB = "results-tab"
_COUNTS = ("groups", "satisfied", "violated", "inapplicable", "errors", "drawn", "judged", "false", "waiting")


def page() -> None:
    """The report of the database in words, charts and numbers."""
    engine = database.engine()
    session.allowed(engine, *ROLES)
    try:
        options = results_source.choose()
        view = fresh(lambda anew: results_source.view(engine, options, anew=anew), lambda one: one.found, "results")
    except AuditError as problem:
        session.refused(problem)
        return
    st.html(_headlines(view.report))
    for line in primary_lines(
        view.report, {word: texts(language())[f"primary.{word}"] for word in ENGLISH}, translated
    ):
        st.markdown(plain(line))
    st.caption(plain(how(view)))
    # Only the open tab is computed and sent.
    for name, tab in zip(
        TABS, st.tabs([t(f"results.{name}") for name in TABS], key=TAB, on_change="rerun"), strict=True
    ):
        if tab.open:
            with tab:
                _tab(name, view)
    _downloads(view)
    _notes(view.report)


def _tab(name: str, view: View) -> None:
    if name == "relations":
        results_relation.tab(view)
    elif name == "together":
        results_together.tab(view)
    elif name == "preferences":
        results_preferences.tab(view)
    elif name == "heat":
        _heat(view)
    elif name == "values":
        results_values.tab(view)
    elif name == "causes":
        results_causes.tab(view)
    else:
        cells_table(view.report, view.report["cells"], (*whole(view.report), *_COUNTS, *RATES), height=420)


def _headlines(report: Report) -> str:
    lines = "".join(f"<li><strong>{html(number)}</strong> {html(rest)}</li>" for number, rest in headlines(report))
    return f'<ul class="audit-headlines">{lines}</ul>'


def _heat(view: View) -> None:
    st.caption(t("results.heat_legend"))
    for key in dict.fromkeys((one["task"], one["study"]) for one in view.report["relations"]):
        drawn = partial(charts.false_chart, view.report, *key, width=120)
        chart(view, ("heat", *key), drawn, t("results.heat_legend"))


def _downloads(view: View) -> None:
    """Exactly what is shown, with the weights: as data, and as a page to pass on."""
    with st.container(horizontal=True):
        st.download_button(
            t("results.download_json"),
            lambda: json.dumps(view.report, ensure_ascii=False, indent=2),
            "report.json",
            "application/json",
            on_click="ignore",
            icon=":material/download:",
        )
        st.download_button(
            t("results.download_html"),
            lambda: str(made("html", {"report": view.report}, view.key)),
            "report.html",
            "text/html",
            on_click="ignore",
            icon=":material/download:",
        )


def _notes(report: Report) -> None:
    for line in plan_texts(report):
        st.caption(plain(line))
    for note in notes_of(report):
        st.caption(with_commands(translated(note)))
    with st.expander(t("results.signature")):
        st.code(signature_line(report["signature"]), language=None, wrap_lines=True)
