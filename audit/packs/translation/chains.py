"""Recorded pivot chains: a translation beside the one that went over another language, in a CSV as of the MCMT study.

What is odd in a file is counted and told, not refused: these are other people's records, and most of each is good.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from audit.corpora.recordings import unescape_entities
from audit.errors import BadFile
from audit.files import read_table, sha_of

NEEDED = ["system", "target", "direct", "alternate"]
WANTED = ["source", "pivot"]
SCORES = ["levenshtein", "bleu", "cosine"]


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
    frame: pd.DataFrame
    lacking: tuple[str, ...]
    oddities: tuple[Oddity, ...]


def read_chains(path: str | Path) -> Chains:
    """Read a table with the columns of `NEEDED`, and where it has them of `WANTED` and `SCORES`.

    Rows with an empty system, target or text, and of another length than the header are left out. All else is used as
    it is. Raises BadFile for a file that cannot be read, lacks a needed column, or has no row that can be used.

    >>> read_chains("absent.csv")
    Traceback (most recent call last):
    audit.errors.BadFile: absent.csv: there is no such file
    """
    path = Path(path)
    bad: list[tuple[int, str]] = []
    oddities: list[Oddity] = []

    def note(kind: str, lines: pd.Index, says: str, used: bool = True) -> None:
        if len(lines):
            oddities.append(Oddity(kind, len(lines), int(min(lines)), used, says))

    table = read_table(path, NEEDED, (*WANTED, *SCORES), may_be_empty=NEEDED, bad=bad)
    number = len(table) + len(bad)
    malformed = pd.Index([line for line, _ in bad])
    note("fields", malformed, "have another number of fields than the header", used=False)
    lacking = tuple(name for name in (*WANTED, *SCORES) if name not in table)
    frame = table.reindex(columns=[*NEEDED, *WANTED, *SCORES], fill_value="")
    for name in NEEDED:
        note(f"empty {name}", frame.index[frame[name] == ""], f"have no {name}", used=False)
        frame = frame[frame[name] != ""]
    if frame.empty:
        raise BadFile(f"{path}: none of the {number:,} rows has all of {', '.join(NEEDED)}")
    for name in WANTED:
        if name in table:
            note(f"empty {name}", frame.index[frame[name] == ""], f"have no {name}")
    for name in SCORES:
        scores = pd.to_numeric(frame[name], errors="coerce").replace([np.inf, -np.inf], np.nan)
        wrong = scores.isna() & (frame[name] != "")
        note(f"bad {name}", frame.index[wrong], f"have a recorded {name} that is no number")
        frame = frame.assign(**{name: scores.astype(float)})
    note("repeated rows", frame.index[frame.duplicated()], "repeat another row in every column")
    for name in ("direct", "alternate"):
        marked = frame[name] != frame[name].map(unescape_entities)
        note(f"entities {name}", frame.index[marked], f"have an HTML entity in {name}, compared as it stands")
    if frame["source"].ne("").any():
        of_source = ["system", "source", "target"]
        more = frame.groupby(of_source)["direct"].transform("nunique") > 1
        says = "have another direct translation of a source by the same system than another row"
        note("contradicting direct", frame.index[more], says)
        more = frame.groupby([*of_source, "pivot", "direct"])["alternate"].transform("nunique") > 1
        says = "have another alternate translation over the same pivot than another row"
        note("contradicting alternate", frame.index[more], says)
    same = frame["pivot"] == frame["target"]
    note("pivot is target", frame.index[same], "go over their own target language, which is no other way")
    frame = frame.rename_axis("line").reset_index()
    return Chains(path.name, sha_of(path), number, frame, lacking, tuple(oddities))
