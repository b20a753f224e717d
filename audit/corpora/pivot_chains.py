"""Recorded pivot chains: a translation beside the one that went over another language, in a CSV as of the MCMT study.

What is odd in a file is counted and told, not refused: these are other people's records, and most of each is good.
"""

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from audit.errors import BadFile
from audit.files import read_table, read_text
from audit.keys import fingerprint

if TYPE_CHECKING:
    import pandas as pd

NEEDED = ("system", "target", "direct", "alternate")
WANTED = ("source", "pivot")
SCORES = ("levenshtein", "bleu", "cosine")
COLUMNS = (*NEEDED, *WANTED)
_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|[A-Za-z]\w*);")


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something odd in `rows` rows of a file, `first` the line of the first; `used` says whether they are used."""

    kind: str
    rows: int
    first: int
    used: bool
    says: str


@dataclass(frozen=True, slots=True)
class Chains:
    """A file's rows that can be used, and what is odd about the file.

    `frame` has the columns line (int), system, source, pivot, target, direct, alternate (text, "" where the file has no
    such column), and `SCORES` (float, nan where none was recorded). `rows` counts all rows of the file.
    """

    name: str
    sha: str
    rows: int
    frame: "pd.DataFrame"
    lacking: tuple[str, ...]
    oddities: tuple[Oddity, ...]


def read_chains(path: str | Path, distinct: bool = False) -> Chains:
    """Read a CSV (UTF-8, with a header) with the columns of `NEEDED`, and where it has them of `WANTED` and `SCORES`.

    Rows with an empty system, target or text, and of another length than the header are left out; rows that repeat
    another in all these columns are, too, with `distinct`. All else is used as it is. Raises BadFile for a file that is
    missing, empty, not UTF-8, without a needed column, or without a row that can be used.

    >>> read_chains("absent.csv")
    Traceback (most recent call last):
    audit.errors.BadFile: absent.csv: there is no such file
    """
    import pandas as pd

    path = Path(path)
    text = read_text(path)
    wanted = f"needed are {', '.join(NEEDED)}, and wanted {', '.join((*WANTED, *SCORES))}"
    header, lines = read_table(path, text, wanted)
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise BadFile(f"{path}: column(s) {', '.join(missing)} missing; {wanted}")
    found = _Odd()
    records = list(_records(header, lines, found))
    if not records:
        raise BadFile(f"{path}: none of the {len(lines):,} rows has all of {', '.join(NEEDED)}")
    frame = pd.DataFrame(records, columns=["line", *COLUMNS, *SCORES])
    frame[list(SCORES)] = frame[list(SCORES)].astype(float)
    repeated = frame.duplicated([*COLUMNS, *SCORES])
    found.add("repeated rows", frame.loc[repeated, "line"], not distinct, "repeat another row in every column")
    frame = frame[~repeated].reset_index(drop=True) if distinct else frame
    for kind, rows, says in _odd_rows(frame):
        found.add(kind, frame.loc[rows, "line"], True, says)
    lacking = tuple(name for name in (*WANTED, *SCORES) if name not in header)
    return Chains(path.name, fingerprint(text.splitlines()), len(lines), frame, lacking, tuple(found))


class _Odd:
    """Counts of what is odd, in the order in which it was looked for."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, bool, str], list[int]] = {}

    def add(self, kind: str, lines: Iterable[int], used: bool, says: str) -> None:
        self._lines.setdefault((kind, used, says), []).extend(int(line) for line in lines)

    def __iter__(self) -> Iterator[Oddity]:
        for (kind, used, says), lines in self._lines.items():
            if lines:
                yield Oddity(kind, len(lines), min(lines), used, says)


def _records(header: list[str], lines: list[tuple[int, list[str]]], found: _Odd) -> Iterator[dict[str, object]]:
    for line, fields in lines:
        if len(fields) != len(header):
            found.add("fields", [line], False, f"have another number of fields than the header's {len(header)}")
            continue
        row = dict(zip(header, fields, strict=True))
        empty = [name for name in NEEDED if not row[name]]
        if empty:
            found.add(f"empty {empty[0]}", [line], False, f"have no {empty[0]}")
            continue
        for name in WANTED:
            if name in header and not row[name]:
                found.add(f"empty {name}", [line], True, f"have no {name}")
        record: dict[str, object] = {"line": line} | {name: row.get(name, "") for name in COLUMNS}
        for name in SCORES:
            score = _score(row.get(name, ""))
            if score is None:
                found.add(f"bad {name}", [line], True, f"have a recorded {name} that is no number")
            record[name] = score
        yield record


def _score(text: str) -> float | None:
    """A recorded score: nan where none was recorded, None for what is no finite number."""
    if not text:
        return float("nan")
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) != float("inf") and number == number else None


def _odd_rows(frame: "pd.DataFrame") -> Iterator[tuple[str, "pd.Series", str]]:
    for name in ("direct", "alternate"):
        yield f"entities {name}", frame[name].map(_has_entity), f"have an HTML entity in {name}, compared as it stands"
    if frame["source"].ne("").any():
        asked = ["system", "source", "target"]
        yield (
            "contradicting direct",
            frame.groupby(asked)["direct"].transform("nunique") > 1,
            "have another direct translation of a source by the same system than another row",
        )
        yield (
            "contradicting alternate",
            frame.groupby([*asked, "pivot", "direct"])["alternate"].transform("nunique") > 1,
            "have another alternate translation over the same pivot than another row",
        )
    yield (
        "pivot is target",
        frame["pivot"].eq(frame["target"]),
        "go over their own target language, which is no other way",
    )


def _has_entity(text: str) -> bool:
    """Whether a text has an HTML entity that a browser would resolve: `&quot;`, but not `R&D;`."""
    return any(html.unescape(found) != found for found in _ENTITY.findall(text))
