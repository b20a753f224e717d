"""The page *Results*: observed and genuine rates, rankings and causes. For managers."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from audit.errors import AuditError
from audit.reports import charts, words
from audit.reports.build import LEVELS, Report, cells_of
from audit.reports.document import BOUNDS, PreferredSystem, RankedEntry, RelationResultEntry, RollupEntry
from audit.reports.first_page import decision_lines
from audit.ui import results_parts, session
from audit.ui.background_cache import produce, show_freshness
from audit.ui.dashboard_parts import (
    CAUSES,
    POINTS,
    RATES,
    chart,
    chosen_index,
    heading,
    table,
    with_reason,
    write_plain,
)
from audit.ui.language import (
    html,
    language,
    plain,
    sentence,
    single_choice,
    t,
    text_or,
    translated,
    with_commands,
)
from audit.ui.results_parts import View
from audit.ui.study_choice import study_name

# One relation at a time: rates, orders before and after, certainty of the ranking, and differences of systems.


def relation_tab(view: View) -> None:
    """The chosen relation; at first one under which another system becomes the best."""
    report, code = view.report, language()
    entries = report["relations"]
    if not entries:
        return
    names = [f"{entry['relation']} · {words.place(report, entry, code)}" for entry in entries]
    first = next((number for number, entry in enumerate(entries) if entry["best_changes_sure"]), 0)
    index = chosen_index(names, "results-relation", first)
    entry = entries[index]
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.caption(t("results.legend"))
        chart(
            "rates",
            (view.key, index),
            lambda palette: charts.rates_chart(report, entry, palette, language=code),
            charts.rates_in_words(report, entry, code),
        )
        chart(
            "order",
            (view.key, index),
            lambda palette: charts.order_chart(entry, palette, code),
            charts.order_in_words(entry, code),
        )
    with right:
        st.html(_orders(report, entry))
    heading(t("results.ranking"))
    st.caption(f"{t('results.ranking_legend')} {_delta(view)}")
    _ranking_table("ranking", entry["ranking"], ("sr_observed", "sr_genuine"))
    if common := words.common_text(entry, code):
        write_plain(sentence(common))
    _pairs(view, index, entry)
    if carried := words.carry_text(entry, code):
        heading(t("audits.title"))
        write_plain(sentence(carried))
    heading(t("results.cells_of_relation"))
    cells = cells_of(report, entry["task"], entry["study"], entry["relation"])
    columns = ("system", "groups", "satisfied", "drawn", "judged", "false", "waiting", *RATES)
    _cells_table("relation-cells", cells, columns)


def _orders(report: Report, entry: RelationResultEntry) -> str:
    """The relation's summary, the order of systems before and after, and the change in one sentence."""
    kinds = ("observed", "genuine")
    orders = "".join(
        f"<dt>{html(t(f'column.order_{kind}'))}</dt><dd>{html(words.order_text(entry, kind))}</dd>" for kind in kinds
    )
    summary = html(words.summary_of(report, entry, language()))
    change = html(sentence(words.change_text(entry, language())))
    return f'<p>{summary}</p><dl class="audit-orders">{orders}</dl><p><strong>{change}</strong></p>'


def _ranking_table(name: str, entries: Sequence[RankedEntry | PreferredSystem], columns: Sequence[str]) -> None:
    """A ranking, best first: rates, rank interval and P(best) of each system, or why these are missing."""
    ranked = words.by_rank(entries)
    unranked = [entry for entry in entries if entry["p_best"] is None]
    rows = [
        with_reason(entry) | {"ranks": words.ranks_text(entry) if entry["p_best"] is not None else None}
        for entry in (*ranked, *unranked)
    ]
    reason = ("reason",) if unranked else ()
    shown = ("ranks", "p_best") if ranked else ()
    table(name, rows, ("system", *columns[:2], *reason, *columns[2:], *shown))


def _pairs(view: View, index: int, entry: RelationResultEntry) -> None:
    """The differences of each two systems, with the surest one in a sentence above them."""
    heading(t("results.pairs"))
    strongest = words.pairs_text(entry["pairs"], language())
    if not strongest:
        reasons = [pair["reason"] for pair in entry["pairs"] if pair["reason"]]
        write_plain(sentence(translated(reasons[0])) if reasons else t("pairs.none"))
        return
    write_plain(strongest)
    st.caption(f"{t('pairs.legend')} {_delta(view)}")
    build = partial(charts.differences_chart, entry["pairs"], view.options.delta)
    chart("pairs", (view.key, index), build, strongest)
    rows = [
        pair
        | {"apart": t("pairs.yes" if pair["apart"] else "pairs.no")}
        | {"points": pair["difference"], "points_low": pair["low"], "points_high": pair["high"]}
        for pair in words.oriented(entry["pairs"])
    ]
    tests = ("p_holm", "apart", "judged", "informative", "groups")
    table("pairs", rows, ("system", "other", *POINTS, *tests))


