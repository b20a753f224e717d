"""Violation rates, topics and accuracy as blocks of plain text."""

import csv
import io
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any
from unicodedata import east_asian_width

from audit.reports.build import Report
from audit.reports.document import ViolationTable
from audit.reports.violation_charts import (
    ACCURACY,
    TITLE,
    accuracy_lines,
    accuracy_rows,
    property_name,
    rates_key,
    rates_text,
    row_name,
    shown_accuracy,
    title_of,
    topic_key,
    topic_rows,
)

TOPIC_HEADS = ("topic", "system", "sources", "groups", "VR_o", "judged", "VR_g")
ACCURACY_HEADS = ("system", "right", "accuracy", "1 - VR_o", "1 - VR_g")


def table_blocks(report: Report, width: int) -> list[str]:
    """A block a table, at most `width` columns wide; systems that do not fit beside each other stand below."""
    blocks = []
    for table in report["violations"]:
        if any(rates["vr_observed"] is not None for row in table["rows"] for rates in row["rates"]):
            blocks.append(_violations(report, table, width))
    if blocks:
        blocks[-1] += "\n" + "\n".join(textwrap.wrap(rates_key(report), width))
    for entry in report.get("topics") or []:
        lines = headed(title_of(report, entry, f"{TITLE} by {property_name(entry['by'])}"))
        if entry["reason"]:
            blocks.append("\n".join([*lines, *textwrap.wrap(f"Not known: {entry['reason']}.", width)]))
        else:
            lines += aligned(TOPIC_HEADS, topic_rows(entry), 2, width)
            blocks.append("\n".join([*lines, *textwrap.wrap(topic_key(entry), width)]))
    for accuracy in shown_accuracy(report):
        lines = headed(title_of(report, accuracy, ACCURACY))
        if accuracy["systems"]:
            lines += aligned(ACCURACY_HEADS, accuracy_rows(accuracy), 1, width)
        wrapped = [
            line for text in accuracy_lines(accuracy) for line in textwrap.wrap(text, width, subsequent_indent="  ")
        ]
        blocks.append("\n".join([*lines, *wrapped]))
    return blocks


def _violations(report: Report, table: ViolationTable, width: int) -> str:
    """Rows of relations, families and totals; as many systems side by side as fit."""
    lines = headed(title_of(report, table, TITLE))
    names = [row_name(row) for row in table["rows"]]
    longest = max(width // 3, 12)
    first = min(max(map(_wide, names)), longest)
    columns = [
        [_cut(system, 22), *(rates_text(row["rates"][at]) for row in table["rows"])]
        for at, system in enumerate(table["systems"])
    ]
    while columns:
        fitting = 1
        sizes = [max(map(_wide, column)) for column in columns]
        while fitting < len(columns) and 2 + first + sum(2 + size for size in sizes[: fitting + 1]) <= width:
            fitting += 1
        heads = ["", *(f"{name}" for name in names)]
        above = None
        for line, head in enumerate(heads):
            kind = table["rows"][line - 1]["by"] if line else None
            if kind is not None and above is not None and kind != above and kind != "estimated":
                lines.append("")
            above = kind
            cells = "  ".join(
                _right(column[line], size) for column, size in zip(columns[:fitting], sizes[:fitting], strict=True)
            )
            lines.append(f"  {_left(_cut(head, first), first)}  {cells}".rstrip())
        columns = columns[fitting:]
        if columns:
            lines.append("")
    return "\n".join(lines)


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]], texts: int, width: int) -> list[str]:
    """A table of which the first `texts` columns are names; names are cut where there is no room."""
    table = [tuple(heads), *(tuple(row) for row in rows)]
    sizes = [max(_wide(row[at]) for row in table) for at in range(len(heads))]
    over = 2 + sum(sizes) + 2 * (len(heads) - 1) - width
    for at in range(texts):
        trimmed = min(max(over, 0), max(sizes[at] - 8, 0))
        sizes[at] -= trimmed
        over -= trimmed
    lines = []
    for row in table:
        parts = [
            _left(_cut(text, size), size) if at < texts else _right(text, size)
            for at, (text, size) in enumerate(zip(row, sizes, strict=True))
        ]
        lines.append(("  " + "  ".join(parts)).rstrip())
    return lines


def headed(title: str) -> list[str]:
    return [title, "=" * _wide(title), ""]


def _wide(text: str) -> int:
    """Columns of a terminal that a text takes: letters of Chinese, Japanese and Korean take two.

    >>> _wide("ab"), _wide("\\u4f53\\u80b2")
    (2, 4)
    """
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _left(text: str, size: int) -> str:
    return text + " " * (size - _wide(text))


def _right(text: str, size: int) -> str:
    return " " * (size - _wide(text)) + text


def _cut(text: str, size: int) -> str:
    if _wide(text) <= size:
        return text
    while text and _wide(text) > size - 1:
        text = text[:-1]
    return text + "…"


# A table as a CSV file that spreadsheets open: with titles, and with nothing in it that they would compute.

_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def sheet(rows: Sequence[Mapping[str, Any]], titles: Mapping[str, str]) -> bytes:
    """The columns that `titles` names, in its order, under their titles; UTF-8 with a mark that says so.

    None is an empty field, numbers are as they are, lists are joined. Text that a spreadsheet would take for a formula
    (the name of a system may be anything) begins with an apostrophe. Source: OWASP, CSV Injection.

    >>> sheet([{"name": "=1+1", "share": -0.5, "note": None}], {"name": "Name", "share": "%"}).decode("utf-8-sig")
    "Name,%\\r\\n'=1+1,-0.5\\r\\n"
    """
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow([_field(title) for title in titles.values()])
    table.writerows([_field(row.get(name)) for name in titles] for row in rows)
    # The mark tells spreadsheets that it is UTF-8; without it they take Chinese for something else.
    return written.getvalue().encode("utf-8-sig", "replace")


def _field(value: Any) -> Any:
    if value is None or isinstance(value, int | float):
        return value
    return harmless(", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))


def harmless(text: str) -> str:
    """A text as a field of a CSV file: with an apostrophe before what a spreadsheet would take for a formula.

    >>> harmless("=1+1"), harmless("ann")
    ("'=1+1", 'ann')
    """
    return f"'{text}" if text.startswith(_FORMULAS) else text
