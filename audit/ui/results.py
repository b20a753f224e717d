"""Results and progress: for managers."""

import json
from typing import Any

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
from audit.reports.words import change_text, notes_of, order_text, place, signature_line, summary_of
from audit.store import table_of, tables
from audit.ui import database, session
from audit.ui.headlines import headlines
from audit.ui.language import t, translated
from audit.ui.literal import html, plain

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
        st.altair_chart(
            charts.rates_chart(report, entry, _palette(), width=360),
            theme=None,
            width="content",
            alt=charts.rates_in_words(report, entry),
        )
    with right:
        st.html(
            f"<p>{html(summary_of(report, entry))}</p><dl class='audit-orders'>"
            f"<dt>{html(t('results.order_observed'))}</dt><dd>{html(order_text(report, entry, 'observed'))}</dd>"
            f"<dt>{html(t('results.order_genuine'))}</dt><dd>{html(order_text(report, entry, 'genuine'))}</dd></dl>"
            f"<p><strong>{html(translated(change_text(entry)))}</strong></p>"
        )
    st.dataframe(_rows(cells_of(report, entry["task"], entry["study"], entry["relation"])), hide_index=True)


def _heat(report: Report) -> None:
    st.caption(t("results.heat_legend"))
    for task, study in dict.fromkeys((one["task"], one["study"]) for one in report["relations"]):
        st.altair_chart(charts.false_chart(report, task, study, _palette(), width=120), theme=None, width="content")


def _cells(report: Report) -> None:
    st.dataframe(_rows(report["cells"], counts=True), hide_index=True, height=420)
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


def _rows(cells: list[dict[str, Any]], counts: bool = False) -> list[dict[str, Any]]:
    """Rows of a table: rates in per cent, with their intervals."""
    names = (*(("relation",) if counts else ()), "system")
    numbers = (*(_COUNTS if counts else ("judged", "false", "waiting")), *_RATES)
    return [
        {t(f"column.{name}"): cell[name] for name in names}
        | {t(f"column.{name}"): _shown(cell[name], name in _RATES) for name in numbers}
        for cell in cells
    ]


def _shown(value: float | None, is_rate: bool) -> float | None:
    return round(100 * value, 1) if is_rate and value is not None else value


def _judging(engine: Engine, account_id: int, report: Report) -> None:
    found = progress(engine, account_id)
    numbers = [
        (t("progress.open"), found.open),
        (t("progress.disputed"), len(disputed(engine, account_id))),
        *((t(f"origin.{origin}"), count) for origin, count in found.answers.items()),
    ]
    for column, (name, number) in zip(st.columns(len(numbers)), numbers, strict=True):
        column.metric(name, f"{number:,}")
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.caption(t("progress.by_cell"))
        columns = ("drawn", "judged", "waiting")
        st.dataframe(
            [
                {t(f"column.{name}"): cell[name] for name in ("relation", "system", *columns)}
                for cell in report["cells"]
            ],
            hide_index=True,
            height=320,
        )
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
