"""Recorded translations: what engines said once, read from the user's files, with a count of whatever is wrong in them.

A CSV with the columns `system,source_language,target_language,source,translation`, or a folder of such files. In a
folder there may also be recorded *chains*, with the columns `system,source,pivot,target,direct,alternate`, as the
MCMT study kept them (Pesu, MacRae, Barnes, Wang and Yan, "A Monte-Carlo approach to automatic metamorphic testing of
machine translation software", University of Wollongong, 2017): the source was translated into the language `pivot`,
which another row says how, and that into the language `target`, which gave `alternate`; `direct` is the source in the
language `target`. A chain back into the language of its source is a round trip, and `direct` then the source itself.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from audit.corpora.base import Corpus, Row, Unit, languages_of
from audit.corpora.files import unit_of
from audit.errors import AuditError, BadFile
from audit.files import read_table, refuse_no_file, sha_of
from audit.keys import canonical, digest, fingerprint
from audit.messages import counted
from audit.tasks import Input, get_task
from audit.text.languages import SPELLED, is_code, language_code

if TYPE_CHECKING:
    import pandas as pd


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
"""Problem of a row -> its description, with what is done about it."""


class Ask(NamedTuple):
    """A recorded request to an engine: a text, named by `key_of`, from a language into another."""

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
        return f"{counted(self.rows, 'row')} {KINDS[self.kind]}"


def unescape_entities(text: str) -> str:
    """The text with HTML's entities as the characters they stand for; engines leave them in what they return.

    >>> unescape_entities("L&#39;ami &amp; moi, R&D &c.")
    "L'ami & moi, R&D &c."
    """
    return _ENTITY.sub(lambda match: unescape(match[0]), text) if "&" in text else text


def key_of(text: str) -> str:
    """The key of a recorded text: white space and HTML entities make no difference.

    >>> key_of(" It&#39;s\\nlate ")
    "It's late"
    """
    return " ".join(unescape_entities(text).split())


@dataclass
class Recording:
    """The content of the files: translations by system and request, and the texts that are no chain's middle."""

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
            system: fingerprint(part for ask in sorted(translations) for part in (*ask, translations[ask]))
            for system, translations in self.outputs.items()
        }

    def pairs(self, system: str) -> dict[tuple[str, str], int]:
        """How many texts an engine translated between two languages, sorted."""
        counts: dict[tuple[str, str], int] = {}
        for ask in self.outputs[system]:
            pair = (ask.source_language, ask.target_language)
            counts[pair] = counts.get(pair, 0) + 1
        return dict(sorted(counts.items()))

    def source_languages(self, system: str | None = None) -> list[str]:
        """The languages of the original texts, or of all texts that an engine translated, sorted."""
        asks = self.originals if system is None else self.outputs[system]
        return sorted({ask.source_language for ask in asks})

    @property
    def remark(self) -> str:
        """Counts of what was read and of what was wrong with it, in one line."""
        count = len(self.outputs)
        line = f"{self.path}: {counted(self.rows, 'recorded row')} of {counted(count, 'system')}"
        return "; ".join([line, *(self.problems[kind].text for kind in KINDS if kind in self.problems)])

    def note(self, kind: str, where: str) -> None:
        """Count a row with a problem."""
        self.problems.setdefault(kind, Problem(kind, 0, where)).rows += 1

    def add(self, system: str, ask: Ask, translation: str, where: str, repeats: bool = False) -> None:
        """Keep a translation, the first one of a text; `repeats`: it may be there already without being a problem."""
        translations = self.outputs.setdefault(system, {})
        if ask not in translations:
            translations[ask] = translation
        elif translations[ask] != translation:
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
        refuse_no_file(path)
        return [path]
    files = sorted(file for file in path.iterdir() if file.suffix.lower() == ".csv" and file.is_file())
    if not files:
        raise BadFile(f"{path}: there is no .csv in the folder; {_WANTED}")
    return files


@lru_cache(maxsize=8)
def _read(path: str, stamps: tuple[tuple[str, int, int], ...]) -> Recording:
    recording = Recording(path)
    chains: list[_Rows] = []
    for name, _, _ in stamps:
        rows = _Rows(Path(name))
        recording.files.append(name)
        if set(PLAIN) <= set(rows.header):
            _add_plain(recording, rows)
        else:
            chains.append(rows)
    if len(chains) == len(stamps):
        raise BadFile(f"{path}: chains alone do not say what their first translation was; beside them, {_WANTED}")
    if not recording.outputs:
        raise BadFile(f"{path}: none of its {recording.rows:,} rows can be used ({recording.remark}); {_WANTED}")
    for rows in chains:
        _add_chains(recording, rows)
    return recording


