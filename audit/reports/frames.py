"""An answer made of data frames, as tables of text and as JSON."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from audit.reports import tables
from audit.reports.document import plain
from audit.reports.words import number, p_number, signature_line

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

    def section(self) -> tables.Section:
        """Return the title and the frame as a table, of which the first texts are names."""
        names = list(self.shown or self.frame.columns)
        heads = ["SR_o" if name == "sr_observed" else str(name).replace("_", " ") for name in names]
        numeric = [pd.api.types.is_numeric_dtype(self.frame[name]) for name in names]
        rows = [[self._cell(str(name), row[str(name)]) for name in names] for row in self.rows()]
        return tables.Section(self.title, [tables.Table(heads, rows, (*numeric, True).index(True))])

    def _cell(self, name: str, value: Any) -> Any:
        if not isinstance(value, float) or name in self.shares:
            return value
        return p_number(value) if name == "p" or name.endswith("_p") else number(value, _DIGITS.get(name, 4))


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

    def lines(self) -> list[str]:
        """Return the answer as text: every table that has rows, the notes and the signature."""
        shown = [table.section() for table in self.tables.values() if len(table.frame)]
        notes = [*(f"Note: {note}" for note in self.notes), "signature " + signature_line(self.signature)]
        return [*tables.to_text(shown).splitlines(), "", *notes]
