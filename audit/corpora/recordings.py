"""Recorded translations: what engines said once, read from the user's files, with a count of whatever is wrong in them.

A CSV with the columns `system,source_language,target_language,source,translation`, or a folder of such files. In a
folder there may also be recorded *chains*, with the columns `system,source,pivot,target,direct,alternate`, as the
MCMT study kept them (Pesu, MacRae, Barnes, Wang and Yan, "A Monte-Carlo approach to automatic metamorphic testing of
machine translation software", University of Wollongong, 2017): the source was translated into the language `pivot`,
which another row says how, and that into the language `target`, which gave `alternate`; `direct` is the source in the
language `target`. A chain back into the language of its source is a round trip, and `direct` then the source itself.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from audit.corpora.base import Corpus, Row, Unit, languages_of
from audit.corpora.files import unit_of
from audit.errors import AuditError, BadFile, UnknownName
from audit.files import read_table, refuse_no_file
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
KINDS: Mapping[str, str] = {
    "unusable": "with an empty field, another number of fields, or languages that are unknown or the same (left out)",
    "duplicate": "equal to an earlier one (used once)",
    "contradictory": "with another translation of the same text (the first one counts)",
    "entities": "with HTML entities (unescaped)",
    "no_middle": "of chains whose first translation nobody recorded (left out)",
}  # Problem of a row -> its description, with what is done about it


class Ask(NamedTuple):
    """A recorded request to an engine: a text, named by `key_of`, from a language into another."""

    source_language: str
    target_language: str
    key: str


def unescape_entities(text: str) -> str:
    """Return the text with HTML's entities as the characters they stand for; engines leave them in what they return."""
    return _ENTITY.sub(lambda match: unescape(match[0]), text) if "&" in text else text


def key_of(text: str) -> str:
    """Return the key of a recorded text: white space and HTML entities make no difference."""
    return " ".join(unescape_entities(text).split())


@dataclass
class Recording:
    """The content of the files: translations by system and request; `originals` are the texts that are no chain's
    middle, as they are recorded, in the order in which they are first met; `problems` counts rows by what is wrong with
    them (`KINDS`)."""

    path: str
    rows: int = 0
    outputs: dict[str, dict[Ask, str]] = field(default_factory=dict)
    originals: dict[Ask, str] = field(default_factory=dict)
    problems: Counter[str] = field(default_factory=Counter)

    @property
    def systems(self) -> list[str]:
        return sorted(self.outputs)

    def version(self, system: str) -> str:
        """Return a fingerprint of an engine's translations; the order of rows and line ends make no difference."""
        return fingerprint(part for ask, said in sorted(self.outputs[system].items()) for part in (*ask, said))

    def source_languages(self, system: str | None = None) -> list[str]:
        """Return the languages of the original texts, or of all texts that an engine translated, sorted."""
        return sorted({ask.source_language for ask in (self.outputs[system] if system else self.originals)})

    @property
    def remark(self) -> str:
        """What was read and what was wrong with it, in one line."""
        read = f"{self.path}: {counted(self.rows, 'recorded row')} of {counted(len(self.outputs), 'system')}"
        wrong = [(self.problems[kind], words) for kind, words in KINDS.items() if self.problems[kind]]
        return "; ".join([read, *(f"{counted(number, 'row')} {words}" for number, words in wrong)])

    def add(self, system: str, ask: Ask, translation: str, repeats: bool = False) -> None:
        """Keep a translation, the first one of a text; `repeats`: it may be there already without being a problem."""
        translations = self.outputs.setdefault(system, {})
        if ask not in translations:
            translations[ask] = translation
        elif translations[ask] != translation or not repeats:
            self.problems["duplicate" if translations[ask] == translation else "contradictory"] += 1

    def usable(self, table: "pd.DataFrame", needed: Sequence[str], languages: list[str], texts: list[str]) -> Any:
        """Return the rows of a table that can be used, with languages and texts as we spell them; counts the others."""
        codes = table.assign(**{name: table[name].map(language_code) for name in languages})
        clean = codes.assign(**{name: codes[name].map(unescape_entities).str.strip() for name in texts})
        torn = table.apply(lambda column: column.str.contains("\0", regex=False)).any(axis=1)
        usable = ~torn & ~(clean[[*needed]] == "").any(axis=1) & clean[languages].notna().all(axis=1)
        usable &= clean[languages[0]] != clean[languages[1]]
        self.problems["unusable"] += int((~usable).sum())
        self.problems["entities"] += int((clean[usable][texts] != table[usable][texts]).any(axis=1).sum())
        return clean[usable].itertuples()


