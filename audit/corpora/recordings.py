"""Recorded translations: what engines said once, read from the user's files, with a count of whatever is wrong in them.

A CSV with the columns `system,source_language,target_language,source,translation`, or a folder of such files. In a
folder there may also be recorded *chains*, with the columns `system,source,pivot,target,direct,alternate`, as the
MCMT study kept them (Pesu, MacRae, Barnes, Wang and Yan, "A Monte-Carlo approach to automatic metamorphic testing of
machine translation software", University of Wollongong, 2017): the source was translated into the language `pivot`,
which another row says how, and that into the language `target`, which gave `alternate`; `direct` is the source in the
language `target`. A chain back into the language of its source is a round trip, and `direct` then the source itself.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from html import unescape
from pathlib import Path
from typing import NamedTuple

from audit.errors import BadFile
from audit.files import read_table, read_text
from audit.keys import fingerprint
from audit.language.iso639 import language_code

PLAIN = ("system", "source_language", "target_language", "source", "translation")
CHAINS = ("system", "source", "pivot", "target", "direct", "alternate")
_WANTED = f"a CSV with the columns {','.join(PLAIN)} is needed"
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_HALF = re.compile("[\0\ud800-\udfff]")
KINDS: Mapping[str, str] = {
    "malformed": "with another number of fields than the header, or with characters that are none (left out)",
    "empty": "with an empty field (left out)",
    "unknown_language": "with an unknown language code (left out)",
    "same_language": "whose languages are the same (left out)",
    "duplicate": "equal to an earlier one (used once)",
    "contradictory": "with another translation of the same text (the first one counts)",
    "entities": "with HTML entities (unescaped)",
    "no_middle": "of chains whose first translation nobody recorded (left out)",
}
"""What can be wrong with a row, and what is done about it."""


class Ask(NamedTuple):
    """What an engine was asked: a text, named by `key_of`, from a language into another."""

    source_language: str
    target_language: str
    key: str


@dataclass
class Problem:
    """How many rows have a problem of this kind, and what the first of them is."""

    kind: str
    rows: int
    first: str

    @property
    def text(self) -> str:
        """The problem in words.

        >>> Problem("empty", 3, "own.csv, line 7").text
        '3 rows with an empty field (left out)'
        """
        return f"{self.rows:,} row{'s' if self.rows != 1 else ''} {KINDS[self.kind]}"


def unescaped(text: str) -> str:
    """The text with HTML's entities as the characters they stand for; engines leave them in what they return.

    >>> unescaped("L&#39;ami &amp; moi, R&D &c.")
    "L'ami & moi, R&D &c."
    """
    return _ENTITY.sub(lambda found: unescape(found[0]), text) if "&" in text else text


def key_of(text: str) -> str:
    """What a recorded text is found by: white space and HTML's entities make no difference.

    >>> key_of(" It&#39;s\\nlate ")
    "It's late"
    """
    return " ".join(unescaped(text).split())


@dataclass
class Recording:
    """What the files hold: translations by system and by what was asked, and the texts that are no chain's middle."""

    path: str
    rows: int = 0
    files: list[str] = field(default_factory=list)
    outputs: dict[str, dict[Ask, str]] = field(default_factory=dict)
    originals: dict[Ask, str] = field(default_factory=dict)
    """Texts as they are recorded, in the order in which they are first met."""
    problems: dict[str, Problem] = field(default_factory=dict)

    @property
    def systems(self) -> list[str]:
        """The names of the engines, sorted."""
        return sorted(self.outputs)

    @cached_property
    def versions(self) -> dict[str, str]:
        """A fingerprint of each engine's translations; the order of rows and line ends make no difference."""
        return {
            system: fingerprint(part for ask in sorted(found) for part in (*ask, found[ask]))
            for system, found in self.outputs.items()
        }

    def pairs(self, system: str) -> dict[tuple[str, str], int]:
        """How many texts an engine translated between two languages, sorted."""
        found: dict[tuple[str, str], int] = {}
        for ask in self.outputs[system]:
            pair = (ask.source_language, ask.target_language)
            found[pair] = found.get(pair, 0) + 1
        return dict(sorted(found.items()))

    def source_languages(self, system: str | None = None) -> list[str]:
        """The languages of the original texts, or of all texts that an engine translated, sorted."""
        asked = self.originals if system is None else self.outputs[system]
        return sorted({ask.source_language for ask in asked})

    @property
    def remark(self) -> str:
        """What was read, and what was wrong with it, in one line."""
        count = len(self.outputs)
        line = f"{self.path}: {self.rows:,} recorded rows of {count} system{'s' if count != 1 else ''}"
        return "; ".join([line, *(self.problems[kind].text for kind in KINDS if kind in self.problems)])

    def note(self, kind: str, where: str) -> None:
        """Count a row with a problem."""
        self.problems.setdefault(kind, Problem(kind, 0, where)).rows += 1

    def add(self, system: str, ask: Ask, translation: str, where: str, repeats: bool = False) -> None:
        """Keep a translation, the first one of a text; `repeats`: it may be there already without being a problem."""
        said = self.outputs.setdefault(system, {})
        if ask not in said:
            said[ask] = translation
        elif said[ask] != translation:
            self.note("contradictory", where)
        elif not repeats:
            self.note("duplicate", where)


