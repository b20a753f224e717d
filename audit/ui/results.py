"""Results and progress: for managers."""

import json
from collections.abc import Mapping
from typing import Any, Literal

import streamlit as st
from sqlalchemy import Engine, func, select

from audit.annotation.judging import disputed
from audit.annotation.progress import progress
from audit.errors import AuditError
from audit.false_satisfaction.settling import Whose
from audit.reports import charts
from audit.reports.build import Report, cells_of
from audit.reports.html import to_html
from audit.reports.study import study_report
from audit.reports.words import UNKNOWN, change_text, notes_of, order_text, place, signature_line, summary_of
from audit.store import table_of, tables
from audit.ui import database, session
from audit.ui.headlines import headlines
from audit.ui.language import summary, t, translated
from audit.ui.literal import html, plain, sentence

ROLES = ("manager",)
WHOSE: tuple[Whose, ...] = ("both", "people", "gold")
_RATES = ("sr_observed", "fs_rate", "fs_low", "fs_high", "sr_genuine", "sr_genuine_low", "sr_genuine_high")
_COUNTS = ("groups", "satisfied", "violated", "inapplicable", "errors", "drawn", "judged", "false", "waiting")


def page() -> None:
    """The report of the database in words, charts and numbers, and how far the judging is."""
    engine = database.engine()
    account = session.allowed(engine, *ROLES)
    whose: Whose = st.segmented_control(
        t("results.whose"), WHOSE, default="both", required=True, format_func=lambda one: t(f"whose.{one}"), key="whose"
    )
    try:
        report = _report(engine, database.where(), _state(engine), whose)
    except AuditError as problem:
        session.refused(problem)
        return
    st.html(_headlines(report))
    relations, heat, cells, judging = st.tabs(
        [t("results.relations"), t("results.heat"), t("results.cells"), t("results.progress")]
    )
    with relations:
        _relations(report)
    with heat:
        _heat(report)
    with cells:
        _cells(report)
    with judging:
        _judging(engine, account.id, report)
    _notes(report)


def _state(engine: Engine) -> tuple[Any, ...]:
    """What changes whenever the report does, cheaply: the histories and the draws only ever grow or are redrawn."""
    counted = (tables.Judgement, tables.Adjudication, tables.Verdict, tables.Draw, tables.Answer)
    sample = table_of(tables.Sample)
    with engine.connect() as connection:
        numbers = [connection.execute(select(func.count()).select_from(table_of(one))).scalar() for one in counted]
        return (*numbers, str(connection.execute(select(func.max(sample.c.drawn_at))).scalar()))


@st.cache_data(max_entries=12, show_spinner=False)
def _report(_engine: Engine, where: str, state: tuple[Any, ...], whose: Whose) -> Report:
    return study_report(_engine, whose)


@st.cache_data(max_entries=4, show_spinner=False)
def _document(report: Report) -> str:
    return to_html(report)


def _palette() -> charts.Palette:
    return charts.DARK if st.context.theme.type == "dark" else charts.LIGHT


def _headlines(report: Report) -> str:
    lines = "".join(f"<li><strong>{html(number)}</strong> {html(rest)}</li>" for number, rest in headlines(report))
    return f'<ul class="audit-headlines">{lines}</ul>'


def _relations(report: Report) -> None:
    """A relation at a time: its chart, and the order of systems before and after."""
    entries = report["relations"]
    if not entries:
        return
    names = [f"{one['relation']} · {place(report, one)}" for one in entries]
    # The most telling one first: where another system is best.
    changed = next((number for number, one in enumerate(entries) if one["best_changes"]), 0)
    chosen = st.selectbox(
        t("results.relation"), range(len(entries)), index=changed, format_func=names.__getitem__, key="results-relation"
    )
    entry = entries[chosen]
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.caption(t("results.legend"))
        _chart(charts.rates_chart(report, entry, _palette(), width=320), charts.rates_in_words(report, entry))
    with right:
        st.html(_orders(report, entry))
    cells = cells_of(report, entry["task"], entry["study"], entry["relation"])
    _table(cells, ("system", "judged", "false", "waiting", *_RATES))


