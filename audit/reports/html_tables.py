"""Violation rates, topics and accuracy as a part of the HTML file."""

from collections.abc import Mapping
from typing import Any

from audit.reports import charts, violation_charts, violation_words
from audit.reports.build import Report
from audit.reports.inlining import inlined, template

TEMPLATE = "report_tables.html.j2"
IN_TABLE = "the numbers are in the table"


def tables_html(report: Report) -> Any:
    """The part as safe markup, every text in it escaped; empty where nothing was satisfied or violated."""
    from markupsafe import Markup

    # Safe: made by the template engine, which escapes.
    return Markup(
        template(TEMPLATE).render(
            light=charts.LIGHT,
            how=violation_words.rates_key(report),
            tables=[one for one in (_table(report, table) for table in report["violations"]) if one["chart"]],
            across=inlined(
                violation_charts.bars_chart(violation_charts.task_groups(report), longest=40),
                "Violation rates of the relations that several tasks share; the numbers are in the tables above",
            ),
            topics=[_topics(report, entry) for entry in report.get("topics") or []],
            accuracy=[_accuracy(report, entry) for entry in violation_words.shown_accuracy(report)],
        )
    )


def _table(report: Report, table: Mapping[str, Any]) -> dict[str, Any]:
    title = violation_words.title_of(report, table, violation_words.TITLE)
    kinds: list[list[tuple[str, list[str]]]] = []
    above = None
    for row in table["rows"]:
        if row["by"] != above and row["by"] != "estimated":
            kinds.append([])
        above = row["by"]
        kinds[-1].append((violation_words.row_name(row), [violation_words.rates_text(one) for one in row["rates"]]))
    groups = violation_charts.relation_groups(table)
    families = violation_charts.relation_groups(table, "family")
    return {
        "title": title,
        "systems": table["systems"],
        "kinds": kinds,
        "chart": inlined(violation_charts.bars_chart(groups), f"{title}, by relation and system; {IN_TABLE}"),
        "families": inlined(
            violation_charts.bars_chart(families), f"{title}, by family of relations and system; {IN_TABLE}"
        ),
    }


def _topics(report: Report, entry: Mapping[str, Any]) -> dict[str, Any]:
    title = violation_words.title_of(
        report, entry, f"{violation_words.TITLE} by {violation_words.property_name(entry['by'])}"
    )
    return {
        "title": title,
        "key": violation_words.topic_key(entry),
        "reason": entry["reason"],
        "rows": violation_words.topic_rows(entry),
        "chart": inlined(
            violation_charts.bars_chart(violation_charts.topic_groups(entry)), f"{title} and system; {IN_TABLE}"
        ),
        "systems": [(system, *violation_words.topics_by_relation(entry, system)) for system in entry["systems"]],
    }


def _accuracy(report: Report, entry: Mapping[str, Any]) -> dict[str, Any]:
    title = violation_words.title_of(report, entry, violation_words.ACCURACY)
    return {
        "title": title,
        "lines": violation_words.accuracy_lines(entry),
        "rows": violation_words.accuracy_rows(entry) if entry["systems"] else [],
        "chart": inlined(violation_charts.accuracy_chart(entry), f"{title}; {IN_TABLE}"),
    }