def read_recording(path: str | Path) -> Recording:
    """Read the recorded translations of a CSV, or of all CSVs of a folder in the order of their names. Files are read
    once per process, and again when they change. Raises BadFile for a file without the columns, in another encoding or
    absent, and where nothing in it can be used; rows that are wrong are left out and counted."""
    place = Path(path)
    if not place.is_dir():
        refuse_no_file(place)
    files = sorted(file for file in place.iterdir() if file.suffix.lower() == ".csv") if place.is_dir() else [place]
    return _read(str(path), tuple((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files))


@lru_cache(maxsize=8)
def _read(path: str, stamps: tuple[tuple[str, int, int], ...]) -> Recording:
    recording, chains = Recording(path), []
    for name, _, _ in stamps:
        bad: list[tuple[int, str]] = []
        table = read_table(name, (), (*PLAIN, *CHAINS), bad=bad)
        recording.rows += len(table) + len(bad)
        recording.problems["unusable"] += len(bad)
        wanted = CHAINS if {"pivot", "alternate"} & set(table) else PLAIN
        if missing := [column for column in wanted if column not in table]:
            there = ", ".join(map(repr, table)) or "none"
            what = f"{name}: the first line has no column {missing[0]!r}; of ours it has {there}"
            raise BadFile(f"{what}, needed are {','.join(wanted)}")
        if wanted is CHAINS:
            chains.append(table)
            continue
        for row in recording.usable(table, PLAIN, ["source_language", "target_language"], ["source", "translation"]):
            ask = Ask(row.source_language, row.target_language, key_of(row.source))
            recording.originals.setdefault(ask, row.source)
            recording.add(row.system, ask, row.translation)
    if not recording.outputs:
        alone = "; chains alone do not say what their first translation was" if chains else ""
        raise BadFile(f"{path}: none of its {recording.rows:,} rows can be used ({recording.remark}{alone}); {_WANTED}")
    for table in chains:
        _complete(recording, table)
    return recording


def _complete(recording: Recording, table: "pd.DataFrame") -> None:
    """Complete the translations by recorded chains: the second step of each, and the direct translation."""
    language_of = {ask.key: ask.source_language for ask in reversed(recording.originals)}
    for row in recording.usable(table, CHAINS, ["pivot", "target"], ["source", "direct", "alternate"]):
        key = key_of(row.source)
        language = language_of.get(key, "")
        middle = recording.outputs.get(row.system, {}).get(Ask(language, row.pivot, key))
        if middle is None:
            recording.problems["no_middle"] += 1
            continue
        recording.add(row.system, Ask(row.pivot, row.target, key_of(middle)), row.alternate, repeats=True)
        if row.target != language:
            ask = Ask(language, row.target, key)
            recording.originals.setdefault(ask, row.source)
            recording.add(row.system, ask, row.direct, repeats=True)


# The texts that engines were asked to translate, each toward the languages it was translated into: `recorded:PATH`,
# as the systems that answer from the same files are called; `recorded:PATH@es,fr` has those into these languages.


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

    def __init__(
        self, path: str | Path, language: str | None = None, unit: Unit | None = None, targets: Sequence[str] = ()
    ):
        self.path = Path(path)
        recording = read_recording(path)
        languages = recording.source_languages()
        if language is None and len(languages) > 1:
            which = f"say which of them are the originals, as in language={languages[0]}"
            raise AuditError(f"{self.path} has texts in {', '.join(languages)}; {which}", parameter="language")
        self.language = language or languages[0]
        if self.language not in languages:
            raise UnknownName(f"language of the texts of {self.path}", self.language, languages)
        texts = [(ask, text) for ask, text in recording.originals.items() if ask.source_language == self.language]
        present = sorted({ask.target_language for ask, _ in texts})
        if absent := [code for code in targets if code not in present]:
            raise UnknownName(f"language that {self.path} has translations into", absent[0], present)
        self.targets = tuple(code for code in present if not targets or code in targets)
        name = self.path.name or self.path.resolve().name
        self.name = f"{self.prefix}:{name}" + (f"@{','.join(targets)}" if targets else "")
        self._rows = [_row(ask, text) for ask, text in texts if ask.target_language in self.targets]
        self.unit: Unit = unit or unit_of(self._rows)
        self.summary = f"{len(self._rows):,} recorded texts with a language they were translated into, of {self.path}"

    def needs(self) -> str | None:
        return None

    def size(self) -> int | None:
        return len(self._rows)

    def fingerprint(self) -> str:
        """Return what names the texts and languages, whatever their order."""
        parts = sorted(canonical([row.key, *row.input.texts, *row.input.languages]) for row in self._rows)
        return f"{fingerprint(parts)}.1"

    def rows(self) -> Iterator[Row]:
        return iter(self._rows)


def _row(ask: Ask, text: str) -> Row:
    cluster = digest(ask.source_language, ask.key).hex()[:16]
    subject = Input.of(text, language=ask.source_language, target=ask.target_language)
    attributes = {"target_language": ask.target_language}
    return Row(f"{cluster}@{ask.target_language}", subject, cluster=cluster, attributes=attributes)


# Corpora to translate, `CORPUS@es,fr`: each text is one source for each target language, and those of one text are
# one cluster. Gold and scheme of the corpus's own task say nothing about translations and are left out.


def split_targets(name: str) -> tuple[str, tuple[str, ...]]:
    """Return a corpus name and the target languages behind its last @; none where what stands there are no codes."""
    base, at, codes = name.rpartition("@")
    targets = tuple(dict.fromkeys(codes.split(",")))
    return (base, targets) if at and base and all(SPELLED.fullmatch(code) for code in targets) else (name, ())


def check_codes(codes: Sequence[str]) -> None:
    for code in codes:
        if not is_code(code):
            raise AuditError(f"language {code[:40]!r} is no code such as es, zh or pt-BR")


def check_targets(file: str, rows: Iterable[Row]) -> None:
    """Raise BadFile where a row of a user's file does not say which language its text is to be translated into."""
    for row in rows:
        target = row.input.target
        if target is None or not is_code(target):
            says = f"has target_language {target!r:.40}" if target else "does not say which language to translate into"
            advice = "give every row a code such as es, zh or pt-BR in a column target_language, or say targets=es,fr"
            raise BadFile(f"{file}: row {row.key!r} {says}; {advice} for the whole file", parameter="targets")


class Toward:
    """The texts of a corpus of single texts, each to be translated into every target language but its own. Raises
    AuditError for a corpus of pairs, for no or wrong targets, and where each is the corpus's own language."""

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
            others = f"say other languages to translate into, as in targets={'es' if corpus.language != 'es' else 'en'}"
            raise AuditError(f"corpus {corpus.name} is in {corpus.language}; {others}", parameter="targets")
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
                    subject = Input.of(row.input.text, language=language, target=target)
                    attributes = {**row.attributes, "target_language": target}
                    yield Row(f"{row.key}@{target}", subject, None, row.cluster or row.key, attributes)
