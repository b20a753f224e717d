"""The report as one HTML file that needs nothing else: styles and charts are in it, scripts are not."""

import json
from collections.abc import Mapping
from typing import Any

import audit
from audit.reports import audit_words, cause_words, charts, differences, order_words, protocol_words, slopes, words
from audit.reports.build import Report, cells_of
from audit.reports.html_tables import tables_html
from audit.reports.inlining import inline, inlined, template
from audit.reports.primary_words import primary_lines
from audit.reports.study_plan import plan_lines

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
    found: str = template(TEMPLATE).render(
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
        bounds=any(one.get("sr_least") is not None for one in (*report["cells"], *report["rollups"])),
        counts=[name for name in COUNTS if any(cell[name] is not None for cell in report["cells"])],
        population=report["signature"].get("target") == "population",
        corrected=any(cell["sr_corrected"] is not None for cell in report["cells"]),
        audited=any(cell["holds_judged"] for cell in report["cells"]),
        sections=_sections(report),
        estimator=words.estimator_text(report),
        proxies="proxy" in report["signature"],
        checks=audit_words.check_lines(report),
        protocols=protocol_words.protocol_lines(report),
        arms=protocol_words.protocol_rows(report),
        checked=audit_words.checked_rows(report),
        carried=any(audit_words.carry_text(relation) for relation in report["relations"]),
        causes=cause_words.cause_rows(report),
        cause_title=cause_words.TITLE,
        cause_note=cause_words.cause_note(report),
        disputes=cause_words.dispute_line(report),
        how=words.how_text(report) if report["cells"] else "",
        delta=words.delta_text(report["signature"].get("delta") or 0.0).capitalize(),
        rollups=words.rollup_rows(report),
        reasons=any(one["reason"] for one in report["rollups"]),
        rollup_charts=_rollup_charts(report),
        tables=tables_html(report),
        preference=words.preference_lines(report),
        scores=inlined(charts.scores_chart(report), " ".join(words.preference_lines(report))),
        line=words.signature_line(report["signature"]),
        signature=json.dumps(report["signature"], indent=2, ensure_ascii=False, default=str),
    )
    return found


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
        asked = [(one["name"], [c for c in one["cells"] if c["holds_judged"]]) for one in section["relations"]]
        section["audited"] = [(name, cells) for name, cells in asked if cells]
    return list(sections.values())


def _relation(report: Report, relation: Mapping[str, Any]) -> dict[str, Any]:
    cells = cells_of(report, relation["task"], relation["study"], relation["relation"])
    sentences = (
        f"{order_words.common_text(relation)[:1].upper()}{order_words.common_text(relation)[1:]}",
        differences.pairs_text(relation["pairs"]),
        audit_words.holds_text(relation).capitalize(),
        audit_words.carry_text(relation),
    )
    return {
        "name": relation["relation"],
        "summary": words.summary_of(report, relation),
        "change": order_words.change_text(relation),
        "changed": relation["best_changes_sure"],
        "was": order_words.order_text(relation, "observed"),
        "now": order_words.order_text(relation, "genuine"),
        "corrected": order_words.order_text(relation, "corrected") if relation["order_corrected"] else words.UNKNOWN,
        "best": order_words.best_text(relation),
        "ranking": words.ranking_rows(relation["ranking"]),
        "sentences": [text for text in sentences if text],
        "chart": inline(charts.rates_chart(report, relation), charts.rates_in_words(report, relation)),
        # Where the order stays, the lines would be parallel and say nothing.
        "slopes": inlined(
            slopes.order_chart(relation) if relation["order_changes"] else None,
            slopes.order_in_words(relation),
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


def _pairs(relation: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The pairs of a relation whose difference is known, as rows of text."""
    return [
        {
            "better": pair["system"],
            "other": pair["other"],
            "apart": pair["apart"],
            "difference": words.with_interval(pair, "difference", "low", "high"),
            "p_holm": differences.p_text(pair["p_holm"]).removeprefix("=\N{NO-BREAK SPACE}"),
            "mcnemar": differences.p_text(pair["mcnemar_p"]).removeprefix("=\N{NO-BREAK SPACE}"),
            "judged": f"{words.count(pair['judged'])} of {words.count(pair['informative'])}",
        }
        for pair in differences.oriented(relation["pairs"])
    ]


def _rollup_charts(report: Report) -> list[tuple[str, Any]]:
    """(heading, chart) of every level of the roll-ups that has an observed rate."""
    drawn = ((heading, charts.rollup_chart(report, by)) for by, heading in LEVELS.items())
    return [
        (heading, inline(chart, f"Rates of the roll-ups: {heading}; the numbers are in the table"))
        for heading, chart in drawn
        if chart is not None
    ]