class _Rows:
    """The rows of a file: (where, fields by column). Raises BadFile for a file without the columns of either kind."""

    def __init__(self, file: Path):
        self.file = file
        self._bad: list[tuple[int, str]] = []
        self._table = read_table(file, (), (*PLAIN, *CHAINS), bad=self._bad)
        self.header = list(self._table.columns)
        if not set(PLAIN) <= set(self.header) and not set(CHAINS) <= set(self.header):
            wanted = CHAINS if {"pivot", "alternate"} & set(self.header) else PLAIN
            missing = [name for name in wanted if name not in self.header]
            raise BadFile(
                f"{file}: the first line has no column {missing[0]!r}; of ours it has "
                f"{', '.join(map(repr, self.header)) or 'none'}, needed are {','.join(wanted)}"
            )

    def rows(self, recording: Recording, needed: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the rows that have all needed fields, with where they stand; count the others as problems."""
        recording.rows += len(self._bad)
        for line, _ in self._bad:
            recording.note("malformed", f"{self.file.name}, line {line}")
        for line, row in zip(self._table.index, self._table.to_dict("records"), strict=True):
            recording.rows += 1
            where = f"{self.file.name}, line {line}"
            if any(map(_HALF.search, row.values())):
                recording.note("malformed", where)
                continue
            if not all(row[name] for name in needed):
                recording.note("empty", where)
                continue
            yield where, row


def _languages(recording: Recording, where: str, *written: str) -> list[str]:
    """Two codes of languages; none, and a problem noted, where one is unknown or both are the same."""
    codes = [code for spelled in written if (code := language_code(spelled))]
    if len(codes) < len(written):
        unknown = next(spelled for spelled in written if language_code(spelled) is None)
        recording.note("unknown_language", f"{where}: {unknown[:40]!r}")
        return []
    if codes[0] == codes[1]:
        recording.note("same_language", where)
        return []
    return codes


def _add_plain(recording: Recording, rows: _Rows) -> None:
    for where, row in rows.rows(recording, PLAIN):
        codes = _languages(recording, where, row["source_language"], row["target_language"])
        if not codes:
            continue
        source, translation = unescape_entities(row["source"]).strip(), unescape_entities(row["translation"]).strip()
        if not source or not translation:  # nothing but a space that was spelled as an entity
            recording.note("empty", where)
            continue
        if (source, translation) != (row["source"], row["translation"]):
            recording.note("entities", where)
        ask = Ask(codes[0], codes[1], key_of(source))
        recording.originals.setdefault(ask, source)
        recording.add(row["system"], ask, translation, where)


def _add_chains(recording: Recording, rows: _Rows) -> None:
    """Complete the translations by recorded chains: the second step of each, and the direct translation."""
    languages = {ask.key: ask.source_language for ask in reversed(recording.originals)}
    for where, row in rows.rows(recording, CHAINS):
        codes = _languages(recording, where, row["pivot"], row["target"])
        if not codes:
            continue
        pivot, target = codes
        source = unescape_entities(row["source"]).strip()
        language = languages.get(key_of(source))
        translations = recording.outputs.get(row["system"], {})
        middle = translations.get(Ask(language, pivot, key_of(source))) if language else None
        if language is None or middle is None:
            recording.note("no_middle", where)
            continue
        direct, alternate = unescape_entities(row["direct"]), unescape_entities(row["alternate"])
        if (direct, alternate) != (row["direct"], row["alternate"]):
            recording.note("entities", where)
        recording.add(row["system"], Ask(pivot, target, key_of(middle)), alternate.strip(), where, repeats=True)
        if target != language:
            ask = Ask(language, target, key_of(source))
            recording.originals.setdefault(ask, source)
            recording.add(row["system"], ask, direct.strip(), where, repeats=True)


# The texts that engines were once asked to translate, each toward the languages it was translated into.
#
# Named `recorded:PATH`, as the systems that answer from the same files are (`audit.systems.recorded`); with some of the
# languages behind an @ (`recorded:PATH@es,fr`), the texts that were translated into those.


class RecordedTexts:
    """Every original of a recording once for each language it was translated into, by whichever engine. What stands
    between the two steps of a recorded chain is no original.

    A corpus has one language: that of the originals, or the one that is asked for where they have several. Raises
    BadFile for what is wrong with the files, AuditError for languages that they do not have.
    """

    prefix = "recorded"
    task = "translation"
    has_gold = False
    chooses_language = False
    version = "1"

    def __init__(
        self,
        path: str | Path,
        language: str | None = None,
        unit: Unit | None = None,
        targets: Sequence[str] = (),
    ):
        self.path = Path(path)
        recording = read_recording(path)
        languages = recording.source_languages()
        if language is None and len(languages) > 1:
            raise AuditError(
                f"{self.path} has texts in {', '.join(languages)}; say which of them are the originals, as in "
                f"language={languages[0]}",
                parameter="language",
            )
        self.language = language or languages[0]
        self._texts = [(ask, text) for ask, text in recording.originals.items() if ask.source_language == self.language]
        if not self._texts:
            raise AuditError(
                f"{self.path} has no texts in {self.language!r} that somebody translated, it has some in "
                f"{', '.join(languages)}"
            )
        there = sorted({ask.target_language for ask, _ in self._texts})
        if absent := [code for code in targets if code not in there]:
            raise AuditError(
                f"{self.path} has no translations from {self.language} into {absent[0]!r}; there are some into "
                f"{', '.join(there)}"
            )
        if targets:
            self._texts = [(ask, text) for ask, text in self._texts if ask.target_language in targets]
        self.targets = tuple(code for code in there if not targets or code in targets)
        self.name = f"{self.prefix}:{self.path.name or self.path.resolve().name}" + (
            f"@{','.join(targets)}" if targets else ""
        )
        self._rows = [_row(ask, text) for ask, text in self._texts]
        self.unit: Unit = unit or unit_of(self._rows)
        self.summary = f"{len(self._rows):,} recorded texts with a language they were translated into, of {self.path}"

    def needs(self) -> str | None:
        return None

    def size(self) -> int | None:
        return len(self._rows)

    def fingerprint(self) -> str:
        """Names the texts and languages, whatever their order."""
        parts = sorted(canonical([row.key, *row.input.texts, *row.input.languages]) for row in self._rows)
        return f"{fingerprint(parts)}.{self.version}"

    def rows(self) -> Iterator[Row]:
        return iter(self._rows)


def _row(ask: Ask, text: str) -> Row:
    """A source, keyed by content: the same text has the same key in every file."""
    cluster = digest(ask.source_language, ask.key).hex()[:16]
    return Row(
        f"{cluster}@{ask.target_language}",
        Input.of(text, language=ask.source_language, target=ask.target_language),
        cluster=cluster,
        attributes={"target_language": ask.target_language},
    )


# Corpora to translate: the texts of any corpus of single texts, each into some languages.
#
# Named `CORPUS@es,fr`: each text is one source for each target language, and the sources of one text are one cluster.
# Gold and scheme of the corpus's own task say nothing about translations and are left out.


def split_targets(name: str) -> tuple[str, tuple[str, ...]]:
    """A corpus name and the target languages behind its last @; none where what stands there are no codes.

    >>> split_targets("treebank@es,fr"), split_targets("me@home.csv")
    (('treebank', ('es', 'fr')), ('me@home.csv', ()))
    """
    base, at, codes = name.rpartition("@")
    targets = tuple(dict.fromkeys(codes.split(",")))
    return (base, targets) if at and base and all(SPELLED.fullmatch(code) for code in targets) else (name, ())


def check_codes(codes: Sequence[str]) -> None:
    """Raises AuditError for what is no code of a language."""
    for code in codes:
        if not is_code(code):
            raise AuditError(f"language {code[:40]!r} is no code such as es, zh or pt-BR")


def check_targets(file: str, rows: Iterable[Row]) -> None:
    """Raises BadFile where a row of a user's file does not say which language its text is to be translated into."""
    for row in rows:
        target = row.input.target
        if target is None:
            raise BadFile(
                f"{file}: row {row.key!r} does not say which language to translate into; give every row one in a "
                "column target_language, or say targets=es,fr for the whole file",
                parameter="targets",
            )
        if not is_code(target):
            where = f"row {row.key!r} has target_language {target[:40]!r}"
            raise BadFile(f"{file}: {where}, which is no code such as es, zh or pt-BR")


class Toward:
    """The texts of a corpus of single texts, each to be translated into every target language but its own.

    Raises AuditError for a corpus of pairs, for no or wrong targets, and where each is the corpus's own language.
    """

    task = "translation"
    has_gold = False

    def __init__(self, corpus: Corpus, targets: Sequence[str]):
        check_codes(targets)
        if get_task(corpus.task).texts != 1:
            raise AuditError(f"corpus {corpus.name} has pairs of texts; for translation take one of single texts")
        self.corpus = corpus
        self.languages = languages_of(corpus)
        self.targets = tuple(code for code in dict.fromkeys(targets) if self.languages != (code,))
        if not self.targets:
            raise AuditError(
                f"corpus {corpus.name} is in {corpus.language}; say other languages to translate into, as in "
                f"targets={'es' if corpus.language != 'es' else 'en'}",
                parameter="targets",
            )
        self.name = f"{corpus.name}@{','.join(self.targets)}"
        self.language, self.unit = corpus.language, corpus.unit
        self.summary = f"{corpus.summary}, to be translated into {', '.join(self.targets)}"

    def size(self) -> int | None:
        size = self.corpus.size()
        if size is None or len(self.languages) > 1:
            return size and sum(1 for _ in self.rows())
        return size * len(self.targets)

    def needs(self) -> str | None:
        return self.corpus.needs()

    def fingerprint(self) -> str:
        return fingerprint([self.corpus.fingerprint(), *self.targets])

    def rows(self) -> Iterator[Row]:
        for row in self.corpus.rows():
            language = row.input.languages[0]
            for target in self.targets:
                if target != language:
                    yield Row(
                        f"{row.key}@{target}",
                        Input.of(row.input.text, language=language, target=target),
                        cluster=row.cluster or row.key,
                        attributes={**row.attributes, "target_language": target},
                    )


# Recorded pivot chains: a translation beside the one that went over another language, in a CSV as of the MCMT study.
#
# What is odd in a file is counted and told, not refused: these are other people's records, and most of each is good.

NEEDED = ("system", "target", "direct", "alternate")
WANTED = ("source", "pivot")
SCORES = ("levenshtein", "bleu", "cosine")
COLUMNS = (*NEEDED, *WANTED)
_ANY_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|[A-Za-z]\w*);")


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


