"""Tables of plain text, and as CSV files."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any
from unicodedata import east_asian_width


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]], texts: int, width: int) -> list[str]:
    """A table of which the first `texts` columns are names; names are cut where there is no room."""
    table = [tuple(heads), *(tuple(row) for row in rows)]
    sizes = [max(wide(row[at]) for row in table) for at in range(len(heads))]
    over = 2 + sum(sizes) + 2 * (len(heads) - 1) - width
    for at in range(texts):
        trimmed = min(max(over, 0), max(sizes[at] - 8, 0))
        sizes[at] -= trimmed
        over -= trimmed
    lines = []
    for row in table:
        parts = [
            left(cut_to(text, size), size) if at < texts else right(text, size)
            for at, (text, size) in enumerate(zip(row, sizes, strict=True))
        ]
        lines.append(("  " + "  ".join(parts)).rstrip())
    return lines


def headed(title: str) -> list[str]:
    return [title, "=" * wide(title), ""]


def wide(text: str) -> int:
    """Columns of a terminal that a text takes: letters of Chinese, Japanese and Korean take two.

    >>> wide("ab"), wide("\\u4f53\\u80b2")
    (2, 4)
    """
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def left(text: str, size: int) -> str:
    return text + " " * (size - wide(text))


def right(text: str, size: int) -> str:
    return " " * (size - wide(text)) + text


def cut_to(text: str, size: int) -> str:
    if wide(text) <= size:
        return text
    while text and wide(text) > size - 1:
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