def _cells_table(name: str, cells: Sequence[Mapping[str, Any]], columns: Sequence[str], height: Any = "auto") -> None:
    """Cells as a table; bounds, corrected rates, method and reason have columns where a cell has them."""
    optional = (*BOUNDS, "method", "reason")
    extra = [column for column in optional if any(cell.get(column) is not None for cell in cells)]
    named = [with_reason(cell) | ({} if cell["study"] is None else {"study": study_name(cell)}) for cell in cells]
    table(name, named, (*columns, *extra), height)


def _delta(view: View) -> str:
    """Which differences count as equal, in one sentence."""
    return sentence(words.delta_text(view.options.delta, language()))


# Causes of false satisfactions and reasons of disputes, as adjudicators gave them, counted.


def causes_tab(view: View) -> None:
    """Shares of causes at one level, and the reasons of disputes."""
    entries, disputes = view.report["causes"], view.report["disputes"]
    heading(t("results.causes"))
    if not entries:
        st.info(t("causes.not_given"))
    else:
        names = {entry["by"]: t(f"rollup.{entry['by']}") for entry in reversed(entries)}
        by = single_choice(t("rollup.by"), names, "results-causes-level", persist_state="session")
        rows = [
            {
                "name": words.rollup_name(view.report, entry, language()) if by != "overall" else names[by],
                "cause": text_or(f"cause.{share['cause']}", share["cause"]),
                "count": share["count"],
                "named": words.of_text(entry["named"], entry["false"], language()),
                **{f"cause_{name}": value for name, value in share.items()},
            }
            for entry in entries
            if entry["by"] == by
            for share in entry["causes"]
            if share["count"]
        ]
        table("causes", rows, ("name", "cause", *CAUSES, "count", "named"))
        st.caption(plain(t("causes.how")))
    if disputes:
        heading(t("html.disputes"))
        write_plain(words.dispute_line(view.report, language()))


# Rollups of cells: by relation, system, family of relations, and over all.

_NAMED = 4
"""Cells without an estimate that a reason lists by name."""


def together_tab(view: View) -> None:
    """One level at a time, as a chart and a table, with a reason beside each missing rate."""
    report, code = view.report, language()
    names = {level: t(f"rollup.{level}") for level in LEVELS}
    by = single_choice(t("rollup.by"), names, "results-level", LEVELS[1], persist_state="session")
    entries = [entry for entry in report["rollups"] if entry["by"] == by]
    if not entries:
        st.info(t("rollup.none"))
        return
    st.caption(t("results.legend"))
    build = partial(charts.rollup_chart, report, by, language=code)
    chart("rollups", (view.key, by), build, t("rollup.alt", level=names[by]))
    rows = [
        {**entry, "name": words.rollup_name(report, entry, code), "reason": _missing_reason(entry)} for entry in entries
    ]
    # The reason stands beside the rate that it explains, so that a phone shows both.
    reason = ("reason",) if any(row["reason"] for row in rows) else ()
    bounds = BOUNDS if any(entry["sr_least"] is not None for entry in entries) else ()
    genuine = (*reason, *bounds[4:], *RATES[5:])
    table("rollups", rows, ("name", RATES[0], RATES[4], *genuine, *RATES[1:4], *bounds[:4], "cells"))
    if bounds:
        st.caption(t("rollup.bounds"))
    for method in dict.fromkeys(entry["method"] for entry in entries if entry["method"]):
        st.caption(plain(sentence(translated(method))))


def _repeats(report: Report, code: str) -> None:
    """Contradictions on the same input, where systems were asked it several times, and verdicts by call."""
    for entry in report.get("repeats") or []:
        heading(words.title_of(report, entry, "repeats.title", code))
        of_systems = words.REPEATED_COLUMNS, words.repeated_rows(entry, code), words.repeat_lines(entry, code)
        of_cells = words.BY_CALL_COLUMNS, words.by_call_rows(entry, code), words.by_call_lines(entry, code)
        for columns, rows, lines in (of_systems, of_cells):
            heads = [t(f"column.{column}") for column in columns]
            if rows:
                st.dataframe([dict(zip(heads, row, strict=True)) for row in rows], hide_index=True)
            for line in lines:
                st.caption(plain(line))