def _orders(report: Report, entry: Mapping[str, Any]) -> str:
    """What the relation does, the order of systems before and after, and what that changes."""
    what = summary(entry["task"], entry["relation"], summary_of(report, entry))
    orders = "".join(
        f"<dt>{html(title)}</dt><dd>{html(order_text(report, entry, when))}</dd>"
        for when, title in (("observed", t("results.order_observed")), ("genuine", t("results.order_genuine")))
    )
    change = html(sentence(translated(change_text(entry))))
    return f'<p>{html(what)}</p><dl class="audit-orders">{orders}</dl><p><strong>{change}</strong></p>'


def _chart(chart: Any, words: str) -> None:
    """A chart in its own size. Streamlit would squeeze it, numbers beside the plot included, into its plot's width."""
    st.altair_chart(chart.properties(autosize="pad"), theme=None, width="content", alt=words)


def _heat(report: Report) -> None:
    st.caption(t("results.heat_legend"))
    for task, study in dict.fromkeys((one["task"], one["study"]) for one in report["relations"]):
        _chart(charts.false_chart(report, task, study, _palette(), width=120), t("results.heat_legend"))


def _cells(report: Report) -> None:
    _table(report["cells"], (*_whole(report), *_COUNTS, *_RATES), height=420)
    left, right, _ = st.columns([1, 1, 2])
    left.download_button(
        t("results.download_json"),
        lambda: json.dumps(report, ensure_ascii=False, indent=2),
        "report.json",
        "application/json",
        on_click="ignore",
        icon=":material/download:",
    )
    right.download_button(
        t("results.download_html"),
        lambda: _document(report),
        "report.html",
        "text/html",
        on_click="ignore",
        icon=":material/download:",
    )


def _whole(report: Report) -> tuple[str, ...]:
    """The columns that name a cell; the study too where there are several."""
    several = len({cell["study"] for cell in report["cells"]}) > 1
    return (*(("study",) if several else ()), "relation", "system")


def _table(cells: list[dict[str, Any]], names: tuple[str, ...], height: int | Literal["auto"] = "auto") -> None:
    """Cells as a table that sorts: rates in per cent."""
    rows = [{t(f"column.{name}"): _shown(cell, name) for name in names} for cell in cells]
    rates = {t(f"column.{name}"): st.column_config.NumberColumn(format="%.1f") for name in names if name in _RATES}
    st.dataframe(rows, hide_index=True, height=height, column_config=rates, placeholder=UNKNOWN)


def _shown(cell: Mapping[str, Any], name: str) -> Any:
    if name == "study":
        return t("browse.study_name", corpus=cell["corpus"], id=cell["study"])
    return 100 * cell[name] if name in _RATES and cell[name] is not None else cell[name]


def _judging(engine: Engine, account_id: int, report: Report) -> None:
    found = progress(engine, account_id)
    numbers = [
        (t("progress.open"), found.open),
        (t("progress.disputed"), len(disputed(engine, account_id))),
        *((t(f"origin.{origin}"), count) for origin, count in found.answers.items()),
    ]
    for column, (name, number) in zip(st.columns(len(numbers)), numbers, strict=True):
        column.metric(name, f"{number:,}")
    left, right = st.columns([5, 2], gap="medium")
    with left:
        st.caption(t("progress.by_cell"))
        _table(report["cells"], (*_whole(report), "drawn", "judged", "waiting"), height=320)
    with right:
        st.caption(t("progress.by_person"))
        st.dataframe(
            [{t("accounts.name"): name, t("progress.judgements"): number} for name, number in found.judgements.items()],
            hide_index=True,
        )


def _notes(report: Report) -> None:
    for note in notes_of(report):
        st.caption(plain(translated(note)))
    with st.expander(t("results.signature")):
        st.code(signature_line(report["signature"]), language=None, wrap_lines=True)