def read_chains(path: str | Path) -> Chains:
    """Read a table with the columns of `NEEDED`, and where it has them of `WANTED` and `SCORES`.

    Rows with an empty system, target or text, and of another length than the header are left out. All else is used as
    it is. Raises BadFile for a file that is
    missing, empty, not UTF-8, without a needed column, or without a row that can be used.

    >>> read_chains("absent.csv")
    Traceback (most recent call last):
    audit.errors.BadFile: absent.csv: there is no such file
    """
    import pandas as pd

    path = Path(path)
    bad: list[tuple[int, str]] = []
    table = read_table(path, NEEDED, (*WANTED, *SCORES), may_be_empty=NEEDED, bad=bad)
    oddities = _Odd()
    oddities.add("fields", [line for line, _ in bad], False, "have another number of fields than the header")
    records = list(_records(table, oddities))
    number = len(table) + len(bad)
    if not records:
        raise BadFile(f"{path}: none of the {number:,} rows has all of {', '.join(NEEDED)}")
    frame = pd.DataFrame(records, columns=["line", *COLUMNS, *SCORES])
    frame[list(SCORES)] = frame[list(SCORES)].astype(float)
    repeated = frame.duplicated([*COLUMNS, *SCORES])
    oddities.add("repeated rows", frame.loc[repeated, "line"], True, "repeat another row in every column")
    for kind, rows, says in _odd_rows(frame):
        oddities.add(kind, frame.loc[rows, "line"], True, says)
    lacking = tuple(name for name in (*WANTED, *SCORES) if name not in table)
    return Chains(path.name, sha_of(path), number, frame, lacking, tuple(oddities))


