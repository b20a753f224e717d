"""A table as a CSV file that spreadsheets open: with titles, and with nothing in it that they would compute."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

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
