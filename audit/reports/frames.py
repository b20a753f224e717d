"""An answer made of data frames: the one section that prints each as a table, and its JSON."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from audit.reports.document import plain
from audit.reports.tables import aligned
from audit.reports.words import count, number, p_number, percent, signature_line

_DIGITS = {"f": 2, "t": 2, "se": 5}
"""Decimals of columns that do not have four."""


@dataclass(frozen=True)
class Table:
    """A frame with a title; `shares` names the columns that people read in per cent, `shown` those that are printed
    (default: all). NaN is what cannot be known."""

    title: str
    frame: pd.DataFrame
    shares: Collection[str] = ()
    shown: Sequence[str] = ()

    def rows(self) -> list[dict[str, Any]]:
        """Return the frame as JSON has it."""
        return [{str(name): plain(value) for name, value in row.items()} for row in self.frame.to_dict("records")]

    def lines(self, width: int) -> list[str]:
        """Return the title and the frame as a table of text, names first and numbers to the right."""
        names = list(self.shown or self.frame.columns)
        texts = [name for name in names if not pd.api.types.is_numeric_dtype(self.frame[name])]
        front = next((at for at, name in enumerate(names) if name not in texts), len(names))
        rows = [[self._cell(name, row[str(name)]) for name in names] for row in self.rows()]
        return [self.title, "", *aligned([_head(name) for name in names], rows, front, width)]

    def _cell(self, name: str, value: Any) -> str:
        if isinstance(value, str):
            return value
        if name == "p" or str(name).endswith("_p"):
            return p_number(value)
        if name in self.shares:
            return percent(value)
        return count(value) if isinstance(value, int) else number(value, _DIGITS.get(name, 4))


@dataclass(frozen=True)
class Tables:
    """What a command answers: tables by name, remarks on them, and where the numbers are from."""

    tables: Mapping[str, Table]
    notes: Sequence[str]
    signature: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """Return the answer as JSON: each table as a list of rows, `notes` and `signature`."""
        rows = {name: table.rows() for name, table in self.tables.items()}
        return {**rows, "notes": list(self.notes), "signature": dict(self.signature)}

    def lines(self, width: int = 100) -> list[str]:
        """Return the answer as text: every table that has rows, the notes and the signature."""
        shown = [line for table in self.tables.values() if len(table.frame) for line in (*table.lines(width), "")]
        return [*shown, *(f"Note: {note}" for note in self.notes), "signature " + signature_line(self.signature)]


def _head(name: object) -> str:
    return "SR_o" if name == "sr_observed" else str(name).replace("_", " ")