class _Odd:
    """Lines of a file by oddity, in the order in which oddities were looked for."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, bool, str], list[int]] = {}

    def add(self, kind: str, lines: Iterable[int], used: bool, says: str) -> None:
        self._lines.setdefault((kind, used, says), []).extend(int(line) for line in lines)

    def __iter__(self) -> Iterator[Oddity]:
        for (kind, used, says), lines in self._lines.items():
            if lines:
                yield Oddity(kind, len(lines), min(lines), used, says)


def _records(table: "pd.DataFrame", oddities: _Odd) -> Iterator[dict[str, object]]:
    for line, row in zip(table.index, table.to_dict("records"), strict=True):
        empty = [name for name in NEEDED if not row[name]]
        if empty:
            oddities.add(f"empty {empty[0]}", [line], False, f"have no {empty[0]}")
            continue
        for name in WANTED:
            if name in row and not row[name]:
                oddities.add(f"empty {name}", [line], True, f"have no {name}")
        record: dict[str, object] = {"line": line} | {name: row.get(name, "") for name in COLUMNS}
        for name in SCORES:
            score = _score(row.get(name, ""))
            if score is None:
                oddities.add(f"bad {name}", [line], True, f"have a recorded {name} that is no number")
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
        columns = ["system", "source", "target"]
        yield (
            "contradicting direct",
            frame.groupby(columns)["direct"].transform("nunique") > 1,
            "have another direct translation of a source by the same system than another row",
        )
        yield (
            "contradicting alternate",
            frame.groupby([*columns, "pivot", "direct"])["alternate"].transform("nunique") > 1,
            "have another alternate translation over the same pivot than another row",
        )
    yield (
        "pivot is target",
        frame["pivot"].eq(frame["target"]),
        "go over their own target language, which is no other way",
    )


def _has_entity(text: str) -> bool:
    """Whether a text has an HTML entity that a browser would resolve: `&quot;`, but not `R&D;`."""
    return any(html.unescape(entity) != entity for entity in _ANY_ENTITY.findall(text))
