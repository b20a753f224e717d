"""The report as one HTML file that needs nothing else: styles and charts are in it, scripts are not."""

import json
import re
from functools import cache
from typing import Any

import audit
from audit.reports import charts, violation_charts, words
from audit.reports.build import Report, cells_of
from audit.reports.charts import to_svg
from audit.reports.document import AccuracyEntry, RelationResultEntry, TopicsEntry, ViolationTable
from audit.reports.plan_texts import plan_lines, primary_lines
from audit.resources import data_file

# Charts and templates as parts of an HTML page.


@cache
def template(name: str) -> Any:
    """A template of data/; every text that is put into it is escaped, and one that it does not get is a mistake."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"percent": words.percent, "count": words.count}
    return environment.from_string(data_file(name).read_text(encoding="utf-8"))


def inline_or_none(chart: Any, label: str) -> Any:
    """As `inline`; None where there is no chart."""
    return None if chart is None else inline(chart, label)


def inline(chart: Any, label: str) -> Any:
    """The chart as an `<svg>` element that names itself to screen readers, takes the page's colours and can shrink."""
    from markupsafe import Markup, escape

    svg = to_svg(chart)
    opening = re.match(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)" viewBox="([^"]*)">', svg)
    if opening is None:
        raise ValueError("the chart engine's SVG does not begin as expected; was vl-convert-python updated?")
    width, height, box = opening.groups()
    # As one image with one description; the parts' own labels would be read out as a jumble of numbers.
    head = (
        f'<svg class="chart" role="img" aria-label="{escape(label)}" width="{width}" height="{height}" viewBox="{box}">'
    )
    body = re.sub(r' (?:role|aria-[a-z]+)="[^"]*"', "", svg[opening.end() :])
    # Safe: the chart engine escapes every text, and the label is escaped above.
    return Markup(head + body)


# Violation rates, topics and accuracy as a part of the HTML file.

TABLES_TEMPLATE = "report_tables.html.j2"
IN_TABLE = "the numbers are in the table"


def tables_html(report: Report) -> Any:
    """The part as safe markup, every text in it escaped; empty where nothing was satisfied or violated."""
    from markupsafe import Markup

    # Safe: made by the template engine, which escapes.
    return Markup(
        template(TABLES_TEMPLATE).render(
            light=charts.LIGHT,
            how=violation_charts.rates_key(report),
            tables=[
                rendered for rendered in (_table(report, table) for table in report["violations"]) if rendered["chart"]
            ],
            across=inline_or_none(
                violation_charts.bars_chart(violation_charts.task_groups(report), longest=40),
                "Violation rates of the relations that several tasks share; the numbers are in the tables above",
            ),
            topics=[_topics(report, entry) for entry in report.get("topics") or []],
            accuracy=[_accuracy(report, entry) for entry in violation_charts.shown_accuracy(report)],
        )
    )


def _table(report: Report, table: ViolationTable) -> dict[str, Any]:
    title = violation_charts.title_of(report, table, violation_charts.TITLE)
    kinds: list[list[tuple[str, list[str]]]] = []
    above = None
    for row in table["rows"]:
        if row["by"] != above and row["by"] != "estimated":
            kinds.append([])
        above = row["by"]
        kinds[-1].append(
            (violation_charts.row_name(row), [violation_charts.rates_text(rates) for rates in row["rates"]])
        )
    groups = violation_charts.relation_groups(table)
    families = violation_charts.relation_groups(table, "family")
    return {
        "title": title,
        "systems": table["systems"],
        "kinds": kinds,
        "chart": inline_or_none(violation_charts.bars_chart(groups), f"{title}, by relation and system; {IN_TABLE}"),
        "families": inline_or_none(
            violation_charts.bars_chart(families), f"{title}, by family of relations and system; {IN_TABLE}"
        ),
    }


def _topics(report: Report, entry: TopicsEntry) -> dict[str, Any]:
    title = violation_charts.title_of(
        report, entry, f"{violation_charts.TITLE} by {violation_charts.property_name(entry['by'])}"
    )
    return {
        "title": title,
        "key": violation_charts.topic_key(entry),
        "reason": entry["reason"],
        "rows": violation_charts.topic_rows(entry),
        "chart": inline_or_none(
            violation_charts.bars_chart(violation_charts.topic_groups(entry)), f"{title} and system; {IN_TABLE}"
        ),
        "systems": [(system, *violation_charts.topics_by_relation(entry, system)) for system in entry["systems"]],
    }


def _accuracy(report: Report, entry: AccuracyEntry) -> dict[str, Any]:
    title = violation_charts.title_of(report, entry, violation_charts.ACCURACY)
    return {
        "title": title,
        "lines": violation_charts.accuracy_lines(entry),
        "rows": violation_charts.accuracy_rows(entry) if entry["systems"] else [],
        "chart": inline_or_none(violation_charts.accuracy_chart(entry), f"{title}; {IN_TABLE}"),
    }


TEMPLATE = "report.html.j2"
COUNTS = ("groups", "satisfied", "violated", "inapplicable", "errors", "judged", "false", "waiting")
"""Columns of the table of cells, as far as the report knows them."""
CORRECTED = ("sr_corrected", "sr_corrected_low", "sr_corrected_high")
"""Rates without the groups for which the relation does not hold: shown where the report has them."""
LEVELS = {
    "overall": "Over all",
    "system": "By system",
    "family": "By family of relations",
    "relation": "By relation",
}
"""Levels of the roll-ups, with their headings, in the order of the charts."""


def to_html(report: Report) -> str:
    """The report as a self-contained HTML document: no scripts, no requests, light and dark, printable.

    Every text is escaped by the template engine, in charts by the chart engine. The charts' colours are mapped to
    style variables, so that they follow the reader's colour scheme. The same report gives the same document.

    >>> from audit.reports.build import build_report
    >>> import pandas as pd
    >>> to_html(build_report(pd.DataFrame([]), {})).startswith("<!doctype html>")
    True
    """
    document: str = template(TEMPLATE).render(
        version=audit.__version__,
        light=charts.LIGHT,
        dark=charts.DARK,
        colours=("ink", "muted", "line", "paper", "observed", "genuine", "false"),
        headlines=words.headlines(report),
        notes=words.notes_of(report),
        primary=primary_lines(report),
        plans=plan_lines(report),
        confidence=words.percent(report["signature"].get("confidence") or 0.95, 0),
        intervals=any(cell["fs_low"] is not None for cell in report["cells"]),
        bounds=any(entry.get("sr_least") is not None for entry in (*report["cells"], *report["rollups"])),
        counts=[name for name in COUNTS if any(cell.get(name) is not None for cell in report["cells"])],
        population=report["signature"].get("target") == "population",
        corrected=any(cell["sr_corrected"] is not None for cell in report["cells"]),
        audited=any(cell["holds_judged"] for cell in report["cells"]),
        sections=_sections(report),
        estimator=words.estimator_text(report),
        proxies="proxy" in report["signature"],
        checks=words.check_lines(report),
        protocols=words.protocol_lines(report),
        arms=words.protocol_rows(report),
        checked=words.checked_rows(report),
        carried=any(words.carry_text(relation) for relation in report["relations"]),
        causes=words.cause_rows(report),
        cause_title=words.TITLE,
        cause_note=words.cause_note(report),
        disputes=words.dispute_line(report),
        how=words.how_text(report) if report["cells"] else "",
        delta=words.delta_text(report["signature"].get("delta") or 0.0).capitalize(),
        rollups=words.rollup_rows(report),
        reasons=any(entry["reason"] for entry in report["rollups"]),
        rollup_charts=_rollup_charts(report),
        tables=tables_html(report),
        preference=words.preference_lines(report),
        scores=inline_or_none(charts.scores_chart(report), " ".join(words.preference_lines(report))),
        line=words.signature_line(report["signature"]),
        signature=json.dumps(report["signature"], indent=2, ensure_ascii=False, default=str),
    )
    return document


def _sections(report: Report) -> list[dict[str, Any]]:
    """One section a study: its heat map, and its relations with orders, chart and cells."""
    sections: dict[tuple[Any, Any], dict[str, Any]] = {}
    for relation in report["relations"]:
        key = (relation["task"], relation["study"])
        if key not in sections:
            heat_map = charts.false_chart(report, *key)
            sections[key] = {
                "title": words.place(report, relation),
                "heat_map": inline(
                    heat_map,
                    "Share of satisfactions that are false, by relation and system; the "
                    "numbers are in the table of cells",
                ),
                "relations": [],
                "pairs": [],
            }
        sections[key]["relations"].append(_relation(report, relation))
        pairs = _pairs(relation)
        if pairs:
            sections[key]["pairs"].append({"name": relation["relation"], "pairs": pairs})
    for section in sections.values():
        judged_cells = [
            (relation["name"], [c for c in relation["cells"] if c["holds_judged"]]) for relation in section["relations"]
        ]
        section["audited"] = [(name, cells) for name, cells in judged_cells if cells]
    return list(sections.values())


def _relation(report: Report, relation: RelationResultEntry) -> dict[str, Any]:
    cells = cells_of(report, relation["task"], relation["study"], relation["relation"])
    sentences = (
        f"{words.common_text(relation)[:1].upper()}{words.common_text(relation)[1:]}",
        charts.pairs_text(relation["pairs"]),
        words.holds_text(relation).capitalize(),
        words.carry_text(relation),
    )
    return {
        "name": relation["relation"],
        "summary": words.summary_of(report, relation),
        "change": words.change_text(relation),
        "changed": relation["best_changes_sure"],
        "was": words.order_text(relation, "observed"),
        "now": words.order_text(relation, "genuine"),
        "corrected": words.order_text(relation, "corrected") if relation["order_corrected"] else words.UNKNOWN,
        "best": words.best_text(relation),
        "ranking": words.ranking_rows(relation["ranking"]),
        "sentences": [text for text in sentences if text],
        "chart": inline(charts.rates_chart(report, relation), charts.rates_in_words(report, relation)),
        # Where the order stays, the lines would be parallel and say nothing.
        "slopes": inline_or_none(
            charts.order_chart(relation) if relation["order_changes"] else None,
            charts.order_in_words(relation),
        ),
        "cells": [
            cell
            | {
                "fs": words.with_interval(cell, "fs_rate", "fs_low", "fs_high"),
                "genuine": words.with_interval(cell, "sr_genuine", "sr_genuine_low", "sr_genuine_high"),
                "corrected": words.with_interval(cell, "sr_corrected", "sr_corrected_low", "sr_corrected_high"),
                "violations": words.with_interval(
                    cell, "false_violation_rate", "false_violation_rate_low", "false_violation_rate_high"
                ),
            }
            for cell in cells
        ],
    }


def _pairs(relation: RelationResultEntry) -> list[dict[str, Any]]:
    """The pairs of a relation whose difference is known, as rows of text."""
    return [
        {
            "better": pair["system"],
            "other": pair["other"],
            "apart": pair["apart"],
            "difference": words.with_interval(pair, "difference", "low", "high"),
            "p_holm": charts.p_text(pair["p_holm"]).removeprefix("=\N{NO-BREAK SPACE}"),
            "mcnemar": charts.p_text(pair["mcnemar_p"]).removeprefix("=\N{NO-BREAK SPACE}"),
            "judged": f"{words.count(pair['judged'])} of {words.count(pair['informative'])}",
        }
        for pair in charts.oriented(relation["pairs"])
    ]


def _rollup_charts(report: Report) -> list[tuple[str, Any]]:
    """(heading, chart) of every level of the roll-ups that has an observed rate."""
    drawn = ((heading, charts.rollup_chart(report, by)) for by, heading in LEVELS.items())
    return [
        (heading, inline(chart, f"Rates of the roll-ups: {heading}; the numbers are in the table"))
        for heading, chart in drawn
        if chart is not None
    ]