def read_recording(path: str | Path) -> Recording:
    """The recorded translations of a CSV, or of all CSVs of a folder in the order of their names.

    Files are read once per process, and again when they change. Raises BadFile for a file without the columns, in
    another encoding or absent, and where nothing in it can be used; rows that are wrong are left out and counted.
    """
    files = _files(Path(path))
    try:
        stamps = tuple((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files)
    except OSError as problem:
        raise BadFile(f"{path}: cannot be read ({problem.strerror})") from problem
    return _read(str(path), stamps)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        read_text(path)  # says what is wrong with it
        return [path]
    files = sorted(file for file in path.iterdir() if file.suffix.lower() == ".csv" and file.is_file())
    if not files:
        raise BadFile(f"{path}: there is no .csv in the folder; {_WANTED}")
    return files


@lru_cache(maxsize=8)
def _read(path: str, stamps: tuple[tuple[str, int, int], ...]) -> Recording:
    found = Recording(path)
    chains: list[_Rows] = []
    for name, _, _ in stamps:
        rows = _Rows(Path(name))
        found.files.append(name)
        if set(PLAIN) <= set(rows.header):
            _add_plain(found, rows)
        else:
            chains.append(rows)
    if len(chains) == len(stamps):
        raise BadFile(f"{path}: chains alone do not say what their first translation was; beside them, {_WANTED}")
    if not found.outputs:
        raise BadFile(f"{path}: none of its {found.rows:,} rows can be used ({found.remark}); {_WANTED}")
    for rows in chains:
        _add_chains(found, rows)
    return found


class _Rows:
    """The rows of a file: (where, fields by column). Raises BadFile for a file without the columns of either kind."""

    def __init__(self, file: Path):
        self.file = file
        self.header, self._lines = read_table(file, read_text(file), _WANTED)
        if not set(PLAIN) <= set(self.header) and not set(CHAINS) <= set(self.header):
            wanted = CHAINS if {"pivot", "alternate"} & set(self.header) else PLAIN
            missing = [name for name in wanted if name not in self.header]
            raise BadFile(
                f"{file}: the first line has no column {missing[0]!r}; it has {', '.join(map(repr, self.header))}, "
                f"needed are {','.join(wanted)}"
            )

    def rows(self, found: Recording, needed: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
        """Those with all fields that are needed; the others are counted."""
        for line, fields in self._lines:
            found.rows += 1
            where = f"{self.file.name}, line {line}"
            if len(fields) != len(self.header) or any(_HALF.search(one) for one in fields):
                found.note("malformed", where)
                continue
            row = dict(zip(self.header, fields, strict=True))
            if not all(row[name] for name in needed):
                found.note("empty", where)
                continue
            yield where, row


def _languages(found: Recording, where: str, *written: str) -> list[str]:
    """Two codes of languages; none, and a problem noted, where one is unknown or both are the same."""
    codes = [code for one in written if (code := language_code(one))]
    if len(codes) < len(written):
        unknown = next(one for one in written if language_code(one) is None)
        found.note("unknown_language", f"{where}: {unknown[:40]!r}")
        return []
    if codes[0] == codes[1]:
        found.note("same_language", where)
        return []
    return codes


def _add_plain(found: Recording, rows: _Rows) -> None:
    for where, row in rows.rows(found, PLAIN):
        codes = _languages(found, where, row["source_language"], row["target_language"])
        if not codes:
            continue
        source, translation = unescaped(row["source"]).strip(), unescaped(row["translation"]).strip()
        if not source or not translation:  # nothing but a space that was spelled as an entity
            found.note("empty", where)
            continue
        if (source, translation) != (row["source"], row["translation"]):
            found.note("entities", where)
        ask = Ask(codes[0], codes[1], key_of(source))
        found.originals.setdefault(ask, source)
        found.add(row["system"], ask, translation, where)


def _add_chains(found: Recording, rows: _Rows) -> None:
    """Complete the translations by recorded chains: the second step of each, and the direct translation."""
    languages = {ask.key: ask.source_language for ask in reversed(found.originals)}
    for where, row in rows.rows(found, CHAINS):
        codes = _languages(found, where, row["pivot"], row["target"])
        if not codes:
            continue
        pivot, target = codes
        source = unescaped(row["source"]).strip()
        language = languages.get(key_of(source))
        said = found.outputs.get(row["system"], {})
        middle = said.get(Ask(language, pivot, key_of(source))) if language else None
        if language is None or middle is None:
            found.note("no_middle", where)
            continue
        direct, alternate = unescaped(row["direct"]), unescaped(row["alternate"])
        if (direct, alternate) != (row["direct"], row["alternate"]):
            found.note("entities", where)
        found.add(row["system"], Ask(pivot, target, key_of(middle)), alternate.strip(), where, repeats=True)
        if target != language:
            ask = Ask(language, target, key_of(source))
            found.originals.setdefault(ask, source)
            found.add(row["system"], ask, direct.strip(), where, repeats=True)