def _missing_reason(entry: RollupEntry) -> str | None:
    """The reason for a missing rate, with the names of the first cells that cause it."""
    if not entry["reason"]:
        return None
    missing = entry["missing"]
    if not missing:
        return sentence(translated(entry["reason"]))
    # The row's own name, which all of them share, is not repeated.
    parts = [{"relation": cell["relation"], "system": cell["system"]} for cell in missing]
    names = list(dict.fromkeys(" ".join(name for by, name in part.items() if by != entry["by"]) for part in parts))
    dots = "" if len(names) <= _NAMED else ", …"
    key = "rollup.missing" if entry["sr_least"] is None else "rollup.bounded"
    return t(key, names=", ".join(names[:_NAMED]) + dots)


ROLES = ("manager",)
TAB = "results-tab"
_COUNTS = ("groups", "satisfied", "violated", "inapplicable", "errors", "rejected")
_DRAW_COUNTS = ("drawn", "judged", "false", "waiting")


def page() -> None:
    """The report of the database in words, charts and numbers."""
    engine = session.engine()
    account = session.require_role(engine, *ROLES)
    try:
        options = results_parts.choose_options(engine, account.id)
        view = show_freshness(
            lambda recompute: results_parts.compute_view(engine, options, recompute=recompute),
            lambda view: view.answer,
            "results",
        )
    except AuditError as problem:
        session.show_refusal(problem)
        return
    st.html(_headlines(view.report))
    whose = sentence(t(f"how.{view.options.whose}"))
    st.caption(plain(f"{words.how_text(view.report, language())} {whose}"))
    # Only the open tab is computed and sent.
    tabs = st.tabs([t(f"results.{name}") for name in TABS], key=TAB, on_change="rerun")
    for show, tab in zip(TABS.values(), tabs, strict=True):
        if tab.open:
            with tab:
                show(view)
    _downloads(view)
    _notes(view.report)


def cells_tab(view: View) -> None:
    """Every cell; with the study where there are several."""
    cells = view.report["cells"]
    st.caption(plain(t("results.cells_legend")))
    several_studies = len({cell["study"] for cell in cells}) > 1
    counts = [name for name in _COUNTS if name != "rejected" or any(name in cell for cell in cells)]
    columns = (*(("study",) if several_studies else ()), "relation", "system", *counts, *_DRAW_COUNTS, *RATES)
    _cells_table("cells", cells, columns, height=420)


def _headlines(report: Report) -> str:
    code = language()
    first, *rest = [html(line) for line in decision_lines(report, code)] or [""]
    lines = [*([f"<strong>{first}</strong>"] if first else []), *rest]
    lines += [f"<strong>{html(number)}</strong> {html(text)}" for number, text in words.headlines(report, code)]
    return f'<ul class="audit-headlines">{"".join(f"<li>{line}</li>" for line in lines)}</ul>'


def heat_tab(view: View) -> None:
    """R_FS of every cell, a heat map a study."""
    st.caption(t("results.heat_legend", least=charts.LEAST_SHOWN))
    for task, study in dict.fromkeys((entry["task"], entry["study"]) for entry in view.report["relations"]):
        build = partial(charts.false_chart, view.report, task, study, width=120, language=language())
        chart(f"heat-{task}-{study}", (view.key,), build, t("chart.false_alt"))


def _downloads(view: View) -> None:
    """Downloads of the report as it is shown: as JSON, and as an HTML page in its language."""
    code = language()
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
            lambda: str(produce("html", {"report": view.report, "language": code}, (*view.key, code))),
            "report.html",
            "text/html",
            on_click="ignore",
            icon=":material/download:",
        )


def _notes(report: Report) -> None:
    for line in words.plan_lines(report, language()):
        st.caption(plain(line))
    for note in words.notes_of(report, language()):
        st.caption(with_commands(note))
    with st.expander(t("results.signature")):
        st.code(words.signature_line(report["signature"]), language=None, wrap_lines=True)


TABS: dict[str, Callable[[View], None]] = {
    "relations": relation_tab,
    "together": together_tab,
    "heat": heat_tab,
    "cells": cells_tab,
    "causes": causes_tab,
}
"""The tabs by the keys of their titles."""
