"""What reports are made of (sections of sentences, tables and charts), and these as text.

No renderer knows what a section is about: `to_text` is that of a terminal, `audit.reports.html` those of a page and a
notebook, `audit.ui.sections` that of the app.
"""

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from unicodedata import east_asian_width

from audit.messages import ENGLISH
from audit.reports.words import Say, estimate, signature_line

WIDTH = 100
NARROWEST = 70
PROSE = 44
"""Columns of a terminal from which on a field is prose: it stands in lines of its own below its row."""
_NUMBER = re.compile(r"[\d<>=–+.-]")
EMPHASIS = re.compile(r"\*(\w.*?)\*")
"""A word in stars: emphasised in HTML, without its stars elsewhere."""


@dataclass(frozen=True)
class Marked:
    """A text in pieces, each with whether it is to be marked."""

    pieces: Sequence[tuple[str, bool]]

    def __str__(self) -> str:
        return "".join(piece for piece, _ in self.pieces)


class Verbatim(str):
    """A text that is shown as it is, to be copied: in a terminal on one line, however long."""


@dataclass(frozen=True)
class Table:
    """Rows of values as they are: names, counts, fractions, estimates; a renderer formats them.

    The first `names` columns name their row. There is a gap before the rows whose places are in `breaks`.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    names: int = 1
    breaks: frozenset[int] = frozenset()

    def is_number(self, at: int) -> bool:
        """Return whether a column holds numbers, which stand at the right."""
        texts = [row[at] for row in self.rows if isinstance(row[at], str | Marked)]
        return at >= self.names and all(_NUMBER.match(str(text)) and len(str(text)) <= PROSE for text in texts if text)


def _fitting(columns: Sequence[int], names: int, sizes: Sequence[int], room: int) -> Iterator[list[int]]:
    """Yield columns that fit beside each other, the first `names` of them each time."""
    chosen = list(columns[:names])
    for at in columns[names:]:
        if len(chosen) > names and sum(sizes[i] + 2 for i in (*chosen, at)) > room:
            yield chosen
            chosen = list(columns[:names])
        chosen.append(at)
    yield chosen


def table_of(
    say: Say,
    entries: Iterable[Mapping[str, Any]],
    *columns: str,
    names: int = 1,
    by: Mapping[str, Callable[[Any, Say], Any]] = MappingProxyType({}),
    **made: Callable[[Any], Any],
) -> Table:
    """Return a table of entries of a document: in a column stands an entry's value, a rate with its interval or bounds,
    or what `made` or `by` makes of the entry."""

    def value(name: str, entry: Mapping[str, Any]) -> Any:
        cell = made[name](entry) if name in made else by[name](entry, say) if name in by else entry.get(name)
        return estimate(cell) if isinstance(cell, Mapping) else cell

    return Table(say.heads(*columns), [tuple(value(name, entry) for name in columns) for entry in entries], names)


@dataclass(frozen=True)
class Chart:
    """A chart that is drawn when it is shown, in a palette; `alt` says what it shows, `key` what its marks are."""

    draw: Callable[[Any], Any]
    alt: str
    key: str = ""


@dataclass(frozen=True)
class Section:
    """A title and what stands under it; `about` is beside the title. One that `stands_out` is to be seen first."""

    title: str
    parts: "Sequence[str | Table | Chart | Section]"
    about: str = ""
    stands_out: bool = False


# As text.


def to_text(sections: Sequence[Section], language: str = ENGLISH, width: int | None = None) -> str:
    """Return sections as text for a terminal: no colours, no charts, at most `width` columns (default 100).

    >>> print(to_text([Section("Rates", [Table(["system", "false"], [("a", 0.25), ("bc", None)]), "One of 4."])]))
    Rates
    =====
    <BLANKLINE>
      system  false
      a        25.0
      bc          –
    One of 4.
    """
    say, width = Say(language), max(width or WIDTH, NARROWEST)
    return "\n\n".join(block for section in sections for block in _blocks(section, say, width))


def _blocks(section: Section, say: Say, width: int, depth: int = 0) -> Iterator[str]:
    """Yield the section, then those in it."""
    title = _cut(f"{section.title}  {section.about}" if section.about else section.title, width)
    lines = [title] if depth else [title, "=" * wide(title), ""]
    for part in section.parts:
        if isinstance(part, Table):
            lines += text_table(part, say, width)
        elif isinstance(part, Verbatim):
            lines.append(part)
        elif isinstance(part, str):
            lines += wrap(EMPHASIS.sub(r"\1", part), width)
    yield "\n".join(lines).rstrip()
    for part in section.parts:
        if isinstance(part, Section):
            yield from _blocks(part, say, width, depth + 1)


def text_table(table: Table, say: Say, width: int) -> list[str]:
    """Return the lines of a table; columns that do not fit beside each other stand below, with the names again."""
    texts = [[" ".join(say.cell(value).split()) for value in row] for row in table.rows]
    sizes = [max(map(wide, column)) for column in zip(table.columns, *texts, strict=True)]
    prose = [at for at in range(table.names, len(sizes)) if sizes[at] > PROSE]
    kept = [at for at in range(len(sizes)) if at not in prose]
    widest = max((sizes[at] for at in kept[table.names :]), default=0)
    for _ in range(table.names):  # names give way to the widest column, the longest first
        over = 2 + sum(sizes[: table.names]) + 2 * table.names + widest - width
        longest = max(range(table.names), key=sizes.__getitem__)
        sizes[longest] -= min(max(over, 0), max(sizes[longest] - 8, 0))
    lines: list[str] = []
    for columns in _fitting(kept, table.names, sizes, width - 2):
        lines += [""] if lines else []
        for number, row in enumerate([table.columns, *texts]):
            lines += [""] if number - 1 in table.breaks else []
            texts_of_row = {at: _cut(row[at], sizes[at]) for at in columns}
            gaps = {at: " " * (sizes[at] - wide(text)) for at, text in texts_of_row.items()}
            fields = (gaps[at] + of if table.is_number(at) else of + gaps[at] for at, of in texts_of_row.items())
            lines.append("  " + "  ".join(fields).rstrip())
    for row in texts if prose else []:
        said = "; ".join(f"{table.columns[at]}: {row[at]}" for at in prose if row[at] != "–")
        lines += wrap(f"{' '.join(row[: table.names])}: {said}", width - 2, "    ", "  ") if said else []
    return lines


def printed(make: Callable[[Any], Iterable[Section]]) -> Callable[[Any], list[str]]:
    """Return what makes lines for a terminal of a document, from what makes its sections."""
    return lambda document: to_text(list(make(document))).splitlines()


def closing(document: Mapping[str, Any], *more: str) -> Section:
    """Return the end of a document: its notes, `more` before them, and as the last line what it was made from."""
    return Section("Notes", [*more, *document["notes"], Verbatim("signature " + signature_line(document["signature"]))])


def wrap(text: str, width: int, further: str = "  ", first: str = "") -> list[str]:
    """Return lines of at most so many columns."""
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=further) or [""]


def wide(text: str) -> int:
    """Return the columns of a terminal that a text takes: letters of Chinese, Japanese and Korean take two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _cut(text: str, size: int) -> str:
    if wide(text) <= size:
        return text
    while text and wide(text) > size - 1:
        text = text[:-1]
    return text + "…"
